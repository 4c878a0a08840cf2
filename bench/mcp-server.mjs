/** A server with 50 tools, for the bench: what a list of it costs. */
import { createInterface } from 'node:readline';

const tools = Array.from({ length: 50 }, (_, n) => ({
  name: `tool_${n}`,
  description: `Does the thing of number ${n} with a path and a text.`,
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path'],
  },
}));
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: 'No such method.' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
