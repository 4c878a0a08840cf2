import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { objectsOf } from '../gate/objects.ts';
import { signActs } from '../identity/act.ts';
import { openEntry } from '../ledger/entry.ts';
import { journeyLimits, limits } from '../limits.ts';
import { expireManifest } from '../plan/report/archive.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { HeldObject } from '../store/store.ts';
import { type Context, requireIntent } from './context.ts';
import { type GcObject, type LookedAt, lookAtObjects, type Stays } from './gc-look.ts';
import type { GcPolicy, GcRequest } from './gc-request.ts';

/** The objects that stay for one reason. */
export interface GcStay {
  readonly why: Stays;
  readonly objects: number;
  readonly bytes: number;
  /** The first few of them. */
  readonly digests: readonly Digest[];
}

export interface GcObjects {
  /** The oldest first. */
  readonly removes: readonly GcObject[];
  readonly keeps: readonly GcStay[];
}

/** What a gc would remove of the store. Touches nothing, records nothing. */
export async function previewObjects(context: Context, policy: GcPolicy): Promise<GcObjects> {
  const { objects, unnamed } = await lookAtObjects(context);
  const now = context.clock();
  const removes: GcObject[] = [];
  const stays = new Map<Stays, HeldObject[]>(unnamed.length === 0 ? [] : [['unnamed', [...unnamed]]]);
  let left = [...unnamed, ...objects].reduce((sum, { bytes }) => sum + bytes, 0);
  for (const object of objects) {
    const why =
      neededBy(object, policy) ??
      (isChosen(object, policy, left, now) ? null : 'new_or_small') ??
      (await damage(context, object));
    if (why === null) {
      const { executions, stays: _, ...shown } = object;
      removes.push(shown);
      left -= object.bytes;
    } else if (!stays.get(why)?.push(object)) stays.set(why, [object]);
  }
  const keeps = [...stays].map(([why, kept]) => ({
    why,
    objects: kept.length,
    bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
    digests: kept.slice(0, journeyLimits.gc_listed).map(({ digest }) => digest),
  }));
  return { removes, keeps };
}

function neededBy({ stays, undo }: LookedAt, { undoable_too = false }: GcPolicy): Stays | null {
  return stays ?? (undo.length > 0 && !undoable_too ? 'undoable' : null);
}

/** Removing a small object would free less than the entry that says so takes. */
function isChosen(
  { at, bytes }: LookedAt,
  { older_than_s, keep_bytes }: GcPolicy,
  left: number,
  now: Date,
): boolean {
  const old = older_than_s !== undefined && Date.parse(at) <= now.getTime() - older_than_s * 1000;
  const over = keep_bytes !== undefined && left > keep_bytes;
  return bytes >= limits.gc_object_bytes && (old || over);
}

/** Bytes that are not what their digest says are evidence of a fault or of an attack, so they stay. */
async function damage({ store }: Context, { digest }: LookedAt): Promise<Stays | null> {
  try {
    await store.object(digest);
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_CORRUPT') return 'damaged';
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return 'in_use';
    throw error;
  }
}

export interface ObjectsOutcome {
  readonly objects: number;
  readonly bytes: number;
  /** What the human saw and was not removed, because it is needed now. */
  readonly kept: readonly Digest[];
  /** Why not all others were removed. */
  readonly code: ReasonCode | null;
  readonly message: string | null;
}

/** What of the objects that a human saw can go, by one look at the ledger. */
export interface ObjectChoice {
  /** How many entries the ledger had. */
  readonly size: number;
  readonly chosen: readonly LookedAt[];
  readonly kept: readonly Digest[];
}

/** `runs` are given up before the objects go: an undo of theirs keeps none. */
export async function chooseObjects(
  context: Context,
  { objects: asked = [] }: Pick<GcRequest, 'objects'>,
  runs: ReadonlySet<string>,
): Promise<ObjectChoice> {
  const seen = new Map(asked.map((one) => [one.digest, one.undo]));
  const { objects, size } = await lookAtObjects(context);
  const kept: Digest[] = [];
  const chosen: LookedAt[] = [];
  for (const object of objects.filter(({ digest }) => seen.has(digest))) {
    const undo = seen.get(object.digest)!;
    const given_up = object.undo.every((one) => undo.includes(one) || runs.has(one));
    const goes = object.stays === null && given_up && (await damage(context, object)) === null;
    if (goes) chosen.push(object);
    else kept.push(object.digest);
  }
  return { size, chosen, kept };
}

/**
 * Removes objects that a human saw in a preview and that nothing needs now. The bytes go in the transaction that records it, so a
 * process that is killed leaves either both or neither. The signer has proven all that can be written here.
 */
