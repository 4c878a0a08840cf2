import { join } from 'node:path';
import { auditEntries, type Decisions } from '../../src/audit/ledger.ts';
import { type Digest, sha256 } from '../../src/canonical/digest.ts';
import { publicKeyOf } from '../../src/canonical/ed25519.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { openIssued } from '../../src/capability/verify.ts';
import { type Event, signedBy } from '../../src/event/event.ts';
import { type NeededDecision, requireDecision, restsOn } from '../../src/fold/decided.ts';
import { type IssuedToken, requireAsIssued } from '../../src/fold/issued.ts';
import { FoldedLedger } from '../../src/fold/ledger.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { removedBy } from '../../src/gate/objects.ts';
import { StoredDecisions } from '../../src/journey/decided.ts';
import { GENESIS, openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { append, EMPTY_TREE } from '../../src/ledger/merkle.ts';
import { openDecision } from '../../src/policy/replay.ts';
import { Refusal, refuse } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { decisionsOf } from '../store/decisions.ts';
import { NOON } from '../store/place.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { scratch } from '../support/scratch.ts';
import { timeOf } from './lived.ts';

/** What a judge says of a ledger: which entry it refuses first, and why; null where it takes all of them. */
export type Answer = { readonly seq: number; readonly code: string } | null;

/** When each entry was written. */
export type Times = (seq: number) => string;

/** Entries one second apart unless told, each with the claims that its event takes, in a chain that is whole. */
export function sealed(events: readonly Event[], times: Times = timeOf): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (const [seq, event] of events.entries()) {
    const { kind, subject, body } = event;
    const prev = entries.at(-1)?.hash ?? GENESIS;
    const facts = { seq, tenant: 'default', at: times(seq), kind, subject, claims: claims(event) };
    entries.push(sealEntry({ ...facts, body: body as JsonObject, prev }));
  }
  return entries;
}

/** Of an event that is none, too: then it takes nothing. */
export function claims(event: Event): readonly string[] {
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
    const { found, reason_code, seq: at } = error.facts;
    const code = [found, reason_code].find((one) => typeof one === 'string') ?? error.code;
    return { seq: typeof at === 'number' ? at : seq(), code: code as string };
  }
}

/** The decisions that a ledger rests on, and the tokens that it issues, which every reader of its objects has. */
export type Objects = ReadonlyMap<Digest, Uint8Array>;

export const objectsOf = (events: readonly Event[]): Objects =>
  new Map(decisionsOf(events).map((bytes) => [sha256(bytes), bytes]));

export function deepVerified(events: readonly Event[], _: Objects, times?: Times): Promise<Answer> {
  let seq = 0;
  const folded = new FoldedLedger({ is_whole: true });
  return answerOf(
    () => seq,
    async () => {
      for (const { bytes } of sealed(events, times)) {
        folded.take(openEntry(bytes));
        seq += 1;
      }
    },
  );
}

/** The same by a verification that forgets what is over. */
export function forgetting(events: readonly Event[], _: Objects, times?: Times): Promise<Answer> {
  return auditedFrom(sealed(events, times));
}

export function auditedFrom(entries: readonly SealedEntry[]): Promise<Answer> {
  const batches = async function* () {
    for (const entry of entries) yield [entry];
  };
  return auditEntries(batches, { tenant: 'default' }).then(
    () => null,
    (error: Refusal) => ({
      seq: error.facts.seq as number,
      code: (error.facts.reason_code as string | undefined) ?? error.code,
    }),
  );
}

/** What `ledger verify --deep` does, but for tokens: those are held against effects as well, which these ledgers do not have. */
export async function deepVerifiedWith(
  events: readonly Event[],
  objects: Objects,
  times?: Times,
): Promise<Answer> {
  let seq = -1;
  const store = await open(join(scratch(), 'store.db'), 'create');
  await store.adopt({ objects: [...objects.values()] });
  const decisions = (): Decisions => {
    const stored = new StoredDecisions(store);
    return {
      needs: (needed, at) => stored.needs(needed, at),
      issues: (token) => requireTokenIn(objects, token),
      look: () => stored.look(),
    };
  };
  const batches = async function* () {
    for (const entry of sealed(events, times)) {
      seq = entry.seq;
      yield [entry];
    }
  };
  const answer = await answerOf(
    () => seq,
    async () => void (await auditEntries(batches, { tenant: 'default', decisions })),
  );
  await store.close();
  return answer;
}

