import type { Digest } from '../canonical/digest.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';
import { conversationLoss, intentLoss, type Loss } from '../gate/erasure.ts';
import { isKept, type NamedObject, type ObjectRole, objectsOf } from '../gate/objects.ts';
import { openEntry } from '../ledger/entry.ts';
import { journeyLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';

/** What erasing one object would take away. */
export interface Erasure {
  readonly digest: Digest;
  readonly bytes: number;
  /** All that would be erased together: the object itself first, then those that hold the same words. */
  readonly objects: readonly {
    readonly digest: Digest;
    readonly role: ObjectRole | null;
    /** What needs this very object, and could no longer do something without it. It is signed with the erasure. */
    readonly needed_by: readonly Loss[];
  }[];
  /** Why none of it may be erased, if so: what decisions rest on is never erased. */
  readonly kept: ObjectRole | null;
  /** How many intents, conversations and others rest on one of them. */
  readonly holders: number;
  /** The first entries that name one of them. */
  readonly named_by: readonly Holder[];
  /** What could no longer be approved, run, retried or answered. */
  readonly stops: readonly string[];
  /** Executions and conversations that could no longer be undone. */
  readonly undo: readonly string[];
  /** Executions and conversations whose decisions could no longer be made again. */
  readonly replay: readonly string[];
}

interface Holder {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly subject: string;
  readonly role: ObjectRole;
  readonly digest: Digest;
}

/** Everything that rests on an object. Reads the whole ledger once or twice; changes nothing. */
export async function explainErase(context: Context, digest: Digest): Promise<Erasure> {
  return (await lookAtErasure(context, digest)).erasure;
}

export interface ErasureLook {
  readonly erasure: Erasure;
  /** All that rests on one of them. */
  readonly subjects: ReadonlySet<string>;
  /** The entries that it rests on. */
  readonly size: number;
}

/** What is written while it reads may be in it or not, and is looked at again: it is after `size`. */
export async function lookAtErasure({ store }: Context, digest: Digest): Promise<ErasureLook> {
  const { size } = await store.tip();
  const { length: bytes } = await store.object(digest);
  const direct = await holdersOf(store, [digest]);
  const together = await sameWords(store, direct, digest);
  const found = together.length === 0 ? direct : await holdersOf(store, [digest, ...digestsOf(together)]);
  const objects = [{ digest, role: direct.named_by[0]?.role ?? null }, ...together];
  const { needed_by, replay } = await lossesOf(store, found.subjects, digestsOf(objects));
  const losses = [...needed_by.values()].flat();
  const erasure = {
    digest,
    bytes,
    objects: objects.map((one) => ({ ...one, needed_by: needed_by.get(one.digest)! })),
    kept: objects.find(({ role }) => role !== null && isKept(role))?.role ?? null,
    holders: found.subjects.size,
    named_by: found.named_by,
    stops: [...new Set(losses.flatMap(({ stops, subject }) => (stops ? [subject] : [])))],
    undo: [...new Set(losses.flatMap(({ undo }) => undo ?? []))],
    replay,
  };
  return { erasure, subjects: new Set(found.subjects.keys()), size };
}

interface Found {
  readonly named_by: readonly Holder[];
  /** The first entry of each subject that names one of the objects. */
  readonly subjects: ReadonlyMap<string, ObjectRole>;
}

async function holdersOf(store: Store, digests: readonly Digest[]): Promise<Found> {
  const named_by: Holder[] = [];
  const subjects = new Map<string, ObjectRole>();
  for await (const batch of store.entries()) {
    for (const { bytes } of batch) {
      // A digest stands in an entry as it is, so most entries need not be parsed.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (!digests.some((digest) => text.includes(digest, 0, 'latin1'))) continue;
      const entry = openEntry(bytes);
      for (const { role, digest } of objectsOf(parseEvent(entry))) {
        if (!digests.includes(digest)) continue;
        const { seq, at, kind, subject } = entry;
        if (!subjects.has(subject)) subjects.set(subject, role);
        if (named_by.length < journeyLimits.erasure_listed)
          named_by.push({ seq, at, kind, subject, role, digest });
      }
    }
  }
  return { named_by, subjects };
}

/** The parts of an intent that hold its goal and its arguments. Erasing the envelope or the effect means all of them. */
const WORDS: ReadonlySet<ObjectRole> = new Set<ObjectRole>(['envelope', 'effect', 'decision', 'report']);

async function sameWords(store: Store, { named_by }: Found, digest: Digest): Promise<NamedObject[]> {
  const holder = named_by.find(({ role }) => role === 'envelope' || role === 'effect');
  if (!holder) return [];
  const events = await eventsOf(store, holder.subject);
  const is_plan = events.some(({ kind, body }) => kind === 'intent.proposed' && body.effect === 'plan');
  // What a plan prints is its report.
  const isWords = (role: ObjectRole) => WORDS.has(role) || (is_plan && role === 'output');
  const named = events.flatMap(objectsOf).filter((one) => isWords(one.role) && one.digest !== digest);
  const unique = new Map(named.map((one) => [one.digest, one]));
  const held: NamedObject[] = [];
  for (const one of unique.values()) if (await holds(store, one.digest)) held.push(one);
  return held;
}

async function eventsOf(store: Store, subject: string): Promise<Event[]> {
  return (await store.entriesOf(subject)).map(({ bytes }) => parseEvent(openEntry(bytes)));
}

interface Losses {
  /** Of each object. */
  readonly needed_by: ReadonlyMap<Digest, readonly Loss[]>;
  readonly replay: readonly string[];
}

async function lossesOf(
  store: Store,
  subjects: ReadonlyMap<string, ObjectRole>,
  gone: readonly Digest[],
): Promise<Losses> {
  const needed_by = new Map<Digest, Loss[]>(gone.map((digest) => [digest, []]));
  const all = new Set(gone);
  const replay: string[] = [];
  const add = (lossWithout: (digest: Digest) => Loss | null) => {
    for (const digest of gone) {
      const loss = lossWithout(digest);
      if (loss) needed_by.get(digest)!.push(loss);
    }
  };
  for (const [subject, role] of subjects) {
    if (role === 'registry') continue; // No step reads the registry of another day: the effect holds what counted.
    const state = await store.find('intent', subject);
    if (state) {
      add((digest) => intentLoss(state, digest));
      const events = await eventsOf(store, subject);
      replay.push(...state.runs.map((run) => run.execution_id).filter((id) => isReplayed(events, id, all)));
    } else if (subject.startsWith('agent:')) {
      const conversation = await store.find('agent', correlationOf(subject));
      if (conversation) add((digest) => conversationLoss(subject, conversation, digest));
      const named = (await eventsOf(store, subject)).flatMap(objectsOf);
      if (named.some(({ role, digest }) => role !== 'words' && all.has(digest))) replay.push(subject);
    }
  }
  return { needed_by, replay };
}

/** Whether the replay of a run reads one of the objects. It reads what was recorded until the run ended, but no output. */
function isReplayed(events: readonly Event[], execution_id: string, gone: ReadonlySet<Digest>): boolean {
  const end = events.findIndex(
    ({ kind, body }) => kind === 'execution.finished' && body.execution_id === execution_id,
  );
  const read = events.slice(0, end === -1 ? events.length : end).flatMap(objectsOf);
  return read.some(({ role, digest }) => READ.has(role) && gone.has(digest));
}

const READ: ReadonlySet<ObjectRole> = new Set<ObjectRole>(['envelope', 'effect', 'decision']);

function digestsOf(objects: readonly { readonly digest: Digest }[]): Digest[] {
  return objects.map(({ digest }) => digest);
}

async function holds(store: Store, digest: Digest): Promise<boolean> {
  try {
    await store.object(digest);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return false;
    throw error;
  }
}
