import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { check } from '../../src/cli/command/check.ts';
import { requireNotFrozen } from '../../src/cli/lane-freeze.ts';
import { copyStore, joinLedger, Keyturn } from '../../src/keyturn.ts';
import { AUTHORITY_TOOLS, authority, granted, type Intent } from '../journey/authority.ts';
import { found, PASSPHRASE, type Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { freshFolder, scratch } from '../support/scratch.ts';

/** A project of another human, with an intent that is approved and granted there. Made once: it is only copied from. */
const THEIRS: { made?: Promise<Project & Intent> } = {};
const foreign = () => (THEIRS.made ??= makeForeign());

async function makeForeign(): Promise<Project & Intent> {
  const root = freshFolder('keyturn-theirs-');
  const theirs = await found(root, { registry: AUTHORITY_TOOLS, which: 1 });
  const intent = await granted(theirs);
  await theirs.keyturn.close();
  return { ...theirs, ...intent };
}

const storeOf = (root: string) => join(root, '.keyturn', 'store.db');
const pinOf = (root: string) => join(root, '.keyturn', 'ledger.json');
const opens = (at: string, mode: 'read' | 'write' = 'write') => Keyturn.open({ at, mode });

async function closed(): Promise<Project> {
  const p = await authority();
  await p.keyturn.close();
  return p;
}

describe('S5: a project has one ledger, and every other one is refused', () => {
  it('another store in its place is refused, to read and to write, and says what was expected and found', async () => {
    const [ours, theirs] = [await closed(), await foreign()];
    copyFileSync(storeOf(theirs.root), storeOf(ours.root));
    for (const mode of ['read', 'write'] as const) {
      const { facts, message } = await expectRefusal('LEDGER_FOREIGN', () => opens(ours.root, mode));
      expect(message).toContain('Expected keyturn/');
      expect(facts.expected).not.toBe(facts.found);
    }
    const verdict = await check({
      command: 'check',
      operands: [theirs.intent_id, theirs.hash],
      options: { project: ours.root },
    });
    expect(verdict.refusal?.code).toBe('LEDGER_FOREIGN');
    expect(verdict.lines).toEqual(['[ERROR] Verification tool error']);
  });

  it('the look of the lane at a freeze is refused, too', async () => {
    const [ours, theirs] = [await closed(), await foreign()];
    const config = join(ours.root, 'keyturn.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('allow: false', 'allow: true'));
    copyFileSync(storeOf(theirs.root), storeOf(ours.root));
    const request = { queue: { folder: ours.root }, working_folder: ours.root, registry_path: null };
    const effect = { tool: 'say', cwd: ours.root, sandbox: 'none' };
    await expectRefusal('LEDGER_FOREIGN', () => requireNotFrozen(request as never, effect as never));
  });

  it('the ledger of another tenant in the same file is another one', async () => {
    const ours = await closed();
    const config = join(ours.root, 'keyturn.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('tenant: default', 'tenant: other'));
    await expectRefusal('STORE_MISSING', () => opens(ours.root));
  });

  it('init pins it in a file that says origin, founder and fingerprint, and that cannot be written', async () => {
    const ours = await authority();
    const pinned = JSON.parse(readFileSync(pinOf(ours.root), 'utf8'));
    const { origin, key: fingerprint } = await ours.keyturn.ledger.head();
    expect(pinned).toEqual({
      format: 'keyturn-ledger/1',
      origin,
      founder: { name: 'ada', key: ours.ada.public_key },
      ledger_key: fingerprint,
      store: 'sqlite',
    });
    expect(statSync(pinOf(ours.root)).mode & 0o777).toBe(0o444);
  });

  it.each<[string, (path: string) => void, string]>([
    ['missing', (path) => rmSync(path), 'is missing'],
    ['cut off', (path) => rewrite(path, (text) => text.slice(0, text.length / 2)), 'cannot be used'],
    ['empty', (path) => rewrite(path, () => ''), 'cannot be used'],
    ['without its last newline', (path) => rewrite(path, (text) => text.trimEnd()), 'one form'],
    [
      'with a key too much',
      (path) => rewrite(path, (text) => text.replace('{', '{"a":1,')),
      'cannot be used',
    ],
    ['a folder', asFolder, 'cannot be used'],
    ['a pipe', asPipe, 'cannot be used'],
    ['very large', (path) => rewrite(path, (text) => text + ' '.repeat(1 << 20)), 'cannot be used'],
  ])('a file that is %s is refused with a line that says so', async (_, damage, words) => {
    const ours = await closed();
    damage(pinOf(ours.root));
    for (const mode of ['read', 'write'] as const) {
      const { message } = await expectRefusal('LEDGER_UNPINNED', () => opens(ours.root, mode));
      expect(message).toContain(pinOf(ours.root));
      expect(message).toContain(words);
    }
  });

  it('a file that this user may not read is refused with a line that says so', async () => {
    const ours = await closed();
    for (const path of [ours.root, join(ours.root, '.keyturn')]) chmodSync(path, 0o755);
    const closed_keys = await notAsRoot(() =>
      expectRefusal('FILE_UNREADABLE', () => opens(ours.root, 'read')),
    );
    expect(closed_keys.message).toContain(join(ours.root, '.keyturn/keys'));
    chmodSync(join(ours.root, '.keyturn/keys'), 0o755);
    chmodSync(pinOf(ours.root), 0o000);
    const { message } = await notAsRoot(() =>
      expectRefusal('LEDGER_UNPINNED', () => opens(ours.root, 'read')),
    );
    expect(message).toContain(`${pinOf(ours.root)} cannot be used`);
  });

  it('the file of another project refuses the ledger of this one', async () => {
    const [ours, theirs] = [await closed(), await foreign()];
    rmSync(pinOf(ours.root));
    copyFileSync(pinOf(theirs.root), pinOf(ours.root));
    await expectRefusal('LEDGER_FOREIGN', () => opens(ours.root));
  });

  it('one byte of founder or fingerprint that differs refuses it', async () => {
    const ours = await closed();
    for (const field of ['"key":"', 'sha256:', '"name":"']) {
      const before = readFileSync(pinOf(ours.root), 'utf8');
      rewrite(pinOf(ours.root), (text) => swapped(text, text.indexOf(field) + field.length));
      await expectRefusal('LEDGER_FOREIGN', () => opens(ours.root));
      rewrite(pinOf(ours.root), () => before);
    }
    await (await opens(ours.root)).close();
  });

  it('joining pins what a human confirmed, and nothing that they did not', async () => {
    const ours = await closed();
    rmSync(pinOf(ours.root));
    await expectRefusal('CONFIRMATION_DECLINED', () =>
      joinLedger({ at: ours.root, confirm: async () => false }),
    );
    await expectRefusal('LEDGER_UNPINNED', () => opens(ours.root));
    const joined = await joinLedger({ at: ours.root, confirm: async () => true });
    expect(joined.founder).toEqual({ name: 'ada', key: ours.ada.public_key });
    await (await opens(ours.root)).close();
    await expectRefusal('PROJECT_EXISTS', () => joinLedger({ at: ours.root, confirm: async () => true }));
  });

  it('a project that has joined one ledger does not join another', async () => {
    const [ours, theirs] = [await closed(), await foreign()];
    copyFileSync(storeOf(theirs.root), storeOf(ours.root));
    await expectRefusal('LEDGER_FOREIGN', () => joinLedger({ at: ours.root, confirm: async () => true }));
  });

  it('the ledger is the same one after it moved to another file', async () => {
    const ours = await closed();
    const moved = join(scratch(), 'moved.db');
    await copyStore({ at: ours.root, from: storeOf(ours.root), to: moved });
    for (const suffix of ['', '-wal', '-shm']) rmSync(storeOf(ours.root) + suffix, { force: true });
    copyFileSync(moved, storeOf(ours.root));
    const again = await opens(ours.root);
    expect((await again.unlock('ada', PASSPHRASE)).public_key).toBe(ours.ada.public_key);
    await again.close();
  });
});

function rewrite(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  chmodSync(path, 0o600);
  writeFileSync(path, change(text));
}

/** Root may read every file. */
async function notAsRoot<T>(act: () => Promise<T>): Promise<T> {
  const was = process.geteuid!();
  if (was === 0) process.seteuid!('nobody');
  try {
    return await act();
  } finally {
    if (was === 0) process.seteuid!(0);
  }
}

function asFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function asPipe(path: string): void {
  rmSync(path);
  execFileSync('mkfifo', [path]);
}

function swapped(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'b' ? 'c' : 'b'}${text.slice(at + 1)}`;
}
