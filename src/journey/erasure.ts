import type { Digest } from '../canonical/digest.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { isKept, type NamedObject, type ObjectRole, objectsOf } from '../gate/objects.ts';
import type { IntentState, Run } from '../gate/state.ts';
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
  readonly objects: readonly { readonly digest: Digest; readonly role: ObjectRole | null }[];
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
export async function explainErase({ store }: Context, digest: Digest): Promise<Erasure> {
  const { length: bytes } = await store.object(digest);
  const direct = await holdersOf(store, [digest]);
  const together = await sameWords(store, direct, digest);
  const found = together.length === 0 ? direct : await holdersOf(store, [digest, ...digestsOf(together)]);
  const objects = [{ digest, role: direct.named_by[0]?.role ?? null }, ...together];
  return {
    digest,
    bytes,
    objects,
    kept: objects.find(({ role }) => role !== null && isKept(role))?.role ?? null,
    holders: found.subjects.size,
    named_by: found.named_by,
    ...(await lossesOf(store, found.subjects, new Set(digestsOf(objects)))),
  };
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

type Losses = Pick<Erasure, 'stops' | 'undo' | 'replay'>;

async function lossesOf(
  store: Store,
  subjects: ReadonlyMap<string, ObjectRole>,
  gone: ReadonlySet<Digest>,
): Promise<Losses> {
  const losses = { stops: [] as string[], undo: [] as string[], replay: [] as string[] };
  const add = (more: Losses) => {
    losses.stops.push(...more.stops);
    losses.undo.push(...more.undo);
    losses.replay.push(...more.replay);
  };
  for (const [subject, role] of subjects) {
    if (role === 'registry') continue; // No step reads the registry of another day: the effect holds what counted.
    const state = await store.find('intent', subject);
    if (state) add(intentLosses(state, await eventsOf(store, subject), gone));
    else if (subject.startsWith('agent:')) add(await agentLosses(store, subject, gone));
  }
  return losses;
}

const ENDED: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['undone', 'rolled_back']);
const OPEN: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>([
  'proposed',
  'approved',
  'failed',
  'rolled_back',
]);

function intentLosses(state: IntentState, events: readonly Event[], gone: ReadonlySet<Digest>): Losses {
  const { intent_id, status, hash, choices, runs } = state;
  const needed = [hash, ...choices.map((choice) => choice.effect_digest)].some((digest) => gone.has(digest));
  const last = runs.at(-1);
  const undoable = gone.has(state.effect_digest) && last && canStillUndo(last) && !ENDED.has(status);
  return {
    stops: needed && OPEN.has(status) ? [intent_id] : [],
    undo: undoable ? [last.execution_id] : [],
    replay: runs.map((run) => run.execution_id).filter((id) => isReplayed(events, id, gone)),
  };
}

function canStillUndo({ reports, expired_at }: Run): boolean {
  return reports !== null && expired_at === null;
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

async function agentLosses(store: Store, subject: string, gone: ReadonlySet<Digest>): Promise<Losses> {
  const correlation_id = subject.slice('agent:'.length);
  const plans = (await store.find('agent', correlation_id))?.plans.filter(({ plan }) => gone.has(plan)) ?? [];
  const named = (await eventsOf(store, subject)).flatMap(objectsOf);
  const isRead = named.some(({ role, digest }) => role !== 'words' && gone.has(digest));
  return {
    stops: plans.length > 0 ? [subject] : [],
    undo: plans.some(({ steps }) => steps.some(({ state }) => state === 'SUCCEEDED')) ? [subject] : [],
    replay: isRead ? [subject] : [],
  };
}

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
