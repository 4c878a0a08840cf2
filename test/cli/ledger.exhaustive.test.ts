import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import {
  answerOf,
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  type Project,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let project: Project;
let intent: Intent;
let key: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  project = await makeProject(folder);
  expect((await project.run('ledger', 'head', '--out', 'early.txt')).code).toBe(0);
  intent = await project.propose('greet', { name: 'Ada' });
  await project.ready(intent);
  const exported = await project.run('ledger', 'export', '--out', 'ledger.jsonl');
  key = /^Ledger key: (sha256:\S+)$/m.exec(exported.stdout)![1]!;
  expect(
    (await project.run('ledger', 'prove', intent.id, '--head', 'early.txt', '--out', 'proof.json')).code,
  ).toBe(0);
  expect((await project.run('ledger', 'head', '--out', 'late.txt')).code).toBe(0);
});

describe('ledger show', () => {
  it('tells the story of one intent, or the newest entries', async () => {
    const story = await project.run('ledger', 'show', intent.id);
    expect(story.stdout.match(/^\d+ {2}\S+ {2}[a-z.]+/gm)?.map((line) => line.split('  ')[2])).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'order.given',
    ]);
    expect(story.stdout).not.toContain('Ada');
    const newest = answerOf(await project.run('ledger', 'show', '--limit', '2', '--json'));
    expect(newest).toMatchObject({
      result: { entries: [{ kind: 'order.given' }, { kind: 'approval.granted' }], next: expect.any(String) },
    });
    expectError('INTENT_NOT_FOUND', await project.run('ledger', 'show', UNKNOWN_ID));
  });

  it('lists the entries of a kind, of who signed and of a time, page by page', async () => {
    const kindsOf = async (...words: string[]) => {
      const { result } = answerOf(await project.run('ledger', 'show', ...words, '--json')) as never;
      const { entries, next } = result as { entries: { kind: string }[]; next: string | null };
      return { kinds: entries.map(({ kind }) => kind), next };
    };
    expect(await kindsOf('--kind', 'intent.proposed')).toEqual({ kinds: ['intent.proposed'], next: null });
    const { kinds, next } = await kindsOf('--by', 'alice', '--since', '2h', '--limit', '1');
    expect(kinds).toEqual(['order.given']);
    const page = await project.run('ledger', 'show', '--by', 'alice', '--since', '2h', '--limit', '1');
    expect(page.stdout).toMatch(/^There are earlier entries: add --cursor \S+\n/);
    const since = await kindsOf('--by', 'alice', '--kind', 'approval.granted');
    expect(since.kinds).toEqual(['approval.granted']);
    expectError('CURSOR_INVALID', await project.run('ledger', 'show', '--cursor', next!));
    expect((await project.run('ledger', 'show', '--kind', 'none')).stdout).toBe('No entries.\n');
    expectError('USAGE', await project.run('ledger', 'show', '--file', 'ledger.jsonl', '--kind', 'x'));
  });
});

