import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqlite } from '../store/sqlite-file.ts';
import { processesWith } from '../support/processes.ts';
import { type Finished, keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { SOME_HASH, UNKNOWN_ID } from './project.ts';
import {
  alone,
  atTerminal,
  crash,
  DAY_S,
  ENDLESS,
  filesOf,
  grant,
  inside,
  inTurn,
  ledgerOf,
  play,
  rowsOf,
  type Stage,
  stages,
  stateOf,
  storeOf,
} from './stage.ts';

const stage = stages();

const OK = '[OK] Intent eligible for execution\n';
const NOT_APPROVED = '[ERROR] Approval verification failed\n';
const NOT_ORDERED = '[ERROR] Not ordered to run\n';
const NOT_FOUND = '[ERROR] Execution verification tool not found\n';
const NOT_CALLABLE = '[ERROR] Cannot invoke execution verifier\n';
const VERIFIER_ERROR = '[ERROR] Verification tool error\n';

const check = (set: Stage, id = set.id, hash = set.hash, ...more: string[]) =>
  alone(set, ['check', id, hash, ...more]);

/** Exact stdout, exit 1, and one line on stderr that begins with the reason code. */
function expectDenied(answer: Finished, stdout: string, code: string): void {
  expect(answer).toMatchObject({ stdout, code: 1 });
  expect(answer.stderr).toMatch(new RegExp(`^${code}: [^\\n]+\\n$`));
}

async function denied(set: Stage, stdout: string, code: string): Promise<void> {
  expectDenied(await check(set), stdout, code);
}

/** The line of 000 section 5, with the time at which the last attempt was claimed. */
const executedLine = (set: Stage) => ranLine(set, 'Intent already executed');

async function ranLine(set: Stage, words: string): Promise<string> {
  const claim = (await ledgerOf(set)).findLast(({ kind }) => kind === 'execution.claimed')!;
  return `[ERROR] ${words} at ${claim.at}\n`;
}

/** A command line that is not understood is a no, on stdout as well. */
function expectUsage(answer: Finished): void {
  expect(answer.stdout).toMatch(/^\[ERROR\] [^\n]+\n$/);
  expect(answer.stderr).toMatch(/^USAGE: [^\n]+\n$/);
  expect(answer.code).toBe(1);
}

describe('the controller of 000', () => {
  it('an approved intent that never ran prints [OK] Intent eligible for execution and exits 0', async () => {
    const set = await stage({ verdict: 'approved' });
    // 002: besides the approval there must be a capability for the run.
    await denied(set, NOT_ORDERED, 'ORDER_MISSING');
    await grant(set);
    expect(await check(set)).toEqual({ stdout: OK, stderr: '', code: 0 });
    const elsewhere = await keyturn(['check', set.id, set.hash, '--project', set.folder], { cwd: scratch() });
    expect(elsewhere).toEqual({ stdout: OK, stderr: '', code: 0 });
  });

  it('an id that nobody approved prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(await stage({ verdict: 'none' }), NOT_APPROVED, 'APPROVAL_MISSING');
    const set = await stage();
    expectDenied(await check(set, UNKNOWN_ID), NOT_APPROVED, 'INTENT_NOT_FOUND');
    // Only the exact id counts, not one that is nearly it.
    expectDenied(await check(set, set.id.replace(/^./, turned)), NOT_APPROVED, 'INTENT_NOT_FOUND');
  });

  it('a hash that is not the approved one prints [ERROR] Approval verification failed and exits 1', async () => {
    const set = await stage();
    for (const hash of [SOME_HASH, set.hash.replace(/.$/, turned), (await stateOf(set)).effect_digest])
      expectDenied(await check(set, set.id, hash), NOT_APPROVED, 'HASH_MISMATCH');
  });

  it('a rejected intent prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(await stage({ verdict: 'rejected' }), NOT_APPROVED, 'INTENT_REJECTED');
    const withdrawn = await stage();
    const reason = 'On second thought, no.';
    await inside(withdrawn, ({ intents }) =>
      intents.reject({ intent_id: withdrawn.id, hash: withdrawn.hash, reason, signer: withdrawn.signer }),
    );
    await denied(withdrawn, NOT_APPROVED, 'INTENT_REJECTED');
  });

  it('an expired intent or approval denies', async () => {
    await denied(await stage({ age_s: 2 * DAY_S }), NOT_APPROVED, 'INTENT_EXPIRED');
    const late = await stage({ age_s: DAY_S / 8 });
    await denied(late, NOT_APPROVED, 'APPROVAL_EXPIRED');
    await inside(late, ({ intents }) =>
      intents.approve({ intent_id: late.id, hash: late.hash, signer: late.signer }),
    );
    await denied(late, NOT_ORDERED, 'ORDER_LAPSED');
    await grant(late);
    expect(await check(late)).toEqual({ stdout: OK, stderr: '', code: 0 });
    // A clock that was set back must not make anything young again.
    await denied(await stage({ age_s: -DAY_S }), VERIFIER_ERROR, 'CLOCK_BEHIND');
  });

  it('an executed intent prints [ERROR] Intent already executed at its time and exits 1', async () => {
    const set = await stage();
    await play(set);
    await denied(set, await executedLine(set), 'ALREADY_EXECUTED');
    // Approval is judged before history.
    expectDenied(await check(set, set.id, SOME_HASH), NOT_APPROVED, 'HASH_MISMATCH');
  });

  it('a failed run and a run in doubt deny, each with its own reason code', async () => {
    const failed = await stage({ body: 'exit 3' });
    await play(failed);
    await denied(failed, await ranLine(failed, 'Execution failed'), 'RUN_FAILED');
    const killed = await stage({ body: 'kill -9 $$' });
    await play(killed);
    await denied(killed, await ranLine(killed, 'Execution stopped half way'), 'RUN_PARTIAL');
    const crashed = await stage({ body: ENDLESS });
    await crash(crashed);
    await denied(crashed, await executedLine(crashed), 'RUN_IN_DOUBT');
  });

  it('what a human settles changes the answer, and nothing else does', async () => {
    const set = await stage({ body: 'kill -9 $$' });
    await play(set);
    const { signer, id: intent_id } = set;
    const { execution_id } = (await stateOf(set)).runs[0]!;
    const reason = 'I looked.';
    await inside(set, ({ runs }) =>
      runs.resolve({ execution_id, outcome: 'did_not_happen', reason, signer }),
    );
    await denied(set, await ranLine(set, 'Execution failed'), 'RUN_FAILED');
    await inside(set, ({ runs }) => runs.retry({ intent_id, reason, signer }));
    await denied(set, NOT_ORDERED, 'ORDER_MISSING');
    await grant(set);
    expect(await check(set)).toEqual({ stdout: OK, stderr: '', code: 0 });
    await play(set);
    const second = (await stateOf(set)).runs[1]!.execution_id;
    await inside(set, ({ runs }) =>
      runs.resolve({ execution_id: second, outcome: 'happened', reason, signer }),
    );
    await denied(set, await executedLine(set), 'ALREADY_EXECUTED');
  });
});

