/** What the conformance suite expects of a server, as lines of JSON on standard input and output. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ASKING, askingPrompt, ProtocolError } from './fixture-input.mjs';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const soon = (ms) => new Promise((done) => setTimeout(done, ms));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const SCHEMA = JSON.parse(readFileSync(new URL('json-schema.json', import.meta.url), 'utf8'));

/** Asks the client as servers with a handshake do, and does not wait for an answer. */
const asked = (method) => {
  say({ id: `ask-${method}`, method, params: { message: 'Go on?' } });
  return [text('It asked.')];
};

const TOOLS = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_tool_with_logging: async () => {
    for (const data of ['started', 'working', 'done']) {
      say({ method: 'notifications/message', params: { level: 'info', data } });
      await soon(50);
    }
    return [text('It logged three times.')];
  },
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_progress: async (_values, progressToken) => {
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        say({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await soon(50);
    }
    return [text('It told how far it was.')];
  },
  json_schema_2020_12_tool: () => [text('ok')],
  greet: ({ name }) => [text(`Hello, ${name}!`)],
  // Longer than the gate waits before it gives a task.
  slow_compute: async ({ seconds = 1 }) => {
    await soon(seconds > 0 ? seconds * 1000 + 1000 : 0);
    return [text(`Computed for ${seconds} s.`)];
  },
  failing_job: async () => {
    await soon(2000);
    throw new Error('The job failed.');
  },
  protocol_error_job: async () => {
    await soon(2000);
    return null;
  },
  test_reconnection: () => [text('The stream was not closed.')],
  test_custom_header: ({ region }) => [text(`In ${region}.`)],
  test_logging_tool: () => {
    say({ method: 'notifications/message', params: { level: 'info', data: 'logged' } });
    return [text('It logged.')];
  },
  test_streaming_elicitation: () => asked('elicitation/create'),
  test_elicitation: () => asked('elicitation/create'),
  test_elicitation_sep1034_defaults: () => asked('elicitation/create'),
  test_elicitation_sep1330_enums: () => asked('elicitation/create'),
  test_sampling: () => asked('sampling/createMessage'),
  test_trigger_tool_change: () => {
    say({ method: 'notifications/tools/list_changed', params: {} });
    return [text('It says that its tools changed.')];
  },
  test_trigger_prompt_change: () => {
    say({ method: 'notifications/prompts/list_changed', params: {} });
    return [text('It says that its prompts changed.')];
  },
};

const schemaOf = (name) => {
  if (name === 'json_schema_2020_12_tool') return SCHEMA;
  const properties = {
    greet: { name: { type: 'string' } },
    slow_compute: { seconds: { type: 'number' }, label: { type: 'string' } },
    test_custom_header: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  };
  return { type: 'object', properties: properties[name] ?? {} };
};

const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
};

const message = (...content) => ({ messages: content.map((one) => ({ role: 'user', content: one })) });
const PROMPTS = {
  test_simple_prompt: () => message(text('This is a simple prompt for testing.')),
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri }) =>
    message(
      resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      text('Process it.'),
    ),
  test_prompt_with_image: () => message(image, text('Please analyze the image above.')),
};

const argumentsOf = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
};

const ASKING_PROMPT = 'test_input_required_result_prompt';
const answersIn = ({ inputResponses, requestState, _meta }) => ({
  responses: inputResponses,
  state: requestState,
  capabilities: _meta?.['io.modelcontextprotocol/clientCapabilities'] ?? {},
});

async function answer(method, params) {
  switch (method) {
    // Without a handshake, since only then a server asks for input in its answer.
    case 'server/discover':
      return {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: {
          tools: {},
          resources: { subscribe: true },
          prompts: {},
          completions: {},
          logging: {},
        },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fixture', version: '1.0.0' } },
      };
    case 'tools/list':
      return {
        tools: [...Object.keys(TOOLS), ...Object.keys(ASKING)].map((name) => ({
          name,
          description: `The tool ${name}.`,
          inputSchema: schemaOf(name),
        })),
      };
    case 'tools/call':
      if (ASKING[params.name]) return ASKING[params.name](answersIn(params));
      try {
        const content = await TOOLS[params.name](params.arguments ?? {}, params._meta?.progressToken);
        return content === null ? undefined : { content };
      } catch (error) {
        return { content: [text(error.message)], isError: true };
      }
    case 'resources/list':
      return {
        resources: Object.keys(RESOURCES).map((uri) => ({
          uri,
          name: uri.slice(7),
          mimeType: RESOURCES[uri].mimeType,
        })),
      };
    case 'resources/templates/list':
      return {
        resourceTemplates: [
          { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
        ],
      };
    case 'resources/read': {
      const { uri } = params;
      const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
      const words = id && JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      const found = id ? { mimeType: 'application/json', text: words } : RESOURCES[uri];
      return found && { contents: [{ uri, ...found }] };
    }
    case 'prompts/list':
      return {
        prompts: [...Object.keys(PROMPTS), ASKING_PROMPT].map((name) => ({
          name,
          description: `The prompt ${name}.`,
          arguments: (argumentsOf[name] ?? []).map((one) => ({ name: one, required: true })),
        })),
      };
    case 'prompts/get':
      if (params.name === ASKING_PROMPT) return askingPrompt(answersIn(params));
      return PROMPTS[params.name]?.(params.arguments ?? {});
    case 'completion/complete':
      return { completion: { values: ['paris', 'park', 'party'], total: 150, hasMore: false } };
    default:
      return ['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'].includes(method)
        ? {}
        : undefined;
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  try {
    const result = await answer(method, params);
    const code = method === 'initialize' ? -32601 : -32602;
    say(result === undefined ? { id, error: { code, message: `No ${method} of that.` } } : { id, result });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message, data } = error;
    say({ id, error: { code, message, data } });
  }
});
