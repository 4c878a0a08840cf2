import { onTestFinished } from 'vitest';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import type { Heard } from './piped.ts';
import { headersOf } from './stage.ts';

const STREAM = 'application/json, text/event-stream';

interface Options {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** `/mcp` of a service in this process, with the odd server behind it and two agents that have tokens. */
export async function posted(more: object = {}, { most = 2 } = {}) {
  const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more } });
  await accepted(p.keyturn, 'odd', p.ada);
  const bot = await withToken(p, 'bot');
  const spy = await withToken(p, 'spy');
  const { address } = await serving(p, { most });
  const asked = (method: string, { token = bot.token, headers = {}, signal }: Options, body?: string) =>
    fetch(`${address}/mcp`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: STREAM, ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  /** One message, with the headers that its protocol asks for. */
  const send = (body: object, options: Options = {}) => {
    const headers = { 'content-type': 'application/json', ...headersOf(body), ...options.headers };
    return asked('POST', { ...options, headers }, JSON.stringify({ jsonrpc: '2.0', ...body }));
  };
  const post = async (body: object, options: Options = {}) => {
    const answer = await send(body, options);
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: what a test reads out of it
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as any };
  };
  /** What a client with a handshake is told unasked. */
  const stream = (options: Options = {}) => asked('GET', options);
  const session = async (options: Options = {}) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const { headers } = await send({ id: 1, method: 'initialize', params }, options);
    return { 'mcp-session-id': headers.get('mcp-session-id')! };
  };
  const waiting = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.map(({ intent_id }) => intent_id);
  /** A human approves and orders; the executor of the service runs it. */
  const turn = async (intent_id: string) => {
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
  };
  return { p, address, bot, spy, send, post, stream, session, waiting, turn };
}

/** The messages of a stream, as they come. */
export function heardFrom(answer: Response): Heard[] {
  const heard: Heard[] = [];
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => void reader.cancel().catch(() => {}));
  const reading = async () => {
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = `${rest}${value}`.split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('data: ')) heard.push(JSON.parse(line.slice(6)));
    }
  };
  reading().catch(() => {});
  return heard;
}