describe('ledger verify', () => {
  it('verifies the ledger of the project, with every signature and against a kept head', async () => {
    const { code, stdout } = await project.run(
      'ledger',
      'verify',
      '--deep',
      '--head',
      'early.txt',
      '--key',
      key,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\[OK\] The ledger of 10 entries verifies, every signature included\nRoot: [0-9a-f]{64}\n/,
    );
    expect(stdout).toContain(`Ledger key: ${key}\nKept heads: 1, which agrees with the ledger\n`);
    const bare = await project.run('ledger', 'verify');
    expect(bare.stdout).toContain(`Ledger key: ${key} (NOT CONFIRMED: `);
    const named = await project.run('ledger', 'verify', '--file', 'ledger.jsonl');
    expect(named.stdout).toContain(
      `Ledger key: ${key} (NOT CONFIRMED: a forger would have signed the export`,
    );
    const json = await project.run('ledger', 'verify', '--file', 'ledger.jsonl', '--json');
    expect(answerOf(json)).toMatchObject({ result: { what: 'export', key_confirmed: false } });
  });

  it('verifies an export and a proof anywhere, with nothing but the files and the fingerprint', async () => {
    const cwd = scratch();
    for (const name of ['ledger.jsonl', 'proof.json', 'early.txt']) cpSync(file(name), join(cwd, name));
    const exported = await keyturn(['ledger', 'verify', '--file', 'ledger.jsonl', '--deep', '--key', key], {
      cwd,
    });
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect(exported.stdout).toContain('[OK] The export of 10 entries verifies');
    const words = ['ledger', 'verify', '--bundle', 'proof.json', '--key', key, '--head', 'early.txt'];
    const proven = await keyturn(words, { cwd });
    expect(proven).toMatchObject({ code: 0, stderr: '' });
    expect(proven.stdout).toContain(`Its subject is ${intent.id}:\n`);
    expect(proven.stdout).toMatch(/approval\.granted\n.*order\.given\n$/);
  });

  it('a FIFO is refused at once, and standard input is read as -', async () => {
    const pipe = join(scratch(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    expectError('FILE_NOT_REGULAR', await project.run('ledger', 'verify', '--file', pipe));
    expectError('FILE_NOT_REGULAR', await project.run('ledger', 'verify', '--bundle', pipe, '--key', key));
    const stdin = readFileSync(file('ledger.jsonl'));
    const piped = await keyturn(['ledger', 'verify', '--file', '-', '--key', key], { cwd: folder, stdin });
    expect(piped).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('[OK] The export of 10 entries'),
    });
  });

  it('a proof needs a key, and the right one', async () => {
    expectError('USAGE', await project.run('ledger', 'verify', '--bundle', 'proof.json'));
    const other = `sha256:${'0'.repeat(64)}`;
    expectError(
      'HEAD_SIGNATURE_INVALID',
      await project.run('ledger', 'verify', '--bundle', 'proof.json', '--key', other),
    );
    expectError(
      'HEAD_SIGNATURE_INVALID',
      await project.run('ledger', 'verify', '--file', 'ledger.jsonl', '--key', other),
    );
    expectError(
      'USAGE',
      await project.run('ledger', 'verify', '--bundle', 'proof.json', '--file', 'ledger.jsonl'),
    );
  });

  it('names what is wrong with a changed export, a changed proof and a changed head', async () => {
    const changed = readFileSync(file('ledger.jsonl'), 'utf8').replace(
      '"proposer":"bot"',
      '"proposer":"bob"',
    );
    writeFileSync(file('changed.jsonl'), changed);
    const export_ = await project.run('ledger', 'verify', '--file', 'changed.jsonl');
    expectError('LEDGER_BROKEN', export_);
    expect(export_.stderr).toContain('Entry 6');
    writeFileSync(file('changed.json'), readFileSync(file('proof.json'), 'utf8').replace('"bot"', '"bob"'));
    expectError(
      'PROOF_INVALID',
      await project.run('ledger', 'verify', '--bundle', 'changed.json', '--key', key),
    );
    writeFileSync(file('changed.txt'), readFileSync(file('early.txt'), 'utf8').replace('\n6\n', '\n7\n'));
    expectError('HEAD_SIGNATURE_INVALID', await project.run('ledger', 'verify', '--head', 'changed.txt'));
    expectError('HEAD_MALFORMED', await project.run('ledger', 'verify', '--head', 'proof.json'));
    expectError(
      'BUNDLE_MALFORMED',
      await project.run('ledger', 'verify', '--bundle', 'early.txt', '--key', key),
    );
    expectError('EXPORT_MALFORMED', await project.run('ledger', 'verify', '--file', 'proof.json'));
    expectError('FILE_NOT_FOUND', await project.run('ledger', 'verify', '--head', 'no-such-file'));
  });

  it('a kept head finds a project that was set back to an earlier copy', async () => {
    const copy = scratch();
    const early = readFileSync(file('ledger.jsonl'), 'utf8').split('\n');
    writeFileSync(join(copy, 'cut.jsonl'), [...early.slice(0, 4), early.at(-2), ''].join('\n'));
    const cut = await project.run(
      'ledger',
      'verify',
      '--file',
      join(copy, 'cut.jsonl'),
      '--head',
      'late.txt',
    );
    expect(cut.code).toBe(1);
    expect(cut.stderr).toMatch(/\((LEDGER_TRUNCATED|LEDGER_FORKED|LEDGER_BROKEN) \d{4}\)/);
  });
});

