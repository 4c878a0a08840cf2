/** A server with 50 tools, for the bench: what a list of it costs. With the SDK of the protocol, as most servers are; `fixed` answers without one. */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const names = Array.from({ length: 50 }, (_, n) => `tool_${n}`);
const about = (name) => `Does the thing of ${name} with a path and a text.`;

async function withSdk() {
  // The SDK is there for the reference servers, and nothing else here needs it.
  const require = createRequire(
    createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json'),
  );
  const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
  const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');
  const { z } = require('zod');
  const server = new McpServer({ name: 'bench', version: '1' });
  const inputSchema = { path: z.string(), text: z.string().optional() };
  for (const name of names)
    server.registerTool(name, { description: about(name), inputSchema }, async () => ({ content: [] }));
  await server.connect(new StdioServerTransport());
}

function fixed() {
  const inputSchema = {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path'],
  };
  const tools = names.map((name) => ({ name, description: about(name), inputSchema }));
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'bench', version: '1' },
    }),
    'tools/list': () => ({ tools }),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) })}\n`);
  });
}

await (process.argv[2] === 'fixed' ? fixed() : withSdk());
