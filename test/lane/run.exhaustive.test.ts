import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectMachine } from '../../src/effect/machine.ts';
import { ownUser } from '../../src/effect/user.ts';
import { processesWith, until } from '../support/processes.ts';
import { found } from '../support/project.ts';
import { readRegistry, runs, TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import {
  INSTANT,
  NOTHING,
  QUESTION,
  RECORDING_FAILED,
  preScreen as screenBefore,
  withoutConfinement,
} from '../support/transcript.ts';
import {
  approval,
  commandLine,
  execution,
  folder,
  HASH,
  ID,
  linesOf,
  OTHER_HASH,
  OTHER_ID,
  someone,
  TIME,
} from './lane.ts';
import { picture, type Stage, stage } from './stage.ts';
import { atTerminal, END_OF_INPUT, ENTER, type Visit } from './terminal.ts';

const { path, keyturn } = commandLine();

const YES = `y${ENTER}`;

const at = ({ words }: Stage, typed: string, visit: Partial<Visit> = {}) =>
  atTerminal(path(), words, { type: () => typed, ...visit });

const preScreen = ({ script }: Stage, parameters = '') => screenBefore({ id: ID, script }, parameters);

/** Runs without a terminal, which every refusal of a check comes before: the answer, and that nothing happened. */
async function refused(set: Stage, lines: string | RegExp, code: string): Promise<void> {
  const before = picture(set);
  const answer = await keyturn(set.words);
  expect(answer.stdout).toMatch(typeof lines === 'string' ? new RegExp(`^${escaped(lines)}`) : lines);
  expect(answer.stdout).toMatch(/\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
  expect(answer.stderr).toMatch(new RegExp(`^${code}: [^\\n]+\\n$`));
  expect(answer.code).toBe(1);
  expect(picture(set)).toEqual(before);
  expect(runs(set)).toBe(0);
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('the preconditions of 001', () => {
  it('an intent that is not eligible prints [ERROR] Execution not eligible and starts nothing', async () => {
    const ran = stage();
    folder({ executed: [execution()] }, ran.queue);
    await refused(
      ran,
      `[ERROR] Intent already executed at ${TIME}\n[ERROR] Execution not eligible\n[ERROR] Cannot execute: The intent has been executed already.\n${NOTHING}`,
      'ALREADY_EXECUTED',
    );
    const unapproved = stage();
    folder({ approved: [] }, unapproved.queue);
    await refused(
      unapproved,
      '[ERROR] Approval verification failed\n[ERROR] Execution not eligible\n',
      'APPROVAL_MISSING',
    );
    const other = stage();
    folder({ approved: [approval(ID, OTHER_HASH)] }, other.queue);
    await refused(
      other,
      '[ERROR] Approval verification failed\n[ERROR] Execution not eligible\n',
      'HASH_MISMATCH',
    );
    const damaged = stage();
    folder({ executed: ['{'] }, damaged.queue);
    await refused(
      damaged,
      '[ERROR] Execution record cannot be trusted\n[ERROR] Execution not eligible\n',
      'QUEUE_MALFORMED',
    );
  });

  it('a malformed id or hash is an error and starts nothing', async () => {
    const set = stage();
    for (const [id, hash, code] of [
      [ID.toUpperCase(), HASH, 'ID_MALFORMED'],
      [ID.slice(1), HASH, 'ID_MALFORMED'],
      [ID, HASH.slice(1), 'HASH_MALFORMED'],
      [ID, HASH.toUpperCase(), 'HASH_MALFORMED'],
    ] as const) {
      const words = [...set.words];
      words.splice(2, 2, id, hash);
      await refused({ ...set, words }, '[ERROR] Cannot execute: The ', code);
    }
  });

  it('a registry that is missing or malformed prints [ERROR] Tool registry unavailable and starts nothing', async () => {
    const LINE = '[ERROR] Tool registry unavailable\n[ERROR] Cannot execute: ';
    const missing = stage();
    rmSync(missing.registry);
    await refused(missing, LINE, 'REGISTRY_MISSING');
    const unnamed = stage();
    await refused({ ...unnamed, words: unnamed.words.slice(0, -2) }, LINE, 'REGISTRY_MISSING');
    for (const [content, code] of [
      ['tools: [', 'YAML_MALFORMED'],
      ['', '[A-Z_]+'],
      ['version: 1\nversion: 1\ntools: []', 'YAML_MALFORMED'],
      ['version: 2\ntools: []', 'REGISTRY_MALFORMED'],
      ['version: 1\ntools: []\nsurprise: 1', 'REGISTRY_MALFORMED'],
    ] as const) {
      const malformed = stage();
      writeRegistry(malformed.registry, content);
      await refused(malformed, LINE, code);
    }
    const twice = stage({ more_tools: [{ ...TOOL, executable: '/bin/true' }] });
    await refused(twice, LINE, 'TOOL_DUPLICATE');
  });

  it('a tool definition that lacks a field prints [ERROR] Tool registry unavailable and starts nothing', async () => {
    for (const field of ['name', 'summary', 'executable', 'sandbox', 'undo']) {
      const set = stage({ tool: { [field]: undefined } });
      await refused(set, '[ERROR] Tool registry unavailable\n', 'REGISTRY_MALFORMED');
    }
  });

  it('a registry with any write bit prints [ERROR] Tool registry must be read-only and starts nothing', async () => {
    for (const mode of [0o644, 0o464, 0o446, 0o666]) {
      const set = stage();
      chmodSync(set.registry, mode);
      await refused(
        set,
        '[ERROR] Tool registry must be read-only\n[ERROR] Cannot execute: ',
        'REGISTRY_WRITABLE',
      );
    }
  });

  it('an intent id that the registry does not bind prints [ERROR] Intent not in tool registry and starts nothing', async () => {
    const LINE = '[ERROR] Intent not in tool registry\n[ERROR] Cannot execute: ';
    await refused(stage({ bindings: [] }), LINE, 'BINDING_MISSING');
    await refused(
      stage({ bindings: [{ intent: OTHER_ID, tool: 'create_backup' }] }),
      LINE,
      'BINDING_MISSING',
    );
  });

  it('a binding with no tool prints [ERROR] No tool defined for this intent and starts nothing', async () => {
    const set = stage({ bindings: [{ intent: ID, tool: [] }] });
    await refused(set, '[ERROR] No tool defined for this intent\n[ERROR] Cannot execute: ', 'BINDING_EMPTY');
  });

  it('a binding with several tools prints [ERROR] Multiple tools defined (ambiguous) and starts nothing', async () => {
    const second = { ...TOOL, name: 'second', executable: '/bin/true' };
    const set = stage({
      more_tools: [second],
      bindings: [{ intent: ID, tool: ['create_backup', 'second'] }],
    });
    await refused(
      set,
      '[ERROR] Multiple tools defined (ambiguous)\n[ERROR] Cannot execute: ',
      'BINDING_AMBIGUOUS',
    );
  });

  it('an intent id that is bound twice starts nothing', async () => {
    const binding = { intent: ID, tool: 'create_backup' };
    const set = stage({ bindings: [binding, binding] });
    await refused(set, '[ERROR] Multiple tools defined (ambiguous)\n', 'BINDING_AMBIGUOUS');
  });

  const parameters = {
    target: { type: 'string', max_length: 10 },
    level: { type: 'integer', max: 9, default: 1 },
  };
  const withArguments = (values: Record<string, unknown>) =>
    stage({ tool: { args: ['{target}', '{level}'], parameters }, arguments: values });

  it('a required argument that is missing prints [ERROR] Tool arguments invalid: and why', async () => {
    await refused(
      withArguments({}),
      '[ERROR] Tool arguments invalid: The argument "target" is missing.\n[ERROR] Cannot execute: ',
      'ARGUMENT_MISSING',
    );
  });

  it('an argument of the wrong type or outside its constraint prints [ERROR] Tool arguments invalid: and why', async () => {
    for (const values of [
      { target: 7 },
      { target: 'far too long a target' },
      { target: 'x', level: 10 },
      { target: 'x', level: 1.5 },
      { target: 'a\nb' },
      { target: null },
    ])
      await refused(
        withArguments(values),
        /^\[ERROR\] Tool arguments invalid: The argument "/,
        'ARGUMENT_INVALID',
      );
    const unknown = withArguments({ target: 'x', more: 'y' });
    await refused(unknown, '[ERROR] Tool arguments invalid: ', 'ARGUMENT_UNKNOWN');
  });

  it('an argument that looks like an option prints [ERROR] Tool arguments invalid: and why', async () => {
    for (const target of ['--delete', '-r', '-'])
      await refused(
        withArguments({ target }),
        '[ERROR] Tool arguments invalid: ',
        'ARGUMENT_LOOKS_LIKE_OPTION',
      );
  });

  it('a missing executable prints [ERROR] Tool not found and starts nothing', async () => {
    const set = stage();
    rmSync(set.script);
    await refused(set, '[ERROR] Tool not found\n[ERROR] Cannot execute: ', 'EXECUTABLE_MISSING');
    const plain = stage();
    chmodSync(plain.script, 0o644);
    await refused(plain, '[ERROR] Cannot execute: ', 'EXECUTABLE_NOT_EXECUTABLE');
  });

  it('the checks come in the order of 001 and the first failure is the only one told', async () => {
    const set = stage({
      tool: { args: ['{a}'], parameters: { a: { type: 'integer' } } },
      arguments: { a: 'x' },
    });
    const content = readRegistry(set.registry);
    const broken = { ...content, bindings: [] };
    folder({ executed: [execution()] }, set.queue);
    rmSync(set.script);
    writeRegistry(set.registry, broken, 0o644);
    const told: string[] = [];
    const tell = async () => {
      const { stdout } = await keyturn(set.words);
      told.push(
        ...stdout
          .split('\n')
          .filter((line) => line.startsWith('[ERROR]') && !line.includes('Cannot execute')),
      );
    };
    await tell();
    rmSync(join(set.queue, 'executed.jsonl'));
    await tell();
    writeRegistry(set.registry, broken);
    await tell();
    writeRegistry(set.registry, { ...content, bindings: [{ ...content.bindings[0], tool: [] }] });
    await tell();
    writeRegistry(set.registry, content);
    await tell();
    writeRegistry(set.registry, { ...content, bindings: [{ ...content.bindings[0], arguments: { a: 1 } }] });
    await tell();
    expect(told).toEqual([
      `[ERROR] Intent already executed at ${TIME}`,
      '[ERROR] Execution not eligible',
      '[ERROR] Tool registry must be read-only',
      '[ERROR] Intent not in tool registry',
      '[ERROR] No tool defined for this intent',
      '[ERROR] Tool arguments invalid: The argument "a" is not a number.',
      '[ERROR] Tool not found',
    ]);
  });

  it('every refusal before the start ends with No execution attempted.', async () => {
    const set = stage();
    const [, , ...rest] = set.words;
    for (const words of [
      ['lane', 'run', ID, HASH],
      ['lane', 'run', ID],
      ['lane', 'run', ...rest, '--surprise'],
      ['lane', 'run', ...rest, '--queue', set.queue],
      set.words,
    ]) {
      const { stdout, code } = await keyturn(words);
      expect(stdout).toMatch(/^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
      expect(code).toBe(1);
    }
    expect(
      (await at(set, `n${ENTER}`)).stdout.endsWith(
        `[ERROR] Cannot execute: The answer was not yes.\n${NOTHING}`,
      ),
    ).toBe(true);
    expect(runs(set)).toBe(0);
  });

  it('a refused run leaves executed.jsonl as it was', async () => {
    const set = stage({ bindings: [] });
    await keyturn(set.words);
    expect(linesOf(set.queue, 'executed')).toEqual([]);
    folder({ executed: [execution(OTHER_ID)] }, set.queue);
    await refused(set, '[ERROR] Intent not in tool registry\n', 'BINDING_MISSING');
  });
});

describe('the human', () => {
  it('the screen before the run shows id, tool, executable, parameters and the three checks, then asks', async () => {
    const set = stage({
      tool: {
        args: ['--target', '{target}', '{note}'],
        parameters: { target: { type: 'string' }, note: { type: 'string' } },
      },
      arguments: { target: '/home/user/important', note: 'two words' },
    });
    const seen = await at(set, `n${ENTER}`, { everything: true });
    const screen = preScreen(set, '--target /home/user/important "two words"');
    expect(withoutConfinement(seen.screen).startsWith(`${screen}${QUESTION}`)).toBe(true);
    expect(seen.code).toBe(1);
    const redirected = await at(set, `n${ENTER}`);
    expect(withoutConfinement(redirected.screen).startsWith(`${screen}${QUESTION}`)).toBe(true);
    expect(redirected.stdout.startsWith(screen)).toBe(true);
  });

  it('n, Enter and the end of input start nothing, record nothing and exit 1', async () => {
    const set = stage();
    for (const typed of ['n\r', ' NO\r', ENTER, END_OF_INPUT, 'ny\r', 'yy\r', '\x03']) {
      const seen = await at(set, typed);
      const asked = ['ny\r', 'yy\r'].includes(typed) ? 3 : 1;
      expect(seen.screen.split('Proceed? (y/n)')).toHaveLength(asked + 1);
      expect(seen.stdout).toMatch(/\n\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
      expect(seen.stderr).toMatch(/^CONFIRMATION_DECLINED: /);
      expect(seen.code).toBe(1);
    }
    expect(runs(set)).toBe(0);
    expect(linesOf(set.queue, 'executed')).toEqual([]);
  });

  it('y and yes are a yes, in any case, also at the third try', async () => {
    const answers = [['Y\r'], [' yes \r'], ['yy\r', 'x\r', 'y\r']];
    for (const typed of answers) {
      const set = stage();
      const seen = await at(set, '', { type: () => typed.shift() ?? null });
      expect(seen.code).toBe(0);
      expect(runs(set)).toBe(1);
    }
  });

  it('without a terminal nothing starts, and no flag and no variable answers the prompt', async () => {
    const set = stage();
    const env = {
      KEYTURN_YES: '1',
      KEYTURN_ASSUME_YES: 'y',
      CI: '1',
      YES: '1',
      DEBIAN_FRONTEND: 'noninteractive',
    };
    const answer = await keyturn(set.words, { input: 'y\ny\n', env });
    expect(answer.stdout).toMatch(/^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
    expect(answer.stderr).toMatch(/^NO_TERMINAL: /);
    for (const flag of ['--yes', '-y', '--force', '--no-confirm', '--assume-yes', '--batch'])
      expect((await keyturn([...set.words, flag], { input: 'y\n' })).code).toBe(1);
    expect(runs(set)).toBe(0);
    expect(linesOf(set.queue, 'executed')).toEqual([]);
  });

  it('run takes one id and one hash and knows no flag that skips, delays, batches, chains or retries', async () => {
    const set = stage();
    for (const more of [
      [OTHER_ID],
      [OTHER_ID, OTHER_HASH],
      ['--skip-check'],
      ['--at', '3pm'],
      ['--delay', '5'],
      ['--all'],
      ['--then', 'other'],
      ['--retry', '3'],
      ['--background'],
    ]) {
      const answer = await keyturn([...set.words, ...more]);
      expect(answer).toMatchObject({ code: 1, stderr: expect.stringMatching(/USAGE/) });
    }
    expect(runs(set)).toBe(0);
  });

  it('what changes while the prompt waits is refused after the y', async () => {
    const changes: [string, (set: Stage) => void][] = [
      ['EXECUTABLE_CHANGED', ({ script }) => appendFileSync(script, 'echo more\n')],
      ['REGISTRY_WRITABLE', ({ registry }) => chmodSync(registry, 0o644)],
      ['ALREADY_EXECUTED', ({ queue }) => void folder({ executed: [execution()] }, queue)],
      ['APPROVAL_MISSING', ({ queue }) => void folder({ approved: [] }, queue)],
      [
        'EFFECT_CHANGED',
        ({ registry }) => {
          const content = readRegistry(registry);
          writeRegistry(registry, { ...content, tools: [{ ...content.tools[0], args: ['--all'] }] });
        },
      ],
    ];
    for (const [code, change] of changes) {
      const set = stage();
      const type = () => {
        change(set);
        return YES;
      };
      const seen = await at(set, '', { type });
      expect(seen.stderr).toMatch(new RegExp(`^${code}: `));
      expect(seen.stdout.endsWith(NOTHING)).toBe(true);
      expect(seen.code).toBe(1);
      expect(runs(set)).toBe(0);
    }
  });
});

describe('a run', () => {
  it('a run that succeeds prints the success report of 001 and exits 0', async () => {
    const set = stage({
      body: 'echo ran >> "$LOG"; echo "Backup created: /backup/a.tar.gz"; echo; echo "Size: 2.3 GB"; echo noise >&2',
    });
    const seen = await at(set, YES);
    const { timestamp } = linesOf(set.queue, 'executed').at(-1)!;
    const report = [
      '[OK] Execution completed: create_backup',
      `Execution ID: ${ID}`,
      `Timestamp: ${timestamp}`,
      'Tool output:',
      '  Backup created: /backup/a.tar.gz',
      '  ',
      '  Size: 2.3 GB',
      'Status: Execution recorded in executed.jsonl',
      '',
    ].join('\n');
    expect(seen).toMatchObject({ stdout: `${preScreen(set)}${report}`, stderr: '', code: 0 });
    expect(runs(set)).toBe(1);
  });

  it('a run that fails prints the failure report of 001 and exits 1', async () => {
    const set = stage({
      body: 'echo ran >> "$LOG"; echo useless; echo "create_backup: cannot access /home/user/important" >&2; echo "Permission denied" >&2; exit 7',
    });
    const seen = await at(set, YES);
    const { timestamp } = linesOf(set.queue, 'executed').at(-1)!;
    const report = [
      '[ERROR] Execution failed: create_backup',
      `Execution ID: ${ID}`,
      `Timestamp: ${timestamp}`,
      'Exit code: 7',
      'Error output:',
      '  create_backup: cannot access /home/user/important',
      '  Permission denied',
      'Status: Execution recorded in executed.jsonl as failure',
      '',
    ].join('\n');
    expect(seen).toMatchObject({ stdout: `${preScreen(set)}${report}`, code: 1 });
    expect(seen.stderr).toMatch(/^TOOL_EXIT_NONZERO: [^\n]+\n$/);
  });

  it('a run prints the screen, the report and nothing else: no hint, no warning, no stack trace', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; echo done' });
    const seen = await at(set, YES, { everything: true });
    const { timestamp } = linesOf(set.queue, 'executed').at(-1)!;
    expect(withoutConfinement(seen.screen)).toBe(
      `${preScreen(set)}${QUESTION}y\n[OK] Execution completed: create_backup\nExecution ID: ${ID}\nTimestamp: ${timestamp}\nTool output:\n  done\nStatus: Execution recorded in executed.jsonl\n`,
    );
  });

  it('a success is recorded with id, timestamp, tool, exit_code 0 and outcome success', async () => {
    const set = stage();
    await at(set, YES);
    const [started, ended, ...more] = linesOf(set.queue, 'executed');
    const known = { id: ID, timestamp: expect.stringMatching(INSTANT), tool: 'create_backup' };
    expect(started).toEqual({ ...known, exit_code: null, outcome: 'started' });
    expect(ended).toEqual({ ...known, exit_code: 0, outcome: 'success' });
    expect(more).toEqual([]);
  });

  it('a failure is recorded with id, timestamp, tool, its exit_code and outcome failure', async () => {
    const set = stage({ body: 'exit 127' });
    await at(set, YES);
    expect(linesOf(set.queue, 'executed').at(-1)).toEqual({
      id: ID,
      timestamp: expect.stringMatching(INSTANT),
      tool: 'create_backup',
      exit_code: 127,
      outcome: 'failure',
    });
  });

  it('a record holds no other key: no text, output, argument, user or machine', async () => {
    const parameters = { secret: { type: 'string' } };
    const set = stage({
      tool: { args: ['{secret}'], parameters },
      arguments: { secret: 'hunter2' },
      body: 'echo secret output',
    });
    await at(set, YES);
    for (const line of linesOf(set.queue, 'executed'))
      expect(Object.keys(line)).toEqual(['id', 'timestamp', 'tool', 'exit_code', 'outcome']);
    expect(readFileSync(join(set.queue, 'executed.jsonl'), 'utf8')).not.toMatch(/hunter2|secret/);
  });

  it('a run leaves pending.jsonl, approved.jsonl and the registry byte for byte as they were', async () => {
    const set = stage();
    folder({ pending: [approval()] }, set.queue);
    const before = picture(set);
    await at(set, YES);
    const others = picture(set).filter((file) => !String((file as unknown[])[0]).endsWith('executed.jsonl'));
    expect(others).toEqual(before);
  });

  it('a line with outcome started is on disk before the tool starts', async () => {
    const set = stage({ body: 'cat "$QUEUE/executed.jsonl"' });
    const seen = await at(set, YES);
    expect(seen.stdout).toContain(`\n  ${JSON.stringify(linesOf(set.queue, 'executed')[0])}\n`);
    expect(linesOf(set.queue, 'executed')[0]).toMatchObject({ id: ID, outcome: 'started' });
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
    const set = stage({
      body: 'printf "%s\\n" "$#"; printf "<%s>\\n" "$@"; env',
      tool: { args: ['--', '{words...}'], parameters: { words: { type: 'list' } } },
      arguments: { words },
    });
    const seen = await at(set, YES);
    const shown = ['--', ...words].map((word) => `  <${word}>\n`).join('');
    expect(seen.stdout).toContain(`Tool output:\n  11\n${shown}`);
    const names = [...seen.stdout.matchAll(/^ {2}([A-Z_]+)=/gm)].map(([, name]) => name).sort();
    expect(names).toEqual(expect.arrayContaining(['LOG', 'PATH', 'QUEUE']));
    expect(
      names.filter((name) => !['LOG', 'PATH', 'QUEUE', 'PWD', 'SHLVL', 'OLDPWD', '_'].includes(name!)),
    ).toEqual([]);
  });

  it('an approved call that looks dangerous runs like any other', async () => {
    const parameters = { command: { type: 'string' } };
    const set = stage({
      body: 'echo ran >> "$LOG"; echo "would run: $1"',
      tool: { args: ['{command}'], parameters },
      arguments: { command: 'sudo rm -rf / # dangerous' },
    });
    const seen = await at(set, YES);
    expect(seen).toMatchObject({ code: 0, stderr: '' });
    expect(seen.stdout).toContain('\n  would run: sudo rm -rf / # dangerous\n');
  });

  it('output that is empty, binary or too long is recorded like any other', async () => {
    const cases: [string, string][] = [
      ['true', 'Tool output:\nStatus: '],
      ["printf '\\000\\001\\377'", 'Tool output:\n  \\x00\\x01\ufffd\nStatus: '],
      [
        "printf '\\033[2J\\033]0;title\\007clean\\rhidden\\n'",
        'Tool output:\n  \\x1b[2J\\x1b]0;title\\x07clean\\x0dhidden\nStatus: ',
      ],
      ["printf '\\342\\200\\256abc'", 'Tool output:\n  \\u202eabc\nStatus: '],
      ['printf "%0100d" 0', `Tool output:\n  ${'0'.repeat(64)}\n  [36 more bytes were not kept]\nStatus: `],
    ];
    for (const [body, shown] of cases) {
      const set = stage({ body, tool: { stdout_bytes: 64 } });
      const seen = await at(set, YES);
      expect(seen.stdout).toContain(shown);
      expect(linesOf(set.queue, 'executed').at(-1)).toMatchObject({ exit_code: 0, outcome: 'success' });
    }
  });

  it('run answers only when the tool has ended, and leaves no process behind', async () => {
    const mark = someone();
    const set = stage({ body: 'sleep 300 >/dev/null 2>&1 & sleep 0.3; echo ended >> "$LOG"; echo ended' });
    const content = readRegistry(set.registry);
    writeRegistry(set.registry, {
      ...content,
      tools: [{ ...content.tools[0], env: { LOG: set.log, MARK: mark } }],
    });
    const seen = await at(set, YES);
    expect(seen.stdout).toContain('Tool output:\n  ended\n');
    expect(runs(set)).toBe(1);
    expect(processesWith(mark)).toEqual([]);
  });

  it('a tool that is killed by its timeout is recorded as a failure without an exit code', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; sleep 300', tool: { timeout_s: 1 } });
    const seen = await at(set, YES);
    expect(seen.stdout).toContain('\nExit code: none\n');
    expect(seen).toMatchObject({ code: 1, stderr: expect.stringMatching(/^TOOL_TIMED_OUT: /) });
    expect(linesOf(set.queue, 'executed').at(-1)).toMatchObject({ exit_code: null, outcome: 'failure' });
  });

  it('a signal at the question is a no: nothing starts and nothing is recorded', async () => {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
      const set = stage();
      let pid = 0;
      const type = () => {
        process.kill(pid, signal);
        return null;
      };
      const started = (its: number) => {
        pid = its;
      };
      const seen = await at(set, '', { type, started });
      expect(seen).toMatchObject({ code: 1, stderr: expect.stringMatching(/^CONFIRMATION_DECLINED: /) });
      expect(linesOf(set.queue, 'executed')).toEqual([]);
    }
  });

  it('Ctrl-C kills the tool, and its end is recorded', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; sleep 300' });
    const interrupt = (pid: number) =>
      void until(() => runs(set) === 1).then(() => process.kill(pid, 'SIGINT'));
    const seen = await at(set, YES, { started: interrupt });
    expect(seen).toMatchObject({ code: 1, stderr: expect.stringMatching(/^TOOL_KILLED: /) });
    expect(linesOf(set.queue, 'executed').map(({ outcome }) => outcome)).toEqual(['started', 'failure']);
  });
});

describe('once', () => {
  it('a tool that fails is started once and never again', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; exit 1' });
    await at(set, YES);
    expect(runs(set)).toBe(1);
    const again = await at(set, YES);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ALREADY_EXECUTED: /) });
    expect(runs(set)).toBe(1);
  });

  it('a tool that fails brings no other tool of the registry to run', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; exit 1' });
    const spare = join(scratch(), 'spare');
    writeFileSync(spare, `#!/bin/sh\necho spare >> '${set.log}'\n`, { mode: 0o755 });
    const content = readRegistry(set.registry);
    const tools = [...content.tools, { ...TOOL, name: 'spare', executable: spare }];
    writeRegistry(set.registry, { ...content, tools });
    await at(set, YES);
    expect(readFileSync(set.log, 'utf8')).toBe('ran\n');
  });

  it('a second run of the same intent is refused, whatever the outcome of the first', async () => {
    for (const end of ['exit 0', 'exit 3', 'kill -9 $$']) {
      const set = stage({ body: `echo ran >> "$LOG"; ${end}` });
      await at(set, YES);
      const before = linesOf(set.queue, 'executed');
      const again = await at(set, YES);
      expect(again.stdout).toBe(
        `[ERROR] Intent already executed at ${before.at(-1)!.timestamp}\n[ERROR] Execution not eligible\n[ERROR] Cannot execute: The intent has been executed already.\n${NOTHING}`,
      );
      expect(again.code).toBe(1);
      expect(runs(set)).toBe(1);
      expect(linesOf(set.queue, 'executed')).toEqual(before);
    }
  });

  it('processes that race for one intent start its tool once', async () => {
    const set = stage({ body: 'echo ran >> "$LOG"; sleep 0.2; echo done' });
    const RACERS = 8;
    let ready = 0;
    const type = async () => {
      ready += 1;
      await until(() => ready === RACERS);
      return YES;
    };
    const seen = await Promise.all(Array.from({ length: RACERS }, () => at(set, '', { type })));
    expect(runs(set)).toBe(1);
    expect(seen.filter(({ code }) => code === 0)).toHaveLength(1);
    const losers = seen.filter(({ code }) => code === 1);
    expect(losers).toHaveLength(RACERS - 1);
    for (const { stdout, stderr } of losers) {
      expect(stdout).toMatch(
        /\[ERROR\] Intent already executed at [^\n]+\n\[ERROR\] Execution not eligible\n/,
      );
      expect(stdout.endsWith(NOTHING)).toBe(true);
      expect(stderr).toMatch(/^(RUN_IN_DOUBT|ALREADY_EXECUTED): /);
    }
    expect(linesOf(set.queue, 'executed').map(({ outcome }) => outcome)).toEqual(['started', 'success']);
  });

  it('a run that died before its outcome was recorded is never started again', async () => {
    const set = stage({ body: 'echo $$ >> "$LOG"; exec sleep 300' });
    const kill = (pid: number) => void until(() => runs(set) === 1).then(() => process.kill(pid, 'SIGKILL'));
    await at(set, YES, { started: kill });
    process.kill(Number(readFileSync(set.log, 'utf8')), 'SIGKILL');
    const [started, ...more] = linesOf(set.queue, 'executed');
    expect(started).toMatchObject({ id: ID, outcome: 'started', exit_code: null });
    expect(more).toEqual([]);
    const line = `[ERROR] Intent already executed at ${started!.timestamp}\n`;
    const again = await at(set, YES);
    expect(again.stdout).toMatch(
      new RegExp(`^${escaped(line)}\\[ERROR\\] Execution not eligible\\n.*may have happened`),
    );
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^RUN_IN_DOUBT: .*blocked for good/),
    });
    const check = await keyturn(['lane', 'check', ID, HASH, '--queue', set.queue]);
    expect(check).toMatchObject({ stdout: line, code: 1, stderr: expect.stringMatching(/^RUN_IN_DOUBT: /) });
    expect(runs(set)).toBe(1);
  });

  it('a recording that fails prints the lines of 001, exits 1 and reports no success', async () => {
    for (const harm of ['printf half >> "$QUEUE/executed.jsonl"', 'rm -r "$QUEUE"']) {
      // The queue belongs to the user of Keyturn.
      const set = stage({
        body: `echo ran >> "$LOG"; ${harm}; echo done`,
        tool: { run_as: ownUser().name },
      });
      const seen = await at(set, YES);
      expect(seen.stdout).toBe(`${preScreen(set)}${RECORDING_FAILED}`);
      expect(seen).toMatchObject({ code: 1, stderr: expect.stringMatching(/^RECORDING_FAILED: /) });
      expect(runs(set)).toBe(1);
    }
  });

  it('a claim that cannot be written starts nothing', async () => {
    const set = stage();
    const type = () => {
      mkdirSync(join(set.queue, 'executed.jsonl'));
      return YES;
    };
    const seen = await at(set, '', { type });
    expect(seen.stdout.endsWith(NOTHING)).toBe(true);
    expect(seen.code).toBe(1);
    expect(runs(set)).toBe(0);
  });
});

