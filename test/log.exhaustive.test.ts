import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Keyturn } from '../src/keyturn.ts';
import { limits } from '../src/limits.ts';
import { loggerTo, openLog } from '../src/log.ts';
import { readLedgerFile, writeLedgerFile } from '../src/project/ledger-file.ts';
import { type ReasonCode, Refusal } from '../src/refusal.ts';
import { postgresPlace } from '../src/store/open.ts';
import { granted, type Intent, type Project, project, ready, TOOLS, writeMark } from './support/project.ts';
import { racer } from './support/racers.ts';
import { expectRefusal } from './support/refusal.ts';
import { scratch } from './support/scratch.ts';
import { runSeen } from './support/seen.ts';
import { logged, logIn, readLog, registered } from './support/telemetry.ts';

const RUN_CHILD = fileURLToPath(new URL('./support/run-child.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const LOG = 'ops.log';
const can_mount = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;

/** The same project, opened again with a log. */
async function withLog(p: Project, log: string): Promise<Project> {
  logIn(p.root, log);
  const keyturn = await Keyturn.open({ at: p.root });
  onTestFinished(() => keyturn.close());
  return { ...p, keyturn };
}

const say = (word: string) => ({ kind: 'tool' as const, tool: 'say', arguments: { word } });

async function readyToSay(p: Project, word: string): Promise<Intent> {
  const intent = await p.keyturn.intents.propose({ declared_goal: 'Say it.', effect: say(word) });
  await ready(p, intent);
  return intent;
}

const confirm = async () => true;

describe('a log', () => {
  it('tells operations, decisions and refusals with their ids and codes', async () => {
    const p = await withLog(await project(TOOLS), `{ level: debug, file: ${LOG} }`);
    const { keyturn } = p;
    const intent = await keyturn.intents.propose({ declared_goal: 'Say it.', effect: say('hello') });
    const { intent_id } = intent;
    await expectRefusal('APPROVAL_MISSING', () =>
      keyturn.intents.grant({ intent_id, hash: intent.hash, signer: p.ada }),
    );
    await ready(p, intent);
    const { execution_id, capability_id } = await runSeen(keyturn, { ...intent, confirm });
    await expectRefusal('INTENT_NOT_FOUND', () => keyturn.intents.get({ intent_id: execution_id }));
    await expectRefusal('PASSPHRASE_WRONG', () => keyturn.unlock('ada', 'something else'));
    await keyturn.close();

    const lines = logged(p.root, LOG);
    const found = (facts: object) => expect(lines).toContainEqual(expect.objectContaining(facts));
    found({ level: 'debug', msg: 'ends', operation: 'open', code: 'OK', took_ms: expect.any(Number) });
    found({ level: 'debug', msg: 'decides', allowed: true, code: 'OK' });
    found({
      operation: 'commit',
      kinds: ['capability.issued', 'execution.claimed'],
      entries: 2,
      seq: expect.any(Number),
    });
    found({ level: 'info', msg: 'begins', operation: 'run', intent_id });
    found({ level: 'info', operation: 'run', intent_id, execution_id, capability_id, result: 'success' });
    found({ level: 'info', msg: 'ends', operation: 'grant', intent_id, capability_id, code: 'OK' });
    found({ level: 'warn', msg: 'ends', operation: 'grant', intent_id, code: 'APPROVAL_MISSING' });
    found({ level: 'warn', msg: 'refused', entry_point: 'intents.get', code: 'INTENT_NOT_FOUND' });
    found({ level: 'warn', msg: 'refused', entry_point: 'unlock', code: 'PASSPHRASE_WRONG' });
    // What an operation ended with is not told again where it left.
    expect(lines.filter(({ code }) => code === 'APPROVAL_MISSING')).toHaveLength(1);
    expect(statSync(join(p.root, LOG)).mode & 0o777).toBe(0o600);
  });

  it('has so many lines about refusals with one code in a minute, and then says how many it left out', async () => {
    const root = scratch();
    const log = await openLog(root, { level: 'info', file: LOG });
    let now_ms = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now_ms);
    onTestFinished(() => clock.mockRestore());
    const most = limits.refused_lines_minute;
    const refused = (code: ReasonCode) => log.refused('intents.list', new Refusal(code));
    for (let i = 0; i < most + 7; i += 1) refused('TOKEN_INVALID');
    refused('CALLER_UNPROVEN');
    now_ms = 59_999;
    refused('TOKEN_INVALID');
    now_ms = 60_000;
    for (let i = 0; i < 2; i += 1) refused('TOKEN_INVALID');
    log.close();
    const lines = logged(root, LOG).map(({ code, left_out }) => [code, left_out]);
    expect(lines).toEqual([
      ...Array(most).fill(['TOKEN_INVALID', undefined]),
      ['CALLER_UNPROVEN', undefined],
      ['TOKEN_INVALID', 8],
      ['TOKEN_INVALID', undefined],
    ]);
  });

  it('never holds an argument, an output, a goal, a name, a token, a passphrase or a path', async () => {
    const p = await withLog(await project(TOOLS), `{ level: debug, file: ${LOG} }`);
    writeMark(p.root);
    const { keyturn } = p;
    const secrets = ['xyzzy-word', 'xyzzy-goal', 'xyzzy-file', 'xyzzy-id', 'xyzzy-pass', 'xyzzy-reason'];
    const intent = await keyturn.intents.propose({ declared_goal: 'xyzzy-goal', effect: say('xyzzy-word') });
    await ready(p, intent);
    const token = await granted(p, intent);
    expect((await runSeen(keyturn, { ...intent, confirm, capability: token })).result).toBe('success');
    const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file: 'xyzzy-file' } };
    const other = await keyturn.intents.propose({ declared_goal: 'xyzzy-goal', effect });
    await keyturn.intents.reject({
      intent_id: other.intent_id,
      hash: other.hash,
      reason: 'xyzzy-reason',
      signer: p.ada,
    });
    // Everything that a caller chooses can be a secret in the wrong place.
    const wrong = { intent_id: 'xyzzy-id', hash: 'xyzzy-id', signer: p.ada };
    await expectRefusal('ID_MALFORMED', () => keyturn.intents.grant(wrong));
    await expectRefusal('ID_MALFORMED', () => runSeen(keyturn, { ...wrong, confirm }));
    await expectRefusal('PASSPHRASE_WRONG', () => keyturn.unlock('ada', 'xyzzy-pass'));
    await expectRefusal('TOOL_UNKNOWN', () =>
      keyturn.intents.propose({ declared_goal: 'xyzzy-goal', effect: { ...effect, tool: 'xyzzy' } }),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.conversations.confirm({
        correlation_id: 'xyzzy',
        plan_id: 'xyzzy',
        user_id: 'xyzzy',
        text: 'xyzzy',
      }),
    );
    const text = readLog(p.root, LOG);
    expect(text).toContain('conversations.confirm');
    expect(text).toContain('TOOL_UNKNOWN');
    const [, payload, signature] = token.split('.');
    for (const secret of [...secrets, 'xyzzy', token, payload!, signature!, intent.hash, p.root, 'say'])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\bada\b/);
  });

  it('tells that a store cannot be reached, and not how it would be', async () => {
    const p = await project(TOOLS);
    const store = 'postgres://xyzzyuser:xyzzypassword@127.0.0.1:1/xyzzybase?sslmode=disable';
    const config = `version: 1\nstore: ${store}\nlog: { level: error, file: ${LOG} }\n`;
    writeFileSync(join(p.root, 'keyturn.yaml'), config);
    await expectRefusal('STORE_ELSEWHERE', () => Keyturn.open({ at: p.root }));
    writeLedgerFile(p.keyturn.layout, readLedgerFile(p.keyturn.layout), postgresPlace(store));
    await expectRefusal('STORE_UNREACHABLE', () => Keyturn.open({ at: p.root }));
    expect(logged(p.root, LOG)).toMatchObject([
      { operation: 'open', code: 'STORE_ELSEWHERE' },
      { operation: 'open', code: 'STORE_UNREACHABLE' },
    ]);
    expect(readLog(p.root, LOG)).not.toMatch(/xyzzy|127\.0/);
  });

  it.each([
    ['error', []],
    ['warn', ['warn']],
    ['info', ['info', 'warn']],
    ['debug', ['debug', 'info', 'warn']],
  ])('of the level %s holds the lines of its level and above', async (level, kept) => {
    const p = await withLog(await project(TOOLS), `{ level: ${level}, file: ${LOG} }`);
    await runSeen(p.keyturn, { ...(await readyToSay(p, 'hello')), confirm });
    await expectRefusal('ID_MALFORMED', () => p.keyturn.intents.check({ intent_id: '', hash: '' }));
    const levels = new Set(logged(p.root, LOG).map((line) => line.level));
    expect([...levels].sort()).toEqual(kept);
  });

  it('and an SDK are told the same, but only the log has ids', async () => {
    const seen = registered();
    const p = await withLog(await project(TOOLS), `{ level: info, file: ${LOG} }`);
    const intent = await readyToSay(p, 'hello');
    await runSeen(p.keyturn, { ...intent, confirm });
    await expectRefusal('ID_MALFORMED', () => p.keyturn.intents.check({ intent_id: '', hash: '' }));
    const named = (name: string) => seen.filter((one) => one.name === name).map(({ facts }) => facts);
    expect(named('keyturn.run')).toEqual([{ 'keyturn.result': 'success', 'keyturn.code': 'OK' }]);
    expect(named('keyturn.refusals')).toEqual([
      { 'keyturn.entry_point': 'intents.check', 'keyturn.code': 'ID_MALFORMED' },
    ]);
    expect(JSON.stringify(seen)).not.toContain(intent.intent_id);
    expect(readLog(p.root, LOG)).toContain(intent.intent_id);
    expect(readLog(p.root, LOG)).toContain('ID_MALFORMED');
  });

  it('is not there, and its library is not loaded, where none is asked for', async () => {
    const p = await project(TOOLS);
    // The library is bundled, and sonic-boom is a part of it.
    const hook = `export async function load(url, context, next) {
      const loaded = await next(url, context);
      if (String(loaded.source).includes('SonicBoom')) process._rawDebug('the library');
      return loaded;
    }`;
    const script = `import { register } from 'node:module';
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});
      const { Keyturn } = await import(${JSON.stringify(new URL('../dist/keyturn.js', import.meta.url).href)});
      await (await Keyturn.open({ at: ${JSON.stringify(p.root)} })).close();`;
    const loads = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stderr.trim();
    expect(loads()).toBe('');
    logIn(p.root, `{ level: silent, file: ${LOG} }`);
    expect(loads()).toBe('');
    expect(existsSync(join(p.root, LOG))).toBe(false);
    logIn(p.root, `{ level: error, file: ${LOG} }`);
    expect(loads()).toBe('the library');
  });

  it('goes to standard error where that is asked for', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await readyToSay(p, 'hello');
    logIn(p.root, '{ level: info }');
    const words = [RUN_CHILD, p.root, intent_id, hash];
    const { stderr, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    expect(stdout).toBe('ready\nsuccess\n');
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ operation, msg }) => `${operation} ${msg}`)).toEqual(['run begins', 'run ends']);
  });

  it('is closed with the project: what comes later does not go into a file that has its number now', async () => {
    const p = await withLog(await project(TOOLS), `{ level: debug, file: ${LOG} }`);
    await p.keyturn.close();
    const paths = Array.from({ length: 20 }, (_, i) => join(p.root, `other-${i}`));
    const numbers = paths.map((path) => openSync(path, 'a'));
    await expectRefusal('PASSPHRASE_WEAK', () => p.keyturn.host.createKey('bob', 'short'));
    await p.keyturn.close();
    for (const number of numbers) closeSync(number);
    expect(paths.map((path) => statSync(path).size)).toEqual(paths.map(() => 0));
  });

  it('cannot be written by a tool in a sandbox that may write beside it', async () => {
    const p = await withLog(
      await project(`version: 1
tools:
  - name: forge
    summary: Writes into the log.
    executable: ./forge.sh
    cwd: box
    sandbox: { write: [box] }
    undo: none
`),
      '{ level: silent }',
    );
    mkdirSync(join(p.root, 'box'));
    writeFileSync(join(p.root, 'forge.sh'), '#!/bin/sh\necho made > other\necho forged >> ops.log\n', {
      mode: 0o755,
    });
    const again = await withLog(p, '{ level: info, file: box/ops.log }');
    const effect = { kind: 'tool' as const, tool: 'forge', arguments: {} };
    const intent = await again.keyturn.intents.propose({ declared_goal: 'Forge.', effect });
    await ready(again, intent);
    expect((await runSeen(again.keyturn, { ...intent, confirm })).result).toBe('failure');
    expect(existsSync(join(p.root, 'box/other'))).toBe(true);
    expect(readLog(p.root, 'box/ops.log')).not.toContain('forged');
    expect(logged(p.root, 'box/ops.log')).toContainEqual(
      expect.objectContaining({
        operation: 'run',
        result: 'failure',
        code: 'TOOL_EXIT_NONZERO',
        level: 'warn',
      }),
    );
  });
});