describe('ledger head, prove and export', () => {
  it('go to standard output, or to a new file and never over an old one', async () => {
    const head = await project.run('ledger', 'head');
    expect(head.stdout).toBe(readFileSync(file('late.txt'), 'utf8'));
    const exported = await project.run('ledger', 'export');
    expect(exported.stdout).toBe(readFileSync(file('ledger.jsonl'), 'utf8'));
    const proof = await project.run('ledger', 'prove', intent.id, '--head', 'early.txt');
    expect(proof.stdout.trimEnd()).toBe(readFileSync(file('proof.json'), 'utf8').trimEnd());
    for (const words of [['head'], ['prove', intent.id], ['export']])
      expectError('WRITE_FAILED', await project.run('ledger', ...words, '--out', 'early.txt'));
    expect(readFileSync(file('early.txt'), 'utf8')).toContain('\n6\n');
    expectError('WRITE_FAILED', await project.run('ledger', 'head', '--out', 'no/such/folder'));
  });

  it('an export is not one JSON object, so --json needs a file', async () => {
    const refused = answerOf(await project.run('ledger', 'export', '--json'));
    expect(refused).toMatchObject({ ok: false, code: 'USAGE' });
    const written = answerOf(await project.run('ledger', 'export', '--json', '--out', 'again.jsonl'));
    expect(written).toMatchObject({ result: { key } });
    expect(existsSync(file('again.jsonl'))).toBe(true);
  });

  it('a proof of something that is not there is refused', async () => {
    expectError('INTENT_NOT_FOUND', await project.run('ledger', 'prove', UNKNOWN_ID));
    expectError('ID_MALFORMED', await project.run('ledger', 'prove', 'x'));
  });
});

describe('ledger rebuild', () => {
  it('compares the stored state with the ledger, and puts it right only when told', async () => {
    const same = await project.run('ledger', 'rebuild');
    expect(same.stdout).toMatch(/^\[OK\] \d+ rows are what 10 entries say\n$/);
    tamper();
    expectError('PROJECTION_DRIFT', await project.run('ledger', 'rebuild'));
    const written = await project.run('ledger', 'rebuild', '--write');
    expect(written).toMatchObject({ code: 0 });
    expect(written.stdout).toMatch(/^\[OK\] Rebuilt \d+ rows from 10 entries\n/);
    expect((await project.run('ledger', 'rebuild')).code).toBe(0);
  });
});

/** An attacker who can write the store marks an intent as not yet approved. */
function tamper(): void {
  const db = new DatabaseSync(join(folder, '.keyturn', 'store.db'));
  try {
    const changed = db.prepare("UPDATE projection SET status = 'proposed' WHERE status = 'approved'").run();
    expect(changed.changes).toBe(1);
  } finally {
    db.close();
  }
}

describe('ledger archive', () => {
  it('writes a file that verifies and tells the story, alone and with the one after it', async () => {
    const words = ['ledger', 'archive', '--older-than', '1s', '--out', 'first.jsonl', '--reason', 'old'];
    const first = await project.talk(words, ['Passphrase of alice: ', PASSPHRASE]);
    expect(first.stdout).toMatch(/^\[OK\] alice archived entries 0 to \d+ in first\.jsonl/m);
    const opened = await Keyturn.open({ at: folder });
    const signer = await opened.unlock('alice', PASSPHRASE);
    await opened.ledger.archive({ older_than_s: 0, out: file('second.jsonl'), reason: 'old', signer });
    await opened.close();
    const verify = (...more: string[]) =>
      keyturn(['ledger', 'verify', '--key', key, ...more], { cwd: folder });
    const whole = await verify('--deep', '--file', 'first.jsonl', '--and', 'second.jsonl');
    expect(whole.stdout).toContain('entries verifies, every signature included');
    expect((await verify('--file', 'second.jsonl')).stdout).toContain('[OK] The archive of entries');
    expectError('SEGMENT_MISSING', await verify('--deep', '--file', 'second.jsonl'));
    expectError('SEGMENT_ORDER', await verify('--file', 'second.jsonl', '--and', 'first.jsonl'));
    expectError('USAGE', await verify('--and', 'first.jsonl'));
    const told = await keyturn(['ledger', 'show', intent.id, '--file', 'first.jsonl', '--key', key], {
      cwd: folder,
    });
    expect(told.stdout).toContain('Ada');
    const later = await keyturn(['ledger', 'show', '--file', 'second.jsonl', '--key', key], { cwd: folder });
    expect(later.stdout).toContain('ledger.archived');
  });
});
