import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startServer } from '../test/support/postgres-server.ts';
import { createProject, openProject } from './project.ts';
import { p99, usual } from './timing.ts';

interface Asked {
  readonly folder: string;
  /** As many wait while nothing happens; then each is woken by a commit of another process. */
  readonly waiters: number;
  readonly wakings: number;
}

export interface WaitTimes {
  /** Of one core, while nothing happens. */
  readonly idle_share: number;
  /** From the moment when the other process knew that its commit is durable. */
  readonly usual_ms: number;
  readonly p99_ms: number;
}

const IDLE_MS = 5_000;
/** Between two commits, so that each waking is one of its own. */
const PAUSE_MS = 50;

/** On a file, and on a server whose notifications wake those who wait. */
export async function measureWaiting({
  folder,
  ...counts
}: Asked): Promise<{ readonly sqlite: WaitTimes; readonly postgres: WaitTimes }> {
  const sqlite = await waitingAt(join(folder, 'waiting'), counts);
  // The server is not root, and must get through to its data.
  chmodSync(folder, 0o711);
  const server = await startServer({}, folder);
  try {
    return { sqlite, postgres: await waitingAt(join(folder, 'waiting-shared'), counts, server.url()) };
  } finally {
    await server.remove();
  }
}

async function waitingAt(
  root: string,
  { waiters, wakings }: Omit<Asked, 'folder'>,
  store?: string,
): Promise<WaitTimes> {
  const { keyturn } = await createProject(root, store);
  const intents: string[] = [];
  for (let i = 0; i < waiters; i++) {
    const effect = { kind: 'tool' as const, tool: 'nothing', arguments: {} };
    const { intent_id } = await keyturn.intents.propose({
      issuer: 'planner',
      declared_goal: 'Wait.',
      effect,
    });
    intents.push(intent_id);
  }
  const ended = new AbortController();
  const woken = intents.map(async (intent_id) => {
    await keyturn.intents.waitFor({ intent_id, until: 'decided', signal: ended.signal });
    return Date.now();
  });
  for (const one of woken) one.catch(() => {});
  await setTimeout(IDLE_MS / 5);
  const before = process.cpuUsage();
  await setTimeout(IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  const chosen = intents.slice(0, wakings);
  const committed = await rejectedElsewhere({ root, intents: chosen });
  const times = await Promise.all(chosen.map(async (_, i) => (await woken[i]!) - committed[i]!));
  ended.abort();
  await keyturn.close();
  return { idle_share: (user + system) / 1000 / IDLE_MS, usual_ms: usual(times), p99_ms: p99(times) };
}

interface Rejecting {
  readonly root: string;
  readonly intents: readonly string[];
}

/** The job of the other process. Answers when each commit was durable. */
export async function rejectEach({ root, intents }: Rejecting): Promise<number[]> {
  const { keyturn, ada } = await openProject(root);
  const committed: number[] = [];
  for (const intent_id of intents) {
    const { hash } = await keyturn.intents.get({ intent_id });
    await keyturn.intents.reject({ intent_id, hash, reason: 'Enough.', signer: ada });
    committed.push(Date.now());
    await setTimeout(PAUSE_MS);
  }
  await keyturn.close();
  return committed;
}

/** The same program, for one job more. */
async function rejectedElsewhere(options: Rejecting): Promise<number[]> {
  const child = spawn(process.execPath, [process.argv[1]!, 'rejectEach', JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return JSON.parse(text);
}
