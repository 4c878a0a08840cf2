import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import { ownUser } from '../../src/effect/user.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { processesWith, until } from '../support/processes.ts';
import { inTerminal, type Session } from '../support/pty.ts';
import { readRegistry, runs, writeRegistry } from '../support/registry.ts';

import {
  failureReport,
  preScreen,
  QUESTION,
  RECORDING_FAILED,
  successReport,
  withoutConfinement,
} from '../support/transcript.ts';
import { expectInDoubt, expectKilled, family, MEANWHILE, WAITING } from './doubt.ts';
import { expectError, PASSPHRASE, SOME_HASH, UNKNOWN_ID } from './project.ts';
import {
  CANNOT,
  executed,
  expectRefused,
  NOT_APPROVED,
  NOT_ORDERED,
  OTHER,
  precondition,
  refused,
} from './refused.ts';
import {
  alone,
  answering,
  atTerminal,
  crash,
  filesOf,
  grant,
  inside,
  inTurn,
  kindsOf,
  ledgerOf,
  rowsOf,
  runOf,
  saysYes,
  signing,
  stages,
  stateOf,
  storeOf,
} from './stage.ts';

const stage = stages();
const { bwrap, prlimit } = inspectMachine();
const sandboxes = ['none', ...(bwrap === null ? [] : [{ write: ['out'] }])];