describe('a dry run', () => {
  it('a dry run validates everything, starts nothing, records nothing and exits 0', async () => {
    const set = stage();
    const before = picture(set);
    const answer = await keyturn([...set.words, '--dry-run']);
    const end = '[OK] Dry run: nothing executed, nothing recorded\n';
    expect(answer).toEqual({ stdout: `${preScreen(set)}${end}`, stderr: '', code: 0 });
    expect(picture(set)).toEqual(before);
    expect(runs(set)).toBe(0);
    rmSync(set.script);
    await refused(
      { ...set, words: [...set.words, '--dry-run'] },
      '[ERROR] Tool not found\n',
      'EXECUTABLE_MISSING',
    );
  });

  it('--json says the same in one object', async () => {
    const set = stage();
    const dry = await keyturn([...set.words, '--dry-run', '--json']);
    expect(JSON.parse(dry.stdout)).toMatchObject({
      ok: true,
      dry_run: true,
      tool: 'create_backup',
      argv: [set.script],
    });
    const seen = await atTerminal(path(), [...set.words, '--json'], { type: () => YES });
    expect(seen.screen.startsWith(preScreen(set))).toBe(true);
    expect(JSON.parse(seen.stdout)).toMatchObject({
      ok: true,
      id: ID,
      outcome: 'success',
      exit_code: 0,
      stdout: 'Backup created\n',
    });
    const no = await keyturn([...set.words, '--json']);
    expect(JSON.parse(no.stdout)).toMatchObject({ ok: false, code: 'ALREADY_EXECUTED' });
    expect(no.code).toBe(1);
  });
});