/** Another character of the same kind. */
const turned = (character: string) => (character === '0' ? '1' : '0');

describe('the inputs of check', () => {
  /** A project in which any look fails: who answers something else has not looked. */
  async function unreadable(): Promise<Stage> {
    const set = await stage();
    writeFileSync(join(set.folder, 'keyturn.yaml'), ']');
    writeFileSync(join(set.folder, '.keyturn', 'store.db'), 'not a store');
    return set;
  }

  it('a malformed id is an error before anything is looked up', async () => {
    const set = await unreadable();
    const { id } = set;
    const wrong = ['', 'x', id.slice(1), `${id}0`, `{${id}}`, id.replaceAll('-', ''), ` ${id}`, `${id}\n`];
    for (const answer of await inTurn(wrong, (malformed) => check(set, malformed)))
      expectDenied(answer, '[ERROR] Invalid intent UUID\n', 'ID_MALFORMED');
    // The id comes first.
    expectDenied(await check(set, 'x', 'x'), '[ERROR] Invalid intent UUID\n', 'ID_MALFORMED');
    expectDenied(await check(set), VERIFIER_ERROR, 'YAML_MALFORMED');
  });

  it('an upper-case or mixed-case id is refused, never normalised', async () => {
    const set = await stage();
    await play(set);
    const letter = set.id.search(/[a-f]/);
    const mixed = set.id.slice(0, letter) + set.id[letter]!.toUpperCase() + set.id.slice(letter + 1);
    for (const id of [set.id.toUpperCase(), mixed])
      expectDenied(await check(set, id), '[ERROR] Invalid intent UUID\n', 'ID_MALFORMED');
  });

  it('a malformed hash is an error before anything is looked up', async () => {
    const set = await unreadable();
    const { id, hash } = set;
    const wrong = ['', 'x', hash.slice(1), `${hash}0`, hash.toUpperCase(), `${hash.slice(1)}g`, ` ${hash}`];
    for (const answer of await inTurn(wrong, (malformed) => check(set, id, malformed)))
      expectDenied(answer, '[ERROR] Invalid intent hash\n', 'HASH_MALFORMED');
  });

  it('a missing id or hash is an error, never a default', async () => {
    const set = await stage();
    for (const words of [
      ['check'],
      ['check', set.id],
      ['check', set.hash],
      ['check', '--project', set.folder],
    ])
      expectUsage(await alone(set, words));
  });

  it('check takes one id and one hash and refuses anything more', async () => {
    const set = await stage();
    const twice = ['--project', set.folder, '--project', set.folder];
    for (const more of [[set.id], [set.id, set.hash], [UNKNOWN_ID, SOME_HASH], twice, ['--json=1']])
      expectUsage(await check(set, set.id, set.hash, ...more));
  });

  it('check knows no flag that skips, forces, retries, waits or schedules', async () => {
    const set = await stage();
    await play(set);
    const flags = ['--force', '-f', '--yes', '-y', '--skip', '--retry', '--wait', '--at', '--ignore-errors'];
    const answers = await inTurn(flags, (flag) => check(set, set.id, set.hash, flag));
    answers.forEach(expectUsage);
  });
});

