import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { migratePostgresStore } from '../../src/store/postgres/store.ts';
import { writeConfig } from '../journey/postgres-host.ts';
import { APPLICATION, OWNER, postgres, urlOf } from '../store/postgres-place.ts';
import { keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { expectError, type Intent, makeProject, type Project, talkAt, thrice } from './project.ts';
import { SECRET } from './remote-scene.ts';

/** A backup is made by one command, and restored by another at a terminal, as after the loss of a host or of a server. */

vi.setConfig({ testTimeout: 180_000 });

const server = postgres();
const QUESTION = 'told you: ';
const PARTS = ['keyturn.yaml', 'tools.yaml', 'policies'];

interface Place {
  /** Puts the project into its store, while it is empty. */
  begin(folder: string): void;
  /** Where the backup goes after the loss, in keyturn.yaml. */
  after(folder: string): Promise<void>;
}

const PLACES: Readonly<Record<string, Place>> = {
  'from SQLite to SQLite': { begin: () => {}, after: async () => {} },
  'from PostgreSQL to another database': {
    begin: (folder) => writeConfig(folder, 'whole', urlOf(server().server, APPLICATION)),
    after: async (folder) => writeConfig(folder, 'whole', await database('another')),
  },
  'from PostgreSQL to SQLite': {
    begin: (folder) => writeConfig(folder, 'small', urlOf(server().server, APPLICATION)),
    after: async (folder) => writeConfig(folder, 'small', 'sqlite'),
  },
  'from SQLite to PostgreSQL': {
    begin: () => {},
    after: async (folder) => writeConfig(folder, 'default', await database('grown')),
  },
};

/** Migrated, and empty: what a new server has. */
async function database(name: string): Promise<string> {
  await server().sql(`CREATE DATABASE ${name} OWNER ${OWNER.user}`);
  const at = (who: typeof OWNER) => server().server.url({ ...who, database: name });
  await migratePostgresStore({ url: at(OWNER), application: APPLICATION.user });
  return at(APPLICATION);
}

interface Backed {
  readonly project: Project;
  readonly intent: Intent;
  readonly folder: string;
  readonly typed: string;
}

async function backedUp({ begin }: Place): Promise<Backed> {
  const home = scratch();
  begin(home);
  const project = await makeProject(home);
  const intent = await project.propose('greet', { name: 'Ada' });
  await project.ready(intent);
  const folder = join(scratch(), 'backup');
  const made = await project.run('backup', folder);
  expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('with its head') });
  const { ledger_key } = JSON.parse(readFileSync(join(home, '.keyturn', 'ledger.json'), 'utf8'));
  return { project, intent, folder, typed: ledger_key.slice('sha256:'.length).slice(0, 16) };
}

/** A clone of the project on a host that has nothing else. */
async function newHost({ project }: Backed, { after }: Place): Promise<string> {
  const at = scratch();
  for (const name of PARTS) cpSync(join(project.folder, name), join(at, name), { recursive: true });
  await after(at);
  return at;
}

describe.each(Object.entries(PLACES))('a backup %s', (_, place) => {
  it('is restored once a human typed the fingerprint, and opens once a human accepted it', async () => {
    const b = await backedUp(place);
    const cwd = await newHost(b, place);
    const restore = ['restore', b.folder];
    const run = (...words: string[]) => keyturn(words, { cwd });
    const isUntouched = () => !existsSync(join(cwd, '.keyturn'));

    // Without a terminal no human is asked, and what is piped in is no answer.
    expectError('NO_TERMINAL', await keyturn(restore, { cwd, stdin: `${b.typed}\n` }));
    const declined = await talkAt({ cwd }, restore, [QUESTION, '']);
    expectError('CONFIRMATION_DECLINED', declined);
    expect(declined.screen).toMatch(/Founded by: +alice, key /);
    const other = await talkAt({ cwd }, restore, ...thrice(QUESTION, '0123456789abcdef'));
    expectError('CONFIRMATION_WRONG', other);
    expectError('CONFIRMATION_WRONG', await talkAt({ cwd }, restore, ...thrice(QUESTION, b.typed.slice(1))));
    expect(isUntouched()).toBe(true);

    const restored = await talkAt({ cwd }, restore, [QUESTION, 'a typing error'], [QUESTION, b.typed]);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain('[OK] Restored ');
    expect(restored.stdout).toContain('keyturn ledger accept-head --reason');
    expect(restored.screen + restored.stdout).not.toContain(APPLICATION.password);
    expectError('KEPT_HEAD_INVALID', await run('list'));

    const accept = ['ledger', 'accept-head', '--reason', 'the disk broke'];
    expect(await talkAt({ cwd }, accept, SECRET)).toMatchObject({ code: 0 });
    expect((await run('status')).stdout).toContain('FROZEN');
    expect(await talkAt({ cwd }, ['unfreeze', '--reason', 'looked'], SECRET)).toMatchObject({ code: 0 });
    expect((await run('run', b.intent.id, b.intent.hash)).stderr).toContain('LEDGER_SET_BACK');
    for (const words of [
      ['ledger', 'verify', '--deep'],
      ['store', 'verify', '--deep'],
    ])
      expect(await run(...words)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a restore on the host that has the ledger', () => {
  it('asks nothing, and needs no terminal', async () => {
    const place = PLACES['from SQLite to SQLite']!;
    const b = await backedUp(place);
    const { stdout, code } = await b.project.run('restore', b.folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Nothing is forgotten')]);
    await b.project.propose('greet', { name: 'Eve' });
    expectError('BACKUP_BEHIND', await b.project.run('restore', b.folder));
  });

  it('into another store asks again', async () => {
    const place = PLACES['from SQLite to PostgreSQL']!;
    const b = await backedUp(place);
    const cwd = b.project.folder;
    writeConfig(cwd, 'default', await database('moved'));
    expectError('STORE_ELSEWHERE', await b.project.run('list'));
    expectError('NO_TERMINAL', await b.project.run('restore', b.folder));
    expectError('STORE_ELSEWHERE', await b.project.run('list'));
    const restored = await talkAt({ cwd }, ['restore', b.folder], [QUESTION, b.typed]);
    expect(restored.stdout).toContain('Nothing is forgotten that was kept here.');
    expect((await b.project.run('ledger', 'verify', '--deep')).code).toBe(0);
  });

  it('of a folder that was changed is refused before anybody is asked', async () => {
    const place = PLACES['from SQLite to SQLite']!;
    const b = await backedUp(place);
    const cwd = await newHost(b, place);
    writeFileSync(join(b.folder, 'backup.json'), '{}');
    expectError('BACKUP_DAMAGED', await talkAt({ cwd }, ['restore', b.folder]));
    expect(existsSync(join(cwd, '.keyturn'))).toBe(false);
  });
});
