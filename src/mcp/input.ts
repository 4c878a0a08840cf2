import type { JsonObject } from '../canonical/json.ts';
import { beforeLink, isLinkState } from './link.ts';
import { capabilitiesIn, ERRORS, isObject, type Message, wrong } from './message.ts';
import type { ClientInput } from './offered.ts';

/** What a server may ask the client of its caller, and the capability by which the client says that it can answer. */
const QUESTIONS: Readonly<Record<string, keyof ClientInput['capabilities']>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** What a client can say of each. Whatever else it says stays here: a human would have to approve it. */
const WAYS = { elicitation: ['form', 'url'], sampling: ['context', 'tools'], roots: [] } as const;

function answerable(said: JsonObject): ClientInput['capabilities'] {
  const known = Object.entries(WAYS).flatMap(([name, ways]) => {
    const how = said[name];
    if (!isObject(how)) return [];
    return [[name, Object.fromEntries(ways.filter((way) => isObject(how[way])).map((way) => [way, {}]))]];
  });
  return Object.fromEntries(known);
}

/** What the client of a stateless request can answer and has answered; null where there is nothing of it. */
export function inputIn(message: Message): ClientInput | null {
  const { inputResponses, requestState } = message.params;
  if (!message.is_modern) return null;
  if (inputResponses !== undefined && !isObject(inputResponses))
    wrong(ERRORS.params, '"inputResponses" has to be an object.');
  if (requestState !== undefined && typeof requestState !== 'string')
    wrong(ERRORS.params, '"requestState" has to be a text.');
  const capabilities = answerable(capabilitiesIn(message));
  const { responses, state } = beforeLink({ responses: inputResponses ?? null, state: requestState ?? null });
  if (Object.keys(capabilities).length === 0 && responses === null && state === null) return null;
  return { capabilities, responses, state };
}

/** A result of `tools/call` that has questions in place of content. */
export type Questions = JsonObject & { readonly content: never };

/**
 * The questions of a server, as its caller's client can answer them: each names the server, since the client knows only the gate. Null where the
 * client has not said that it can. What it answers approves nothing: it is part of another call.
 */
export function questionsOf(value: JsonObject, server: string, input: ClientInput | null): Questions | null {
  if (value.resultType !== 'input_required' || !isObject(value.inputRequests)) return null;
  if (isLinkState(value.requestState)) return null;
  const asked = Object.entries(value.inputRequests);
  const can = ({ method }: JsonObject) => {
    const capability = typeof method === 'string' ? QUESTIONS[method] : undefined;
    return capability !== undefined && input?.capabilities[capability] !== undefined;
  };
  const questions = asked.map(
    ([key, one]) => [key, isObject(one) && can(one) ? named(one, server) : null] as const,
  );
  if (questions.some(([, question]) => question === null)) return null;
  return { ...value, inputRequests: Object.fromEntries(questions) } as unknown as Questions;
}

/** The member whose text a client shows or gives to its model; the third has none, and shows nothing. */
const SHOWN: Readonly<Record<string, string>> = {
  'elicitation/create': 'message',
  'sampling/createMessage': 'systemPrompt',
};

/** Null where there is no place for the name: a question must not look like one of the gate. */
function named(question: JsonObject, server: string): JsonObject | null {
  const { params = {}, method } = question;
  if (!isObject(params)) return null;
  const _meta = { ...(isObject(params._meta) && params._meta), 'keyturn/server': server };
  const member = SHOWN[String(method)];
  if (member === undefined) return { ...question, params: { ...params, _meta } };
  const said = params[member] ?? (member === 'systemPrompt' ? '' : null);
  if (typeof said !== 'string') return null;
  return { ...question, params: { ...params, _meta, [member]: `The server ${server} asks: ${said}` } };
}
