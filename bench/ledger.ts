import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keyturn } from '../src/keyturn.ts';
import type { Store } from '../src/store/store.ts';
import { commitTogether, openStore } from './facts.ts';
import { type Asked, approvedIntent, createProject, openProject, type Project } from './project.ts';
import { median, timed } from './timing.ts';

/** As many as the store writes in one transaction. */
const BATCH = 512;
/** The proposal, the submission and the approval. */
const ENTRIES_OF_ASKED = 3;

export interface FillOptions {
  readonly root: string;
  readonly size: number;
  /** After so many entries comes an intent that `check` is asked about; the rest are proposals of others. */
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
    if (now >= next && now + ENTRIES_OF_ASKED <= size) asked.push(await approvedIntent(project));
    else await commitTogether(store, Math.min(BATCH, (now < next ? next : size) - now));
  }
  writeFileSync(join(root, 'asked.json'), JSON.stringify(asked));
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
  readonly ratio: number;
}

/** The two ledgers in turn, for one intent that is asked about again and again and for many across the ledger. */
export async function measureChecks(options: CheckOptions): Promise<CheckTimes[]> {
  const small = await Keyturn.open({ at: options.small, mode: 'read' });
  const large = await Keyturn.open({ at: options.large, mode: 'read' });
  const [of_small, of_large] = [askedOf(options.small), askedOf(options.large)];
  const found: CheckTimes[] = [];
  for (const intents of [1, Math.min(of_small.length, of_large.length)]) {
    const each = async (keyturn: Keyturn, asked: readonly Asked[]) =>
      ((await timed(() => checkMany(keyturn, spread(asked, intents), options.checks))) * 1000) /
      options.checks;
    const times: { small: number; large: number }[] = [];
    for (let round = -2; round < options.rounds; round++) {
      const time = { small: await each(small, of_small), large: await each(large, of_large) };
      if (round >= 0) times.push(time);
    }
    found.push({
      intents,
      small_us: median(times.map((time) => time.small)),
      large_us: median(times.map((time) => time.large)),
      ratio: median(times.map((time) => time.large / time.small)),
    });
  }
  await small.close();
  await large.close();
  return found;
}

/** So many of them, evenly spaced. */
function spread(asked: readonly Asked[], count: number): Asked[] {
  return Array.from({ length: count }, (_, i) => asked[Math.floor((i * asked.length) / count)]!);
}

async function checkMany(keyturn: Keyturn, asked: readonly Asked[], count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { intent_id, hash } = asked[i % asked.length]!;
    const verdict = await keyturn.check(intent_id, hash);
    if (!verdict.eligible) throw new Error(`check said ${verdict.code}`);
  }
}

export interface VerifyTimes {
  readonly entries: number;
  readonly per_s: number;
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
  let entries = 0;
  let best_ms = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < passes; pass++) {
    const ms = await timed(async () => {
      entries = (await keyturn.verify({})).size;
    });
    best_ms = Math.min(best_ms, ms);
  }
  await keyturn.close();
  return { entries, per_s: (entries / best_ms) * 1000, peak_mb: process.resourceUsage().maxRSS / 1024 };
}
