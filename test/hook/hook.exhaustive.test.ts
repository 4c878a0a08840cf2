import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLIENTS, DIALECTS, type HookClient } from '../../src/hook/client.ts';
import { hookLimits } from '../../src/limits.ts';
import { enrolled } from '../mcp/stage.ts';
import { turned } from '../mcp-call/servers.ts';
import { nextOf } from '../support/example.ts';
import { type Project, project, writeRegistry } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

const CLI = resolve('dist/cli.cjs');
const LONG = { timeout: 120_000 };

/** As docs/hook.md has it. */
const SHELL = `version: 1
tools:
  - name: shell
    summary: Runs one command line of an agent in the workspace.
    executable: /bin/bash
    args: ["-c", "cd -- \\"$1\\" && eval \\"$2\\"", "shell", "{folder}", "{command}"]
    parameters:
      command: { type: string, multiline: true, max_length: 100000, allow_leading_dash: true }
      folder: { type: path, default: "." }
    sandbox: { write: [work] }
    cwd: .
    covers: []
    undo: none
`;
const NONE = 'version: 1\ntools: []\n';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(
  words: readonly string[],
  input: string | Buffer | null,
  program = process.execPath,
  env = process.env,
): Promise<Ended> {
  const child = spawn(program, words, { stdio: 'pipe', env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.on('error', () => {});
  if (input !== null) child.stdin.end(input);
  return new Promise((done) => child.on('close', (code) => done({ code, out, err })));
}

const keyturn = (words: readonly string[], input: string | Buffer | null = '') => run([CLI, ...words], input);

async function scene(registry = SHELL): Promise<Project> {
  const p = await project(registry);
  mkdirSync(join(p.root, 'work'), { mode: 0o777 });
  await enrolled(p);
  return p;
}

/** What a running client gave to its hook; the file says which version that was. Ids and folders are others. */
function recordedOf(client: HookClient, p: Project, call: 'shell' | 'gate' | 'reads' | 'edits') {
  const text = readFileSync(resolve(`test/hook/inputs/${client}.json`), 'utf8');
  return JSON.parse(text.replaceAll('{root}', p.root))[call];
}

/** The same with another command. */
function inputOf(client: HookClient, p: Project, command: string, over: object = {}): string {
  const recorded = recordedOf(client, p, 'shell');
  return JSON.stringify({ ...recorded, tool_input: { ...recorded.tool_input, command }, ...over });
}

const asks = (client: HookClient, p: Project, input: string | Buffer | null) =>
  keyturn(['hook', '--client', client, '--project', p.root, '--as', 'scout'], input);

const idIn = (text: string) => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)![0];

/** The command that a client would run after this answer. */
function commandIn(client: HookClient, { out, err }: Ended): string {
  if (client === 'gemini-cli') return /for its result: (.*? --project \S+)/.exec(err)![1]!;
  return JSON.parse(out).hookSpecificOutput.updatedInput.command;
}

const kinds = async (p: Project) =>
  (await p.keyturn.ledger.entries({ limit: 50 })).entries.map(({ kind }) => kind as string);

describe.each(CLIENTS)('a command that %s asks about', (client) => {
  it('waits for a human, runs once, and its client has output and exit code', LONG, async () => {
    const p = await scene();
    const input = inputOf(client, p, 'echo out; echo err >&2; echo ran >> work/log; exit 3');
    const answer = await asks(client, p, input);
    expect(answer.code).toBe(client === 'gemini-cli' ? 2 : 0);
    if (client !== 'gemini-cli') {
      const { hookSpecificOutput: said } = JSON.parse(answer.out);
      expect(said).toMatchObject({ hookEventName: 'PreToolUse', permissionDecision: 'allow' });
      const before = JSON.parse(input).tool_input;
      const waits = client === 'claude-code' ? { timeout: hookLimits.command_ms } : {};
      expect(said.updatedInput).toEqual({ ...before, command: said.updatedInput.command, ...waits });
    }
    const command = commandIn(client, answer);
    // The client asks about that command, too: it only waits.
    expect(await asks(client, p, inputOf(client, p, command))).toEqual({ code: 0, out: '', err: '' });
    const waiting = run(['-c', command], '', '/bin/bash');
    const { intent_id } = await nextOf(p);
    expect(command).toContain(intent_id);
    expect(existsSync(join(p.root, 'work/log'))).toBe(false);
    await turned(p, intent_id);
    expect(await waiting).toEqual({ code: 3, out: 'out\n', err: 'err\n' });
    expect(readFileSync(join(p.root, 'work/log'), 'utf8')).toBe('ran\n');
    expect(await p.keyturn.intents.get({ intent_id })).toMatchObject({ proposer_verified: true });
  });

  it('that a human rejects does not run, and the client reads why', LONG, async () => {
    const p = await scene();
    const command = commandIn(client, await asks(client, p, inputOf(client, p, 'echo ran >> work/log')));
    const { intent_id, hash } = await nextOf(p);
    const waiting = run(['-c', command], '', '/bin/bash');
    await p.keyturn.intents.reject({ intent_id, hash, reason: 'Not on a Friday.', signer: p.ada });
    const { code, out, err } = await waiting;
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('Not on a Friday.');
    expect(existsSync(join(p.root, 'work/log'))).toBe(false);
  });

  it('without a shell tool is the business of the policies alone, and the record says so', LONG, async () => {
    const p = await scene(NONE);
    const input = inputOf(client, p, 'git status');
    const blocked = await asks(client, p, input);
    expect([blocked.code, blocked.out]).toEqual([2, '']);
    expect(blocked.err).toContain('POLICY_NO_PERMIT');
    await passing(p);
    expect(await asks(client, p, input)).toEqual({ code: 0, out: '', err: '' });
    const other = await asks(client, p, inputOf(client, p, 'git push'));
    expect([other.code, other.out]).toEqual([2, '']);
    expect((await kinds(p)).filter((kind) => kind.startsWith('call.'))).toEqual([
      'call.blocked',
      'call.passed',
      'call.blocked',
    ]);
    const { entries } = await p.keyturn.ledger.entries({ kind: 'call.passed' } as never);
    expect(entries[0]).toMatchObject({ body: { by: 'scout', client, tool: DIALECTS[client].shell } });
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(5);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('that cannot be read, or not by this project, is a no', LONG, async () => {
    const p = await scene();
    const good = JSON.parse(inputOf(client, p, 'true'));
    const { tool_name: _, ...nameless } = good;
    const bad: readonly (readonly [string, string | Buffer, string])[] = [
      ['nothing', '', 'JSON_'],
      ['garbage', Buffer.from([0xff, 0xfe, 0x00, 0x7b]), 'INPUT_NOT_UTF8'],
      ['no object', '[]', 'HOOK_INPUT_MALFORMED'],
      ['another event', JSON.stringify({ ...good, hook_event_name: 'PostToolUse' }), 'HOOK_INPUT_MALFORMED'],
      ['no tool', JSON.stringify(nameless), 'HOOK_INPUT_MALFORMED'],
      ['a strange tool', JSON.stringify({ ...good, tool_name: '../x' }), 'HOOK_INPUT_MALFORMED'],
      ['no input', JSON.stringify({ ...good, tool_input: 'rm' }), 'HOOK_INPUT_MALFORMED'],
      ['no command', JSON.stringify({ ...good, tool_input: {} }), 'HOOK_INPUT_MALFORMED'],
      ['a folder elsewhere', JSON.stringify({ ...good, cwd: '/' }), 'HOOK_SHELL_UNFIT'],
      ['a folder that is gone', JSON.stringify({ ...good, cwd: '/nowhere' }), 'HOOK_INPUT_MALFORMED'],
      ['two names', JSON.stringify(good).replace('{', '{"tool_name":"Read",'), 'JSON_DUPLICATE_KEY'],
      ['10 MB', inputOf(client, p, 'x'.repeat(10_000_000)), 'INPUT_TOO_LARGE'],
    ];
    for (const [what, input, code] of bad) {
      const answer = await asks(client, p, input);
      expect([what, answer.code, answer.out]).toEqual([what, 2, '']);
      expect(answer.err, what).toContain(code);
    }
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });
});

async function activated(p: Project, rules: string): Promise<void> {
  writeFileSync(join(p.root, 'policies/hook.cedar'), rules);
  await p.keyturn.policies.activate({ reason: 'Looking is free.', signer: p.ada });
}

/** A human permits one command line, and activates that. */
async function passing(p: Project): Promise<void> {
  const names = CLIENTS.map((client) => `${client}.${DIALECTS[client].shell.toLowerCase()}`);
  const rules = names.map(
    (name, n) => `@id("look-${n}") @version("1") @scope("execution") @rationale("Looking is free.")
@arguments("${name}.command: string")
permit (principal is Keyturn::Agent, action == Keyturn::Action::"pass", resource is Keyturn::ClientTool)
when { context.arguments has "${name}" && context.arguments["${name}"].command == "git status" };`,
  );
  await activated(p, rules.join('\n\n'));
}

/** Those that docs/hook.md gives. */
const documentedRules = (): string =>
  readFileSync(resolve('docs/hook.md'), 'utf8')
    .split('```')
    .find((part) => part.includes('@id('))!;

describe('keyturn hook', () => {
  it('lets every client call the gate by the policies of docs/hook.md, and nothing else', LONG, async () => {
    const p = await scene(NONE);
    await activated(p, documentedRules());
    for (const client of CLIENTS) {
      const call = recordedOf(client, p, 'gate');
      expect(await asks(client, p, JSON.stringify(call))).toEqual({ code: 0, out: '', err: '' });
      const other = { ...call, tool_name: call.tool_name.replace('keyturn_', 'other_') };
      expect(await asks(client, p, JSON.stringify(other))).toMatchObject({ code: 2, out: '' });
    }
  });

  it.each([
    ['claude-code', 'mcp__keyturn__evil__run', {}],
    ['claude-code', 'mcp__keyturn_evil__run', {}],
    ['codex', 'mcp__keyturn__evil__run', {}],
    [
      'gemini-cli',
      'mcp_keyturn_evil_run',
      { mcp_context: { server_name: 'keyturn_evil', tool_name: 'run' } },
    ],
    ['gemini-cli', 'mcp_keyturn_keyturn_status', { mcp_context: { server_name: 'keyturn_keyturn' } }],
    ['gemini-cli', 'mcp_keyturn_keyturn_status', { mcp_context: undefined }],
    ['gemini-cli', 'mcp_keyturn_keyturn_status', { mcp_context: ['keyturn'] }],
  ] as const)(
    'lets %s call no tool of another server by these policies: %s %j',
    LONG,
    async (client, tool_name, more) => {
      const p = await scene(NONE);
      await activated(p, documentedRules());
      const call = { ...recordedOf(client, p, 'gate'), tool_name, ...more };
      expect(await asks(client, p, JSON.stringify(call))).toMatchObject({ code: 2, out: '' });
    },
  );

  it.each(CLIENTS)(
    'lets %s read by the policies of docs/hook.md, and write no file',
    LONG,
    async (client) => {
      const p = await scene();
      await activated(p, documentedRules());
      const shell = recordedOf(client, p, 'shell');
      const call = (one: object) => asks(client, p, JSON.stringify({ ...shell, ...one }));
      for (const read of recordedOf(client, p, 'reads'))
        expect(await call(read)).toEqual({ code: 0, out: '', err: '' });
      const edits: readonly { tool_name: string; tool_input: Record<string, string> }[] = recordedOf(
        client,
        p,
        'edits',
      );
      for (const edit of edits) {
        const { code, out, err } = await call(edit);
        expect([edit.tool_name, code, out]).toEqual([edit.tool_name, 2, '']);
        expect(err).toContain('POLICY_NO_PERMIT');
      }
      expect(edits.length).toBeGreaterThan(0);
      // A policy reads the arguments of each by its name and theirs.
      const [member, known] =
        client === 'codex' ? ['command', '*Update File: notes.md*'] : ['file_path', '*/notes.md'];
      const rules = edits.map(({ tool_name }, n) => {
        const name = `${client}.${tool_name.toLowerCase()}`;
        return `@id("notes-${n}") @version("1") @scope("execution") @rationale("Notes are free.")
@arguments("${name}.${member}: string")
permit (principal is Keyturn::Agent, action == Keyturn::Action::"pass", resource is Keyturn::ClientTool)
when { context.arguments has "${name}" && context.arguments["${name}"].${member} like "${known}" };`;
      });
      await activated(p, rules.join('\n\n'));
      for (const { tool_name, tool_input } of edits) {
        expect(await call({ tool_name, tool_input })).toEqual({ code: 0, out: '', err: '' });
        const elsewhere = { ...tool_input, [member!]: tool_input[member!]!.replace('notes.md', '.env') };
        expect(await call({ tool_name, tool_input: elsewhere })).toMatchObject({ code: 2, out: '' });
      }
      expect((await p.keyturn.intents.list({})).intents).toEqual([]);
    },
  );

  it.each(['dir_path', 'directory'])(
    'runs a command of Gemini CLI in the folder that it names as %s',
    LONG,
    async (member) => {
      const p = await scene();
      const shell = recordedOf('gemini-cli', p, 'shell');
      const asked = (folder: unknown) =>
        asks('gemini-cli', p, JSON.stringify({ ...shell, tool_input: { command: 'pwd', [member]: folder } }));
      const command = commandIn('gemini-cli', await asked('work'));
      const { intent_id } = await nextOf(p);
      const waiting = run(['-c', command], '', '/bin/bash');
      await turned(p, intent_id);
      expect((await waiting).out.trim()).toMatch(/\/work$/);
      for (const [folder, code] of [
        ['..', 'HOOK_SHELL_UNFIT'],
        ['/', 'HOOK_SHELL_UNFIT'],
        ['gone', 'HOOK_INPUT_MALFORMED'],
        [7, 'HOOK_INPUT_MALFORMED'],
      ] as const)
        expect([folder, (await asked(folder)).err]).toEqual([folder, expect.stringContaining(code)]);
    },
  );

  it('says no without a project, a known client, an agent, and while all is frozen', LONG, async () => {
    const p = await scene();
    const input = inputOf('codex', p, 'true');
    const codes = async (words: readonly string[]) => {
      const { code, out, err } = await keyturn(['hook', ...words], input);
      return [code, out, /\(([A-Z_]+) \d+\)/.exec(err)?.[1]];
    };
    const at = ['--project', p.root];
    expect(await codes(['--client', 'codex', '--as', 'scout', '--project', '/'])).toEqual([
      2,
      '',
      'PROJECT_MISSING',
    ]);
    expect(await codes(['--client', 'cursor', '--as', 'scout', ...at])).toEqual([2, '', 'USAGE']);
    expect(await codes(['--client', 'codex', ...at])).toEqual([2, '', 'USAGE']);
    expect(await codes(['--client', 'codex', '--as', 'nobody', ...at])).toEqual([2, '', 'PRINCIPAL_UNKNOWN']);
    expect(await codes(['--nonsense'])).toEqual([2, '', 'USAGE']);
    writeRegistry(p.root, NONE);
    await p.keyturn.system.freeze({ scope: 'system', name: 'system', reason: 'stop', signer: p.ada });
    expect(await codes(['--client', 'codex', '--as', 'scout', ...at])).toEqual([2, '', 'FROZEN']);
  });

  it(
    'says no while another process holds the store, and when its client never ends its input',
    LONG,
    async () => {
      const p = await scene();
      const late = asks('codex', p, null);
      const held = new DatabaseSync(join(p.root, '.keyturn', 'store.db'));
      held.exec('BEGIN IMMEDIATE');
      const { code, out, err } = await asks('codex', p, inputOf('codex', p, 'true'));
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/STORE_|HOOK_LATE/);
      held.exec('ROLLBACK');
      held.close();
      expect(await late).toMatchObject({ code: 2, out: '' });
      expect((await late).err).toContain('HOOK_LATE');
    },
  );

  it(
    'refuses a shell tool without a sandbox, and commands for folders that it does not take',
    LONG,
    async () => {
      const p = await scene(SHELL.replace('{ write: [work] }', 'none'));
      const unfit = await asks('codex', p, inputOf('codex', p, 'true'));
      expect([unfit.code, unfit.out]).toEqual([2, '']);
      expect(unfit.err).toContain('HOOK_SHELL_UNFIT');
      writeRegistry(p.root, SHELL);
      const inside = await asks(
        'codex',
        p,
        inputOf('codex', p, 'pwd; touch here', { cwd: join(p.root, 'work') }),
      );
      await turned(p, idIn(inside.out));
      expect(existsSync(join(p.root, 'work/here'))).toBe(true);
    },
  );

  it(
    'asks for the same while the same command waits, and for another run once its output was read',
    LONG,
    async () => {
      const p = await scene();
      const ask = async () =>
        idIn((await asks('codex', p, inputOf('codex', p, 'echo once >> work/log'))).out);
      const first = await ask();
      expect(await ask()).toBe(first);
      await turned(p, first);
      // No caller has read its result: the same command is answered from the record.
      expect(await ask()).toBe(first);
      expect((await keyturn(['wait', first, '--output', '--project', p.root])).code).toBe(0);
      expect(await ask()).not.toBe(first);
      expect(readFileSync(join(p.root, 'work/log'), 'utf8')).toBe('once\n');
    },
  );
});

describe('keyturn hook install', () => {
  it.each(CLIENTS)(
    'what it writes for %s is what the client then runs, and a no where Keyturn is gone',
    LONG,
    async (client) => {
      const p = await scene();
      const words = ['hook', 'install', client, '--project', p.root, '--as', 'scout'];
      const { code, out } = await keyturn(words);
      expect(code).toBe(0);
      expect(out).toMatch(client === 'claude-code' ? /late is a no/ : /takes too long/);
      const status = JSON.parse(
        (await keyturn(['hook', 'status', '--json', '--project', p.root])).out,
      ).result;
      expect(status.shell).toBe(true);
      expect(status.clients.find((one: { client: string }) => one.client === client)).toMatchObject({
        installed: true,
        fails_closed: client === 'claude-code',
      });
      const file = join(p.root, DIALECTS[client].settings);
      const named = await keyturn(['hook', 'status', '--settings', file, '--json', '--project', p.root]);
      const asking = JSON.parse(named.out).result.clients.filter(
        (one: { installed: boolean }) => one.installed,
      );
      expect(asking).toMatchObject([{ client, settings: file }]);
      const settings = JSON.parse(readFileSync(file, 'utf8'));
      const { command } = settings.hooks[DIALECTS[client].event][0].hooks[0];
      const answer = await run(['-c', command], inputOf(client, p, 'true'), '/bin/sh');
      expect(answer.code).toBe(client === 'gemini-cli' ? 2 : 0);
      const gone = await run(
        ['-c', command.replace('dist/cli.cjs', 'dist/gone.cjs')],
        inputOf(client, p, 'true'),
        '/bin/sh',
      );
      expect([gone.code, gone.out]).toEqual([2, '']);
      expect(gone.err).toContain('keyturn hook could not decide');
      expect((await keyturn(['hook', 'remove', client, '--project', p.root])).code).toBe(0);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({});
      writeFileSync(join(p.root, 'tools.yaml'), 'tools: [');
      const broken = await keyturn(['hook', 'status', '--project', p.root]);
      expect([broken.code, broken.out]).toEqual([0, expect.stringContaining('every command is refused')]);
    },
  );

  it.each(CLIENTS)(
    'with --home writes for %s into the settings of the account, and into no project',
    LONG,
    async (client) => {
      const p = await scene();
      const home = scratch();
      const asked = async (...words: string[]) => {
        const env = { ...process.env, HOME: home };
        const options = ['--home', '--json', '--project', p.root];
        const { code, out } = await run([CLI, 'hook', ...words, ...options], '', process.execPath, env);
        expect(code).toBe(0);
        return JSON.parse(out).result;
      };
      const settings = join(home, DIALECTS[client].settings);
      expect(await asked('install', client, '--as', 'scout')).toMatchObject({
        client,
        settings,
        changed: true,
      });
      expect(readFileSync(settings, 'utf8')).toContain(` --client ${client} `);
      expect(existsSync(join(p.root, DIALECTS[client].settings))).toBe(false);
      const { clients } = await asked('status');
      expect(clients.filter((one: { installed: boolean }) => one.installed)).toMatchObject([
        { client, settings },
      ]);
      expect(await asked('remove', client)).toMatchObject({ settings, changed: true });
      expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({});
    },
  );
});
