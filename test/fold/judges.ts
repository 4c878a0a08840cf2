import { join } from 'node:path';
import type { JsonObject } from '../../src/canonical/json.ts';
import type { Event } from '../../src/event/event.ts';
import { FoldedLedger } from '../../src/fold/ledger.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { GENESIS, openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { append, EMPTY_TREE } from '../../src/ledger/merkle.ts';
import { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { NOON } from '../store/place.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { scratch } from '../support/scratch.ts';

/** What a judge says of a ledger: which entry it refuses first, and why; null where it takes all of them. */
export type Answer = { readonly seq: number; readonly code: string } | null;

const timeOf = (seq: number) => new Date(Date.parse(NOON) + seq * 1000).toISOString();

/** Entries one second apart, each with the claims that its event takes, in a chain that is whole. */
export function sealed(events: readonly Event[]): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (const [seq, event] of events.entries()) {
    const { kind, subject, body } = event;
    const prev = entries.at(-1)?.hash ?? GENESIS;
    const facts = { seq, tenant: 'default', at: timeOf(seq), kind, subject, claims: claims(event) };
    entries.push(sealEntry({ ...facts, body: body as JsonObject, prev }));
  }
  return entries;
}

/** Of an event that is none, too: then it takes nothing. */
function claims(event: Event): readonly string[] {
  try {
    return claimsOf(event);
  } catch {
    return [];
  }
}

async function answerOf(seq: () => number, act: () => Promise<void>): Promise<Answer> {
  try {
    await act();
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { found, seq: at } = error.details;
    return { seq: typeof at === 'number' ? at : seq(), code: typeof found === 'string' ? found : error.code };
  }
}

export async function deepVerified(events: readonly Event[]): Promise<Answer> {
  let seq = 0;
  const folded = new FoldedLedger({ is_whole: true });
  return answerOf(
    () => seq,
    async () => {
      for (const { bytes } of sealed(events)) {
        folded.take(openEntry(bytes));
        seq += 1;
      }
    },
  );
}

const open = (path: string, mode: 'write' | 'create', clock = () => new Date(NOON)) =>
  openSqliteStore({ path, tenant: 'default', clock, mode });

/** Each event by itself, at the time that its entry has. */
export async function committed(events: readonly Event[]): Promise<Answer> {
  let seq = 0;
  const store = await open(join(scratch(), 'store.db'), 'create', () => new Date(timeOf(seq)));
  const answer = await answerOf(
    () => seq,
    async () => {
      for (const event of events) {
        await store.commit({ events: [event] });
        seq += 1;
      }
    },
  );
  await store.close();
  return answer;
}

export async function adopted(events: readonly Event[]): Promise<Answer> {
  const store = await open(join(scratch(), 'store.db'), 'create');
  const answer = await answerOf(
    () => 0,
    () => store.adopt({ entries: sealed(events) }),
  );
  await store.close();
  return answer;
}

/** By whoever can write the file: the entries stand in it, and nothing else does. */
export async function rebuilt(events: readonly Event[]): Promise<Answer> {
  const path = join(scratch(), 'store.db');
  await (await open(path, 'create')).close();
  sqlite(path, (db) => {
    const insert = db.prepare('INSERT INTO entry (id, hash, peak, at, bytes) VALUES (?, ?, ?, ?, ?)');
    let tree = EMPTY_TREE;
    for (const { seq, hash, bytes } of sealed(events)) {
      tree = append(tree, hash);
      const peak = tree.frontier.at(-1)!;
      insert.run(2 ** 40 + seq, hash, peak === hash ? null : peak, timeOf(seq), bytes);
    }
  });
  const store = await open(path, 'write');
  const answer = await answerOf(
    () => 0,
    async () => void (await store.rebuild({ write: true })),
  );
  await store.close();
  return answer;
}
