import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import { Refusal } from '../refusal.ts';
import type { McpCaller } from './call.ts';
import { ERRORS, textIn, wrong } from './message.ts';

/** One page of what the caller proposed, newest first, by the cursor of a request of the protocol. */
export async function ownPage(
  { face, name }: McpCaller,
  params: JsonObject,
): Promise<Pick<Result<'intents.list'>, 'intents'> & { readonly more: JsonObject }> {
  const at = params.cursor === undefined ? {} : { cursor: textIn(params, 'cursor') };
  try {
    const { intents, next } = await face.intents.list({ proposer: name, ...at });
    return { intents, more: next === null ? {} : { nextCursor: next } };
  } catch (error) {
    const is_wrong = error instanceof Refusal && error.code === 'CURSOR_INVALID';
    return is_wrong ? wrong(ERRORS.params, 'The "cursor" is none of this list.') : Promise.reject(error);
  }
}
