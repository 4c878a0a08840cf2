import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';
import { serveProcess } from './serve-process.ts';
import { call, refusalIn, withToken } from './service.ts';

/** The disk of a server of PostgreSQL is full while a service works: a real one, of a few megabytes. */

const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
if (!can_mount)
  console.warn('NOT RUN: the test of a full disk of a server, because only root can mount one.');

const server = postgres();

const TABLES = ['entry', 'object', 'projection', 'claim'];

/** All that a commit writes is on a disk of its own. What is put there beside it leaves no room. */
async function smallDisk() {
  const folder = scratch();
  const { uid = 0, gid = 0 } = server().server.owner;
  chmodSync(folder, 0o711);
  const mounted = ['-t', 'tmpfs', '-o', `size=24m,uid=${uid},gid=${gid},mode=0700`, 'keyturn-test', folder];
  expect(spawnSync('mount', mounted).status).toBe(0);
  const { sql } = server();
  await sql(`CREATE TABLESPACE small LOCATION '${folder}'`);
  const move = async (to: string) => {
    for (const name of TABLES) await sql(`ALTER TABLE keyturn.${name} SET TABLESPACE ${to}`);
    const found = await sql(
      `SELECT indexname FROM pg_indexes WHERE schemaname = 'keyturn' AND tablename = ANY ($1)`,
      [TABLES],
    );
    for (const { indexname } of found) await sql(`ALTER INDEX keyturn."${indexname}" SET TABLESPACE ${to}`);
  };
  await move('small');
  onTestFinished(async () => {
    await move('pg_default');
    await sql('CHECKPOINT');
    await sql('DROP TABLESPACE small');
    expect(spawnSync('umount', ['--lazy', folder]).status).toBe(0);
  });
  let parts = 0;
  return {
    fill: () => {
      for (let { bavail, bsize } = statfsSync(folder); bavail > 0; { bavail, bsize } = statfsSync(folder))
        writeFileSync(join(folder, `ballast-${parts++}`), Buffer.alloc(Math.min(bavail * bsize, 1 << 20)));
    },
    free: () => {
      for (const name of readdirSync(folder).filter((one) => one.startsWith('ballast')))
        rmSync(join(folder, name));
    },
  };
}

it.skipIf(!can_mount)(
  'what does not fit is refused as declared, told as not ready, and taken when there is room again',
  async () => {
    const disk = await smallDisk();
    const p = await shared(server(), 'full', TOOLS);
    const { token } = await withToken(p, 'bot');
    const s = await serveProcess(p, '--no-execute');
    const ready = async () => {
      const { status, body } = await call(s, '/readyz');
      return [status, body.reasons];
    };
    const propose = (at: number) =>
      call(
        s,
        '/v1/intents/propose',
        { ...saying(at), idempotency_key: `key-of-a-test-number-${at}` },
        { token },
      );
    await until(async () => (await ready())[0] === 200);
    const taken = [(await propose(0)).body.intent_id];
    disk.fill();
    // What is left of the pages that there are fits.
    let told = await propose(1);
    for (let at = 2; told.status === 200; told = await propose(at++)) taken.push(told.body.intent_id);
    const at = taken.length;
    expect(refusalIn(told)).toEqual([503, 'DISK_FULL']);
    const { body: described } = await call(s, '/openapi.json', undefined, { token });
    expect(Object.keys(described.paths['/v1/intents/propose'].post.responses)).toContain('503');
    expect(told.headers.get('content-type')).toBe('application/problem+json');
    expect(await ready()).toEqual([503, ['DISK_FULL']]);
    expect((await call(s, '/livez')).status).toBe(200);
    // What was taken is read as before.
    const listed = async () =>
      (await call(s, '/v1/intents/list', { limit: 500 }, { token })).body.intents.map(
        (one: { intent_id: string }) => one.intent_id,
      );
    expect(new Set(await listed())).toEqual(new Set(taken));
    disk.free();
    await until(async () => (await ready())[0] === 200);
    const again = await propose(at);
    expect(again.status).toBe(200);
    taken.push(again.body.intent_id);
    expect((await propose(0)).body.intent_id).toBe(taken[0]);
    expect(new Set(await listed())).toEqual(new Set(taken));
    expect([s.child.exitCode, s.stderr()]).toEqual([null, '']);
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  },
  180_000,
);

const TOOLS = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 60000 } }
    cwd: /
    sandbox: none
    undo: none
`;

const saying = (at: number) => ({
  declared_goal: 'Say it.',
  effect: { kind: 'tool', tool: 'say', arguments: { word: `${at}`.padEnd(50_000, 'x') } },
});
