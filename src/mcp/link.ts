import { type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import { capabilitiesIn, ERRORS, isObject, LEGACY, type Message, objectIn, wrong } from './message.ts';

/**
 * Offers a client the link to a call that waits. Whatever the client answers approves nothing, rejects nothing and is not recorded: some
 * clients answer by themselves.
 */

/** Where the console of a service shows an intent. */
export const linkTo = (address: string, intent_id: string): string => `${address}/#intent=${intent_id}`;

const canOpen = (capabilities: JsonObject): boolean => isObject(objectIn(capabilities, 'elicitation').url);

/** A client without a handshake says with each request that it can open links. */
export const opensLinks = (message: Message): boolean => canOpen(capabilitiesIn(message));

/** A client with a handshake says so once, in `initialize`. Older versions of the protocol have no links. */
export function opensLinksLater({ protocolVersion, ...params }: JsonObject): boolean {
  return protocolVersion === LEGACY[0] && canOpen(objectIn(params, 'capabilities'));
}

const WORDS =
  'A human has to turn the key for this call. Open Keyturn to look at it. What is answered here approves nothing.';

/** The link as a request of its own, to which no answer is awaited. */
export function linkRequest(intent_id: string, url: string): JsonObject {
  const params = { mode: 'url', elicitationId: intent_id, url, message: WORDS };
  return { jsonrpc: '2.0', id: `keyturn-link-${intent_id}`, method: 'elicitation/create', params };
}

/** The human has decided: the client may take the link away. */
export const linkDone = (intent_id: string) => ({
  method: 'notifications/elicitation/complete',
  params: { elicitationId: intent_id },
});

const KEY = 'keyturn_link';
const STATE = 'keyturn-link:';

/** What a client answers to questions, and gives back with that. */
export interface Answers {
  readonly responses: JsonObject | null;
  readonly state: string | null;
}

/** The link as the answer to a call. The client sends the call again with what it answered, and that is the same call. */
export function linkQuestion(url: string, { responses, state }: Answers): JsonObject {
  const question = { method: 'elicitation/create', params: { mode: 'url', url, message: WORDS } };
  return {
    resultType: 'input_required',
    inputRequests: { [KEY]: question },
    requestState: `${STATE}${JSON.stringify({ responses, state })}`,
  };
}

/** A server must not use it: what it wrote there would be taken for answers of the client. */
export const isLinkState = (state: Json | undefined): boolean =>
  typeof state === 'string' && state.startsWith(STATE);

/** What a client said before the link was offered to it. The answer to the link itself is dropped. */
export function beforeLink(answers: Answers): Answers {
  const { state } = answers;
  if (state === null || !isLinkState(state)) return answers;
  const said = saidIn(state.slice(STATE.length));
  const { responses, state: before } = isObject(said) ? said : {};
  const is_known = responses === null || isObject(responses);
  const is_plain = before === null || (typeof before === 'string' && !isLinkState(before));
  if (!is_known || !is_plain) return wrong(ERRORS.params, '"requestState" is not one of this gate.');
  return { responses, state: before };
}

function saidIn(text: string): Json {
  try {
    return parseJson(text, mcpLimits.message_bytes);
  } catch {
    return null;
  }
}
