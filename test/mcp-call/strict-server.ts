import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

type Values = Readonly<Record<string, unknown>>;

const wanted = (type: string, header: string) => ({ type, 'x-mcp-header': header });
const TOOL = {
  name: 'región',
  inputSchema: {
    type: 'object',
    properties: {
      region: wanted('string', 'Region'),
      dry: wanted('boolean', 'Dry-Run'),
      count: wanted('integer', 'Count'),
      where: { type: 'object', properties: { zone: wanted('string', 'Zone') } },
      plain: { type: 'string' },
    },
  },
};

/** A server of the stateless protocol at a URL, which answers no request whose headers do not say what the message says. */
export async function strictServer() {
  const calls: { readonly headers: IncomingHttpHeaders; readonly values: Values }[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method, params = {} } = JSON.parse(text);
    const say = (status: number, message: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
    const { headers } = request;
    const fault = faultIn(headers, method, params);
    if (fault !== null) return say(400, { error: { code: fault[0], message: fault[1] } });
    const done = (result: object) => say(200, { result: { resultType: 'complete', ...result } });
    if (method === 'server/discover')
      return done({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    if (method === 'tools/list') return done({ tools: [TOOL] });
    calls.push({ headers, values: params.arguments });
    return done({ content: [{ type: 'text', text: 'did' }] });
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, calls };
}

function faultIn(headers: IncomingHttpHeaders, method: string, params: Values): [number, string] | null {
  if (headers['mcp-protocol-version'] !== '2026-07-28') return [-32022, 'Another version'];
  if (headers['mcp-method'] !== method) return [-32020, 'Mcp-Method'];
  if (method !== 'tools/call') return null;
  if (decoded(headers['mcp-name']) !== params.name) return [-32020, 'Mcp-Name'];
  const values = params.arguments as Values;
  const meant = {
    region: values.region,
    'dry-run': values.dry,
    count: values.count,
    zone: (values.where as Values | undefined)?.zone,
  };
  const wrong = Object.entries(meant).find(
    ([name, value]) =>
      decoded(headers[`mcp-param-${name}`]) !==
      (value === undefined || value === null ? null : String(value)),
  );
  return wrong ? [-32020, `Mcp-Param-${wrong[0]}`] : null;
}

function decoded(said: string | string[] | undefined): string | null {
  if (typeof said !== 'string') return null;
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(said) ?? [];
  return encoded === undefined ? said : Buffer.from(encoded, 'base64').toString('utf8');
}
