import { OpenFolders } from '../../durable/open-folders.ts';
import { type ReasonCode, Refusal } from '../../refusal.ts';
import type { FileState } from '../model.ts';
import { Attributes } from '../state/attributes.ts';
import { sameState } from '../state/pin.ts';
import { type SecondNames, type Seen, seeIn } from '../state/see.ts';
import { announced, type JournalLine, neverTouched } from './journal.ts';
import { halfMoved } from './leftovers.ts';
import { type Checkpoint, hasItsTimes, originalOf, type RollbackManifest } from './manifest.ts';

/**
 * How far a run came, told by the paths themselves. `untouched`: as before the run. `done`: as the plan leaves it at the
 * end. `begun`: as an action in the middle leaves it. `changed`: by another process. `missing`: removed by another process.
 * `foreign`: the run never came to this path, and what is there now is not ours to judge.
 */
export type PathState = 'untouched' | 'done' | 'begun' | 'changed' | 'missing' | 'foreign';

export interface InspectedPath {
  readonly checkpoint: Checkpoint;
  readonly state: PathState;
  /** What is there; null when nothing, or nothing that can be read as a file. */
  readonly found: FileState | null;
  /** All that was seen of it. */
  readonly seen: Seen | null;
  /** Why it could not be read as a file. */
  readonly problem?: { readonly code: ReasonCode; readonly message: string };
}

export interface InspectedRun {
  readonly paths: readonly InspectedPath[];
  /** Actions that leave no trace at a path: announced, and maybe not ended. */
  readonly actions: readonly {
    readonly action_id: string;
    readonly state: 'ended' | 'failed' | 'in_doubt';
  }[];
  /** Files that a cut move of this run left with two names. */
  readonly second_names: SecondNames;
  /** What the run said last; null when it was killed before it could. */
  readonly finished: string | null;
}

/** Says exactly what was done. Reads only. */
export async function inspectRun(
  manifest: RollbackManifest,
  root: string,
  journal: readonly JournalLine[],
  attributes: Attributes = new Attributes(),
): Promise<InspectedRun> {
  const folders = new OpenFolders(root);
  try {
    const second_names = await halfMoved(root, manifest, folders);
    const looked = manifest.checkpoints.map(({ file_path }) => file_path);
    // One call for all is only faster. Where a file cannot be read, each path says for itself what is wrong with it.
    const learnt = attributes.learnPaths(root, looked).catch(ignoreRefusal);
    const look = { folders, journal, second_names, attributes, learnt };
    // Not one after the other: the contents are read while a child reads the attributes.
    const inspected = Promise.all(manifest.checkpoints.map((one) => inspectPath(one, look)));
    const [paths] = await Promise.all([inspected, learnt]);
    return { paths, actions: actionsOf(journal), second_names, finished: finishOf(journal) };
  } finally {
    folders.close();
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error;
}

interface Look {
  readonly folders: OpenFolders;
  readonly journal: readonly JournalLine[];
  readonly second_names: SecondNames;
  readonly attributes: Attributes;
  readonly learnt: Promise<void>;
}

async function inspectPath(
  checkpoint: Checkpoint,
  { folders, journal, second_names, attributes, learnt }: Look,
): Promise<InspectedPath> {
  const { file_path } = checkpoint;
  let seen: Seen | null;
  try {
    seen = seeIn(folders, file_path, second_names);
    await learnt;
    if (seen) seen = await attributes.of(folders.at(file_path), seen);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const problem = { code: error.code, message: error.message };
    return {
      checkpoint,
      state: neverTouched(journal, file_path) ? 'foreign' : 'changed',
      found: null,
      seen: null,
      problem,
    };
  }
  const found = seen?.state ?? null;
  return { checkpoint, state: stateOf(checkpoint, seen, journal), found, seen };
}

function stateOf(checkpoint: Checkpoint, seen: Seen | null, journal: readonly JournalLine[]): PathState {
  const found = seen?.state ?? null;
  const ours = statesLeft(checkpoint, journal);
  if (sameState(found, originalOf(checkpoint))) {
    // A file that the plan moved here can be like the one that was here before, and be another one.
    const is_moved =
      seen !== null && !hasItsTimes(seen, checkpoint) && ours.some((state) => sameState(found, state));
    if (!is_moved) return 'untouched';
  }
  if (neverTouched(journal, checkpoint.file_path)) return 'foreign';
  if (ours.length > 0 && sameState(found, ours.at(-1)!)) return 'done';
  if (ours.some((state) => sameState(found, state))) return 'begun';
  return found === null ? 'missing' : 'changed';
}

/** Everything that the plan itself may have left at the path. */
function statesLeft(
  { states, file_path }: Checkpoint,
  journal: readonly JournalLine[],
): (FileState | null)[] {
  const told = announced(journal, file_path);
  return states.flatMap((state) => (state === 'unknown' ? told.splice(0, 1) : [state])).concat(told);
}

function actionsOf(journal: readonly JournalLine[]): InspectedRun['actions'] {
  return journal
    .filter((line) => line.kind === 'started')
    .map(({ action_id }) => {
      const end = journal.find((line) => line.kind === 'ended' && line.action_id === action_id);
      const state = end?.kind !== 'ended' ? 'in_doubt' : end.ok ? 'ended' : 'failed';
      return { action_id, state };
    });
}

function finishOf(journal: readonly JournalLine[]): string | null {
  const line = journal.findLast((line) => line.kind === 'finished');
  return line?.kind === 'finished' ? line.status : null;
}
