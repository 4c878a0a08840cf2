import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { SERVERS } from '../mcp-call/servers.ts';
import { steady } from '../support/project.ts';
import { cliPath } from '../support/pty.ts';
import { runSeen } from '../support/seen.ts';
import { ASKED } from './asked.ts';
import { answerOf, fileFolder, type Intent, makeProject, type Project, UNKNOWN_ID } from './project.ts';

/**
 * Every command once, as its own process, in the quick run. One that reads answers; one that needs a human's key says that it needs a
 * terminal, after it has read its words and the project; one about something that does not exist says so; one that goes on until it is
 * told to end does its work, and ends. The other files of this folder show what each command does.
 */

const folder = fileFolder();
const away = fileFolder();
const [AHEAD, BEHIND] = [join(away, 'ahead'), join(away, 'behind')];
let project: Project;
let intent: Intent;
/** One that has run, and one with what takes it back. */
let done: Intent;
let taken: { readonly intent_id: string; readonly receipt: string | null };

beforeAll(async () => {
  project = await makeProject(folder);
  for (const copy of [AHEAD, BEHIND]) cpSync(folder, copy, { recursive: true });
  const tomorrow = () => new Date(Date.now() + 86_400_000);
  await writeIn(await Keyturn.open({ at: AHEAD, ...steady(tomorrow) }));
  await writeIn(await Keyturn.open({ at: BEHIND }));
  cpSync(join(folder, '.keyturn', 'store.db'), join(BEHIND, '.keyturn', 'store.db'));

  intent = await project.propose('greet', { name: 'Ada' });
  done = await project.propose('open');
  await project.ready(done);
  await project.inside(async (keyturn) => {
    await runSeen(keyturn, { intent_id: done.id, hash: done.hash, confirm: async () => true });
    const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
    taken = await keyturn.intents.propose({ issuer: 'bot', declared_goal: 'Taken back.', effect });
  });
  writeFileSync(join(folder, 'plan.json'), '{}');
  await writeCapability();
});

/** One more entry of any kind. */
async function writeIn(keyturn: Keyturn): Promise<void> {
  await keyturn.system.freeze({ scope: 'tool', name: 'none', reason: 'test', signer: project.alice });
  await keyturn.close();
}

/** `token.jws`, which the key `scout.key` holds. */
async function writeCapability(): Promise<void> {
  const { public_key: holder } = Keyturn.createAgentKey(join(folder, 'scout.key'));
  const { id: intent_id, hash } = await project.propose('greet', { name: 'Bo' });
  await project.approve({ id: intent_id, hash });
  const { token } = await project.inside((keyturn) =>
    keyturn.intents.grant({ intent_id, hash, holder, is_issued: true, signer: project.alice }),
  );
  writeFileSync(join(folder, 'token.jws'), token!);
}

/** The lane has no project: each of its commands with an empty queue. */
const LANE: Readonly<Record<string, string>> = {
  'lane queue': '--queue lane words',
  'lane review': '--queue lane',
  'lane verify': '--queue lane NONE HASH',
  'lane check': '--queue lane NONE HASH',
  'lane run': '--queue lane --registry tools.yaml NONE HASH',
};

const named = (word: string): string =>
  ({
    ID: intent.id,
    HASH: intent.hash,
    NONE: UNKNOWN_ID,
    DONE: done.id,
    TAKEN: taken.intent_id,
    RECEIPT: taken.receipt!,
    AHEAD,
    BEHIND,
    NODE: process.execPath,
    SERVER: SERVERS.odd,
  })[word] ?? word;

describe.concurrent('a command', () => {
  it('is asked here once at least, each one', () => {
    const asked = { ...ASKED, ...STAYS };
    expect(COMMANDS.map(({ name }) => name).filter((name) => !(name in asked))).toEqual([]);
  });

  it('does more here than say how it is used', () => {
    expect(Object.entries(ASKED).filter(([, [code]]) => code === 'USAGE')).toEqual([]);
  });

  it.each(Object.entries(ASKED))('%s answers', async (name, [code, text]) => {
    // Before the words: after `--` it would be one of them.
    const finished = await project.run(...`${name} --json ${text}`.trim().split(' ').map(named));
    const answer = answerOf(finished) as never as { ok: boolean; code?: string; command: string };
    expect({ code: answer.ok ? 'OK' : answer.code, command: answer.command }).toEqual({
      code,
      command: name,
    });
  });

  it.each(Object.entries(LANE))('%s answers without a project', async (name, text) => {
    mkdirSync(join(folder, 'lane'), { recursive: true });
    const finished = await project.run(...`${name} ${text}`.split(' ').map(named));
    expect([name, finished.code, finished.stdout + finished.stderr]).toEqual([
      name,
      name === 'lane queue' ? 0 : 1,
      expect.stringMatching(/\[(OK|ERROR)\]/),
    ]);
  });
});

/** A process that goes on, and what it prints, line by line. */
function started(words: readonly string[]) {
  const child = spawn(process.execPath, [cliPath(), ...words], { cwd: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'close');
  const linesOf = (input: Readable) => createInterface({ input })[Symbol.asyncIterator]();
  const [out, err] = [linesOf(child.stdout), linesOf(child.stderr)];
  return {
    child,
    next: async () => (await out.next()).value as string,
    told: async () => (await err.next()).value as string,
    /** The exit code after this signal, or after the end of its input. */
    ended: async (signal: NodeJS.Signals | null): Promise<number> => {
      if (signal === null) child.stdin.end();
      else child.kill(signal);
      return (await exited)[0] as number;
    },
  };
}

/** Commands that go on until they are told to end. */
const STAYS: Readonly<Record<string, () => Promise<void>>> = {
  serve: async () => {
    const { next, ended } = started(['serve', '--port', '0', '--no-execute', '--json']);
    const { result } = JSON.parse(await next()) as { result: { address: string } };
    const answer = await fetch(`${result.address}/v1/intents/list`);
    expect(await answer.json()).toMatchObject({ code: 'CALLER_UNPROVEN' });
    expect(await ended('SIGTERM')).toBe(0);
    expect(JSON.parse(await next())).toEqual({ ok: true, command: 'serve', result: { stopped: true } });
  },
  execute: async () => {
    const ordered = await project.propose('greet', { name: 'Eve' });
    await project.ready(ordered);
    const { told, next, ended } = started(['execute']);
    expect(await told()).toBe('Runs what is ordered for executor. Ctrl-C ends it.');
    for (const outcome of ['claimed', 'success'])
      expect(await told()).toBe(`${ordered.id}  greet  ${outcome}`);
    expect(await ended('SIGINT')).toBe(0);
    expect(await next()).toBe('[OK] Stopped');
  },
  watch: async () => {
    const { next, ended } = started(['watch', '--since', '0', '--json']);
    expect(JSON.parse(await next())).toMatchObject({
      result: { entry: { seq: 0, kind: 'system.initialised' } },
    });
    expect(await ended('SIGINT')).toBe(0);
  },
  mcp: async () => {
    const { child, next, ended } = started(['mcp', '--as', 'bot']);
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a client', version: '1' },
    };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const { id, result } = JSON.parse(await next()) as { id: number; result: object };
    expect([id, result]).toEqual([1, expect.objectContaining({ serverInfo: expect.any(Object) })]);
    expect(await ended(null)).toBe(0);
  },
};

// One after the other: two of them would be executors of one ledger file.
describe('a command that goes on', () => {
  it.each(Object.entries(STAYS))('%s does its work, and ends when it is told to', (_, act) => act());
});
