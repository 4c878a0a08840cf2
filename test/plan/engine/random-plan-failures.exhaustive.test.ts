import { it } from 'vitest';
import { checkRandomPlans } from './random-plan.ts';

it('40 random plans, with a failure at every action, leave content, mode, time and existence as before', async () => {
  await checkRandomPlans(40);
});
