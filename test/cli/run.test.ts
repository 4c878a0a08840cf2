import { randomUUID } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { processesWith, until } from '../support/processes.ts';
import { type Finished, inTerminal, keyturn } from '../support/pty.ts';
import { readRegistry, runs, TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import { INSTANT, lines, NOTHING, preScreen, QUESTION, RECORDING_FAILED } from '../support/transcript.ts';
import { expectError, SOME_HASH, UNKNOWN_ID } from './project.ts';
import {
  alone,
  answering,
  atTerminal,
  crash,
  DAY_S,
  filesOf,
  inside,
  kindsOf,
  ledgerOf,
  play,
  rowsOf,
  runOf,
  type Stage,
  signing,
  stages,
  stateOf,
  storeOf,
} from './stage.ts';

const stage = stages();
const { bwrap, prlimit } = inspectMachine();

/** Two lines for every check but the first: the one that it fixes, and why nothing was attempted. */
const precondition = (reason: string) =>
  lines(`[ERROR] ${reason}`, `[ERROR] Cannot execute: ${reason}`) + NOTHING;

/** Check 1: what the controller of 000 said comes first. */
const notEligible = (line: string) => lines(line) + precondition('Execution not eligible');

/** What 001 fixes no line for. */
const OTHER =
  /^\[ERROR\] (Precondition failed: [^\n]+)\n\[ERROR\] Cannot execute: \1\nNo execution attempted\.\n$/;

const executed = async (set: Stage) => `[ERROR] Intent already executed at ${(await runOf(set)).claimed_at}`;

function expectRefused(answer: Finished, stdout: string | RegExp, code: ReasonCode): void {
  expect(answer.stdout).toMatch(typeof stdout === 'string' ? exactly(stdout) : stdout);
  expect(answer.stderr).toMatch(new RegExp(`^${code}: [^\\n]+\\n$`));
  expect(answer.code).toBe(1);
}

const exactly = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);

/**
 * Runs without a terminal, which every refusal of a check comes before. One refusal is recorded and nothing else is
 * done: no process, no file, no change of the intent.
 */
async function refused(
  set: Stage,
  stdout: string | RegExp,
  code: ReasonCode,
  words = set.words,
): Promise<void> {
  const before = {
    ledger: await ledgerOf(set),
    state: await stateOf(set),
    files: filesOf(set),
    runs: runs(set),
  };
  expectRefused(await alone(set, words), stdout, code);
  const ledger = await ledgerOf(set);
  expect(ledger.slice(0, -1)).toEqual(before.ledger);
  expect(ledger.at(-1)).toMatchObject({
    kind: 'execution.refused',
    subject: words[1],
    body: { hash: words[2], reason_code: code },
  });
  expect({ state: await stateOf(set), files: filesOf(set), runs: runs(set) }).toEqual({
    ...before,
    ledger: undefined,
  });
}

