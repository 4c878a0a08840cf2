/** What the conformance suite expects of a server that asks for input first. */
import { createHmac, randomBytes } from 'node:crypto';

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const soon = (ms) => new Promise((done) => setTimeout(done, ms));

const form = (message, member) => ({
  method: 'elicitation/create',
  params: {
    message,
    requestedSchema: { type: 'object', properties: { [member]: { type: 'string' } }, required: [member] },
  },
});
const NAME = form('What is your name?', 'name');
const SAMPLE = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
    maxTokens: 100,
  },
};
const ROOTS = { method: 'roots/list', params: {} };

/** Longer than the gate waits before it gives a task. */
const LONG_MS = 1500;

const KEY = randomBytes(32);
const sealed = (words) => `${words}.${createHmac('sha256', KEY).update(words).digest('hex')}`;
const opened = (state = '') => {
  const words = state.slice(0, state.lastIndexOf('.'));
  if (state !== sealed(words)) throw new ProtocolError(-32602, 'The state is not one of this server.');
  return words;
};
const wanted = (inputRequests, state) => ({
  resultType: 'input_required',
  inputRequests,
  ...(state !== undefined && { requestState: sealed(state) }),
});

/** Answered with an error of the protocol, and not with a result. */
export class ProtocolError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const isAnswered = (responses, key) => typeof responses?.[key] === 'object' && responses[key] !== null;
const nameIn = (responses) => responses.user_name.content?.name;

/** Each takes the answers so far, the state that came with them, and what the client can do. */
export const ASKING = {
  test_input_required_result_elicitation: ({ responses }) =>
    isAnswered(responses, 'user_name') ? text(`Hello, ${nameIn(responses)}!`) : wanted({ user_name: NAME }),
  test_input_required_result_sampling: ({ responses }) =>
    isAnswered(responses, 'capital') ? text('It was sampled.') : wanted({ capital: SAMPLE }),
  test_input_required_result_list_roots: ({ responses }) =>
    isAnswered(responses, 'roots') ? text('It has the roots.') : wanted({ roots: ROOTS }),
  test_input_required_result_request_state: ({ responses, state }) => {
    if (!responses) return wanted({ confirm: form('Go on?', 'ok') }, 'first');
    return text(`The state is ${opened(state)}.`);
  },
  test_input_required_result_multiple_inputs: ({ responses, state }) => {
    if (!responses) return wanted({ user_name: NAME, capital: SAMPLE, roots: ROOTS }, 'all');
    return text(`The state is ${opened(state)}.`);
  },
  test_input_required_result_multi_round: ({ responses, state }) => {
    if (!responses) return wanted({ user_name: NAME }, 'first');
    if (opened(state) === 'first') return wanted({ color: form('Which color?', 'color') }, 'second');
    return text('That was all.');
  },
  test_input_required_result_tampered_state: ({ responses, state }) => {
    if (!responses) return wanted({ confirm: form('Go on?', 'ok') }, 'first');
    return text(`The state is ${opened(state)}.`);
  },
  test_input_required_result_capabilities: ({ capabilities }) =>
    wanted({
      ...(capabilities.elicitation && { user_name: NAME }),
      ...(capabilities.sampling && { capital: SAMPLE }),
    }),
  test_missing_capability: ({ capabilities }) => {
    if (capabilities.sampling) return text('It can sample.');
    throw new ProtocolError(-32021, 'It needs sampling.', { requiredCapabilities: { sampling: {} } });
  },
  confirm_delete: async ({ responses }) => {
    if (isAnswered(responses, 'confirm')) return text('It is deleted.');
    await soon(LONG_MS);
    return wanted({ confirm: form('Delete it?', 'confirm') });
  },
  multi_input: async ({ responses }) => {
    if (isAnswered(responses, 'user_name'))
      return text(`Hello, ${nameIn(responses)}, in ${responses.color.content.color}!`);
    await soon(LONG_MS);
    return wanted({ user_name: NAME, color: form('Which color?', 'color') }, 'both');
  },
  test_tool_with_task: async ({ responses }) => {
    if (!isAnswered(responses, 'user_name')) return wanted({ user_name: NAME });
    await soon(2000);
    return text(`Hello, ${nameIn(responses)}!`);
  },
};

export function askingPrompt({ responses }) {
  if (!isAnswered(responses, 'user_context'))
    return wanted({ user_context: form('What context should the prompt use?', 'context') });
  const words = `In the context: ${responses.user_context.content?.context}`;
  return { messages: [{ role: 'user', content: { type: 'text', text: words } }] };
}
