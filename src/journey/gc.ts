import { backupsInUse, canBeUndone } from '../gate/backups.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type ActDraft, type Signer, signActs } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { signingOnce } from '../identity/signing-once.ts';
import { archiveOf, expireManifest } from '../plan/report/archive.ts';
import { type Backups, measureBackups, removeBackups } from '../plan/rollback/backups.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import {
  chooseObjects,
  type GcObjects,
  type ObjectChoice,
  type ObjectsOutcome,
  previewObjects,
  removalDrafts,
  removeObjects,
  runsToGiveUp,
} from './gc-objects.ts';
import { type GcPolicy, type GcRequest, requirePolicy, type SeenRun } from './gc-request.ts';
import { allIntents } from './list.ts';

export interface GcRun extends Backups {
  readonly execution_id: string;
  readonly intent_id: string;
  /** When the run ended; when it began, where no end is recorded. */
  readonly at: string;
  readonly folder: string;
  /** A rollback of it would still be begun. */
  readonly undoable: boolean;
  /** An earlier gc recorded that they expired and was ended before it removed them. */
  readonly begun: boolean;
  /** Why it stays whatever its age: in use, still undoable, or not as a run leaves it. `null` where age and size decide. */
  readonly kept: ReasonCode | null;
}

export interface GcPreview {
  readonly removes: readonly GcRun[];
  readonly keeps: readonly GcRun[];
  readonly objects: GcObjects;
}

/** What a gc would remove, the oldest first. Touches nothing, records nothing. */
export async function previewGc(context: Context, policy: GcPolicy): Promise<GcPreview> {
  requirePolicy(policy);
  const runs: GcRun[] = [];
  for await (const state of allIntents(context)) {
    for (const run of state.runs) {
      const found = await look(context, state, run);
      if (found) runs.push({ ...found, kept: found.kept ?? keptBy(policy, state, run) });
    }
  }
  runs.sort((a, b) => (a.at === b.at ? (a.execution_id < b.execution_id ? -1 : 1) : a.at < b.at ? -1 : 1));
  return { ...choose(runs, policy, context.clock()), objects: await previewObjects(context, policy) };
}

/**
 * Only backups that are here count: those of another host are removed there. A run that has none, because it only made files, needs
 * none for its rollback. What another program put in their place is left for a human.
 */
async function look({ root }: Context, state: IntentState, run: Run): Promise<GcRun | null> {
  const { reports, execution_id, finished_at, claimed_at, expired_at } = run;
  if (reports === null) return null;
  const begun = expired_at !== null;
  const backups = await measured(root, reports);
  if (backups === null || (backups.files === 0 && backups.kept === null && !begun)) return null;
  return {
    execution_id,
    intent_id: state.intent_id,
    at: finished_at ?? claimed_at,
    folder: reports,
    ...backups,
    undoable: canBeUndone(state, run),
    begun,
  };
}

async function measured(
  root: string,
  reports: string,
): Promise<(Backups & { kept: ReasonCode | null }) | null> {
  try {
    archiveOf(reports);
    const backups = await measureBackups(root, reports);
    return backups && { ...backups, kept: null };
  } catch (error) {
    if (error instanceof Refusal) return { files: 0, bytes: 0, kept: error.code };
    throw error;
  }
}

function keptBy({ undoable_too = false }: GcPolicy, state: IntentState, run: Run): ReasonCode | null {
  const in_use = backupsInUse(state, run);
  if (in_use !== null) return in_use;
  return canBeUndone(state, run) && !undoable_too ? 'MANIFEST_STILL_ACTIVE' : null;
}

/** Pure. `runs` are the oldest first. What an earlier gc began is always finished. */
function choose(
  runs: readonly GcRun[],
  { older_than_s, keep_bytes }: GcPolicy,
  now: Date,
): Omit<GcPreview, 'objects'> {
  const before = older_than_s === undefined ? null : now.getTime() - older_than_s * 1000;
  const removes: GcRun[] = [];
  const keeps: GcRun[] = [];
  let left = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const run of runs) {
    const old = before !== null && Date.parse(run.at) <= before;
    const over = keep_bytes !== undefined && left > keep_bytes;
    if (run.kept === null && (run.begun || old || over)) {
      removes.push(run);
      left -= run.bytes;
    } else keeps.push(run);
  }
  return { removes, keeps };
}

export interface GcOutcome {
  readonly runs: readonly GcRunOutcome[];
  readonly objects: ObjectsOutcome;
}

export interface GcRunOutcome {
  readonly execution_id: string;
  readonly bytes: number;
  /** Recorded as given up: its rollback is refused from then on, also where some of the files could not be removed. */
  readonly expired: boolean;
  readonly removed: boolean;
  readonly code: ReasonCode | null;
  readonly message: string | null;
}

