import { type ChildProcess, spawn } from 'node:child_process';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/**
 * What the suite asks for has the names of a server that stands alone; behind the gate each has the name of its server before it. This stands
 * between the two, gives the names, and shows the token that the suite has no option for. It changes nothing else.
 */

type Message = Record<string, unknown> & { id?: unknown; method?: string; params?: Record<string, unknown> };

const PREFIX = 'fixture__';

/** Names of the fixture; those of the gate itself, such as `keyturn_wait`, stay as they are. */
const isOwn = (name: unknown): name is string => typeof name === 'string' && !name.startsWith('keyturn');
const NAMED: readonly (string | undefined)[] = ['tools/call', 'prompts/get'];

export function outward(message: Message): Message {
  const { method, params = {} } = message;
  const { name, ref } = params as { name?: unknown; ref?: { type?: string; name?: string } };
  if (NAMED.includes(method) && isOwn(name))
    return { ...message, params: { ...params, name: PREFIX + name } };
  if (method === 'completion/complete' && ref?.type === 'ref/prompt')
    return { ...message, params: { ...params, ref: { ...ref, name: PREFIX + ref.name } } };
  return message;
}

function inward(text: string): string {
  return text.replaceAll(`"name":"${PREFIX}`, '"name":"');
}

async function bodyOf(asked: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of asked) text += chunk;
  return text;
}

async function listening(
  answer: (asked: IncomingMessage, reply: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((asked, reply) => {
    answer(asked, reply).catch(() => reply.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/mcp`;
}

/** Before `/mcp` of a service: every header goes on as it came. */
export function overHttp(address: string, token: string): Promise<string> {
  const { host, port } = new URL(address);
  return listening(async (asked, reply) => {
    const text = await bodyOf(asked);
    const message = text === '' ? null : (outward(JSON.parse(text)) as Message);
    const body = message === null ? '' : JSON.stringify(message);
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/mcp',
        method: asked.method,
        headers: headersFor(asked, message, host, token, body),
      },
      (answered) => {
        const { 'content-length': _, 'transfer-encoding': __, ...headers } = answered.headers;
        reply.writeHead(answered.statusCode!, headers).flushHeaders();
        // Line by line: a stream is not over before its client has what it waits for.
        createInterface({ input: answered })
          .on('line', (line) => reply.write(`${inward(line)}\n`))
          .on('error', () => reply.destroy())
          .on('close', () => reply.end());
      },
    );
    sent.on('error', () => reply.destroy());
    reply.on('close', () => sent.destroy());
    sent.end(body);
  });
}

function headersFor(
  asked: IncomingMessage,
  message: Message | null,
  host: string,
  token: string,
  body: string,
): IncomingHttpHeaders {
  const { 'content-length': _, 'mcp-name': name, ...headers } = asked.headers;
  const own = `localhost:${asked.socket.localPort}`;
  const here = (text: string | undefined) =>
    text?.replace(own, host).replace(own.replace('localhost', '127.0.0.1'), host);
  const renamed = NAMED.includes(message?.method) && isOwn(name) ? PREFIX + name : name;
  return {
    ...headers,
    host: here(headers.host),
    ...(headers.origin && { origin: here(headers.origin) }),
    ...(renamed && { 'mcp-name': renamed as string }),
    authorization: `Bearer ${token}`,
    'content-length': String(Buffer.byteLength(body)),
  };
}

/** Before `keyturn mcp`: each answer is a stream with what was told on the way to it. */
export function overStdio(words: readonly string[]): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, [resolve('dist/cli.cjs'), ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const waiting = new Map<number, (message: Message) => void>();
  const telling = new Map<number, (message: Message) => void>();
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) return waiting.get(message.id as number)?.(message);
    const meta = message.params?._meta as Record<string, unknown> | undefined;
    const subscription = meta?.['io.modelcontextprotocol/subscriptionId'];
    for (const [id, tell] of telling) if (subscription === undefined || subscription === id) tell(message);
  });
  const send = (message: object) => child.stdin!.write(`${JSON.stringify(message)}\n`);
  let last = 0;
  return listening(async (asked, reply) => {
    if (asked.method !== 'POST') return void reply.writeHead(405).end();
    const message = outward(JSON.parse(await bodyOf(asked)) as Message);
    if (message.id === undefined) {
      send(message);
      return void reply.writeHead(202).end();
    }
    last += 1;
    const id = last;
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    const tell = (one: Message) => reply.write(`event: message\ndata: ${inward(JSON.stringify(one))}\n\n`);
    telling.set(id, tell);
    // A client that closes its connection cancels, as over HTTP.
    reply.on('close', () => {
      if (!waiting.delete(id)) return;
      telling.delete(id);
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    });
    const answered = await new Promise<Message>((done) => {
      waiting.set(id, done);
      send({ ...message, id });
    });
    telling.delete(id);
    waiting.delete(id);
    tell({ ...answered, id: message.id });
    reply.end();
  });
}