describe('what check never does', () => {
  it('every answer of check is exactly one [OK] or [ERROR] line on stdout', async () => {
    const ran = await stage();
    await play(ran);
    const set = await stage();
    const broken = await stage();
    rmSync(join(broken.folder, '.keyturn'), { recursive: true });
    const answers = await Promise.all([
      check(set),
      check(ran),
      check(broken),
      check(set, UNKNOWN_ID),
      check(set, set.id, SOME_HASH),
      check(set, 'a line\nand another \u001b[2J', '[OK] Intent eligible for execution'),
      check(set, set.id, set.hash, 'a line\nand another \u001b[2J'),
      check(set, set.id, set.hash, '--a line\nand another \u001b[2J'),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    for (const { stdout, stderr, code } of answers) {
      expect(stdout).toMatch(code === 0 ? /^\[OK\] [\x20-\x7e]+\n$/ : /^\[ERROR\] [\x20-\x7e]+\n$/);
      expect(stderr).toMatch(code === 0 ? /^$/ : /^[A-Z_]+: [\x20-\x7e]+\n$/);
    }
  });

  it('two checks in a row give the same answer, and a run between them changes it', async () => {
    const set = await stage();
    const first = await check(set);
    expect(first).toEqual({ stdout: OK, stderr: '', code: 0 });
    expect(await check(set)).toEqual(first);
    await play(set);
    const ran = await check(set);
    expectDenied(ran, await executedLine(set), 'ALREADY_EXECUTED');
    expect(await check(set)).toEqual(ran);
  });

  it('a missing, malformed or writable registry changes no answer of check', async () => {
    const set = await stage();
    const ran = await stage();
    await play(ran);
    const line = await executedLine(ran);
    const harms: ((registry: string) => void)[] = [
      (registry) => chmodSync(registry, 0o666),
      (registry) => writeFileSync(registry, 'tools: ['),
      (registry) => rmSync(registry),
      (registry) => symlinkSync('/dev/null', registry),
    ];
    for (const harm of harms) {
      for (const { registry } of [set, ran]) harm(registry);
      expect(await check(set)).toEqual({ stdout: OK, stderr: '', code: 0 });
      await denied(ran, line, 'ALREADY_EXECUTED');
    }
    // Nor does the tool itself.
    rmSync(set.script);
    expect(await check(set)).toEqual({ stdout: OK, stderr: '', code: 0 });
  });

  it('check asks nobody anything and answers without a terminal', async () => {
    const set = await stage();
    const words = ['check', set.id, set.hash];
    expect(await alone(set, words, { stdin: 'n\nn\n' })).toEqual({ stdout: OK, stderr: '', code: 0 });
    expect(await atTerminal(set, words, () => {})).toEqual({ screen: '', stdout: OK, stderr: '', code: 0 });
  });

  it('check ends with its answer and leaves no process behind', async () => {
    const set = await stage();
    const mark = randomUUID();
    const env = { KEYTURN_TEST_MARK: mark };
    expect((await alone(set, ['check', set.id, set.hash], { env })).code).toBe(0);
    expect((await alone(set, ['check', UNKNOWN_ID, set.hash], { env })).code).toBe(1);
    expect(processesWith(mark)).toEqual([]);
  });

  it('check appends no ledger entry and changes no stored row', async () => {
    const ran = await stage();
    await play(ran);
    const others = await inTurn([{}, { verdict: 'none' }, { age_s: DAY_S * 2 }] as const, stage);
    await inTurn([ran, ...others], async (set) => {
      const [rows, files] = [rowsOf(set), filesOf(set)];
      await check(set);
      await check(set, UNKNOWN_ID);
      await check(set, set.id, SOME_HASH);
      await check(set, 'x');
      expect(rowsOf(set)).toEqual(rows);
      expect(filesOf(set)).toEqual(files);
    });
  });

  it('a missing or damaged store denies', async () => {
    expectDenied(
      await keyturn(['check', UNKNOWN_ID, SOME_HASH], { cwd: scratch() }),
      NOT_FOUND,
      'PROJECT_MISSING',
    );
    const harms: [(store: string, folder: string) => void, stdout: string, code: string][] = [
      [(store) => rmSync(store), NOT_FOUND, 'STORE_MISSING'],
      [(store) => [rmSync(store), mkdirSync(store)], VERIFIER_ERROR, 'FILE_NOT_REGULAR'],
      [(store) => writeFileSync(store, ''), VERIFIER_ERROR, 'STORE_CORRUPT'],
      [(store) => writeFileSync(store, 'not a store'), VERIFIER_ERROR, 'STORE_CORRUPT'],
      [(store) => truncateSync(store, 8192), VERIFIER_ERROR, 'STORE_CORRUPT'],
      [(store) => sqlite(store, (db) => db.exec('PRAGMA user_version = 999')), NOT_CALLABLE, 'STORE_NEWER'],
      [(store) => sqlite(store, (db) => db.exec('DELETE FROM tenant')), NOT_FOUND, 'STORE_MISSING'],
      [
        (store) => sqlite(store, (db) => db.exec("UPDATE projection SET state = '{'")),
        VERIFIER_ERROR,
        'STORE_CORRUPT',
      ],
      [(store) => sqlite(store, (db) => db.exec('DELETE FROM projection')), VERIFIER_ERROR, 'STORE_CORRUPT'],
      [
        (store) => sqlite(store, (db) => db.exec("DELETE FROM projection WHERE name = 'intent'")),
        NOT_APPROVED,
        'INTENT_NOT_FOUND',
      ],
      [
        (_, folder) => writeFileSync(join(folder, 'keyturn.yaml'), 'version: 2'),
        VERIFIER_ERROR,
        'SHAPE_INVALID',
      ],
      [(_, folder) => rmSync(join(folder, 'keyturn.yaml')), VERIFIER_ERROR, 'FILE_NOT_FOUND'],
    ];
    await inTurn(harms, async ([harm, stdout, code]) => {
      const set = await stage();
      harm(storeOf(set), set.folder);
      await denied(set, stdout, code);
    });
  });
});
