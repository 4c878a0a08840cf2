/** An MCP server on standard input and output: its one tool waits until a human has turned the key. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Keyturn } from 'keyturn';
import * as z from 'zod';

const keyturn = await Keyturn.open({ at: process.cwd() });
const server = new McpServer({ name: 'backups', version: '1.0.0' });
const description = 'Copies one file of data/ into backups/, once a human has approved it.';
const inputSchema = { file: z.string(), why: z.string() };
server.registerTool('backup', { description, inputSchema }, async ({ file, why }, { signal }) => {
  const effect = { kind: 'tool', tool: 'backup', arguments: { file } };
  const { intent_id, receipt } = await keyturn.intents.propose({ issuer: 'bot', declared_goal: why, effect });
  try {
    const { status_word, reason } = await keyturn.intents.waitFor({ intent_id, signal });
    return { content: [{ type: 'text', text: reason ?? status_word }], isError: status_word !== 'succeeded' };
  } catch (error) {
    // The client no longer waits, so a human must not approve it any more.
    await keyturn.intents.withdraw({ intent_id, receipt, reason: 'The client went away.' });
    throw error;
  }
});
await server.connect(new StdioServerTransport());
