import { type Context, requireIntent } from './context.ts';
import { openAsked } from './effect.ts';
import { secretsIn } from './reach.ts';

/** The secrets that a run of an intent needs. Reads each as a run here would, and refuses where one is missing. */
export async function requireSecrets(context: Context, intent_id: string): Promise<string[]> {
  const { effect } = await openAsked(context, await requireIntent(context, intent_id));
  const names = secretsIn(effect);
  await context.secrets(names);
  return names;
}