describe('the human', () => {
  it('the screen before the run shows id, tool, executable, parameters and the three checks, then asks', async () => {
    const parameters = { target: { type: 'string' }, note: { type: 'string' } };
    const set = await stage({
      tool: { args: ['--target', '{target}', '{note}'], parameters },
      arguments: { target: '/home/user/important', note: 'two words' },
    });
    const screen = preScreen(set, '--target /home/user/important "two words"');
    const session = inTerminal(set.words, { cwd: set.folder, columns: 500 });
    await session.expect(QUESTION);
    expect(withoutConfinement(session.text)).toBe(`${screen}${QUESTION}`);
    session.type('n');
    expect(await session.exited).toBe(1);
    // Who sends standard output to a file still sees what they are asked about.
    const redirected = await answering(set, 'n\r');
    expect(withoutConfinement(redirected.screen)).toBe(`${screen}${QUESTION}n\n`);
    expect(redirected.stdout.startsWith(screen)).toBe(true);
  });

  it('n, Enter and the end of input start nothing, record nothing and exit 1', async () => {
    const set = await stage();
    const before = rowsOf(set);
    const thrice = (keys: string) => [keys, keys, keys];
    const wrong = [
      ...['n\r', ' No \r', '\r', ' \r', '\x04', '\x03'],
      ...['ny\r', 'yy\r', 'ye\r'].map(thrice),
      ...[
        ['x\r', 'n\r'],
        ['x\r', '\r'],
        ['x\r', '\x04'],
        ['x\r', 'x\r', '\x03'],
      ],
    ];
    for (const seen of await inTurn(wrong, (keys) => answering(set, keys))) {
      expect(seen.stdout.startsWith(preScreen(set))).toBe(true);
      const stdout = seen.stdout.slice(preScreen(set).length);
      expectRefused({ ...seen, stdout }, CANNOT, 'CONFIRMATION_DECLINED');
    }
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('y and yes are a yes, in any case, also at the third try', async () => {
    for (const keys of ['Y\r', ' yes \r', ['j\r', 'x\r', 'y\r']]) {
      const set = await stage();
      const seen = await answering(set, keys);
      expect(seen.code).toBe(0);
      expect(seen.screen.split('That is neither y nor n.')).toHaveLength(typeof keys === 'string' ? 1 : 3);
      expect(runs(set)).toBe(1);
    }
  });

  it('a signal that comes while the question waits is a no', async () => {
    const set = await stage();
    const before = rowsOf(set);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const mark = randomUUID();
      const before = () => processesWith(mark).map((pid) => process.kill(Number(pid), signal));
      const seen = await answering(set, '', { before, env: { MARK: mark } });
      expectRefused(
        seen,
        /\n\n\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/,
        'CONFIRMATION_DECLINED',
      );
    }
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('without a terminal nothing starts, and no flag and no variable answers the prompt', async () => {
    const set = await stage();
    const before = rowsOf(set);
    const env = { KEYTURN_YES: '1', KEYTURN_ASSUME_YES: 'y', CI: '1', YES: '1', ASSUME_YES: 'true' };
    expectRefused(await alone(set, set.words, { stdin: 'y\ny\n', env }), OTHER, 'NO_TERMINAL');
    const flags = ['--yes', '-y', '--force', '--no-confirm', '--assume-yes', '--batch', '--trust-me'];
    const answers = await inTurn(flags, (flag) => alone(set, [...set.words, flag], { stdin: 'y\n' }));
    for (const answer of answers) expectRefused(answer, CANNOT, 'USAGE');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('run takes one id and one hash and knows no flag that skips, delays, batches, chains or retries', async () => {
    const set = await stage();
    const before = rowsOf(set);
    const flags = [
      '--skip-check',
      '--at=3pm',
      '--delay=5',
      '--all',
      '--then=other',
      '--retry=3',
      '--background',
    ];
    const wrong = [[UNKNOWN_ID], [UNKNOWN_ID, SOME_HASH], ...flags.map((flag) => [flag])];
    const answers = await inTurn(wrong, (more) => alone(set, [...set.words, ...more]));
    for (const answer of answers) expectRefused(answer, CANNOT, 'USAGE');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('what changes while the prompt waits is refused after the y', async () => {
    await inTurn(MEANWHILE, async ([code, change]) => {
      const set = await stage();
      const seen = await saysYes(set, { before: () => change(set) });
      expect(seen.stdout.startsWith(preScreen(set))).toBe(true);
      expectRefused(seen, /\n\n(\[ERROR\] [^\n]+\n)+No execution attempted\.\n$/, code);
      const body = { reason_code: code };
      expect((await ledgerOf(set)).at(-1)).toMatchObject({ kind: 'execution.refused', body });
      expect(runs(set)).toBe(code === 'ALREADY_EXECUTED' ? 1 : 0);
    });
  });
});

describe('a run', () => {
  it('a run prints the screen, the output as it comes, the report and nothing else: no hint, no warning, no stack trace', async () => {
    for (const end of [0, 3]) {
      const set = await stage({ body: `echo done; exit ${end}` });
      const session = inTerminal(set.words, { cwd: set.folder, columns: 500 });
      await session.expect(QUESTION);
      session.type('y');
      expect(await session.exited).toBe(end === 0 ? 0 : 1);
      const run = await runOf(set);
      const report = end === 0 ? successReport(run, ['  done']) : failureReport(run, '3', []);
      const shown = `${preScreen(set)}${QUESTION}y\n│ done\n${report}`;
      const text = withoutConfinement(session.text);
      expect(text.slice(0, shown.length)).toBe(shown);
      expect(text.slice(shown.length)).toMatch(end === 0 ? /^$/ : /^TOOL_EXIT_NONZERO: [^\n]+\n$/);
    }
  });

  it('the ledger holds one claim and one outcome for each attempt, and no argument and no output', async () => {
    for (const end of [0, 7]) {
      const set = await stage({
        tool: { args: ['{secret}'], parameters: { secret: { type: 'string' } } },
        arguments: { secret: 'hunter2' },
        body: `echo printed secret; echo complained secret >&2; exit ${end}`,
      });
      await saysYes(set);
      const ledger = await ledgerOf(set);
      const [claimed, finished] = ledger.slice(-2);
      const kinds = kindsOf(ledger, set).filter((kind) => kind.startsWith('execution.'));
      expect(kinds).toEqual(['execution.claimed', 'execution.finished']);
      const { execution_id } = await runOf(set);
      const known = { execution_id, attempt: 1, tool: 'create_backup' };
      expect(claimed!.body).toMatchObject({ ...known, hash: set.hash });
      const result = end === 0 ? 'success' : 'failure';
      expect(finished!.body).toMatchObject({ ...known, result, exit_code: end });
      expect(JSON.stringify(ledger)).not.toMatch(/hunter2|secret|photos/);
      // The output itself is kept apart, under its digest, where it can be erased.
      const kept = await inside(set, ({ runs }) => runs.output({ execution_id }));
      expect(kept).toEqual({ stdout: 'printed secret\n', stderr: 'complained secret\n' });
    }
  });

  it('the tool receives exactly the approved arguments and nothing more', async () => {
    const words = [
      'plain',
      'two words',
      '$HOME',
      '`id`; rm -rf /',
      '*',
      '"quoted"',
      "it's",
      'Zoë',
      '\\n',
      '',
    ];
    const set = await stage({
      body: 'printf "%s\\n" "$#"; printf "<%s>\\n" "$@"; pwd; wc -c; env',
      tool: { args: ['--', '{words...}'], parameters: { words: { type: 'list' } } },
      arguments: { words },
    });
    const { stdout } = await saysYes(set);
    const shown = ['--', ...words].map((word) => `  <${word}>\n`).join('');
    expect(stdout).toContain(`Tool output:\n  11\n${shown}  ${set.folder}\n  0\n`);
    const names = new Set([...stdout.matchAll(/^ {2}([A-Z_]+)=/gm)].map(([, name]) => name!));
    for (const own of ['PWD', 'SHLVL', 'OLDPWD', '_']) names.delete(own); // the shell's
    expect([...names].sort()).toEqual(['LOG', 'OWN', 'PATH']);
  });

  it('an approved call that looks dangerous runs like any other', async () => {
    const set = await stage({
      body: 'echo "would run: $1"',
      tool: { args: ['{command}'], parameters: { command: { type: 'string' } } },
      arguments: { command: 'sudo rm -rf / # dangerous' },
    });
    const seen = await saysYes(set);
    expect(seen).toMatchObject({ code: 0, stderr: '' });
    expect(seen.stdout).toContain('Tool output:\n  would run: sudo rm -rf / # dangerous\nStatus: ');
  });

  it('output that is empty, binary or too long is recorded like any other', async () => {
    const cases: [body: string, shown: string, bytes: number][] = [
      ['true', '', 0],
      ["printf '\\000\\001\\377'", '  \\x00\\x01\ufffd\n', 3],
      ["printf '\\033[2J\\033]0;t\\007clean\\rhid\\n'", '  \\x1b[2J\\x1b]0;t\\x07clean\\x0dhid\n', 20],
      ["printf '\\342\\200\\256abc'", '  \\u202eabc\n', 6],
      ['printf "%0100d" 0', `  ${'0'.repeat(64)}\n  [36 more bytes were not kept]\n`, 100],
    ];
    await inTurn(cases, async ([body, shown, bytes]) => {
      const set = await stage({ body, tool: { stdout_bytes: 64 } });
      const seen = await saysYes(set);
      expect(seen.stdout).toContain(`\nTool output:\n${shown}Status: Execution recorded in the ledger\n`);
      const recorded = { result: 'success', exit_code: 0, stdout: { bytes, truncated: bytes > 64 } };
      expect((await ledgerOf(set)).at(-1)).toMatchObject({ kind: 'execution.finished', body: recorded });
    });
  });

  it('run answers only when the tool has ended, and leaves no process behind', async () => {
    const mark = randomUUID();
    const set = await stage({
      body: 'sleep 300 >/dev/null 2>&1 & sleep 0.3; echo ended >> "$LOG"; echo ended',
      tool: { secrets: ['MARK'] },
    });
    const seen = await saysYes(set, { env: { MARK: mark } });
    expect(seen.code).toBe(0);
    expect(seen.stdout).toContain('Tool output:\n  ended\n');
    expect(runs(set)).toBe(1);
    expect(processesWith(mark)).toEqual([]);
  });
});

describe('once', () => {
  it('a tool that fails is started once and never again', async () => {
    const set = await stage({ body: 'echo ran >> "$LOG"; exit 1' });
    expect((await saysYes(set)).code).toBe(1);
    expect(runs(set)).toBe(1);
    await refused(set, await executed(set, 'RUN_FAILED'), 'RUN_FAILED');
    expect(runs(set)).toBe(1);
  });

  it('a tool that fails brings no other tool of the registry to run', async () => {
    const set = await stage({ body: 'echo ran >> "$LOG"; exit 127' });
    const spare = join(set.folder, 'spare.sh');
    writeFileSync(spare, '#!/bin/sh\necho spare >> "$LOG"\n', { mode: 0o755 });
    const { tools, ...rest } = readRegistry(set.registry);
    const more = { ...tools[0], name: 'spare', executable: spare };
    writeRegistry(set.registry, { ...rest, tools: [more, ...tools, { ...more, name: 'create_backup_2' }] });
    expect((await saysYes(set)).code).toBe(1);
    expect(readFileSync(set.log, 'utf8')).toBe('ran\n');
  });

  it('a second run of the same intent is refused, whatever the outcome of the first', async () => {
    const ends: [end: string, code: ReasonCode][] = [
      ['exit 0', 'ALREADY_EXECUTED'],
      ['exit 3', 'RUN_FAILED'],
      ['kill -9 $$', 'RUN_PARTIAL'],
    ];
    await inTurn(ends, async ([end, code]) => {
      const set = await stage({ body: `echo ran >> "$LOG"; ${end}` });
      await saysYes(set);
      await refused(set, await executed(set, code), code);
      const again = await atTerminal(set, set.words, () => {});
      expect(again.screen).toBe('');
      expectRefused(again, await executed(set, code), code);
      expect(runs(set)).toBe(1);
      const claims = kindsOf(await ledgerOf(set), set).filter((kind) => kind === 'execution.claimed');
      expect(claims).toHaveLength(1);
    });
  });

  it('processes that race for one intent start its tool once', async () => {
    const set = await stage({ body: 'echo ran >> "$LOG"; sleep 0.2; echo done' });
    const RACERS = 8;
    let ready = 0;
    const before = async () => {
      ready += 1;
      await until(() => ready === RACERS);
    };
    const seen = await Promise.all(Array.from({ length: RACERS }, () => saysYes(set, { before })));
    expect(runs(set)).toBe(1);
    expect(seen.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    const told = `${preScreen(set)}${await executed(set)}`;
    for (const loser of seen.filter(({ code }) => code === 1)) {
      expect(loser.stdout).toBe(told);
      expect(loser.stderr).toMatch(/^(CLAIM_TAKEN|RUN_IN_DOUBT|ALREADY_EXECUTED): /);
    }
    const kinds = kindsOf(await ledgerOf(set), set);
    const count = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
    expect(['execution.claimed', 'execution.finished', 'execution.refused'].map(count)).toEqual([1, 1, 7]);
    expect((await alone(set, ['ledger', 'verify', '--deep'])).code).toBe(0);
  });

  it('a run that died before its outcome was recorded is never started again', async () => {
    const set = await stage({
      body: 'echo $$ >> "$LOG"; if [ "$(wc -l < "$LOG")" = 1 ]; then exec sleep 300; fi; echo second',
    });
    await crash(set);
    expect((await ledgerOf(set)).at(-1)!.kind).toBe('execution.claimed');
    await expectInDoubt(set);
    const { execution_id } = await runOf(set);
    // Only a human settles it, with a reason and a key; and only then can there be a retry.
    const retry = ['retry', set.id, '--reason', 'The machine was down.'];
    const resolve = ['resolve', execution_id, '--outcome', 'did-not-happen', '--reason', 'I looked.'];
    expect((await alone(set, retry)).stderr).toContain('(RUN_IN_DOUBT ');
    expect((await alone(set, resolve)).stderr).toContain('(NO_TERMINAL ');
    expect((await alone(set, [...resolve, '--as', 'bot'])).stderr).toContain('(NOT_HUMAN ');
    expect(await stateOf(set)).toMatchObject({ status: 'claimed' });
    expect((await signing(set, ...resolve)).code).toBe(0);
    await refused(set, await executed(set, 'RUN_FAILED'), 'RUN_FAILED');
    expect((await signing(set, ...retry)).code).toBe(0);
    expect(runs(set)).toBe(1);
    await refused(set, NOT_ORDERED, 'ORDER_MISSING');
    await grant(set);
    const second = await saysYes(set);
    expect(second.stdout).toContain('Tool output:\n  second\nStatus: ');
    expect(runs(set)).toBe(2);
  });

  it('after a failure only a retry signed by a human allows one more attempt', async () => {
    const set = await stage({ body: 'echo ran >> "$LOG"; [ "$(wc -l < "$LOG")" = 2 ]' });
    await saysYes(set);
    await refused(set, await executed(set, 'RUN_FAILED'), 'RUN_FAILED');
    const retry = ['retry', set.id, '--reason', 'The disk is back.'];
    expectError('NO_TERMINAL', await alone(set, retry));
    expectError('NOT_HUMAN', await alone(set, [...retry, '--as', 'bot']));
    await refused(set, await executed(set, 'RUN_FAILED'), 'RUN_FAILED');
    expect((await signing(set, ...retry)).code).toBe(0);
    expectError('RETRY_NOT_DUE', await alone(set, retry));
    await grant(set);
    expect((await saysYes(set)).code).toBe(0);
    await refused(set, await executed(set), 'ALREADY_EXECUTED');
    expectError('RETRY_NOT_DUE', await alone(set, retry));
    expect(runs(set)).toBe(2);
    const ledger = await ledgerOf(set);
    const bodies = (wanted: string) =>
      ledger.filter(({ kind }) => kind === wanted).map(({ body }) => body as Record<string, unknown>);
    expect(bodies('execution.claimed').map(({ attempt }) => attempt)).toEqual([1, 2]);
    const capabilities = (kind: string) => bodies(kind).map(({ capability_id }) => capability_id);
    expect(capabilities('execution.claimed')).toEqual(capabilities('capability.issued'));
    expect(new Set(capabilities('capability.issued')).size).toBe(2);
    expect(bodies('execution.finished').map(({ result }) => result)).toEqual(['failure', 'success']);
    expect(bodies('retry.authorised')).toMatchObject([
      { by: 'alice', attempt: 2, after: bodies('execution.claimed')[0]!.execution_id },
    ]);
  });
});

describe('a run that does not end well', () => {
  it('a recording that fails prints the lines of 001, exits 1 and reports no success', async () => {
    const damaged = await stage({ body: WAITING });
    const rename = (from: string, to: string) =>
      sqlite(storeOf(damaged), (db) => db.exec(`ALTER TABLE ${from} RENAME TO ${to}`));
    const after = async () => {
      await until(() => runs(damaged) === 1);
      rename('entry', 'gone');
      writeFileSync(`${damaged.log}.go`, '');
    };
    const seen = await saysYes(damaged, { after });
    expectRefused(seen, `${preScreen(damaged)}${RECORDING_FAILED}`, 'RECORDING_FAILED');
    rename('gone', 'entry');
    await expectInDoubt(damaged);
  });

  it.skipIf(prlimit === null)(
    'a store that is full when the tool has ended leaves the run in doubt',
    async () => {
      // The kernel refuses every write beyond the first 4 KiB of a file, as a full disk would.
      const set = await stage({
        body: 'echo ran >> "$LOG"; prlimit --pid "$PPID" --fsize=4096; echo done',
        tool: { run_as: ownUser().name },
      });
      const seen = await saysYes(set);
      expectRefused(seen, `${preScreen(set)}${RECORDING_FAILED}`, 'RECORDING_FAILED');
      await expectInDoubt(set);
    },
  );

  it('a tool that outlives its timeout is killed with all it started, is recorded as partial and blocks', async () => {
    await inTurn(sandboxes, async (sandbox) => {
      const [set, mark] = [await stage(family(sandbox, 1)), randomUUID()];
      const seen = await saysYes(set, { env: { MARK: mark } });
      await expectKilled(set, seen, 'TOOL_TIMED_OUT', mark);
    });
  });

  it('Ctrl-C, SIGTERM and a terminal that hangs up kill the tool with all it started, and its end is recorded', async () => {
    const stops: ((session: Session, pid: number) => void)[] = [
      (session) => session.press('\x03'),
      (_, pid) => process.kill(pid, 'SIGTERM'),
      (_, pid) => process.kill(pid, 'SIGHUP'),
    ];
    await inTurn(stops, async (stop) => {
      const [set, mark] = [await stage(family(sandboxes.at(-1), 60)), randomUUID()];
      const after = async (session: Session) => {
        await until(() => runs(set) === 1);
        stop(session, (await runOf(set)).executor.pid);
      };
      const seen = await saysYes(set, { after, env: { MARK: mark } });
      await expectKilled(set, seen, 'TOOL_KILLED', mark);
    });
  });
});

describe('what leaves no trace, and what no command can undo', () => {
  it('a dry run validates everything, starts nothing, records nothing and exits 0', async () => {
    const set = await stage();
    const dry = [...set.words, '--dry-run'];
    const before = [rowsOf(set), filesOf(set)];
    const end = '[OK] Dry run: nothing executed, nothing recorded\n';
    expect(await alone(set, dry)).toEqual({ stdout: `${preScreen(set)}${end}`, stderr: '', code: 0 });
    expect(await atTerminal(set, dry, () => {})).toMatchObject({ screen: '', code: 0 });
    expectRefused(await alone(set, ['run', set.id, SOME_HASH, '--dry-run']), NOT_APPROVED, 'HASH_MISMATCH');
    expect([rowsOf(set), filesOf(set)]).toEqual(before);
    rmSync(set.script);
    expectRefused(await alone(set, dry), precondition('Tool not found'), 'EXECUTABLE_MISSING');
    expect(rowsOf(set)).toEqual(before[0]);
    expect(runs(set)).toBe(0);
  });

  it('no command edits or deletes an approval or a record', async () => {
    const set = await stage();
    await saysYes(set);
    const verbs = [
      'delete',
      'edit',
      'unapprove',
      'archive',
      'forget',
      'reset',
      'ledger delete',
      'object edit',
    ];
    const unknown = await inTurn(verbs, (verb) => alone(set, [...verb.split(' '), set.id]));
    for (const answer of unknown) expectError('USAGE', answer);
    const before = await ledgerOf(set);
    const { execution_id } = await runOf(set);
    // What a human may still do is refused for a run that is over, or adds an entry and leaves the others alone.
    const reason = ['--reason', 'To see what it does.'];
    expectError('ALREADY_EXECUTED', await alone(set, ['reject', set.id, ...reason]));
    expectError('RETRY_NOT_DUE', await alone(set, ['retry', set.id, ...reason]));
    const resolve = ['resolve', execution_id, '--outcome', 'did-not-happen'];
    expectError('RESOLVE_NOT_DUE', await alone(set, [...resolve, ...reason]));
    const erased = await atTerminal(set, ['object', 'erase', set.hash, ...reason], async (session) => {
      await session.expect(' to erase it: ');
      session.type(set.hash.slice(-8));
      await session.expect('Passphrase of alice: ');
      session.type(PASSPHRASE);
    });
    expect(erased.code).toBe(0);
    expect((await alone(set, ['ledger', 'rebuild', '--write'])).code).toBe(0);
    const after = await ledgerOf(set);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(await stateOf(set)).toMatchObject({ status: 'succeeded', approvals: [{ by: 'alice' }] });
    expect((await alone(set, ['ledger', 'verify', '--deep'])).code).toBe(0);
    await refused(set, await executed(set), 'ALREADY_EXECUTED');
  });
});
