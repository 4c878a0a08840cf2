import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What a server answered, as bytes: the head with its headers, and the body. */
export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

/**
 * One connection that is kept, written by hand: a client that parses more would need more of the two cores than what it measures. It asks one
 * thing at a time, and reads answers that say their length.
 */
export class Wire {
  readonly #socket: Socket;
  #parts: Buffer[] = [];
  #had = 0;
  /** Of the answer that comes; unknown until its head is there. */
  #wanted: { readonly whole: number; readonly head: number } | null = null;
  #done: ((answer: Answer) => void) | null = null;
  #failed: ((error: Error) => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (part: Buffer) => this.#heard(part));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('The connection ended.')));
  }

  static async to(port: number): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Wire(socket);
  }

  ask(request: Buffer | string): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#done = done;
      this.#failed = failed;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = null;
    this.#socket.destroy();
  }

  #heard(part: Buffer): void {
    this.#parts.push(part);
    this.#had += part.length;
    if (this.#wanted === null) {
      const so_far = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
      const end = so_far.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = /\r\ncontent-length: *([0-9]+)/i.exec(so_far.toString('latin1', 0, end));
      this.#wanted = { head: end + 4, whole: end + 4 + Number(length?.[1] ?? 0) };
    }
    const { whole, head } = this.#wanted;
    if (this.#had < whole) return;
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const done = this.#done!;
    [this.#parts, this.#had, this.#wanted, this.#done, this.#failed] = [[], 0, null, null, null];
    done({
      status: Number(all.toString('latin1', 9, 12)),
      head: all.toString('latin1', 0, head),
      body: all.subarray(head),
    });
  }
}

/** A request as bytes. */
export function requestOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host: `localhost:${port}`,
    ...headers,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`,
  );
}