/**
 * Removes the backups of runs, then objects, which an undo that was given up no longer needs. Manifests and reports stay. For each run: a signed entry says that its backups are given up, its
 * manifest is marked EXPIRED, then the files go. A process that is killed in between leaves a run whose rollback is refused, and
 * the next gc removes the rest.
 */
export async function gc(context: Context, request: GcRequest): Promise<GcOutcome> {
  const { signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  // All of them are looked at before the first one goes.
  const chosen: GcRun[] = [];
  for (const seen of request.runs)
    chosen.push({ ...(await requireRun(context, seen)), undoable: seen.undoable });
  const expires = new Set(chosen.filter(isToExpire(signer)).map(({ execution_id }) => execution_id));
  const before = await chooseObjects(context, request, expires);
  const signed = { ...request, signer: signingOnce(signer, context.clock()) };
  await signAll(context, signed, chosen, before);
  const runs: GcRunOutcome[] = [];
  for (const run of chosen) runs.push(await giveUp(context, signed, run));
  // The entries about these runs are this gc's own: it looks again behind them, and signs for no further object.
  const after = expires.size === 0 ? before : await chooseAgain(context, request, before);
  return { runs, objects: await removeObjects(context, signed, after) };
}

/** A rehearsal asks it of each. */
const isToExpire =
  ({ is_rehearsal }: Signer) =>
  ({ begun }: GcRun) =>
    !begun || is_rehearsal === true;

/** One call of the signer for all that this gc can write, however many commits it takes. */
async function signAll(
  context: Context,
  { reason, signer }: GcRequest,
  chosen: readonly GcRun[],
  { chosen: objects }: ObjectChoice,
): Promise<void> {
  const runs = chosen.filter(isToExpire(signer));
  const known = new Set(runs.map(({ execution_id }) => execution_id));
  const more = (await runsToGiveUp(context, objects)).filter(({ execution_id }) => !known.has(execution_id));
  const drafts = [...runs.map((run) => expiryDraft(run, reason)), ...removalDrafts(more, objects, reason)];
  if (drafts.length > 0) await signActs(context.origin, drafts, signer, context.clock());
}

async function chooseAgain(
  context: Context,
  request: GcRequest,
  before: ObjectChoice,
): Promise<ObjectChoice> {
  const { size, chosen, kept } = await chooseObjects(context, request, NO_RUNS);
  const signed = new Set(before.chosen.map(({ digest }) => digest));
  const late = chosen.filter(({ digest }) => !signed.has(digest)).map(({ digest }) => digest);
  return { size, chosen: chosen.filter(({ digest }) => signed.has(digest)), kept: [...kept, ...late] };
}

const NO_RUNS: ReadonlySet<string> = new Set();

async function requireRun(context: Context, { execution_id, undoable }: SeenRun): Promise<GcRun> {
  const execution = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const state = await requireIntent(context, execution.intent_id);
  const run = state.runs.find((one) => one.execution_id === execution_id) ?? refuse('EXECUTION_NOT_FOUND');
  const found =
    (await look(context, state, run)) ??
    refuse('FILE_NOT_FOUND', `There are no backups of ${execution_id} here.`, { execution_id });
  const kept = found.kept ?? keptBy({ undoable_too: undoable }, state, run);
  return kept === null ? found : refuse(kept, undefined, { execution_id });
}

/** What happens to one run does not stop the others. */
async function giveUp(context: Context, request: GcRequest, run: GcRun): Promise<GcRunOutcome> {
  const { execution_id, bytes, folder } = run;
  let expired = run.begun;
  try {
    // A rehearsal goes no further than here.
    if (!expired || request.signer.is_rehearsal) await recordExpired(context, request, run);
    expired = true;
    await expireManifest(context.root, folder);
    await removeBackups(context.root, folder);
    return { execution_id, bytes, expired, removed: true, code: null, message: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    return { execution_id, bytes, expired, removed: false, code, message };
  }
}

/** The state machine decides: a rollback that was claimed meanwhile, or an undo that was not given up, refuses it. */
async function recordExpired(
  { origin, clock, store }: Context,
  { reason, signer }: GcRequest,
  run: GcRun,
): Promise<void> {
  const events = await signActs(origin, [expiryDraft(run, reason)], signer, clock());
  await store.commit({ events });
}

function expiryDraft(
  { execution_id, intent_id, bytes, undoable: gives_up_undo }: GcRun,
  reason: string,
): ActDraft<'backups.expired'> {
  const facts = { execution_id, bytes, gives_up_undo, reason };
  return { kind: 'backups.expired', subject: intent_id, facts };
}
