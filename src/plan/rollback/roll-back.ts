import { dirname } from 'node:path/posix';
import { syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { planLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import { eachAtMost } from '../concurrent.ts';
import { Attributes } from '../state/attributes.ts';
import { removeEmptyFolder } from '../state/folders.ts';
import { sameState } from '../state/pin.ts';
import { isOneOfOurs } from '../state/see.ts';
import { whileLocked } from './database.ts';
import { type InspectedPath, type InspectedRun, inspectRun } from './inspect.ts';
import { type JournalLine, type JournalRead, neverTouched } from './journal.ts';
import { leftoverLines, removeLeftovers } from './leftovers.ts';
import { type Checkpoint, originalOf, type RollbackManifest, saveManifest } from './manifest.ts';
import {
  type RollBackOutcome,
  type RollBackStep,
  type RolledBackPath,
  said,
  summary,
  withReason,
} from './outcome.ts';
import {
  isTheOriginal,
  moveBack,
  removeMade,
  requireBackup,
  restoreFromBackup,
  type Scene,
  verifyRestored,
} from './restore.ts';
import { exceptedFrom, requireRollBack, type ScopeOptions } from './scope.ts';

export interface RollBackOptions extends ScopeOptions {
  /** Of the run: what it says is believed. */
  readonly journal: JournalRead;
  /** Only says what would be done. */
  readonly preview?: boolean;
  readonly clock?: () => Date;
}

/**
 * Undoes a run: the same for an automatic, a manual, a partial rollback, and after a crash. Only what the plan itself
 * left is replaced; what was changed since is refused and named. Running it twice is harmless.
 */
export async function rollBack(
  manifest: RollbackManifest,
  options: RollBackOptions,
): Promise<RollBackOutcome> {
  const { root, journal, preview = false, attributes = new Attributes() } = options;
  const scope = await requireRollBack(manifest, { ...options, attributes });
  const run = await inspectRun(manifest, root, journal.lines, attributes);
  const backups = new OpenFolders(root);
  const scene: Scene = { root, manifest, attributes, second_names: run.second_names, backups };
  const steps = await planSteps(scene, scope, run);
  const left = exceptedFrom(manifest, options).map((one) => said(one, 'except', !preview, EXCEPTED));
  if (preview) {
    const foretold: RolledBackPath[] = [];
    for (const step of steps) foretold.push(await previewOf(scene, step));
    return summary('preview', [...foretold, ...left], [], run, manifest);
  }
  const paths: RolledBackPath[] = [...left];
  const folders_removed: string[] = [];
  try {
    await removeLeftovers(root, manifest);
    paths.push(...(await takeAll(scene, steps)));
    folders_removed.push(...(await removeFolders(root, manifest, journal.lines)));
    await syncFolders(root, [...scope.map(({ file_path }) => file_path), ...folders_removed]);
    const status = paths.every(({ done }) => done) ? 'rolled_back' : 'stuck';
    await record(manifest, options, status, paths);
    const ended = summary(status, paths, folders_removed, run, manifest);
    return { ...ended, instructions: [...ended.instructions, ...(await leftoverLines(root, manifest))] };
  } catch (error) {
    // From the first change on nothing is thrown: half a rollback is a state that a human must see.
    return withReason(summary('stuck', paths, folders_removed, run, manifest), error);
  } finally {
    backups.close();
  }
}

interface Step {
  readonly checkpoint: Checkpoint;
  readonly inspected: InspectedPath;
  readonly step: RollBackStep;
  /** For a move back: where the file is now. */
  readonly from?: InspectedPath;
}

async function planSteps(scene: Scene, scope: readonly Checkpoint[], run: InspectedRun): Promise<Step[]> {
  const inspected = new Map(run.paths.map((path) => [path.checkpoint.checkpoint_id, path]));
  const steps = scope.map((checkpoint): Step => {
    const path = inspected.get(checkpoint.checkpoint_id)!;
    return { checkpoint, inspected: path, step: stepFor(path) };
  });
  return withMoves(scene, steps);
}

function stepFor({ state, checkpoint }: InspectedPath): RollBackStep {
  if (state === 'untouched' || state === 'foreign') return 'nothing';
  if (state === 'changed' || state === 'missing') return 'refuse';
  return originalOf(checkpoint) === null ? 'remove' : 'restore';
}

/** A restore and a removal of the same file in one chain are a rename: it is taken back as one. */
async function withMoves(scene: Scene, steps: readonly Step[]): Promise<Step[]> {
  const moved = new Set<Checkpoint>();
  const result: Step[] = [];
  for (const step of steps) {
    if (step.step !== 'restore') continue;
    const from = steps.find(
      (other) =>
        other.step === 'remove' &&
        !moved.has(other.checkpoint) &&
        other.checkpoint.chain === step.checkpoint.chain &&
        sameState(other.inspected.found, originalOf(step.checkpoint)),
    );
    if (!from || !(await isTheOriginal(scene, from.checkpoint.file_path, step.checkpoint))) continue;
    moved.add(from.checkpoint);
    result.push({ ...step, step: 'move_back', from: from.inspected });
  }
  const moves = new Map(result.map((step) => [step.checkpoint, step]));
  // The place that a file is moved back from is empty by then.
  return steps.flatMap((step) => (moved.has(step.checkpoint) ? [] : [moves.get(step.checkpoint) ?? step]));
}

/**
 * The steps concern different files, so several may reach the disk together. Only a file that a cut move left at two paths is
 * in two steps: the first of them changes what the second one sees, so those are taken one after the other.
 */
async function takeAll(scene: Scene, steps: readonly Step[]): Promise<RolledBackPath[]> {
  const results: RolledBackPath[][] = [];
  const twice = ({ seen }: InspectedPath) => seen !== null && isOneOfOurs(scene.second_names, seen);
  const one_by_one = steps.filter(({ inspected, from }) => twice(inspected) || (from && twice(from)));
  for (const step of one_by_one) results[steps.indexOf(step)] = await take(scene, step);
  await eachAtMost(planLimits.concurrent_actions, steps, async (step, i) => {
    results[i] ??= await take(scene, step);
  });
  // A full disk may have room again when the others are done.
  for (const [i, step] of steps.entries()) {
    if (results[i]!.some(({ code }) => code === 'DISK_FULL')) results[i] = await take(scene, step);
  }
  return results.flat();
}

async function take(scene: Scene, step: Step): Promise<RolledBackPath[]> {
  const { checkpoint, from } = step;
  const touched = from ? [checkpoint, from.checkpoint] : [checkpoint];
  try {
    await act(scene, step);
    if (step.step === 'refuse') return [refused(step)];
    if (step.inspected.state === 'foreign') return [said(checkpoint, step.step, true, FOREIGN)];
    if (step.step === 'nothing') return [said(checkpoint, step.step, true)];
    for (const restored of touched) {
      if (!(await verifyRestored(scene, restored)))
        return touched.map((path) =>
          said(path, step.step, false, 'It is not as it was before the run.', 'WRITE_FAILED'),
        );
    }
    return touched.map((path) => said(path, step.step, true));
  } catch (error) {
    const code = error instanceof Refusal ? error.code : 'INTERNAL';
    return touched.map((path) => said(path, step.step, false, (error as Error).message, code));
  }
}

const EXCEPTED = 'It is left as it is, because the human who rolls back said so.';
const FOREIGN = 'The run never reached this path. Another program changed it, and the change stays.';

async function act(scene: Scene, one: Step): Promise<void> {
  const { inspected, step, from } = one;
  await whileLocked(scene.root, databasesReplacedBy(one), async () => {
    if (step === 'restore') await restoreFromBackup(scene, inspected);
    if (step === 'remove') await removeMade(scene, inspected);
    if (step === 'move_back') await moveBack(scene, from!, inspected);
  });
}

/** The paths at which a database is that the step replaces, moves or removes. What is another file by then is refused by the step. */
function databasesReplacedBy({ inspected, step, from }: Step): string[] {
  if (step === 'nothing' || step === 'refuse' || step === 'except') return [];
  const touched = from ? [from, inspected] : [inspected];
  return touched.flatMap(({ seen, checkpoint }) => (seen?.database ? [checkpoint.file_path] : []));
}

function refused({ checkpoint, inspected }: Step): RolledBackPath {
  const how = inspected.state === 'missing' ? 'removed' : 'changed';
  const message =
    inspected.problem?.message ?? `${checkpoint.file_path} was ${how} by another program after the run.`;
  return said(checkpoint, 'refuse', false, message, 'CHANGED_SINCE_RUN');
}

/**
 * The lock of a database is taken and given back: where another process holds it now, the rollback would be refused. Backups are hashed
 * here, before the human signs. The rollback itself hashes each while it copies it, because to hash all of them first as well would make it slower.
 */
async function previewOf(scene: Scene, step: Step): Promise<RolledBackPath> {
  const { checkpoint } = step;
  if (step.step === 'refuse') return refused(step);
  try {
    if (step.step === 'restore') await requireBackup(scene, checkpoint);
    await whileLocked(scene.root, databasesReplacedBy(step), async () => {});
    return said(checkpoint, step.step, false);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return said(checkpoint, 'refuse', false, error.message, error.code);
  }
}

/** Deepest first, and only folders that this plan made and that are empty. */
async function removeFolders(
  root: string,
  manifest: RollbackManifest,
  journal: readonly JournalLine[],
): Promise<string[]> {
  const removed: string[] = [];
  for (const folder of [...manifest.folders_created].sort().reverse()) {
    if (neverTouched(journal, folder)) continue;
    try {
      if ((await removeEmptyFolder(root, folder)) === 'removed') removed.push(folder);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // something else is there now: it stays
    }
  }
  return removed;
}

/** Each folder whose names changed, once. One that is gone needs no fsync of its own. */
async function syncFolders(root: string, paths: readonly string[]): Promise<void> {
  for (const folder of new Set(paths.map(dirname))) {
    try {
      await withPlace(root, folder === '.' ? 'any' : `${folder}/any`, syncFolderOf);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'FILE_NOT_FOUND')) throw error;
    }
  }
}

async function record(
  manifest: RollbackManifest,
  { root, checkpoints, journal, clock = () => new Date() }: RollBackOptions,
  status: string,
  paths: readonly RolledBackPath[],
): Promise<void> {
  const at = clock().toISOString();
  await journal.append({ kind: 'rolled_back', at, status, paths: paths.map(({ path }) => path) });
  if (status === 'rolled_back' && checkpoints === undefined && manifest.status !== 'EXECUTED')
    await saveManifest(root, { ...manifest, status: 'EXECUTED', rolled_back_at: at });
}
