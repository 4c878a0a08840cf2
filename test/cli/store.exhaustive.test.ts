import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { copyStore } from '../../src/keyturn.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { proposed } from '../store/facts.ts';
import { APPLICATION, postgres, urlOf } from '../store/postgres-place.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { cliPath, keyturn } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { answerOf, expectError, fileFolder, makeProject, type Project, talkAt } from './project.ts';

const server = postgres();
const folder = fileFolder();
let project: Project;

beforeAll(async () => {
  project = await makeProject(folder);
  const intent = await project.propose('greet', { name: 'Ada' });
  await project.ready(intent);
});

const url = () => urlOf(server().server, APPLICATION);
const open = () => url().replace(/:[^:@]*@/, '@');
const own = () => join(folder, '.keyturn', 'store.db');
const env = { PGPASSWORD: APPLICATION.password };

/** A human accepts at the terminal that the ledger is where keyturn.yaml says now. */
async function joined(): Promise<void> {
  const pinned = readFileSync(join(folder, '.keyturn', 'ledger.json'), 'utf8');
  const typed = JSON.parse(pinned).ledger_key.slice('sha256:'.length).slice(0, 16);
  const talk = await talkAt({ cwd: folder, env }, ['store', 'join'], ['told you: ', typed]);
  expect(talk.code, talk.stderr).toBe(0);
}

describe('store copy', () => {
  it('moves a project to PostgreSQL, where every command works, and back to the same head', async () => {
    const out = await project.run('store', 'copy', own(), url());
    expect(out).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('[OK] Both stores end with the same entry'),
    });
    expect(out.stdout).toContain(
      `To:      postgres://${APPLICATION.user}@127.0.0.1:${server().server.port}/keyturn`,
    );
    expect(out.stdout + out.stderr).not.toContain(APPLICATION.password);

    const head = await project.run('ledger', 'head');
    writeFileSync(join(folder, 'keyturn.yaml'), `version: 1\nstore: ${open()}\n`);
    const there = (...words: string[]) => keyturn(words, { cwd: folder, env });
    expectError('STORE_ELSEWHERE', await there('ledger', 'head'));
    await joined();
    expect(await there('ledger', 'head')).toEqual(head);
    for (const words of [
      ['ledger', 'verify', '--deep'],
      ['ledger', 'rebuild'],
      ['list'],
      ['status'],
      ['store', 'verify', '--deep'],
    ])
      expect(await there(...words)).toMatchObject({ code: 0, stderr: '' });
    expect(await there('propose', '--tool', 'greet', '--arg', 'name=Eve', '--by', 'bot')).toMatchObject({
      code: 0,
    });
    expect((await there('doctor')).stdout).toContain('state: ');
    expectError('STORE_DENIED', await project.run('list'));

    const back = answerOf(await there('store', 'copy', open(), 'back.db', '--json'));
    expect(back).toMatchObject({ result: { from: expect.not.stringContaining('secret'), resumed_at: 0 } });
    const forked = await there('store', 'copy', open(), own());
    expect(forked).toMatchObject({ code: 0 });
    const moved_on = await there('ledger', 'head');
    writeFileSync(join(folder, 'keyturn.yaml'), 'version: 1\n');
    expectError('STORE_ELSEWHERE', await project.run('ledger', 'head'));
    await joined();
    expect(await project.run('ledger', 'head')).toEqual(moved_on);
  });

  it('killed half way is resumed, and ends with the same entry', async () => {
    const store = await openSqliteStore({
      path: own(),
      tenant: 'default',
      clock: () => new Date(),
      mode: 'write',
    });
    const envelope = Buffer.from('an envelope');
    const named = {
      hash: sha256(envelope),
      effect_digest: sha256(envelope),
      registry_digest: sha256(envelope),
    };
    for (let i = 0; i < 8; i++)
      await Promise.all(
        Array.from({ length: 500 }, () => {
          const id = randomUUID();
          return store.commit({
            events: [proposed(id, { proposer: 'bot', ...named })],
            objects: [envelope],
          });
        }),
      );
    const { size, last } = await store.tip();
    await store.close();
    const target = join(scratch(), 'copy.db');
    const child = spawn(process.execPath, [cliPath(), 'store', 'copy', own(), target], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await once(child.stderr, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const answer = answerOf(
      await project.run('store', 'copy', own(), `sqlite:${target}`, '--json'),
    ) as never as {
      result: { resumed_at: number };
    };
    expect(answer).toMatchObject({ result: { entries: size, last } });
    expect(answer.result.resumed_at).toBeGreaterThan(0);
    expect(answer.result.resumed_at).toBeLessThan(size);
  });

  it('refuses another ledger, no ledger and a server that is not there, and shows no password', async () => {
    const other = scratch();
    await makeProject(other);
    expectError(
      'LEDGER_FORKED',
      await project.run('store', 'copy', join(other, '.keyturn', 'store.db'), own()),
    );
    expectError(
      'STORE_MISSING',
      await project.run('store', 'copy', join(other, 'nothing.db'), join(other, 'to.db')),
    );
    expectError('STORE_MISSING', await project.run('store', 'copy', own(), url(), '--tenant', 'nobody'));
    const away = server().server.url({ port: 1, password: 'hunter2hunter2' });
    for (const [code, words] of [
      ['STORE_UNREACHABLE', [own(), away]],
      ['STORE_DENIED', [own(), server().server.url({ password: 'hunter2hunter2' })]],
      ['USAGE', [own(), away, 'more']],
    ] as const) {
      const refused = await project.run('store', 'copy', ...words);
      expectError(code, refused);
      expect(refused.stderr).not.toContain('hunter2');
    }
  });
});

