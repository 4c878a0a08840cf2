import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { authority } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { serveProcess } from './serve-process.ts';
import { acted, call, refusalIn, SAY, serving, session, withToken } from './service.ts';

const server = postgres();

type At = { readonly address: string };
const readyNow = async (s: At) => {
  const { status, body } = await call(s, '/readyz');
  return { status, reasons: body.reasons as string[] };
};
const proposing = (s: At, token: string, what: string) =>
  call(s, '/v1/intents/propose', { ...SAY, idempotency_key: `key-of-a-test-${what}` }, { token });

describe('while it serves', () => {
  it('a database that is gone is said, nothing is taken meanwhile, and all of it goes on when it is back', async () => {
    const p = await shared(server(), 'gone');
    const { token } = await withToken(p, 'bot');
    const s = await serving(p, { most: 2 });
    await until(async () => (await readyNow(s)).status === 200);
    const before = await proposing(s, token, 'before');
    expect(before.status).toBe(200);
    await server().server.kill();
    await until(async () => (await readyNow(s)).status === 503);
    expect((await readyNow(s)).reasons).toContain('STORE_UNREACHABLE');
    expect(refusalIn(await proposing(s, token, 'meanwhile'))).toEqual([503, 'STORE_UNREACHABLE']);
    expect((await call(s, '/livez')).status).toBe(200);
    await server().server.start();
    await until(async () => (await readyNow(s)).status === 200);
    expect((await proposing(s, token, 'before')).body.intent_id).toBe(before.body.intent_id);
    const { intent_id } = (await proposing(s, token, 'meanwhile')).body;
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    const told = await call(s, '/v1/intents/waitFor', { intent_id }, { token });
    expect(told.body).toMatchObject({ status: 'succeeded' });
    await p.keyturn.ledger.verify({ deep: true });
  }, 240_000);

  it('a ledger file that is taken away is said, nothing is taken meanwhile, and a new start goes on when it is back', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    const s = await serveProcess(p, '--no-execute');
    const { child } = s;
    const before = await proposing(s, token, 'before');
    expect(before.status).toBe(200);
    const { store } = p.keyturn.layout;
    renameSync(store, `${store}.away`);
    expect(refusalIn(await proposing(s, token, 'meanwhile'))).toEqual([503, 'WRITE_FAILED']);
    expect((await readyNow(s)).reasons).toContain('STORE_MISSING');
    renameSync(`${store}.away`, store);
    child.kill('SIGTERM');
    await once(child, 'exit');
    const next = await serveProcess(p, '--no-execute');
    expect((await proposing(next, token, 'before')).body.intent_id).toBe(before.body.intent_id);
    expect((await proposing(next, token, 'meanwhile')).status).toBe(200);
    const again = await Keyturn.open({ at: p.root });
    onTestFinished(() => again.close());
    await again.ledger.verify({ deep: true });
  }, 120_000);

  it('a clock that jumps is said, nothing is taken meanwhile, and it goes on when the clock is right', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    let off_ms = 0;
    const clock = () => new Date(Date.now() + off_ms);
    const s = await serving(p, {}, { clock });
    const { intent_id } = (await proposing(s, token, 'right')).body;
    const { hash } = await p.keyturn.intents.get({ intent_id });
    const cookie = await session(s);
    const approve = () => acted(s, '/v1/intents/approve', { intent_id, hash }, p.ada, cookie);
    for (const [jump_ms, code] of [
      [limits.clock_step_ms + 60_000, 'CLOCK_AHEAD'],
      [-(limits.clock_skew_ms + 60_000), 'CLOCK_BEHIND'],
    ] as const) {
      off_ms = jump_ms;
      expect(await readyNow(s)).toEqual({ status: 503, reasons: [code] });
      expect(refusalIn(await approve())).toEqual([503, code]);
      off_ms = 0;
      expect((await readyNow(s)).status).toBe(200);
    }
    expect((await approve()).status).toBe(200);
    await p.keyturn.ledger.verify({ deep: true });
  }, 120_000);

  it('a disk that is full is said, nothing is taken meanwhile, and a new start goes on when there is room', async () => {
    const p = await authority();
    const { token } = await withToken(p, 'bot');
    const s = await serveProcess(p, '--no-execute');
    const { child } = s;
    const before = await proposing(s, token, 'before');
    expect(before.status).toBe(200);
    const full = spawn(
      'strace',
      ['-f', '-qq', '-p', String(child.pid), '-e', 'trace=pwrite64', '-e', 'inject=pwrite64:error=ENOSPC'],
      { stdio: 'ignore' },
    );
    onTestFinished(() => void full.kill('SIGKILL'));
    let tries = 0;
    let told = await proposing(s, token, `full-${tries}`);
    while (told.status === 200) told = await proposing(s, token, `full-${++tries}`);
    expect(refusalIn(told)).toEqual([503, 'DISK_FULL']);
    full.kill('SIGTERM');
    await once(full, 'exit');
    // What an open file holds after a failed write is not known: it is read, and written again by another process.
    expect(refusalIn(await proposing(s, token, `full-${tries}`))).toEqual([503, 'WRITE_FAILED']);
    expect(await readyNow(s)).toEqual({ status: 503, reasons: ['WRITE_FAILED'] });
    expect((await call(s, '/v1/intents/list', {}, { token })).status).toBe(200);
    child.kill('SIGTERM');
    await once(child, 'exit');
    const next = await serveProcess(p, '--no-execute');
    expect((await proposing(next, token, `full-${tries}`)).status).toBe(200);
    expect((await proposing(next, token, 'before')).body.intent_id).toBe(before.body.intent_id);
    await p.keyturn.ledger.verify({ deep: true });
  }, 120_000);
});