describe('the preconditions of 001', () => {
  it('an intent that is not eligible prints [ERROR] Execution not eligible and starts nothing', async () => {
    const NOT_APPROVED = notEligible('[ERROR] Approval verification failed');
    const set = await stage();
    await refused(set, NOT_APPROVED, 'HASH_MISMATCH', ['run', set.id, SOME_HASH]);
    await refused(set, NOT_APPROVED, 'INTENT_NOT_FOUND', ['run', UNKNOWN_ID, set.hash]);
    await refused(await stage({ verdict: 'none' }), NOT_APPROVED, 'APPROVAL_MISSING');
    await refused(await stage({ verdict: 'rejected' }), NOT_APPROVED, 'INTENT_REJECTED');
    await refused(await stage({ age_s: 2 * DAY_S }), NOT_APPROVED, 'INTENT_EXPIRED');
    await refused(await stage({ age_s: DAY_S / 8 }), NOT_APPROVED, 'APPROVAL_EXPIRED');
    const ahead = await stage({ age_s: -DAY_S });
    await refused(ahead, notEligible('[ERROR] Verification tool error'), 'CLOCK_BEHIND');
    await play(set);
    await refused(set, notEligible(await executed(set)), 'ALREADY_EXECUTED');
    const words = ['run', UNKNOWN_ID, SOME_HASH];
    const nowhere = await keyturn(words, { cwd: scratch() });
    const NO_STORE = notEligible('[ERROR] Execution verification tool not found');
    expectRefused(nowhere, NO_STORE, 'PROJECT_MISSING');
    const broken = await stage();
    writeFileSync(storeOf(broken), 'not a store');
    expectRefused(await alone(broken), notEligible('[ERROR] Verification tool error'), 'STORE_CORRUPT');
    expect(runs(broken)).toBe(0);
  });

  it('a malformed id or hash is an error and starts nothing', async () => {
    const set = await stage();
    const { id, hash } = set;
    const before = rowsOf(set);
    const ids = ['', id.slice(1), `${id}0`, id.toUpperCase(), `{${id}}`, id.replaceAll('-', '')];
    const hashes = ['', hash.slice(1), `${hash}0`, hash.toUpperCase(), `${hash.slice(1)}g`];
    const [wrong_ids, wrong_hashes] = await Promise.all([
      Promise.all(ids.map((wrong) => alone(set, ['run', wrong, hash]))),
      Promise.all(hashes.map((wrong) => alone(set, ['run', id, wrong]))),
    ]);
    for (const answer of wrong_ids)
      expectRefused(answer, notEligible('[ERROR] Invalid intent UUID'), 'ID_MALFORMED');
    for (const answer of wrong_hashes)
      expectRefused(answer, notEligible('[ERROR] Invalid intent hash'), 'HASH_MALFORMED');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('a registry that is missing or malformed prints [ERROR] Tool registry unavailable and starts nothing', async () => {
    const UNAVAILABLE = precondition('Tool registry unavailable');
    const set = await stage();
    const registry = readRegistry(set.registry);
    const [tool] = registry.tools;
    const contents: [content: unknown, code: ReasonCode][] = [
      ['tools: [', 'YAML_MALFORMED'],
      ['version: 1\nversion: 1\ntools: []', 'YAML_MALFORMED'],
      ['\xff', 'REGISTRY_MALFORMED'],
      [{ ...registry, version: 2 }, 'REGISTRY_MALFORMED'],
      [{ ...registry, surprise: 1 }, 'REGISTRY_MALFORMED'],
      [{ ...registry, tools: [{ ...tool, sandbox: undefined }] }, 'REGISTRY_MALFORMED'],
      [{ ...registry, tools: [tool, tool] }, 'TOOL_DUPLICATE'],
    ];
    for (const [content, code] of contents) {
      writeRegistry(set.registry, content);
      await refused(set, UNAVAILABLE, code);
    }
    rmSync(set.registry);
    await refused(set, UNAVAILABLE, 'REGISTRY_MISSING');
    writeRegistry(join(set.folder, 'elsewhere.yaml'), registry);
    symlinkSync('elsewhere.yaml', set.registry);
    await refused(set, UNAVAILABLE, 'FILE_IS_SYMLINK');
  });

  it('a registry with any write bit prints [ERROR] Tool registry must be read-only and starts nothing', async () => {
    const set = await stage();
    for (const mode of [0o644, 0o464, 0o446]) {
      chmodSync(set.registry, mode);
      await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    }
  });

  it('an intent whose tool left the registry is refused and starts nothing', async () => {
    const set = await stage();
    const { tools, ...rest } = readRegistry(set.registry);
    writeRegistry(set.registry, { ...rest, tools: [{ ...tools[0], name: 'restore_backup' }] });
    await refused(set, precondition('Intent not in tool registry'), 'TOOL_UNKNOWN');
  });

  it('a binding of the intent id to another tool, to none or to several is refused', async () => {
    const spare = { ...TOOL, name: 'spare', executable: '/bin/true' };
    const set = await stage({ more_tools: [spare] });
    const registry = readRegistry(set.registry);
    const AMBIGUOUS = precondition('Multiple tools defined (ambiguous)');
    const bind = (...bindings: object[]) =>
      writeRegistry(set.registry, {
        ...registry,
        bindings: bindings.map((more) => ({ intent: set.id, ...more })),
      });
    bind({ tool: 'spare' });
    await refused(set, AMBIGUOUS, 'BINDING_MISMATCH');
    bind({ tool: TOOL.name, arguments: { other: 'arguments' } });
    await refused(set, AMBIGUOUS, 'BINDING_MISMATCH');
    bind({ tool: [TOOL.name, 'spare'] });
    await refused(set, AMBIGUOUS, 'BINDING_AMBIGUOUS');
    bind({ tool: TOOL.name }, { tool: TOOL.name });
    await refused(set, AMBIGUOUS, 'BINDING_AMBIGUOUS');
    bind({ tool: [] });
    await refused(set, precondition('No tool defined for this intent'), 'BINDING_EMPTY');
    bind({ tool: TOOL.name }, { intent: UNKNOWN_ID, tool: 'spare' });
    expect((await answering(set, 'y')).code).toBe(0);
  });

  it('a missing executable prints [ERROR] Tool not found and starts nothing', async () => {
    const set = await stage();
    chmodSync(set.script, 0o644);
    await refused(set, OTHER, 'EXECUTABLE_NOT_EXECUTABLE');
    rmSync(set.script);
    await refused(set, precondition('Tool not found'), 'EXECUTABLE_MISSING');
  });

  it('an executable or a registry entry that changed since the approval is refused', async () => {
    const set = await stage();
    const registry = readRegistry(set.registry);
    const [tool] = registry.tools;
    for (const change of [{ args: ['--all'] }, { timeout_s: 61 }, { env: {} }, { summary: 'Else.' }]) {
      writeRegistry(set.registry, { ...registry, tools: [{ ...tool, ...change }] });
      await refused(set, OTHER, 'EFFECT_CHANGED');
    }
    writeRegistry(set.registry, registry);
    appendFileSync(set.script, '\n');
    await refused(set, OTHER, 'EXECUTABLE_CHANGED');
  });

  it('the checks come in the order of 001 and the first failure is the only one told', async () => {
    const parameters = { level: { type: 'integer', max: 9 } };
    const set = await stage({ tool: { args: ['{level}'], parameters }, arguments: { level: 9 } });
    const { tools, ...rest } = readRegistry(set.registry);
    const script = readFileSync(set.script);
    const bindings = [{ intent: set.id, tool: [] }];
    const narrow = [{ ...tools[0], parameters: { level: { type: 'integer', max: 8 } } }];
    rmSync(set.script);
    writeRegistry(set.registry, { ...rest, tools: [], bindings: [] }, 0o644);
    const wrong = ['run', set.id, SOME_HASH];
    await refused(set, notEligible('[ERROR] Approval verification failed'), 'HASH_MISMATCH', wrong);
    await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    chmodSync(set.registry, 0o444);
    await refused(set, precondition('Intent not in tool registry'), 'TOOL_UNKNOWN');
    writeRegistry(set.registry, { ...rest, tools: narrow, bindings });
    await refused(set, precondition('No tool defined for this intent'), 'BINDING_EMPTY');
    writeRegistry(set.registry, { ...rest, tools: narrow });
    await refused(
      set,
      /^\[ERROR\] (Tool arguments invalid: [^\n]+)\n\[ERROR\] Cannot execute: \1\n/,
      'ARGUMENT_INVALID',
    );
    writeRegistry(set.registry, { ...rest, tools });
    await refused(set, precondition('Tool not found'), 'EXECUTABLE_MISSING');
    writeFileSync(set.script, `${script}#`, { mode: 0o755 });
    await refused(set, OTHER, 'EXECUTABLE_CHANGED');
    writeFileSync(set.script, script);
    expect((await answering(set, 'y')).code).toBe(0);
  });

  it('every refusal before the start ends with No execution attempted.', async () => {
    const set = await stage();
    for (const more of [
      ['run'],
      ['run', set.id],
      [...set.words, '--surprise'],
      [...set.words, 'more'],
      set.words,
    ]) {
      const { stdout, code } = await alone(set, more);
      expect(stdout).toMatch(/\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
      expect(code).toBe(1);
    }
    const declined = await answering(set, 'n');
    expect(declined.stdout).toMatch(/\n\n\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
    expect(runs(set)).toBe(0);
  });

  it('a refused run appends exactly one refusal to the ledger and changes nothing else', async () => {
    const set = await stage();
    const [before, size] = [rowsOf(set), (await ledgerOf(set)).length];
    chmodSync(set.registry, 0o644);
    await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    const [refusal, ...more] = (await ledgerOf(set)).slice(size);
    expect(refusal!.body).toEqual({ hash: set.hash, reason_code: 'REGISTRY_WRITABLE' });
    expect(more).toEqual([]);
    const after = rowsOf(set);
    for (const table of ['tenant', 'projection', 'object']) expect(after[table]).toEqual(before[table]);
    for (const [table, rows] of Object.entries(before))
      expect(after[table]).toEqual(expect.arrayContaining(rows));
    chmodSync(set.registry, 0o444);
    expect((await answering(set, 'y')).code).toBe(0);
  });
});

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
    expect(session.text).toBe(`${screen}${QUESTION}`);
    session.type('n');
    expect(await session.exited).toBe(1);
    // Who sends standard output to a file still sees what they are asked about.
    const redirected = await answering(set, 'n');
    expect(redirected.screen).toBe(`${screen}${QUESTION}n\n`);
    expect(redirected.stdout.startsWith(screen)).toBe(true);
  });

  it('n, Enter and the end of input start nothing, record nothing and exit 1', async () => {
    const set = await stage();
    const before = rowsOf(set);
    for (const keys of ['n\r', '\r', '\x04', '\x03', 'Y\r', 'yes\r', ' y\r', 'y \r', 'ny\r']) {
      const seen = await atTerminal(set, set.words, async (session) => {
        await session.expect(QUESTION);
        session.press(keys);
      });
      expect(seen.stdout.startsWith(preScreen(set))).toBe(true);
      const end = seen.stdout.slice(preScreen(set).length);
      expectRefused(
        { ...seen, stdout: end },
        /^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/,
        'CONFIRMATION_DECLINED',
      );
    }
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('a signal that comes while the question waits is a no', async () => {
    const set = await stage({ tool: { env_pass: ['MARK'] } });
    const before = rowsOf(set);
    const mark = randomUUID();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const env = { MARK: mark };
      const session = inTerminal(set.words, { cwd: set.folder, env });
      await session.expect(QUESTION);
      for (const pid of processesWith(mark)) process.kill(Number(pid), signal);
      expect(await session.exited).toBe(1);
      expect(session.text).toContain('CONFIRMATION_DECLINED: ');
    }
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('without a terminal nothing starts, and no flag and no variable answers the prompt', async () => {
    const set = await stage();
    const before = rowsOf(set);
    const env = {
      KEYTURN_YES: '1',
      KEYTURN_ASSUME_YES: 'y',
      CI: '1',
      YES: '1',
      DEBIAN_FRONTEND: 'noninteractive',
    };
    expectRefused(await alone(set, set.words, { stdin: 'y\ny\n', env }), OTHER, 'NO_TERMINAL');
    const flags = ['--yes', '-y', '--force', '--no-confirm', '--assume-yes', '--batch', '--trust-me'];
    const answers = await Promise.all(
      flags.map((flag) => alone(set, [...set.words, flag], { stdin: 'y\n' })),
    );
    for (const answer of answers)
      expectRefused(answer, /^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/, 'USAGE');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('run takes one id and one hash and knows no flag that skips, delays, batches, chains or retries', async () => {
    const set = await stage();
    const before = rowsOf(set);
    const wrong = [
      [UNKNOWN_ID],
      [UNKNOWN_ID, SOME_HASH],
      ['--skip-check'],
      ['--at', '3pm'],
      ['--delay', '5'],
      ['--all'],
      ['--then', 'other'],
      ['--retry', '3'],
      ['--background'],
    ];
    const answers = await Promise.all(wrong.map((more) => alone(set, [...set.words, ...more])));
    for (const answer of answers)
      expectRefused(answer, /^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/, 'USAGE');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('what changes while the prompt waits is refused after the y', async () => {
    const changes: [ReasonCode, (set: Stage) => unknown][] = [
      ['EXECUTABLE_CHANGED', ({ script }) => appendFileSync(script, 'echo more\n')],
      ['EXECUTABLE_MISSING', ({ script }) => rmSync(script)],
      ['REGISTRY_WRITABLE', ({ registry }) => chmodSync(registry, 0o644)],
      ['TOOL_UNKNOWN', ({ registry }) => writeRegistry(registry, { version: 1, tools: [] })],
      [
        'EFFECT_CHANGED',
        ({ registry }) => {
          const { tools, ...rest } = readRegistry(registry);
          writeRegistry(registry, { ...rest, tools: [{ ...tools[0], args: ['--all'] }] });
        },
      ],
      [
        'INTENT_REJECTED',
        (set) =>
          inside(set, ({ reject }) =>
            reject({ intent_id: set.id, hash: set.hash, reason: 'No.', signer: set.signer }),
          ),
      ],
      ['ALREADY_EXECUTED', play],
    ];
    for (const [code, change] of changes) {
      const set = await stage();
      const seen = await atTerminal(set, set.words, async (session) => {
        await session.expect(QUESTION);
        await change(set);
        session.type('y');
      });
      expect(seen.stdout.startsWith(preScreen(set))).toBe(true);
      expectRefused(seen, /\n\n(\[ERROR\] [^\n]+\n)+No execution attempted\.\n$/, code);
      expect((await ledgerOf(set)).at(-1)).toMatchObject({
        kind: 'execution.refused',
        body: { reason_code: code },
      });
      expect(runs(set)).toBe(code === 'ALREADY_EXECUTED' ? 1 : 0);
    }
  });
});

describe('a run', () => {
  it('a run that succeeds prints the success report of 001 and exits 0', async () => {
    const set = await stage({
      body: 'echo ran >> "$LOG"; echo "Backup created: /backup/a.tar.gz"; echo; echo "Size: 2.3 GB"; echo noise >&2',
    });
    const seen = await answering(set, 'y');
    const { execution_id, ended_at } = await runOf(set);
    expect(ended_at).toMatch(INSTANT);
    const report = lines(
      '[OK] Execution completed: create_backup',
      `Execution ID: ${execution_id}`,
      `Timestamp: ${ended_at}`,
      'Tool output:',
      '  Backup created: /backup/a.tar.gz',
      '  ',
      '  Size: 2.3 GB',
      'Status: Execution recorded in the ledger',
    );
    expect(seen).toMatchObject({ stdout: `${preScreen(set)}${report}`, stderr: '', code: 0 });
    expect(runs(set)).toBe(1);
  });

  it('a run that fails prints the failure report of 001 and exits 1', async () => {
    const set = await stage({
      body: 'echo useless; echo "create_backup: cannot access /home/user/important" >&2; echo "Permission denied" >&2; exit 7',
    });
    const seen = await answering(set, 'y');
    const { execution_id, ended_at } = await runOf(set);
    const report = lines(
      '[ERROR] Execution failed: create_backup',
      `Execution ID: ${execution_id}`,
      `Timestamp: ${ended_at}`,
      'Exit code: 7',
      'Error output:',
      '  create_backup: cannot access /home/user/important',
      '  Permission denied',
      'Status: Execution recorded in the ledger as failure',
    );
    expectRefused(seen, `${preScreen(set)}${report}`, 'TOOL_EXIT_NONZERO');
  });

  it('a run prints the screen, the report and nothing else: no hint, no warning, no stack trace', async () => {
    for (const end of [0, 3]) {
      const set = await stage({ body: `echo done; exit ${end}` });
      const session = inTerminal(set.words, { cwd: set.folder, columns: 500 });
      await session.expect(QUESTION);
      session.type('y');
      expect(await session.exited).toBe(end === 0 ? 0 : 1);
      const { execution_id, ended_at } = await runOf(set);
      const report =
        end === 0
          ? `[OK] Execution completed: create_backup\nExecution ID: ${execution_id}\nTimestamp: ${ended_at}\nTool output:\n  done\nStatus: Execution recorded in the ledger\n`
          : `[ERROR] Execution failed: create_backup\nExecution ID: ${execution_id}\nTimestamp: ${ended_at}\nExit code: 3\nError output:\nStatus: Execution recorded in the ledger as failure\n`;
      const shown = `${preScreen(set)}${QUESTION}y\n${report}`;
      expect(session.text.slice(0, shown.length)).toBe(shown);
      expect(session.text.slice(shown.length)).toMatch(end === 0 ? /^$/ : /^TOOL_EXIT_NONZERO: [^\n]+\n$/);
    }
  });

  it('the ledger holds one claim and one outcome for each attempt, and no argument and no output', async () => {
    for (const [end, result] of [
      [0, 'success'],
      [7, 'failure'],
    ] as const) {
      const set = await stage({
        tool: { args: ['{secret}'], parameters: { secret: { type: 'string' } } },
        arguments: { secret: 'hunter2' },
        body: `echo printed secret; echo complained secret >&2; exit ${end}`,
      });
      await answering(set, 'y');
      const ledger = await ledgerOf(set);
      expect(kindsOf(ledger, set)).toEqual([
        'intent.proposed',
        'approval.granted',
        'execution.claimed',
        'execution.finished',
      ]);
      const [claimed, finished] = ledger.slice(-2);
      const { execution_id } = await runOf(set);
      expect(claimed!.body).toMatchObject({
        execution_id,
        attempt: 1,
        hash: set.hash,
        tool: 'create_backup',
      });
      expect(finished!.body).toMatchObject({ execution_id, attempt: 1, result, exit_code: end });
      expect(JSON.stringify(ledger)).not.toMatch(/hunter2|secret|photos/);
      // The output itself is kept apart, under its digest, where it can be erased.
      const { digest } = (finished!.body as { stdout: { digest: string } }).stdout;
      const kept = await inside(set, ({ object }) => object(digest));
      expect(Buffer.from(kept).toString()).toBe('printed secret\n');
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
      'Zoë 🔑',
      '\\n',
      '',
    ];
    const set = await stage({
      body: 'printf "%s\\n" "$#"; printf "<%s>\\n" "$@"; pwd; wc -c; env',
      tool: { args: ['--', '{words...}'], parameters: { words: { type: 'list' } } },
      arguments: { words },
    });
    const { stdout } = await answering(set, 'y');
    const shown = ['--', ...words].map((word) => `  <${word}>\n`).join('');
    expect(stdout).toContain(`Tool output:\n  11\n${shown}  ${set.folder}\n  0\n`);
    const names = [...stdout.matchAll(/^ {2}([A-Z_]+)=/gm)].map(([, name]) => name!);
    expect(names.filter((name) => !['PWD', 'SHLVL', 'OLDPWD', '_'].includes(name)).sort()).toEqual([
      'LOG',
      'OWN',
      'PATH',
    ]);
  });

  it('an approved call that looks dangerous runs like any other', async () => {
    const set = await stage({
      body: 'echo "would run: $1"',
      tool: { args: ['{command}'], parameters: { command: { type: 'string' } } },
      arguments: { command: 'sudo rm -rf / # dangerous' },
    });
    const seen = await answering(set, 'y');
    expect(seen).toMatchObject({ code: 0, stderr: '' });
    expect(seen.stdout).toContain('Tool output:\n  would run: sudo rm -rf / # dangerous\nStatus: ');
  });

  it('output that is empty, binary or too long is recorded like any other', async () => {
    const cases: [body: string, shown: string, bytes: number][] = [
      ['true', '', 0],
      ["printf '\\000\\001\\377'", '  \\x00\\x01\ufffd\n', 3],
      [
        "printf '\\033[2J\\033]0;title\\007clean\\rhidden\\n'",
        '  \\x1b[2J\\x1b]0;title\\x07clean\\x0dhidden\n',
        25,
      ],
      ["printf '\\342\\200\\256abc'", '  \\u202eabc\n', 6],
      ['printf "%0100d" 0', `  ${'0'.repeat(64)}\n  [36 more bytes were not kept]\n`, 100],
    ];
    for (const [body, shown, bytes] of cases) {
      const set = await stage({ body, tool: { stdout_bytes: 64 } });
      const seen = await answering(set, 'y');
      expect(seen.stdout).toContain(`\nTool output:\n${shown}Status: Execution recorded in the ledger\n`);
      expect((await ledgerOf(set)).at(-1)).toMatchObject({
        kind: 'execution.finished',
        body: { result: 'success', exit_code: 0, stdout: { bytes, truncated: bytes > 64 } },
      });
    }
  });

  it('run answers only when the tool has ended, and leaves no process behind', async () => {
    const mark = randomUUID();
    const set = await stage({
      body: 'sleep 300 >/dev/null 2>&1 & sleep 0.3; echo ended >> "$LOG"; echo ended',
      tool: { env_pass: ['MARK'] },
    });
    const session = inTerminal(set.words, { cwd: set.folder, env: { MARK: mark } });
    await session.expect(QUESTION);
    session.type('y');
    expect(await session.exited).toBe(0);
    expect(session.text).toContain('Tool output:\n  ended\n');
    expect(runs(set)).toBe(1);
    expect(processesWith(mark)).toEqual([]);
  });
});