describe('store verify', () => {
  it('says what it looked at', async () => {
    const { stdout, code } = await project.run('store', 'verify');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\[OK\] The ledger of \d+ entries verifies, and all that is stored beside it follows/,
    );
    expect(answerOf(await project.run('store', 'verify', '--deep', '--json'))).toMatchObject({
      result: { store: own(), deep: true },
    });
  });

  it('finds state that was changed by hand, and an object that was', async () => {
    const place = scratch();
    const p = await makeProject(place);
    await p.propose('greet', { name: 'Ada' });
    const path = join(place, '.keyturn', 'store.db');
    sqlite(path, (db) => db.exec(`UPDATE projection SET status = 'approved' WHERE name = 'intent'`));
    expectError('PROJECTION_DRIFT', await p.run('store', 'verify'));
    expect(await p.run('ledger', 'rebuild', '--write')).toMatchObject({ code: 0 });
    sqlite(path, (db) => db.exec(`UPDATE object SET bytes = x'00'`));
    expectError('OBJECT_CORRUPT', await p.run('store', 'verify'));
  });

  it('finds any object that was taken away, and so does a copy; one that a human erased is not missed', async () => {
    const place = scratch();
    const p = await makeProject(place);
    const intent = await p.propose('greet', { name: 'Ada' });
    await p.ready(intent);
    const told = { intent_id: intent.id, hash: intent.hash };
    await p.inside((keyturn) => runSeen(keyturn, { ...told, confirm: async () => true }));
    const path = join(place, '.keyturn', 'store.db');
    const digests = sqlite(path, (db) => db.prepare('SELECT digest FROM object').all()).map(
      ({ digest }) => digest as string,
    );
    expect(digests.length).toBeGreaterThan(6);
    const target = join(scratch(), 'copy.db');
    for (const digest of digests) {
      const here = `WHERE digest = '${digest}'`;
      sqlite(path, (db) =>
        db.exec(`CREATE TABLE kept AS SELECT * FROM object ${here}; DELETE FROM object ${here}`),
      );
      await p.inside((keyturn) =>
        expectRefusal('OBJECT_MISSING', () => keyturn.ledger.verifyStore({ deep: true })),
      );
      const { facts } = await expectRefusal('OBJECT_MISSING', () =>
        copyStore({ at: place, from: path, to: target }),
      );
      expect(facts).toEqual({ missing: 1, first: digest });
      sqlite(path, (db) => db.exec('INSERT INTO object SELECT * FROM kept; DROP TABLE kept'));
    }
    expect(existsSync(target)).toBe(false);
    await p.inside((keyturn) =>
      keyturn.ledger.erase({ digest: intent.hash, reason: 'personal', signer: p.alice }),
    );
    expect(await p.run('store', 'verify', '--deep')).toMatchObject({ code: 0 });
    expect(await p.run('store', 'copy', path, target)).toMatchObject({ code: 0 });
    sqlite(target, (db) => db.exec('DELETE FROM object'));
    expect(await p.run('store', 'copy', path, target)).toMatchObject({ code: 0 });
    sqlite(path, (db) => db.exec('DELETE FROM object'));
    expectError('OBJECT_MISSING', await p.run('store', 'verify', '--deep'));
  });
});
