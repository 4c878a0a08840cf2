import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinLedger, Keyturn } from '../../src/keyturn.ts';
import { migratePostgresStore } from '../../src/store/postgres/store.ts';
import { talkAt, thrice } from '../cli/project.ts';
import { type Shared, shared, writeConfig } from '../journey/postgres-host.ts';
import { APPLICATION, OWNER, postgres, urlOf } from '../store/postgres-place.ts';
import { found } from '../support/project.ts';
import { keyturn } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const server = postgres();

/** Another database with a ledger of the same tenant, founded by another human: one line of keyturn.yaml leads there. */
async function otherServer(tenant: string): Promise<string> {
  await server().sql(`CREATE DATABASE other OWNER ${OWNER.user}`);
  const at = (who: typeof OWNER) => server().server.url({ ...who, database: 'other' });
  await migratePostgresStore({ url: at(OWNER), application: APPLICATION.user });
  const root = scratch();
  writeConfig(root, tenant, at(APPLICATION));
  await (await found(root, { which: 1 })).keyturn.close();
  return at(APPLICATION);
}

/** A further host: what is under version control, and nothing else. */
function furtherHost({ root }: Shared): string {
  const other = scratch();
  for (const name of ['keyturn.yaml', 'tools.yaml', 'policies', 'simulations'])
    cpSync(join(root, name), join(other, name), { recursive: true });
  return other;
}

const QUESTION = 'as the owner of the ledger told you: ';

describe('S5: a project whose ledger is on a server has one ledger', () => {
  it('another server in keyturn.yaml is refused by every command', async () => {
    const p = await shared(server(), 'swapped');
    const before = urlOf(server().server, APPLICATION);
    writeConfig(p.root, 'swapped', await otherServer('swapped'));
    for (const mode of ['read', 'write'] as const)
      await expectRefusal('STORE_ELSEWHERE', () => Keyturn.open({ at: p.root, mode }));
    for (const words of [
      ['status'],
      ['list'],
      ['doctor'],
      ['ledger', 'verify', '--deep'],
      ['store', 'verify'],
    ]) {
      const { code, stdout, stderr } = await keyturn(words, { cwd: p.root });
      expect(code, words.join(' ')).toBe(1);
      expect(`${stdout}${stderr}`, words.join(' ')).toContain('keyturn.yaml names');
    }
    await expectRefusal('LEDGER_FOREIGN', () => joinLedger({ at: p.root, confirm: async () => true }));
    writeConfig(p.root, 'swapped', before);
    await (await Keyturn.open({ at: p.root })).close();
  });

  it('the same ledger at another address is opened once a human has joined it there', async () => {
    const p = await shared(server(), 'renamed');
    const pin = () => readFileSync(join(p.root, '.keyturn', 'ledger.json'), 'utf8');
    const [before, there] = [pin(), urlOf(server().server, APPLICATION).replace('127.0.0.1', 'localhost')];
    expect(before).not.toContain(APPLICATION.user);
    expect(before).not.toContain(APPLICATION.password);
    writeConfig(p.root, 'renamed', there);
    const { facts } = await expectRefusal('STORE_ELSEWHERE', () => Keyturn.open({ at: p.root }));
    const [port] = /(?<=:)[0-9]+(?=\/)/.exec(there)!;
    expect(facts).toEqual({
      expected: `postgres://127.0.0.1:${port}/keyturn`,
      found: `postgres://localhost:${port}/keyturn`,
    });
    const no = () => joinLedger({ at: p.root, confirm: async () => false });
    await expectRefusal('CONFIRMATION_DECLINED', no);
    expect(pin()).toBe(before);
    const joined = await joinLedger({ at: p.root, confirm: async () => true });
    expect(joined.store).toContain('localhost');
    expect(pin()).toBe(before.replace('127.0.0.1', 'localhost'));
    await (await Keyturn.open({ at: p.root })).close();
    // Another role and another password are the same store.
    writeConfig(
      p.root,
      'renamed',
      there.replace(APPLICATION.user, OWNER.user).replace(APPLICATION.password, OWNER.password),
    );
    await (await Keyturn.open({ at: p.root, mode: 'read' })).close();
  });

  it('a further host joins after the beginning of the fingerprint was typed, and not before', async () => {
    const p = await shared(server(), 'joined');
    const { key: fingerprint } = await p.keyturn.ledger.head();
    const at = furtherHost(p);
    const short = fingerprint.slice('sha256:'.length, 'sha256:'.length + 16);

    expect((await keyturn(['store', 'join'], { cwd: at })).stderr).toContain('NO_TERMINAL');
    const wrong = await talkAt({ cwd: at }, ['store', 'join'], ...thrice(QUESTION, 'f'.repeat(16)));
    expect(wrong.stderr).toContain('CONFIRMATION_WRONG');
    expect(existsSync(join(at, '.keyturn'))).toBe(false);

    const right = await talkAt({ cwd: at }, ['store', 'join'], [QUESTION, short]);
    expect(right.code, right.stderr).toBe(0);
    for (const shown of [fingerprint, 'Founded by: ada', p.ada.public_key])
      expect(right.screen).toContain(shown);
    const file = (root: string) => join(root, '.keyturn', 'ledger.json');
    expect(readFileSync(file(at), 'utf8')).toBe(readFileSync(file(p.root), 'utf8'));
    expect(statSync(join(at, '.keyturn', 'keys')).mode & 0o777).toBe(0o700);
    await (await Keyturn.open({ at })).close();
    expect((await talkAt({ cwd: at }, ['store', 'join'])).stderr).toContain('PROJECT_EXISTS');
  });

  it('a host that was given the file of another host needs no more', async () => {
    const p = await shared(server(), 'given');
    const at = furtherHost(p);
    await joinLedger({ at, confirm: async () => true });
    rmSync(join(at, '.keyturn', 'ledger.json'));
    await expectRefusal('LEDGER_UNPINNED', () => Keyturn.open({ at }));
    cpSync(join(p.root, '.keyturn', 'ledger.json'), join(at, '.keyturn', 'ledger.json'));
    await (await Keyturn.open({ at })).close();
  });
});
