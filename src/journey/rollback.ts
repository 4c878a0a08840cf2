import type { Digest } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import type { PlanEffect } from '../plan/model.ts';
import { renewArchivedManifest } from '../plan/report/archive.ts';
import { boundJournal } from '../plan/rollback/journal.ts';
import { loadManifest, manifestDigest, type RollbackManifest } from '../plan/rollback/manifest.ts';
import type { RollBackOutcome } from '../plan/rollback/outcome.ts';
import { type RollBackOptions, rollBack } from '../plan/rollback/roll-back.ts';
import { requireRollBack, requireUntouched } from '../plan/rollback/scope.ts';
import { Attributes } from '../plan/state/attributes.ts';
import { Refusal, refuse } from '../refusal.ts';
import { atWork, type Context, requireIntent } from './context.ts';
import { findRun } from './find-run.ts';
import { seal } from './record.ts';
import { openEffect } from './sealed-effect.ts';
import { requireDead } from './settle.ts';

export interface RollbackRequest {
  /** What `findRun` understands. */
  readonly execution_id: string;
  /** Ids of checkpoints; all of them when empty. */
  readonly checkpoints?: readonly string[];
  /** Paths that stay as they are. The human signs that they do. */
  readonly except?: readonly string[];
  readonly reason: string;
  readonly signer: Signer;
  readonly host_is_dead?: boolean;
}

interface Undoable {
  readonly state: IntentState;
  readonly run: Run & { readonly reports: string };
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

/** What a rollback would do. Touches nothing, records nothing. */
export async function previewRollback(
  context: Context,
  execution: string,
  { checkpoints = [], except = [] }: Chosen = {},
): Promise<RollBackOutcome & { readonly execution_id: string }> {
  const { state, effect, manifest, run } = await undoable(context, execution);
  const { execution_id } = run;
  // As `rollback` itself: what has ended is not done again.
  if (manifest === null || ENDED.has(state.status)) return { ...NOTHING, execution_id, status: 'preview' };
  const options = { ...optionsOf(context, run, effect, { checkpoints, except }), preview: true };
  requireSomeUndone(state, manifest, options);
  return { ...(await rollBack(manifest, options)), execution_id };
}

type Chosen = Pick<RollbackRequest, 'checkpoints' | 'except'>;

/**
 * Undo is part of what was approved: it needs a human's signature and no capability. It works on a success, a failure, a
 * run in doubt and a rollback that got stuck. Only what the plan itself left is replaced.
 */
export async function rollback(
  context: Context,
  request: RollbackRequest,
): Promise<RollBackOutcome & { readonly execution_id: string }> {
  const { checkpoints = [], except = [], signer } = request;
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const { state, run, effect, manifest } = await undoable(context, request.execution_id);
  const { execution_id } = run;
  if (ENDED.has(state.status)) return { ...NOTHING, execution_id };
  requireIdle(context, state, run, request.host_is_dead);
  // What is refused is refused before the claim: after it, only the end of this process would let another one in.
  const options = manifest && optionsOf(context, run, effect, { checkpoints, except });
  if (options) requireSomeUndone(state, manifest, options);

  return atWork(context, execution_id, () =>
    claimAndUndo(context, request, { state, run, manifest, options }),
  );
}

/** Where every path stays, nothing is undone, and the ledger must not say that it is. It ends only a rollback that is stuck. */
function requireSomeUndone(state: IntentState, manifest: RollbackManifest, options: RollBackOptions): void {
  const scope = requireRollBack(manifest, options);
  if (scope.length === 0 && manifest.checkpoints.length > 0 && state.status !== 'stuck')
    refuse('ROLLBACK_NOT_DUE', 'Every path that the plan changed would be left as it is.');
}

/** The claim is durable before the first file is touched. */
async function claimAndUndo(
  context: Context,
  { checkpoints = [], except = [], reason, signer }: RollbackRequest,
  { state, run, manifest, options }: Omit<Undoable, 'effect'> & { options: RollBackOptions | null },
): Promise<RollBackOutcome & { readonly execution_id: string }> {
  const { execution_id } = run;
  const round = (state.rollback?.round ?? 0) + 1;
  const chosen = { checkpoints: [...checkpoints], except: [...new Set(except)] };
  const facts = { execution_id, round, ...chosen, executor: context.process, reason };
  const claimed = signAct(
    context.origin,
    'rollback.claimed',
    state.intent_id,
    facts,
    signer,
    context.clock(),
  );
  await context.store.commit({ events: [claimed] });

  const outcome = manifest && options ? await rollBack(manifest, options) : NOTHING;
  if (manifest !== null) await renewArchivedManifest(context.root, run.reports);
  const report = seal(canonicalBytes(outcome));
  const finished: Event<'rollback.finished'> = {
    kind: 'rollback.finished',
    subject: state.intent_id,
    body: { execution_id, round, result: resultOf(outcome, checkpoints), report: report.digest },
  };
  await context.store.commit({ events: [finished], objects: [report.bytes] });
  return { ...outcome, execution_id };
}

const ENDED: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['undone', 'rolled_back']);

async function undoable(context: Context, name: string): Promise<Undoable> {
  const execution_id = await findRun(context, name);
  const execution = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const state = await requireIntent(context, execution.intent_id);
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id)
    refuse('ROLLBACK_NOT_DUE', 'A later run of this intent came after it.');
  const { reports } = run;
  if (reports === null)
    refuse('ROLLBACK_NOT_DUE', 'A tool call has no rollback: its undo is declared in the registry.');
  // Before the manifest is read: without its backups it says nothing that can be done.
  if (run.expired_at !== null && !ENDED.has(state.status))
    refuse('BACKUPS_EXPIRED', undefined, { execution_id });
  const effect = openEffect(await context.store.object(state.effect_digest));
  if (effect.kind !== 'plan') refuse('ROLLBACK_NOT_DUE');
  const manifest = run.manifest === null ? null : boundManifest(context, reports, run.manifest);
  // Its digest is recorded before the first change, so a run without one has changed nothing. The files must say so too.
  if (manifest === null && state.status !== 'rolled_back') await requireUntouched(effect, context.root);
  return { state, run: { ...run, reports }, effect, manifest };
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

/** Nobody undoes what is still being done, or is being undone by somebody else. */
function requireIdle(context: Context, state: IntentState, run: Run, host_is_dead = false): void {
  const { execution_id } = run;
  if (state.status === 'claimed') requireDead(context, execution_id, run.executor, host_is_dead);
  if (state.status === 'rolling_back' && state.rollback)
    requireDead(context, execution_id, state.rollback.executor, host_is_dead);
}

function optionsOf(
  { root, clock, memory }: Context,
  { reports, journal: digest, finished_at }: Undoable['run'],
  effect: PlanEffect,
  { checkpoints = [], except = [] }: Chosen,
): RollBackOptions {
  memory.attributes ??= new Attributes();
  const { attributes } = memory;
  const journal = boundJournal(root, reports, { digest, ended: finished_at !== null });
  return { root, journal, clock, effect, except, attributes, ...(checkpoints.length > 0 && { checkpoints }) };
}

function resultOf(
  outcome: RollBackOutcome,
  checkpoints: readonly string[],
): 'complete' | 'partial' | 'stuck' {
  if (outcome.status === 'stuck') return 'stuck';
  return checkpoints.length > 0 ? 'partial' : 'complete';
}
