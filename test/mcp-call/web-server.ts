import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly params: { readonly name?: string; readonly arguments?: { readonly how?: string } };
}

/** An MCP server over HTTP that misbehaves as the arguments of a call tell it, and remembers what it was asked. */
export async function webServer() {
  const asked: Asked[] = [];
  let session = 1;
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params = {} } = JSON.parse(text);
    asked.push({ method, headers: request.headers, params });
    if (id === undefined) return response.writeHead(202).end();
    const say = (result: object, headers: Record<string, string> = {}) =>
      response
        .writeHead(200, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'initialize')
      return say(
        {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'web', version: '1' },
        },
        { 'mcp-session-id': String(session) },
      );
    if (request.headers['mcp-session-id'] !== String(session)) return response.writeHead(404).end();
    if (method === 'tools/list') return say({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] });
    const { how = '' } = params.arguments ?? {};
    if (how === 'dies') return request.socket.destroy();
    if (how === 'moved') return response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    if (how === 'silent') return response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    if (how === 'huge') {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(`"${'y'.repeat(20_000_000)}"`);
    }
    if (how === 'echo') return say({ content: [{ type: 'text', text: request.headers.authorization }] });
    const event = (value: object) => `event: message\r\ndata: ${JSON.stringify(value)}\r\n\r\n`;
    if (how.startsWith('deep')) {
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const answer = `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"a":${deep}}}`;
      const is_json = how === 'deep as JSON';
      response.writeHead(200, { 'content-type': is_json ? 'application/json' : 'text/event-stream' });
      const ping = `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`;
      return response.end(is_json ? answer : `data: ${ping}\n\ndata: ${answer}\n\n`);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(
      event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }),
    );
    return response.end(
      event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: `did ${how}` }] } }),
    );
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const calls = () =>
    asked.filter(({ method }) => method === 'tools/call').map(({ params }) => params.arguments?.how);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked,
    calls,
    endSessions: () => {
      session += 1;
    },
  };
}
