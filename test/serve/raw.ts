import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Service } from './service.ts';

/** A bare connection, for what no client would send. */
export async function socketTo({ port }: Pick<Service, 'port'>): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}

/** What was answered on a bare connection until it ended, or until this much was. */
export async function heard(socket: Socket, until: RegExp): Promise<string> {
  let text = '';
  for await (const part of socket) {
    text += String(part);
    if (until.test(text)) break;
  }
  return text;
}