describe('the second wall of the log', () => {
  it('removes what must never be there, also where the vocabulary lets everything through', () => {
    const lines: string[] = [];
    const open = loggerTo({ write: (line) => void lines.push(line) }, 'debug', (facts) => facts);
    const facts = {
      token: 'xyzzy',
      arguments: { word: 'xyzzy' },
      run: { stdout: 'xyzzy', result: 'success' },
    };
    open.info(facts, 'ends');
    expect(lines.join()).not.toContain('xyzzy');
    expect(lines.join()).toContain('success');
  });

  it('is not the first: a key that nobody listed is left out, and so is a value of another shape', () => {
    const lines: string[] = [];
    const logger = loggerTo({ write: (line) => void lines.push(line) }, 'debug');
    logger.info({ surprise: 'xyzzy', intent_id: 'xyzzy', kinds: ['xyzzy-1'], code: 'xyzzy', seq: 7 }, 'ends');
    expect(JSON.parse(lines.join())).toEqual({
      level: 'info',
      time: expect.any(String),
      pid: process.pid,
      seq: 7,
      msg: 'ends',
    });
  });
});

describe('a log that cannot be', () => {
  it.each([
    ['an unknown level', '{ level: loud }', 'SHAPE_INVALID'],
    ['an unknown key', '{ level: info, colour: red }', 'SHAPE_INVALID'],
    ['a word in place of the section', 'info', 'SHAPE_INVALID'],
    ['a name that may be something else', '{ level: info, file: tools.yaml }', 'SHAPE_INVALID'],
    ['a path that leaves the project', '{ level: info, file: ../out.log }', 'PATH_ESCAPES'],
    ['a path that begins at the top', '{ level: info, file: /tmp/out.log }', 'PATH_ESCAPES'],
    ['a folder', '{ level: info, file: folder.log }', 'FILE_NOT_REGULAR'],
    ['a named pipe', '{ level: info, file: pipe.log }', 'FILE_NOT_REGULAR'],
    ['a link', '{ level: info, file: link.log }', 'FILE_IS_SYMLINK'],
    ['a dangling link', '{ level: info, file: dangling.log }', 'FILE_IS_SYMLINK'],
    ['a folder that is a link', '{ level: info, file: linked/a.log }', 'FILE_IS_SYMLINK'],
    ['a second name of a file', '{ level: info, file: twice.log }', 'FILE_HARD_LINKED'],
    ['a folder that does not exist', '{ level: info, file: absent/a.log }', 'FILE_NOT_FOUND'],
  ] as const)('is refused: %s', async (_, log, code) => {
    const { root } = await project(TOOLS);
    mkdirSync(join(root, 'folder.log'));
    writeFileSync(join(root, 'victim'), '');
    symlinkSync('victim', join(root, 'link.log'));
    symlinkSync('nowhere', join(root, 'dangling.log'));
    symlinkSync('folder.log', join(root, 'linked'));
    linkSync(join(root, 'victim'), join(root, 'twice.log'));
    spawnSync('mkfifo', [join(root, 'pipe.log')]);
    logIn(root, log);
    await expectRefusal(code, () => Keyturn.open({ at: root }));
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('');
    expect(existsSync(join(root, 'nowhere'))).toBe(false);
  });

  it('is refused in a folder that cannot be written, and the command line says why', async () => {
    const { root } = await project(TOOLS);
    mkdirSync(join(root, 'logs'));
    logIn(root, '{ level: info, file: logs/a.log }');
    const logs = join(root, 'logs');
    const words = ['--dev-bind', '/', '/', '--ro-bind', logs, logs, process.execPath, CLI, 'list', '--json'];
    const { stdout, status } = spawnSync('bwrap', words, { cwd: root, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'PERMISSION_DENIED' });
    expect(status).not.toBe(0);
  });
});

