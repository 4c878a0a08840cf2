import { randomUUID } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import { type Body, parseEvent } from '../event/event.ts';
import { undoesNow } from '../gate/next.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type ActFacts, type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { openEntry } from '../ledger/entry.ts';
import type { PlanEffect } from '../plan/model.ts';
import { renewArchivedManifest } from '../plan/report/archive.ts';
import { boundJournal } from '../plan/rollback/journal.ts';
import { loadManifest, manifestDigest, type RollbackManifest } from '../plan/rollback/manifest.ts';
import { type RollBackOutcome, withReason } from '../plan/rollback/outcome.ts';
import { type RollBackOptions, rollBack } from '../plan/rollback/roll-back.ts';
import { requireRollBack, requireUntouched } from '../plan/rollback/scope.ts';
import { Refusal, refuse } from '../refusal.ts';
import { attributesOf } from './attributes.ts';
import { provenState } from './audit.ts';
import type { Context } from './context.ts';
import { recordedUnlessRevoked, requireThisExecutor, stated, withOneKey } from './executor.ts';
import { checkpointsMeant, findRun } from './find.ts';
import { atWork } from './life.ts';
import { inPlanTurn } from './plan-turn.ts';
import { seal } from './record.ts';
import { openEffect } from './sealed-effect.ts';
import { requireDead, requireLetGo } from './settle.ts';

export interface RollbackRequest {
  /** What `findRun` understands. */
  readonly execution_id: string;
  /** Ids of checkpoints, of which a look takes beginnings; all of them when empty. */
  readonly checkpoints?: readonly string[];
  /** Paths that stay as they are. The human signs that they do. */
  readonly except?: readonly string[];
  readonly reason: string;
  readonly signer: Signer;
  readonly host_is_dead?: boolean;
}

interface Found {
  readonly state: IntentState;
  readonly run: Run & { readonly reports: string };
}

interface Undoable extends Found {
  readonly effect: PlanEffect;
  /** `null` when the run ended before anything could be touched. */
  readonly manifest: RollbackManifest | null;
}

const NOTHING: RollBackOutcome = {
  status: 'rolled_back',
  paths: [],
  folders_removed: [],
  not_undone: [],
  instructions: [],
};

/** What a rollback would do, refused where that would be refused. One that is over is `rolled_back`. Touches nothing, records nothing. */
export async function previewRollback(
  context: Context,
  execution: string,
  { checkpoints = [], except = [], host_is_dead }: Chosen = {},
): Promise<Undone> {
  const found = await runToUndo(context, execution);
  const { state, run } = found;
  const { execution_id } = run;
  if (ENDED.has(state.status)) return { ...NOTHING, execution_id, checkpoints: [] };
  await requireIdle(context, state, run, host_is_dead);
  await requireThisExecutor(context);
  const { effect, manifest } = await undoable(context, found);
  const meant = { execution_id, checkpoints: checkpointsMeant(manifest, checkpoints) };
  if (manifest === null) return { ...NOTHING, ...meant, status: 'preview' };
  const options = { ...optionsOf(context, run, effect, { ...meant, except }), preview: true };
  await requireSomeUndone(state, manifest, options);
  return { ...(await rollBack(manifest, options)), ...meant };
}

/** What became of which run. `checkpoints` are those that were chosen, by their whole ids; all of them where there is none. */
type Undone = RollBackOutcome & { readonly execution_id: string; readonly checkpoints: readonly string[] };

type Chosen = Pick<RollbackRequest, 'checkpoints' | 'except' | 'host_is_dead'>;

/**
 * Undo is part of what was approved: it needs a human's signature and no capability. It works on a success, a failure, a
 * run in doubt and a rollback that got stuck. Only what the plan itself left is replaced.
 */
