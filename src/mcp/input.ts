import type { JsonObject } from '../canonical/json.ts';
import { capabilitiesIn, ERRORS, isObject, type Message, wrong } from './message.ts';
import type { ClientInput } from './offered.ts';

/** What a server may ask the client of its caller, and the capability by which the client says that it can answer. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const ASKABLE = Object.values(QUESTIONS);

/** What the client of a stateless request can answer and has answered; null where there is nothing of it. */
export function inputIn(message: Message): ClientInput | null {
  const { inputResponses, requestState } = message.params;
  if (!message.is_modern) return null;
  if (inputResponses !== undefined && !isObject(inputResponses))
    wrong(ERRORS.params, '"inputResponses" has to be an object.');
  if (requestState !== undefined && typeof requestState !== 'string')
    wrong(ERRORS.params, '"requestState" has to be a text.');
  const said = Object.entries(capabilitiesIn(message)).filter(([name]) => ASKABLE.includes(name));
  if (said.length === 0 && inputResponses === undefined && requestState === undefined) return null;
  return {
    capabilities: Object.fromEntries(said),
    responses: inputResponses ?? null,
    state: requestState ?? null,
  };
}

/** A result of `tools/call` that has questions in place of content. */
type Questions = JsonObject & { readonly content: never };

/**
 * The questions of a server, as its caller's client can answer them: each names the server, since the client knows only the gate. Null where the
 * client has not said that it can. What it answers approves nothing: it is part of another call.
 */
export function questionsOf(value: JsonObject, server: string, input: ClientInput | null): Questions | null {
  if (value.resultType !== 'input_required' || !isObject(value.inputRequests)) return null;
  const asked = Object.entries(value.inputRequests);
  const can = ({ method }: JsonObject) => {
    const capability = typeof method === 'string' ? QUESTIONS[method] : undefined;
    return capability !== undefined && input?.capabilities[capability] !== undefined;
  };
  if (!asked.every(([, one]) => isObject(one) && can(one))) return null;
  const inputRequests = Object.fromEntries(
    asked.map(([key, one]) => [key, named(one as JsonObject, server)]),
  );
  return { ...value, inputRequests } as unknown as Questions;
}

function named(question: JsonObject, server: string): JsonObject {
  const { params } = question;
  if (!isObject(params) || typeof params.message !== 'string') return question;
  return { ...question, params: { ...params, message: `The server ${server} asks: ${params.message}` } };
}
