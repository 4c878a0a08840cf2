import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keyturn } from '../src/keyturn.ts';
import type { Commit, Store } from '../src/store/store.ts';
import { openStore, proposal } from './facts.ts';
import { peakMb } from './memory.ts';
import { type Asked, createProject, openProject, type Project, readyIntent } from './project.ts';
import { timed, usual } from './timing.ts';

/** As many as the store writes in one transaction. */
const BATCH = 512;
/** Entries of an intent that no query asks for. */
const ENTRIES = 4;
/** The proposal, the submission, the approval and the capability. */
const ENTRIES_OF_ASKED = 5;
const WARM_UP = 4_000;

export interface FillOptions {
  readonly root: string;
  readonly size: number;
  /** After so many entries comes an intent that `check` is asked about; the rest is about others. */
  readonly every: number;
}

/** Makes a project whose ledger has exactly this many entries, or lets one grow to that. */
export async function fill({ root, size, every }: FillOptions): Promise<{ ms: number }> {
  const project = await (existsSync(root) ? openProject(root) : createProject(root));
  const store = await openStore(project.keyturn.layout.store, 'write');
  try {
    return { ms: await timed(() => grow(project, store, { root, size, every })) };
  } finally {
    await store.close();
    await project.keyturn.close();
  }
}

async function grow(project: Project, store: Store, { root, size, every }: FillOptions): Promise<void> {
  const asked = askedOf(root);
  for (;;) {
    const { size: now } = await store.tip();
    if (now === size) break;
    const next = Math.min(asked.length * every, size);
    if (now >= next && now + ENTRIES_OF_ASKED <= size) asked.push(await readyIntent(project));
    else await addStories(store, Math.min(BATCH * ENTRIES, (now < next ? next : size) - now));
  }
  writeFileSync(join(root, 'asked.json'), JSON.stringify(asked));
}

/** So many entries in one transaction: intents of others that were proposed and then refused a few times. */
async function addStories(store: Store, entries: number): Promise<void> {
  const commits: Commit[] = [];
  for (let left = entries; left > 0; left -= ENTRIES) commits.push(proposal(Math.min(left, ENTRIES)));
  await Promise.all(commits.map((commit) => store.commit(commit)));
}

function askedOf(root: string): Asked[] {
  const path = join(root, 'asked.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

export interface CheckOptions {
  readonly small: string;
  readonly large: string;
  readonly rounds: number;
  readonly checks: number;
}

/** Microseconds for one check. */
export interface CheckTimes {
  readonly intents: number;
  readonly small_us: number;
  readonly large_us: number;
}

/** The two ledgers in turn, for one intent that is asked about again and again and for many across the ledger. */
export async function measureChecks(options: CheckOptions): Promise<CheckTimes[]> {
  const small = {
    keyturn: await Keyturn.open({ at: options.small, mode: 'read' }),
    asked: askedOf(options.small),
  };
  const large = {
    keyturn: await Keyturn.open({ at: options.large, mode: 'read' }),
    asked: askedOf(options.large),
  };
  const many = Math.min(small.asked.length, large.asked.length);
  const found = [await compare(small, large, 1, options), await compare(small, large, many, options)];
  await small.keyturn.close();
  await large.keyturn.close();
  return found;
}

interface Ledger {
  readonly keyturn: Keyturn;
  readonly asked: readonly Asked[];
}

async function compare(
  small: Ledger,
  large: Ledger,
  intents: number,
  { rounds, checks }: CheckOptions,
): Promise<CheckTimes> {
  const times: [number[], number[]] = [[], []];
  for (const { keyturn, asked } of [small, large]) await checkMany(keyturn, spread(asked, intents), WARM_UP);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { keyturn, asked }] of [small, large].entries()) {
      const ms = await timed(() => checkMany(keyturn, spread(asked, intents), checks));
      times[i]!.push((ms * 1000) / checks);
    }
  }
  return { intents, small_us: usual(times[0]), large_us: usual(times[1]) };
}

/** So many of them, evenly spaced. */
function spread(asked: readonly Asked[], count: number): Asked[] {
  return Array.from({ length: count }, (_, i) => asked[Math.floor((i * asked.length) / count)]!);
}

async function checkMany(keyturn: Keyturn, asked: readonly Asked[], count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { intent_id, hash } = asked[i % asked.length]!;
    const verdict = await keyturn.intents.check({ intent_id, hash });
    if (!verdict.eligible) throw new Error(`check said ${verdict.code}`);
  }
}

export interface VerifyTimes {
  readonly entries: number;
  /** Of the better pass, on the wall clock and in processor time. */
  readonly per_s: number;
  readonly per_cpu_s: number;
  /** The most memory that this process ever held. */
  readonly peak_mb: number;
}

/** In a process of its own, so that the memory is its own. */
export async function measureVerify({
  root,
  passes,
}: {
  root: string;
  passes: number;
}): Promise<VerifyTimes> {
  const keyturn = await Keyturn.open({ at: root, mode: 'read' });
  const found: { entries: number; ms: number; cpu_ms: number }[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const cpu = process.cpuUsage();
    let entries = 0;
    const ms = await timed(async () => {
      entries = (await keyturn.ledger.verify({})).size;
    });
    const { user, system } = process.cpuUsage(cpu);
    found.push({ entries, ms, cpu_ms: (user + system) / 1000 });
  }
  await keyturn.close();
  const { entries } = found[0]!;
  return {
    entries,
    per_s: (entries / Math.min(...found.map(({ ms }) => ms))) * 1000,
    per_cpu_s: (entries / Math.min(...found.map(({ cpu_ms }) => cpu_ms))) * 1000,
    peak_mb: peakMb(),
  };
}