export async function rollback(opened: Context, request: RollbackRequest): Promise<Undone> {
  const context = withOneKey(opened);
  const { checkpoints = [], except = [], signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const found = await runToUndo(context, request.execution_id);
  const { state, run } = found;
  const { execution_id } = run;
  if (ENDED.has(state.status)) return { ...NOTHING, execution_id, checkpoints };
  await requireIdle(context, state, run, request.host_is_dead);
  await requireThisExecutor(context);
  const { effect, manifest } = await undoable(context, found);
  // What is refused is refused before the claim: after it, only the end of this process would let another one in.
  const options = manifest && optionsOf(context, run, effect, { checkpoints, except });
  if (options) await requireSomeUndone(state, manifest, options);

  const act = () => claimAndUndo(context, request, { state, run, effect, manifest, options });
  return signer.is_rehearsal ? act() : atWork(context, execution_id, act);
}

/** Where every path stays, nothing is undone, and the ledger must not say that it is. It ends only a rollback that is stuck. */
async function requireSomeUndone(
  state: IntentState,
  manifest: RollbackManifest,
  options: RollBackOptions,
): Promise<void> {
  const scope = await requireRollBack(manifest, options);
  if (scope.length === 0 && manifest.checkpoints.length > 0 && state.status !== 'stuck')
    refuse('ROLLBACK_NOT_DUE', 'Every path that the plan changed would be left as it is.');
}

/** The claim is durable before the first file is touched. */
async function claimAndUndo(
  context: Context,
  { checkpoints = [], except = [], reason, signer }: RollbackRequest,
  { state, run, effect, manifest, options }: Undoable & { options: RollBackOptions | null },
): Promise<Undone> {
  const { execution_id } = run;
  const round = (state.rollback?.round ?? 0) + 1;
  const chosen = { checkpoints: [...checkpoints], except: [...new Set(except)] };
  const facts = {
    execution_id,
    round,
    ...chosen,
    undoes: undoesNow(state, run),
    executor: context.process,
    reason,
  } as ActFacts<'rollback.claimed'>;
  const act = await signAct(
    context.origin,
    'rollback.claimed',
    state.intent_id,
    facts,
    signer,
    context.clock(),
  );
  const claimed = stated(context, act);
  const undo = async (has_waited: boolean) => {
    if (has_waited && manifest && options) await requireSomeUndone(state, manifest, options);
    await context.store.commit({ events: [claimed] });
    const outcome = manifest && options ? await rollBack(manifest, options) : NOTHING;
    if (manifest !== null) await renewArchivedManifest(context.root, run.reports);
    return outcome;
  };
  // A plan that shares a path with it ends first. Where that takes longer than the signature holds, the commit is refused. A rehearsal
  // is over with its commit: it waits for no plan, and none waits for it.
  const turn = { id: randomUUID(), effect, is_undo: true } as const;
  const outcome = await (signer.is_rehearsal ? undo(false) : inPlanTurn(context, turn, undo));
  const record = (told: RollBackOutcome) => {
    const report = seal(canonicalBytes(told));
    const body = { execution_id, round, result: resultOf(told, checkpoints), report: report.digest };
    const finished = stated(context, { kind: 'rollback.finished', subject: state.intent_id, body });
    return context.store.commit({ events: [finished], objects: [report.bytes] });
  };
  const doubted = { ...withReason(outcome, new Refusal('EXECUTOR_REVOKED')), status: 'stuck' } as const;
  const told = await recordedUnlessRevoked<RollBackOutcome>(record, outcome, doubted);
  return { ...told, execution_id, checkpoints };
}

const ENDED: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['undone', 'rolled_back']);

async function runToUndo(context: Context, name: string): Promise<Found> {
  const execution_id = await findRun(context, name);
  const execution = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  // Files are replaced by what this says, so a row is not enough.
  const { state } = (await provenState(context, execution.intent_id)) ?? refuse('INTENT_NOT_FOUND');
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id)
    refuse('ROLLBACK_NOT_DUE', 'A later run of this intent came after it.');
  const { reports } = run;
  if (reports === null)
    refuse('ROLLBACK_NOT_DUE', 'A tool call has no rollback: its undo is declared in the registry.');
  return { state, run: { ...run, reports } };
}

