import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import type { Json } from '../../src/canonical/json.ts';
import type { Run } from '../../src/gate/state.ts';
import type { Signer } from '../../src/identity/act.ts';
import { type Entry, type IntentState, Keyturn } from '../../src/keyturn.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { newestOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { found, steady, writeSecrets } from '../support/project.ts';
import { inTerminal, keyturn, type Session } from '../support/pty.ts';
import { runs, TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { QUESTION } from '../support/transcript.ts';
import { fileFolder, PASSPHRASE, type Talk } from './project.ts';

/** A project of its own with one intent that may run, whose tool is a script. */
export interface Stage {
  readonly folder: string;
  readonly registry: string;
  readonly script: string;
  /** What the script appends to, to show that it ran. */
  readonly log: string;
  readonly id: string;
  readonly hash: string;
  readonly words: readonly string[];
  readonly signer: Signer;
}

export interface Play {
  /** The body of the script. `$LOG` is the log, `$OWN` is the folder of the store. */
  readonly body?: string;
  readonly tool?: Record<string, unknown>;
  readonly more_tools?: readonly Record<string, unknown>[];
  readonly arguments?: Record<string, Json>;
  /** What is done with the intent after it was proposed: `ready` is approved and granted. */
  readonly verdict?: 'ready' | 'approved' | 'rejected' | 'none';
  /** How long ago it was proposed and judged. */
  readonly age_s?: number;
}

export const DAY_S = 86_400;
/** When every project of a file began: long before anything that a test plays. */
const BEGINNING_S = 30 * DAY_S;

const ago = (seconds: number) => () => new Date(Date.now() - seconds * 1000);

/** One project for a whole test file; each stage is a copy of it. The key of its one human is unlocked once. */
export function stages(): (play?: Play) => Promise<Stage> {
  const model = fileFolder();
  let signer: Signer;
  beforeAll(async () => {
    const clock = ago(BEGINNING_S);
    const { keyturn, ada } = await found(model, { clock, name: 'alice' });
    signer = ada;
    await keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer });
    await keyturn.close();
    writeSecrets(model, { MARK: { environment: 'MARK' } });
  });
  return (play = {}) => stage(model, signer, play);
}

