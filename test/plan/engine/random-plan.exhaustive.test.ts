import { it } from 'vitest';
import { checkRandomPlans } from './random-plan.ts';

/** A twentieth of what `npm run soak` does. */
const PLANS = Number(process.env.KEYTURN_SOAK_PLANS ?? 500);

it('random plans, with a failure at every action, leave content, mode, owner, times, list and attributes as before', async () => {
  await checkRandomPlans(PLANS);
});