export function requireDecisionIn(objects: Objects, needed: NeededDecision): void {
  requireDecision(needed, openDecision(objects.get(needed.digest) ?? refuse('OBJECT_MISSING')));
}

export function requireTokenIn(objects: Objects, issued: IssuedToken): void {
  const { token, control_key } = issued.body;
  const bytes = objects.get(token);
  requireAsIssued(issued, bytes ? openIssued(bytes, control_key, publicKeyOf) : null);
}

/** An empty store of its own for each ledger, that entries can be put into behind its back. */
export interface Bench {
  open(mode: 'write' | 'create', clock?: () => Date): Promise<Store>;
  plant(entries: readonly PlantedEntry[]): Promise<void>;
}

/** An entry as an attacker would write it, with what stands beside it. */
export interface PlantedEntry extends SealedEntry {
  readonly peak: Digest;
  readonly at: string;
  readonly event: Event;
  readonly signer: string | null;
}

const open = (path: string, mode: 'write' | 'create', clock = () => new Date(NOON)) =>
  openSqliteStore({ path, tenant: 'default', clock, mode });

export async function onSqlite(): Promise<Bench> {
  const path = join(scratch(), 'store.db');
  return {
    open: (mode, clock) => open(path, mode, clock),
    plant: async (entries) =>
      sqlite(path, (db) => {
        const insert = db.prepare(
          'INSERT INTO entry (id, hash, peak, at, kind, signer, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)',
        );
        for (const { seq, hash, peak, at, event, signer, bytes } of entries)
          insert.run(2 ** 40 + seq, hash, peak === hash ? null : peak, at, event.kind, signer, bytes);
      }),
  };
}

type Judge = (events: readonly Event[], objects: Objects, times?: Times) => Promise<Answer>;

/** What a store says of a ledger, in the three ways in which it can come by one. */
export interface StoreJudges {
  /** Each event by itself, at the time that its entry has, with the object that it names. */
  readonly committed: Judge;
  readonly adopted: Judge;
  /** By an attacker who can write the store: the entries and the objects stand in it, and nothing else does. */
  readonly rebuilt: Judge;
}

export function storeJudges(bench: () => Promise<Bench>): StoreJudges {
  return {
    committed: async (events, objects, times = timeOf) => {
      let seq = 0;
      const store = await (await bench()).open('create', () => new Date(times(seq)));
      const answer = await answerOf(
        () => seq,
        async () => {
          for (const event of events) {
            const { kind, body } = event;
            const named = [restsOn(event), kind === 'capability.issued' ? body.token : null];
            const brought = named.flatMap((digest) => objects.get(digest ?? '') ?? []);
            const removed = removedBy(event);
            await store.commit({
              events: [event],
              objects: brought,
              erase: removed === null ? [] : [removed],
            });
            seq += 1;
          }
        },
      );
      await store.close();
      return answer;
    },
    adopted: (events, objects, times) => adoptedFrom(sealed(events, times), objects, bench),
    rebuilt: (events, objects, times = timeOf) =>
      rebuiltFrom(sealed(events, times), events, objects, { times, bench }),
  };
}

export async function adoptedFrom(
  entries: readonly SealedEntry[],
  objects: Objects,
  bench = onSqlite,
): Promise<Answer> {
  const store = await (await bench()).open('create');
  const answer = await answerOf(
    () => 0,
    () => store.adopt({ entries, objects: [...objects.values()] }),
  );
  await store.close();
  return answer;
}

export async function rebuiltFrom(
  entries: readonly SealedEntry[],
  events: readonly Event[],
  objects: Objects,
  {
    times = timeOf,
    bench = onSqlite,
  }: { readonly times?: Times; readonly bench?: () => Promise<Bench> } = {},
): Promise<Answer> {
  const at = await bench();
  const empty = await at.open('create');
  await empty.adopt({ objects: [...objects.values()] });
  await empty.close();
  let tree = EMPTY_TREE;
  await at.plant(
    entries.map((entry) => {
      const event = events[entry.seq]!;
      tree = append(tree, entry.hash);
      const signer = signedBy({ body: event.body });
      return { ...entry, peak: tree.frontier.at(-1)!, at: times(entry.seq), event, signer };
    }),
  );
  const store = await at.open('write');
  const answer = await answerOf(
    () => 0,
    async () => void (await store.rebuild({ write: true })),
  );
  await store.close();
  return answer;
}