export async function removeObjects(
  context: Context,
  request: GcRequest,
  choice: ObjectChoice,
): Promise<ObjectsOutcome> {
  const { chosen } = choice;
  const kept = [...choice.kept];
  const outcome = { objects: 0, bytes: 0, kept };
  let { size } = choice;
  try {
    for (let i = 0; i < chosen.length; i += journeyLimits.gc_objects) {
      const part = chosen.slice(i, i + journeyLimits.gc_objects);
      const removed = await removeTogether(context, request, part, size);
      size = removed.size;
      kept.push(...removed.kept);
      outcome.objects += removed.objects.length;
      outcome.bytes += removed.objects.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    return { ...outcome, code: null, message: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...outcome, code: error.code, message: error.message };
  }
}

interface Removed {
  readonly size: number;
  readonly objects: readonly LookedAt[];
  readonly kept: readonly Digest[];
}

/**
 * A proposal, a retry or a rollback may come between the look and the commit. The commit holds only if the ledger has not grown; if it
 * has, what the new entries touch stays, and the rest is tried again, with the signatures that it has.
 */
async function removeTogether(
  context: Context,
  request: GcRequest,
  chosen: readonly LookedAt[],
  from: number,
): Promise<Removed> {
  let size = from;
  let objects = chosen;
  const kept: Digest[] = [];
  for (let attempt = 0; attempt < journeyLimits.gc_tries; attempt++) {
    const news = await touchedSince(context, size);
    size = news.size;
    const isTouched = ({ digest, subjects }: LookedAt) =>
      [digest, ...subjects].some((one) => news.names.has(one));
    kept.push(...objects.filter(isTouched).map(({ digest }) => digest));
    objects = objects.filter((one) => !isTouched(one));
    const ended = objects.length === 0 ? size : await commitRemoval(context, request, objects, size);
    if (ended !== null) return { size: ended, objects, kept };
  }
  return refuse('STORE_BUSY', 'The ledger grows faster than objects can be looked at.');
}

/** The subjects of the entries from `from` on, and the objects that they name. */
export async function touchedSince(
  { store }: Context,
  from: number,
): Promise<{ size: number; names: Set<string> }> {
  const names = new Set<string>();
  let size = from;
  for await (const batch of store.entries(from))
    for (const { seq, bytes } of batch) {
      const event = parseEvent(openEntry(bytes));
      names.add(event.subject);
      for (const { digest } of objectsOf(event)) names.add(digest);
      size = seq + 1;
    }
  return { size, names };
}

/** How many entries the ledger has afterwards; `null` where it grew meanwhile and nothing was written. */
async function commitRemoval(
  context: Context,
  { reason, signer }: GcRequest,
  objects: readonly LookedAt[],
  as_of: number,
): Promise<number | null> {
  const { origin, clock, store } = context;
  const runs = await runsToGiveUp(context, objects);
  const events = await signActs(origin, removalDrafts(runs, objects, reason), signer, clock());
  try {
    const { entries } = await store.commit({ events, erase: objects.map(({ digest }) => digest), as_of });
    for (const { folder } of runs) await expireManifest(context.root, folder);
    return entries.at(-1)!.seq + 1;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'DECISION_STALE') return null;
    throw error;
  }
}

/** What a human signs for these objects, and for the undos that go with them. */
export function removalDrafts(
  runs: readonly Pick<GivenUp, 'intent_id' | 'execution_id'>[],
  objects: readonly LookedAt[],
  reason: string,
) {
  return [
    ...runs.map(({ intent_id, execution_id }) => ({
      kind: 'backups.expired' as const,
      subject: intent_id,
      facts: { execution_id, bytes: 0, gives_up_undo: true, reason },
    })),
    ...objects.map(({ digest, bytes }) => ({
      kind: 'object.expired' as const,
      subject: digest,
      facts: { bytes, reason },
    })),
  ];
}

interface GivenUp {
  readonly intent_id: string;
  readonly execution_id: string;
  readonly folder: string;
}

/** A run that only made files has no backups to give up, but its undo needs the effect. The state machine must refuse it from now on. */
export async function runsToGiveUp(context: Context, objects: readonly LookedAt[]): Promise<GivenUp[]> {
  const given_up: GivenUp[] = [];
  for (const execution_id of new Set(objects.flatMap(({ executions }) => executions))) {
    const { intent_id } =
      (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
    const run = (await requireIntent(context, intent_id)).runs.at(-1);
    // An earlier part of this gc may have given it up.
    if (run?.execution_id === execution_id && run.expired_at === null)
      given_up.push({ intent_id, execution_id, folder: run.reports! });
  }
  return given_up;
}
