import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { elapsed } from './processes.ts';

/**
 * What the proxy does to the next message of a client that holds the given text:
 * `answer` lets it through and cuts the connection when the server answers; `ask` cuts it before the message reaches
 * the server; `late` cuts it, and sends the message on a little later all the same: it has happened when the server is done with it.
 */
export type Cut = 'answer' | 'ask' | 'late';

export interface Proxy {
  readonly port: number;
  /** Resolves when it has happened. */
  cutAt(text: string, cut: Cut): Promise<void>;
  /** No new connections, and an end to those that are there. */
  shut(): void;
  open(): Promise<void>;
  close(): Promise<void>;
}

const LATE_ms = 300;

/** A small TCP proxy on this machine. */
export async function proxyTo(target_port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let armed: { text: string; cut: Cut; done: () => void } | null = null;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(target_port, '127.0.0.1');
    let is_mute = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes: Buffer) => {
      const hit = armed && bytes.includes(armed.text) ? armed : null;
      if (!hit) return void (upstream.destroyed || upstream.write(bytes));
      armed = null;
      is_mute = true;
      cutOff(hit.cut, client, upstream, bytes, hit.done);
    });
    upstream.on('data', (bytes) => {
      if (!is_mute) client.write(bytes);
    });
    client.on('end', () => upstream.end());
    upstream.on('end', () => client.end());
    upstream.on('close', () => client.destroy());
    client.on('close', () => {
      if (!is_mute) upstream.destroy();
    });
  });

  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  };
  const port = await listen(0);
  const shut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    cutAt: (text, cut) =>
      new Promise((done) => {
        armed = { text, cut, done };
      }),
    shut,
    open: async () => void (await listen(port)),
    close: async () => shut(),
  };
}

function cutOff(cut: Cut, client: Socket, upstream: Socket, bytes: Buffer, done: () => void): void {
  if (cut === 'answer') {
    upstream.once('data', () => {
      client.destroy();
      upstream.destroy();
      done();
    });
    upstream.write(bytes);
    return;
  }
  client.destroy();
  upstream.once('close', done);
  if (cut === 'ask') upstream.destroy();
  else
    void elapsed(LATE_ms, 'the message comes late').then(() => {
      if (!upstream.destroyed) upstream.end(bytes);
    });
}