/** Of a rollback that is not over. What was done is read only here: a gc removes it when nothing is left to undo. */
async function undoable(context: Context, { state, run }: Found): Promise<Undoable> {
  const { reports } = run;
  // Before the manifest is read: without its backups it says nothing that can be done.
  if (run.expired_at !== null) await refuseExpired(context, state, run);
  const effect = openEffect(await effectObject(context, state));
  if (effect.kind !== 'plan') refuse('ROLLBACK_NOT_DUE');
  const manifest = run.manifest === null ? null : boundManifest(context, reports, run.manifest);
  // Its digest is recorded before the first change, so a run without one has changed nothing. The files must say so too.
  if (manifest === null && state.status !== 'rolled_back') await requireUntouched(effect, context.root);
  return { state, run, effect, manifest };
}

async function refuseExpired(
  { store }: Context,
  { intent_id }: IntentState,
  { execution_id }: Run,
): Promise<never> {
  for (const { bytes } of await store.entriesOf(intent_id)) {
    const { at, ...entry } = openEntry(bytes);
    const { kind, body } = parseEvent(entry);
    if (kind !== 'backups.expired' || body.execution_id !== execution_id) continue;
    const { by } = body;
    refuse('BACKUPS_EXPIRED', `The backups of this run were removed by gc on ${at} by ${by}.`, {
      execution_id,
      at,
      by,
    });
  }
  return refuse('BACKUPS_EXPIRED', undefined, { execution_id });
}

async function effectObject({ store }: Context, { effect_digest }: IntentState): Promise<Uint8Array> {
  try {
    return await store.object(effect_digest);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
    return refuse('OBJECT_MISSING', `The plan that was approved is no longer stored. ${error.message}`, {
      ...error.facts,
    });
  }
}

/** The attacker can write the reports folder and not the ledger: any other manifest than the recorded one is refused. */
function boundManifest({ root }: Context, reports: string, digest: Digest): RollbackManifest {
  const manifest =
    manifestIn(root, reports) ?? refuse('MANIFEST_CORRUPT', 'The manifest of this run is gone.');
  if (manifestDigest(manifest) !== digest)
    refuse('MANIFEST_CORRUPT', 'It is not the one that the run wrote.', { path: reports });
  // The digest leaves these two out: that the run was not undone is what the ledger says.
  return { ...manifest, status: 'ACTIVE', rolled_back_at: null };
}

function manifestIn(root: string, reports: string): RollbackManifest | null {
  try {
    return loadManifest(root, reports);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

/** Refuses to undo a run that may still be going on, or that another process is undoing. */
async function requireIdle(
  context: Context,
  state: IntentState,
  run: Run,
  host_is_dead = false,
): Promise<void> {
  const { execution_id } = run;
  if (state.status === 'claimed') requireDead(context, execution_id, run.executor, host_is_dead);
  if (state.status === 'rolling_back' && state.rollback)
    requireDead(context, execution_id, state.rollback.executor, host_is_dead);
  await requireLetGo(context, execution_id);
}

function optionsOf(
  context: Context,
  { reports, journal: digest, finished_at, result }: Undoable['run'],
  effect: PlanEffect,
  { checkpoints = [], except = [] }: Omit<Chosen, 'host_is_dead'>,
): RollBackOptions {
  const { root, clock } = context;
  const attributes = attributesOf(context);
  // What is half done may have been recorded in part, as that of a run that was killed.
  const ended = finished_at !== null && result !== 'partial';
  const journal = boundJournal(root, reports, { digest, ended });
  return { root, journal, clock, effect, except, attributes, ...(checkpoints.length > 0 && { checkpoints }) };
}

type RollbackResult = Body<'rollback.finished'>['result'];

function resultOf(outcome: RollBackOutcome, checkpoints: readonly string[]): RollbackResult {
  if (outcome.status === 'stuck') return 'stuck';
  return checkpoints.length > 0 ? 'partial' : 'complete';
}
