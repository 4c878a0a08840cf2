import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { authority } from '../journey/authority.ts';
import { heard, socketTo } from './raw.ts';
import { serveProcess } from './serve-process.ts';
import { call, refusalIn, SAY, withToken } from './service.ts';

/** Bodies of 10 MB and more, at a service that is a process of its own. */

vi.setConfig({ testTimeout: 120_000 });

const MB = 1_000_000;
/** Entry points that read a body, each in its own way, and one that answers an agent before it reads any. */
const PATHS = {
  '/v1/intents/propose': 'INPUT_TOO_LARGE',
  '/v1/intents/list': 'INPUT_TOO_LARGE',
  '/v1/session': 'INPUT_TOO_LARGE',
  '/v1/system/freeze': 'INPUT_TOO_LARGE',
  '/mcp': 'INPUT_TOO_LARGE',
  '/v1/acts/draft': 'NOT_FOR_AGENTS',
};
const EACH = Object.entries(PATHS).map(([path, code]) => ({
  path,
  code,
  status: code === 'INPUT_TOO_LARGE' ? 413 : 403,
}));
const MCP = { accept: 'application/json, text/event-stream' };

async function served() {
  const p = await authority();
  const { token } = await withToken(p, 'bot');
  const s = await serveProcess(p, '--no-execute');
  const port = Number(new URL(s.address).port);
  const head = (path: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: Bearer ${token}\r\nAccept: ${MCP.accept}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
  /** It still does what it is for. */
  const goesOn = async () => {
    expect((await call(s, '/v1/intents/propose', SAY, { token })).status).toBe(200);
    expect(s.child.exitCode).toBe(null);
    expect(s.stderr()).toBe('');
  };
  const memory = () =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${s.child.pid}/status`, 'utf8'))![1]) * 1024;
  return { ...s, port, token, head, goesOn, memory };
}

/** Writes until the other side has enough, or all of it is written. */
async function poured(socket: Socket, part: string, times: number): Promise<number> {
  let sent = 0;
  for (; sent < times && !socket.destroyed && socket.writable; sent += 1)
    if (!socket.write(part))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
  return sent;
}

describe('a body of 10 MB', () => {
  it('that is sent is refused at each entry point, and the service goes on', async () => {
    const s = await served();
    const text = `{"text":"${'x'.repeat(10 * MB)}"}`;
    for (const { path, code, status } of EACH) {
      const told = await call(s, path, text, { token: s.token, headers: MCP });
      expect([told.status, told.text], path).toEqual([status, expect.stringContaining(code)]);
    }
    expect(refusalIn(await call(s, '/v1/session', text))).toEqual([413, 'INPUT_TOO_LARGE']);
    await s.goesOn();
  });

  it('that is announced and never sent is refused at once, and so is one in chunks without an end', async () => {
    const s = await served();
    for (const { path, code, status } of EACH) {
      const said = await socketTo(s);
      said.write(s.head(path, `Content-Length: ${10 * MB}`));
      expect(await heard(said, new RegExp(code)), path).toContain(`HTTP/1.1 ${status} `);
    }
    const before = s.memory();
    for (const { path, code, status } of EACH) {
      const endless = await socketTo(s);
      const answer = heard(endless, new RegExp(code)).catch(() => '');
      endless.write(s.head(path, 'Transfer-Encoding: chunked'));
      const sent = await poured(endless, `10000\r\n${' '.repeat(65_536)}\r\n`, 4_000);
      expect(await answer, path).toContain(`HTTP/1.1 ${status} `);
      // It was not read to the end: there was none.
      expect(sent, path).toBeLessThan(4_000);
    }
    expect(s.memory() - before).toBeLessThan(100 * MB);
    await s.goesOn();
  });

  it('from many at once is refused to each', async () => {
    const s = await served();
    const text = `{"text":"${'x'.repeat(10 * MB)}"}`;
    const told = await Promise.all(
      Array.from({ length: 16 }, () => call(s, '/v1/intents/list', text, { token: s.token })),
    );
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set([413]));
    await s.goesOn();
  });
});