async function stage(model: string, signer: Signer, play: Play): Promise<Stage> {
  const folder = scratch();
  cpSync(model, folder, { recursive: true });
  const [script, registry, log] = [
    join(folder, 'create_backup.sh'),
    join(folder, 'tools.yaml'),
    join(folder, 'out', 'log'),
  ];
  mkdirSync(join(folder, 'out'));
  const body = play.body ?? 'echo ran >> "$LOG"; echo Backup created';
  writeFileSync(script, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const env = { LOG: log, OWN: join(folder, '.keyturn') };
  const tool = { ...TOOL, executable: script, env, ...play.tool };
  writeRegistry(registry, { version: 1, tools: [tool, ...(play.more_tools ?? [])] });
  const opened = await Keyturn.open({ at: folder, ...steady(ago(play.age_s ?? 0)) });
  try {
    const intent = await judged(opened, signer, play);
    return { folder, registry, script, log, signer, ...intent, words: ['run', intent.id, intent.hash] };
  } finally {
    await opened.close();
  }
}

async function judged(opened: Keyturn, signer: Signer, play: Play): Promise<{ id: string; hash: string }> {
  const effect = { kind: 'tool' as const, tool: TOOL.name, arguments: play.arguments ?? {} };
  const declared_goal = 'Keep the photos safe.';
  const { intent_id, hash } = await opened.intents.propose({ issuer: 'bot', declared_goal, effect });
  const { verdict = 'ready' } = play;
  const asked = { intent_id, hash, signer };
  if (verdict === 'ready' || verdict === 'approved') await opened.intents.approve(asked);
  if (verdict === 'ready') await opened.intents.grant(asked);
  if (verdict === 'rejected') await opened.intents.reject({ ...asked, reason: 'No.' });
  return { id: intent_id, hash };
}

/** Does something with the library, in this process. */
export async function inside<T>({ folder }: Stage, act: (keyturn: Keyturn) => Promise<T>): Promise<T> {
  const opened = await Keyturn.open({ at: folder });
  try {
    return await act(opened);
  } finally {
    await opened.close();
  }
}

/** Every entry of the ledger, oldest first, and the state of the intent. Writes nothing. */
export async function lookAt({ folder, id }: Stage): Promise<{ ledger: Entry[]; state: IntentState }> {
  const opened = await Keyturn.open({ at: folder, mode: 'read' });
  try {
    return { ledger: await newestOf(opened, 1000), state: await opened.intents.get({ intent_id: id }) };
  } finally {
    await opened.close();
  }
}

export const stateOf = async (set: Stage) => (await lookAt(set)).state;
export const ledgerOf = async (set: Stage) => (await lookAt(set)).ledger;

/** The kinds of what the ledger says about the intent. */
export function kindsOf(ledger: readonly Entry[], { id }: Stage): string[] {
  return ledger.filter(({ subject }) => subject === id).map(({ kind }) => kind);
}

/** The last run of the intent, and when its tool ended, as the ledger has it. */
export async function runOf(set: Stage): Promise<Run & { ended_at: string | null }> {
  const { ledger, state } = await lookAt(set);
  const ended = ledger.findLast(({ kind }) => kind === 'execution.finished');
  const { finished_at = null } = (ended?.body ?? {}) as { finished_at?: string };
  return { ...state.runs.at(-1)!, ended_at: finished_at };
}

/** A capability for the next attempt. */
export function grant(set: Stage): Promise<unknown> {
  const { id: intent_id, hash, signer } = set;
  return inside(set, (keyturn) => keyturn.intents.grant({ intent_id, hash, signer }));
}

/** Runs the intent to its end, as the command would after a y. For tests about what comes after. */
export function play(set: Stage): Promise<unknown> {
  const { id, hash } = set;
  return inside(set, (keyturn) => runSeen(keyturn, { intent_id: id, hash, confirm: async () => true }));
}

/** A command in the stage's project, without any terminal. */
export function alone(
  set: Stage,
  words = set.words,
  more: { stdin?: string; env?: Record<string, string> } = {},
) {
  return keyturn(words, { cwd: set.folder, ...more });
}

/** A command at a terminal. Standard output and error are caught apart; `act` plays the person. */
export async function atTerminal(
  set: Stage,
  words: readonly string[],
  act: (session: Session) => unknown,
  env: Record<string, string> = {},
): Promise<Talk> {
  const split = mkdtempSync(join(tmpdir(), 'keyturn-stage-'));
  const session = inTerminal(words, { cwd: set.folder, columns: 500, split, env });
  try {
    await act(session);
    const code = await session.exited;
    const read = (name: string) => readFileSync(join(split, name), 'utf8');
    return { code, screen: session.text, stdout: read('stdout'), stderr: read('stderr') };
  } finally {
    session.kill();
    rmSync(split, { recursive: true, force: true });
  }
}

export interface Person {
  /** What the person does before they answer, and after it. */
  readonly before?: (session: Session) => unknown;
  readonly after?: (session: Session) => unknown;
  readonly env?: Record<string, string>;
}

/** `keyturn run` with a person who presses these keys when asked: the next ones each time. */
export function answering(set: Stage, keys: string | readonly string[], person: Person = {}): Promise<Talk> {
  const [first = '', ...further] = typeof keys === 'string' ? [keys] : keys;
  const act = async (session: Session) => {
    await session.expect(QUESTION);
    await person.before?.(session);
    session.press(first);
    for (const next of further) {
      await session.expect(QUESTION);
      session.press(next);
    }
    await person.after?.(session);
  };
  return atTerminal(set, set.words, act, person.env);
}

export const saysYes = (set: Stage, person: Person = {}) => answering(set, 'y\r', person);

/** Signs with the passphrase when asked for it. */
export function signing(set: Stage, ...words: string[]): Promise<Talk> {
  return atTerminal(set, words, async (session) => {
    await session.expect('Passphrase of alice: ');
    session.type(PASSPHRASE);
  });
}

export const storeOf = ({ folder }: Stage) => join(folder, '.keyturn', 'store.db');

/** Every row of every table of the store. */
export function rowsOf(set: Stage): Record<string, unknown[]> {
  return sqlite(storeOf(set), (db) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
      name: string;
    }[];
    return Object.fromEntries(tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]));
  });
}

/** Every file of the project but the store, with its bytes, mode and times. */
export function filesOf({ folder }: Stage): unknown[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/^(store\.db|head)/.test(entry.name),
  );
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => {
      const { mode, mtimeNs, ino } = statSync(path, { bigint: true });
      return [path, mode, mtimeNs, ino, readFileSync(path, 'latin1')];
    });
}

/** The body of a tool that never ends by itself. Its process id is in the log. */
export const ENDLESS = 'echo $$ >> "$LOG"; exec sleep 300';

/** Kills the command with SIGKILL while its tool runs, and then the tool. The claim is all that is left. */
export async function crash(set: Stage): Promise<void> {
  const after = async (session: Session) => {
    await until(() => runs(set) === 1);
    session.kill();
    await session.exited;
    process.kill(Number(readFileSync(set.log, 'utf8')), 'SIGKILL');
  };
  await saysYes(set, { after });
}

/** A few at a time: each is a process, and most of the time one waits for a disk. */
export async function inTurn<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += 4)
    results.push(...(await Promise.all(items.slice(i, i + 4).map(act))));
  return results;
}
