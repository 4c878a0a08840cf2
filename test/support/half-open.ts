import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a server that can become a hole: connections stay open, and nothing comes through. */
export interface HalfOpen {
  readonly port: number;
  swallow(): void;
  /** The network is back. What was open is lost, and what is opened from now on works. */
  heal(): void;
  close(): void;
}

export async function halfOpenTo(target_port: number): Promise<HalfOpen> {
  const sockets = new Set<Socket>();
  let is_hole = false;
  const server = createServer((client) => {
    const upstream = connect(target_port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('data', (bytes) => {
        if (!is_hole && !to.destroyed) to.write(bytes);
      });
      from.on('close', () => {
        sockets.delete(from);
        if (!is_hole) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    is_hole = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    swallow: () => {
      is_hole = true;
    },
    heal: cut,
    close: () => {
      server.close();
      cut();
    },
  };
}
