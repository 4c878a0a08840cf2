import { chmodSync, closeSync, constants, openSync, renameSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, request } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { isReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Problem } from './status.ts';

/** A socket beside the ledger, for the terminals of the account that may read that folder. A browser cannot get there. */

/** The path by which a socket in this folder is named: that of a socket has 107 bytes at most, and a project can lie deeper. */
function within<T>(path: string, act: (short: string) => T): { value: T; letGo: () => void } {
  const fd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  const folder = process.platform === 'linux' ? `/proc/self/fd/${fd}` : dirname(path);
  try {
    return { value: act(join(folder, basename(path))), letGo: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export interface Local {
  close(): Promise<void>;
}

/** Null where this file system has no sockets: then only the terminal goes without. */
export async function listenLocally(path: string, listener: RequestListener): Promise<Local | null> {
  const server = createServer(listener);
  // No other account can open it, not for a moment: it gets its name only when it has its mode.
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const { value: is_listening, letGo } = within(
    draft,
    (short) =>
      new Promise<boolean>((done) => {
        server.once('error', () => done(false));
        server.listen({ path: short }, () => done(true));
      }),
  );
  if (!(await is_listening)) {
    letGo();
    return null;
  }
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  return {
    close: () =>
      new Promise((done) => {
        rmSync(path, { force: true });
        server.close(() => {
          letGo();
          done();
        });
        server.closeAllConnections();
      }),
  };
}

/** Asks the service of this project, if one runs on this machine. */
export async function askLocally(path: string, at: string, asked: object): Promise<unknown> {
  const sent = JSON.stringify(asked);
  const { value, letGo } = openFolder(path, (short) => send(short, at, sent));
  try {
    const { status, text } = await value;
    if (status < 400) return JSON.parse(text);
    const { code, detail, facts } = JSON.parse(text) as Problem;
    throw new Refusal(isReasonCode(code) ? code : 'INTERNAL', detail, facts);
  } finally {
    letGo();
  }
}

function openFolder<T>(path: string, act: (short: string) => T) {
  try {
    return within(path, act);
  } catch {
    return refuse('SERVICE_MISSING');
  }
}

function send(socketPath: string, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((done, failed) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asking = request({ socketPath, path, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => done({ status: answer.statusCode ?? 500, text }));
      answer.on('error', failed);
    });
    asking.on('error', () => failed(new Refusal('SERVICE_MISSING')));
    asking.end(body);
  });
}
