import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import type { Peer, PeerCommand } from '../effect/peer.ts';
import { Redactor } from '../effect/redact.ts';
import { refuse } from '../refusal.ts';
import { guardedLookup, requireTarget } from './address.ts';
import { headerOf, namedBy } from './message-headers.ts';

/** An MCP server that is asked over Streamable HTTP. It is told what stands here, and nothing about the caller of the gate. */
export interface WebPeerCommand
  extends Pick<PeerCommand, 'line_bytes' | 'onLine' | 'onEnd' | 'redacted' | 'stderr_bytes'> {
  readonly url: string;
  /** Networks that are not public and may be connected to all the same. */
  readonly allow: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

interface Sent {
  readonly id: unknown;
  readonly headers: Record<string, string>;
}

/** Talks to a server message by message, as to a program line by line. No redirect is followed, and each message is sent once. */
export function openWebPeer(command: WebPeerCommand): Peer {
  const url = new URL(command.url);
  requireTarget(url, command.allow, 'MCP_ADDRESS_DENIED');
  return new WebPeer(url, command);
}

class WebPeer implements Peer {
  readonly #url: URL;
  readonly #command: WebPeerCommand;
  readonly #agent: Agent;
  readonly #going = new Set<ClientRequest>();
  #session: string | null = null;
  #version: string | null = null;
  #said = '';
  #is_over = false;

  constructor(url: URL, command: WebPeerCommand) {
    this.#url = url;
    this.#command = command;
    this.#agent =
      url.protocol === 'https:' ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  }

  /** Resolves when the answer was told. Rejects where the server gave none: then it is not known what it did. */
  async send(line: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#is_over) refuse('MCP_CALL_LOST', 'The connection has ended.');
    const sent = this.#about(line);
    const answer = await this.#ask('POST', { ...sent.headers, ...headers }, line);
    if (sent.id === undefined) return void answer.resume();
    if (answer.statusCode === 404 && this.#session !== null) this.#over('ended');
    const session = answer.headers['mcp-session-id'];
    if (typeof session === 'string') this.#session = session;
    const is_answered = await this.#read(answer, sent.id);
    if (is_answered) return;
    this.#said = `It answers with HTTP ${answer.statusCode} and no message.`;
    refuse('MCP_CALL_LOST', this.#said);
  }

  /** What a proxy on the way may look at is what the message says. */
  #about(line: string): Sent {
    const { id, method, params } = JSON.parse(line) as { id?: unknown; method: string; params?: Params };
    const stateless = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
    const version = stateless ?? this.#version;
    const named = namedBy(method, params ?? {});
    return {
      id,
      headers: {
        ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
        ...(stateless !== undefined && { 'mcp-method': method }),
        ...(stateless !== undefined && named !== null && { 'mcp-name': headerOf(named) }),
      },
    };
  }

  #ask(
    method: 'POST' | 'GET',
    headers: Record<string, string>,
    body: string | null,
  ): Promise<IncomingMessage> {
    const ask = this.#url.protocol === 'https:' ? requestTls : request;
    return new Promise((done, failed) => {
      const sent = ask(this.#url, {
        method,
        agent: this.#agent,
        lookup: guardedLookup(this.#url, this.#command.allow, 'MCP_ADDRESS_DENIED'),
        headers: {
          ...this.#command.headers,
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          'user-agent': 'keyturn',
          ...(body !== null && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
          ...(this.#session !== null && { 'mcp-session-id': this.#session }),
          ...headers,
        },
      });
      this.#going.add(sent);
      sent.once('close', () => this.#going.delete(sent));
      sent.once('response', done);
      sent.once('error', (error) => {
        this.#said = error.message;
        failed(error);
      });
      sent.end(body ?? undefined);
    });
  }

  /** Tells every message of an answer. True where one of them answers this id. */
  async #read(answer: IncomingMessage, id: unknown): Promise<boolean> {
    let is_answered = false;
    const tell = (bytes: Buffer) => {
      const line = this.#withoutSecrets(bytes);
      is_answered ||= this.#heard(line, id);
      this.#command.onLine(line);
    };
    const type = answer.headers['content-type'] ?? '';
    if (type.startsWith('text/event-stream')) await this.#eachEvent(answer, tell);
    else {
      const bytes = await this.#whole(answer);
      if (bytes !== null && bytes.length > 0) tell(bytes);
    }
    return is_answered;
  }

  #heard(line: Buffer, id: unknown): boolean {
    try {
      const said = JSON.parse(line.toString('utf8')) as { id?: unknown; method?: unknown; result?: Params };
      const is_answer = said.id === id && said.method === undefined;
      const version = is_answer ? said.result?.protocolVersion : undefined;
      if (typeof version === 'string') {
        this.#version = version;
        this.#listen();
      }
      return is_answer;
    } catch {
      return false;
    }
  }

  /** What a server with a handshake says unasked. One that offers no such stream says nothing. */
  #listen(): void {
    if (this.#is_over) return;
    const version = { 'mcp-protocol-version': this.#version! };
    void this.#ask('GET', version, null)
      .then((answer) => {
        answer.socket.unref();
        const is_stream = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
        if (answer.statusCode !== 200 || !is_stream) return void answer.destroy();
        return this.#eachEvent(answer, (bytes) => this.#command.onLine(this.#withoutSecrets(bytes)));
      })
      .catch(() => {});
  }

  async #eachEvent(answer: IncomingMessage, tell: (bytes: Buffer) => void): Promise<void> {
    let rest = '';
    let data: string[] = [];
    let chars = 0;
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      const lines = `${rest}${chunk as string}`.split(/\r\n|\n|\r/);
      rest = lines.pop()!;
      chars += (chunk as string).length;
      if (chars > this.#command.line_bytes) return this.#over('line too long');
      for (const line of lines) {
        if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
        if (line !== '') continue;
        chars = rest.length;
        if (data.some((one) => one !== '')) tell(Buffer.from(data.join('\n')));
        data = [];
      }
    }
  }

  async #whole(answer: IncomingMessage): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      if (bytes > this.#command.line_bytes) {
        this.#over('line too long');
        return null;
      }
      parts.push(chunk as Buffer);
    }
    return Buffer.concat(parts);
  }

  #withoutSecrets(bytes: Buffer): Buffer {
    const redactor = new Redactor(this.#command.redacted ?? []);
    return Buffer.concat([redactor.take(bytes), redactor.end()]);
  }

  #over(why: Parameters<PeerCommand['onEnd']>[0]): void {
    if (this.#is_over) return;
    this.#is_over = true;
    for (const one of this.#going) one.destroy();
    this.#agent.destroy();
    this.#command.onEnd(why);
  }

  kill(): void {
    this.#over('ended');
  }

  stderr(): Buffer {
    return this.#withoutSecrets(Buffer.from(this.#said.slice(0, this.#command.stderr_bytes)));
  }
}

type Params = Readonly<Record<string, unknown>> & { readonly _meta?: Readonly<Record<string, unknown>> };