/** A real project: where the lane is open, it asks the store what is frozen. */
async function foundProject(at: string): Promise<void> {
  await (await found(at)).keyturn.close();
}

describe('inside a project', () => {
  it('the lane is closed, unless keyturn.yaml opens it', async () => {
    const set = stage();
    await foundProject(set.queue);
    await refused(set, '[ERROR] Cannot execute: ', 'LANE_FORBIDDEN');
    writeFileSync(join(set.queue, 'keyturn.yaml'), 'version: 1\nlane:\n  allow: false\n');
    await refused(set, '[ERROR] Cannot execute: ', 'LANE_FORBIDDEN');
    writeFileSync(join(set.queue, 'keyturn.yaml'), 'version: 1\nlane:\n  allow: true\n');
    expect(await keyturn([...set.words, '--dry-run'])).toMatchObject({ code: 0 });
    writeFileSync(join(set.queue, 'keyturn.yaml'), 'version: 1\nlane: {allow: "yes"}\n');
    await refused(set, '[ERROR] Cannot execute: ', 'SHAPE_INVALID');
  });

  it('the working folder counts, and so does every folder above', async () => {
    const set = stage();
    const project = scratch();
    const deep = join(project, 'a/b');
    mkdirSync(deep, { recursive: true });
    mkdirSync(join(project, '.keyturn'));
    const answer = await keyturn(set.words, { cwd: deep });
    expect(answer).toMatchObject({ code: 1, stderr: expect.stringMatching(/^LANE_FORBIDDEN: /) });
  });

  it('a registry that lies in a project is no side door, by whatever name it is called', async () => {
    const set = stage();
    const project = join(set.registry, '..');
    await foundProject(project);
    await refused(set, '[ERROR] Cannot execute: ', 'LANE_FORBIDDEN');
    const link = join(scratch(), 'link');
    symlinkSync(project, link);
    const words = ['lane', 'run', ID, HASH, '--queue', set.queue, '--registry', join(link, 'tools.yaml')];
    await refused({ ...set, words }, '[ERROR] Cannot execute: ', 'LANE_FORBIDDEN');
    writeFileSync(join(project, 'keyturn.yaml'), 'version: 1\nlane: {allow: true}\n');
    expect(await keyturn([...set.words, '--dry-run'])).toMatchObject({ code: 0 });
  });

  it('the working folder of the tool and every path of its sandbox count', async () => {
    const project = scratch();
    const inner = join(project, 'data');
    mkdirSync(inner);
    mkdirSync(join(project, '.keyturn'));
    const places = [
      { cwd: inner },
      { sandbox: { read: [inner] } },
      { sandbox: { write: [inner] } },
      { sandbox: { write: [join(project, '.keyturn')] } },
    ];
    for (const tool of places) await refused(stage({ tool }), '[ERROR] Cannot execute: ', 'LANE_FORBIDDEN');
  });

  it.skipIf(inspectMachine().bwrap === null)(
    'where a project opens the lane, its own files stay hidden and its configuration read-only',
    async () => {
      const project = scratch();
      await foundProject(project);
      writeFileSync(join(project, '.keyturn', 'secret'), 'a key');
      const config = 'version: 1\nregistry: other.yaml\nlane: {allow: true}\n';
      writeFileSync(join(project, 'keyturn.yaml'), config);
      writeFileSync(join(project, 'other.yaml'), 'version: 1\ntools: []\n');
      const body =
        'cat "$P/.keyturn/secret"; echo x >> "$P/keyturn.yaml"; echo x >> "$P/other.yaml"; echo ok > "$P/made"';
      const tool = { sandbox: { write: [project] }, env: { P: project } };
      const seen = await at(stage({ body, tool }), YES);
      expect(seen.code).toBe(0);
      expect(seen.stdout).not.toContain('a key');
      expect(readFileSync(join(project, 'keyturn.yaml'), 'utf8')).toBe(config);
      expect(readFileSync(join(project, 'other.yaml'), 'utf8')).toBe('version: 1\ntools: []\n');
      expect(readFileSync(join(project, 'made'), 'utf8')).toBe('ok\n');
    },
  );

  it.skipIf(inspectMachine().bwrap === null)(
    'a sandboxed tool can write neither the queue nor the registry',
    async () => {
      const set = stage({
        body: 'echo x >> "$QUEUE/approved.jsonl"; echo x >> "$QUEUE/executed.jsonl"; echo x > "$QUEUE/new"; chmod 666 "$REGISTRY"; exit 0',
      });
      const content = readRegistry(set.registry);
      const env = { QUEUE: set.queue, REGISTRY: set.registry };
      const confine = (sandbox: object) =>
        writeRegistry(set.registry, { ...content, tools: [{ ...content.tools[0], sandbox, env }] });
      // Naming the queue itself is refused before a human is asked; a folder around it shows it read-only.
      confine({ write: [set.queue] });
      expect((await keyturn([...set.words, '--dry-run'])).stderr).toMatch(/^SANDBOX_PATH_PROTECTED: /);
      confine({ write: [join(set.registry, '..')] });
      const seen = await at(set, YES);
      expect(seen.code).toBe(0);
      expect(linesOf(set.queue, 'approved')).toEqual([approval()]);
      expect(linesOf(set.queue, 'executed').map(({ outcome }) => outcome)).toEqual(['started', 'success']);
      const again = await keyturn([...set.words, '--dry-run']);
      expect(again.stderr).toMatch(/^ALREADY_EXECUTED: /);
    },
  );
});