describe('a log that fails', () => {
  /** A real process that runs one intent, started through a program that takes something away from it. */
  const runThrough = (words: readonly string[], root: string, { intent_id, hash }: Intent) =>
    spawnSync(words[0]!, [...words.slice(1), process.execPath, RUN_CHILD, root, intent_id, hash], {
      encoding: 'utf8',
    });

  it('does not change a run: the file may not grow any more', async () => {
    const p = await project(TOOLS);
    const intent = await readyToSay(p, 'hello');
    logIn(p.root, `{ level: debug, file: ${LOG} }`);
    const most_bytes = 64 * 2 ** 20;
    writeFileSync(join(p.root, LOG), '');
    truncateSync(join(p.root, LOG), most_bytes - 10);
    const { stdout, stderr } = runThrough(['prlimit', `--fsize=${most_bytes}`], p.root, intent);
    expect({ stdout, stderr }).toEqual({ stdout: 'ready\nsuccess\n', stderr: '' });
    // Ten bytes of a line had room; they were taken back.
    expect(statSync(join(p.root, LOG)).size).toBe(most_bytes - 10);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('succeeded');
  });

  it.runIf(can_mount)('does not change a run: the disk has no room for the file', async () => {
    const p = await project(TOOLS);
    const intent = await readyToSay(p, 'hello');
    mkdirSync(join(p.root, 'logs'));
    logIn(p.root, '{ level: debug, file: logs/a.log }');
    const mounted = `mount -t tmpfs -o nr_inodes=1 none ${join(p.root, 'logs')} && exec "$@"`;
    const { stdout } = runThrough(['unshare', '--mount', 'sh', '-c', mounted, 'sh'], p.root, intent);
    expect(stdout).toBe('ready\nsuccess\n');
  });

  it.each([
    ['the disk behind standard error is full', '2>/dev/full'],
    ['standard error is closed', '2>&-'],
    ['nobody reads the pipe', '2> >(exec true)'],
  ])('does not change a run: %s', async (_, redirected) => {
    const p = await project(TOOLS);
    const intent = await readyToSay(p, 'hello');
    logIn(p.root, '{ level: debug, file: stderr }');
    const { stdout } = runThrough(['bash', '-c', `exec "$@" ${redirected}`, 'bash'], p.root, intent);
    expect(stdout).toBe('ready\nsuccess\n');
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('succeeded');
  });
});

describe('two processes', () => {
  it('write whole lines into one log', async () => {
    const p = await project(TOOLS);
    const intents: Intent[] = [];
    for (const word of ['one', 'two', 'three']) intents.push(await readyToSay(p, word));
    logIn(p.root, `{ level: debug, file: ${LOG} }`);
    appendFileSync(join(p.root, LOG), '{"msg":"before"}\n');
    const racers = intents.map(({ intent_id, hash }) => racer(p.root, intent_id, hash));
    await Promise.all(racers.map(({ ready }) => ready));
    for (const one of racers) one.go();
    expect(await Promise.all(racers.map(({ answer }) => answer))).toEqual(['success', 'success', 'success']);
    const lines = logged(p.root, LOG);
    expect(lines[0]).toEqual({ msg: 'before' });
    const ends = lines.filter(({ operation, msg }) => operation === 'run' && msg === 'ends');
    expect(new Set(ends.map(({ intent_id }) => intent_id))).toEqual(
      new Set(intents.map(({ intent_id }) => intent_id)),
    );
    expect(new Set(ends.map(({ pid }) => pid)).size).toBe(3);
  });
});
