import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** What the fake server does when a client has said who it is, and with each message after that. No reply: it hangs up. */
export type Script = (message: Message, reply: (...parts: Buffer[]) => void) => void;

export interface Message {
  /** `startup`, or the letter of the message. */
  readonly type: string;
  readonly body: Buffer;
}

export interface FakePostgres {
  readonly port: number;
  /** The letters and bodies of all that clients sent after their startup message, over TLS as the server reads it. */
  readonly heard: Message[];
}

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../store/fixtures/${name}`, import.meta.url)));

/** A server that speaks the protocol as far as it asks for a password, and then whatever the script says. */
export async function fakePostgres(script: Script, path?: string): Promise<FakePostgres> {
  const heard: Message[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      if (first.length !== 8) return converse(socket, first, script, heard);
      socket.write('S');
      const secure = new TLSSocket(socket, {
        isServer: true,
        key: fixture('server.key'),
        cert: fixture('server.crt'),
      });
      secure.on('error', () => undefined);
      secure.once('data', (startup) => converse(secure, startup, script, heard));
    });
  });
  server.listen(path ?? { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: path === undefined ? (server.address() as { port: number }).port : 0, heard };
}

function converse(socket: Socket, startup: Buffer, script: Script, heard: Message[]): void {
  const reply = (...parts: Buffer[]) =>
    void (parts.length === 0 ? socket.destroy() : socket.write(Buffer.concat(parts)));
  let rest = Buffer.alloc(0);
  socket.on('data', (more) => {
    rest = Buffer.concat([rest, more]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = rest.readInt32BE(1) + 1;
      const message = { type: String.fromCharCode(rest[0]!), body: rest.subarray(5, end) };
      rest = rest.subarray(end);
      heard.push(message);
      script(message, reply);
    }
  });
  script({ type: 'startup', body: startup }, reply);
}

function message(letter: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function authentication(kind: number, body: Buffer | string = ''): Buffer {
  const code = Buffer.alloc(4);
  code.writeInt32BE(kind);
  return message('R', Buffer.concat([code, Buffer.from(body)]));
}

export const ask = {
  cleartext: authentication(3),
  md5: authentication(5, Buffer.from([1, 2, 3, 4])),
  kerberos: authentication(7),
  sasl: (...mechanisms: string[]) => authentication(10, `${mechanisms.join('\0')}\0\0`),
  saslContinue: (text: string) => authentication(11, text),
  saslFinal: (text: string) => authentication(12, text),
};

/** The client is let in, and may ask. */
export const welcome = Buffer.concat([authentication(0), message('Z', Buffer.from('I'))]);

/** What the server of a SCRAM exchange answers to the first message of its client. */
export function serverFirst({ body }: Message, iterations: number | string): Buffer {
  const nonce = /r=([^,]+)$/.exec(body.toString())![1];
  const salt = Buffer.from('sixteen bytes ok').toString('base64');
  return ask.saslContinue(`r=${nonce}and-more,s=${salt},i=${iterations}`);
}
