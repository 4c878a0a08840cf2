import { sha256 } from '../../canonical/digest.ts';
import {
  moveNew,
  type Place,
  putNew,
  putOver,
  removeAt,
  statAt,
  withPlace,
} from '../../durable/beneath-write.ts';
import type { OpenFiles } from '../../durable/open-files.ts';
import type { Hold } from '../../effect/sql/hold.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { FileState, PathChange } from '../model.ts';
import type { JournalLine } from '../rollback/journal.ts';
import { type Attributes, wearAs } from '../state/attributes.ts';
import { sameState } from '../state/pin.ts';
import { identityOf, readAt, type Seen, seeAt } from '../state/see.ts';
import { stageBytes } from '../state/stage.ts';

/** What preparing a change needs. */
export interface Stager {
  readonly root: string;
  /** Whether no other file is written at the same time. */
  readonly alone: boolean;
  readonly attributes: Attributes;
  /** Keeps files that are replaced open until the run is over. Left out, the rename frees their blocks. */
  readonly replaced?: OpenFiles | undefined;
  /** What the checkpoint saw at a path. */
  known(path: string): Seen | undefined;
  /** A temporary name for this path that is random and that a rollback recognises. */
  temporary(path: string): string;
}

/** An action of which only the last step is left to do. */
export interface PreparedAction extends Staged {
  /** What it will say when it is done. */
  readonly output: string;
}

/** What an action works with while it runs. */
export interface FileWriter extends Stager {
  readonly action_id: string;
  readonly timeout_ms: number;
  /** The locks on the databases of the plan, as they were before it began. */
  readonly hold: Hold | undefined;
  /** Refuses a file that is protected and was not shown to the approvers as one that is read. */
  requireReadable(path: string): void;
  /** Aborted when the action is late or the run must stop. */
  readonly signal: AbortSignal;
  /** Refuses when the action is late or the run must stop. Called just before each change: after it there is no way back. */
  proceed(): void;
  /** From here on the path may be changed. */
  touching(path: string): void;
  /** Makes those of the folders above a path that the plan was approved to make. */
  makeFoldersOf(path: string): Promise<void>;
  journal(line: JournalLine): void;
  /** The same, and recorded: for a line that a rollback must believe. */
  announce(line: JournalLine): Promise<void>;
  /** What an action with an unknown result leaves at a path, and what the last one left there. */
  leaves(path: string, state: FileState | null): void;
  left(path: string): FileState | null;
  /** What was prepared of this action before its turn. */
  prefetched(): Promise<PreparedAction | null>;
  readonly clock: () => Date;
}

/** null → X: the path must be free until the very moment. */
export async function applyCreate(writer: FileWriter, change: PathChange, bytes: Uint8Array): Promise<void> {
  const after = requireResult(change, bytes);
  await writer.makeFoldersOf(change.path);
  await withPlace(writer.root, change.path, async (place) => {
    requireFree(place);
    const temporary = writer.temporary(change.path);
    await stageBytes(place, temporary, bytes, {
      mode: after.mode,
      alone: writer.alone || bytes.length > planLimits.together_bytes,
    });
    commit(writer, place, temporary, () => putNew(place, temporary));
    writer.attributes.noteNone(place);
  });
}

/** A new content that waits beside its place, complete and on the disk, and what it was made from. */
export interface Staged {
  readonly temporary: string;
  readonly found: Seen;
}

/** X → Y, the first half: changes nothing. */
export function stageReplace(
  stager: Stager,
  change: PathChange,
  compute: (bytes: Uint8Array) => Promise<Uint8Array>,
): Promise<Staged> {
  return withPlace(stager.root, change.path, async (place) => {
    const looked = readAt(place, stager.known(change.path), stager.replaced) ?? missing(place);
    const { bytes: before, ...found } = await stager.attributes.of(place, looked);
    requireApprovedState(change, found);
    const bytes = await compute(before);
    const after = requireResult(change, bytes);
    const temporary = stager.temporary(change.path);
    await stageBytes(place, temporary, bytes, {
      mode: after.mode,
      owner: found,
      wear: after.attributes === undefined ? undefined : (name) => wearAs(place, place, name),
      alone: stager.alone || bytes.length > planLimits.together_bytes,
    });
    return { temporary, found };
  });
}

/** X → Y, the second half: what was read is what is replaced. The folder is walked to again: the temporary file must be in it. */
export function putStaged(writer: FileWriter, { path }: PathChange, staged: Staged): Promise<void> {
  return withPlace(writer.root, path, (place) =>
    put(writer, place, staged, () => requireSame(place, staged.found)),
  );
}

/** The same for what was prepared long before. False, and nothing done, when the file is not the one that was read then: that is the last look. */
export function putPrefetched(writer: FileWriter, { path }: PathChange, staged: Staged): Promise<boolean> {
  return withPlace(writer.root, path, (place) => {
    const same = isSame(place, staged.found);
    if (same) put(writer, place, staged);
    else drop(place, staged.temporary);
    return same;
  });
}

export function dropStaged(root: string, path: string, { temporary }: Staged): Promise<void> {
  return withPlace(root, path, (place) => drop(place, temporary));
}

function put(writer: FileWriter, place: Place, { temporary, found }: Staged, lastLook = () => {}): void {
  commit(writer, place, temporary, () => {
    lastLook();
    putOver(place, temporary);
  });
  if (found.state.attributes === undefined) writer.attributes.noteNone(place);
}

/** X → null. */
export async function applyRemove(writer: FileWriter, change: PathChange): Promise<void> {
  await withPlace(writer.root, change.path, async (place) => {
    const found = await writer.attributes.of(place, seeAt(place) ?? missing(place));
    requireApprovedState(change, found);
    writer.proceed();
    requireSame(place, found);
    writer.touching(change.path);
    removeAt(place);
  });
}

/** a: X → null and b: null → X, as one move of the same file. */
export async function applyMove(writer: FileWriter, from: PathChange, to: PathChange): Promise<void> {
  await writer.makeFoldersOf(to.path);
  await withPlace(writer.root, from.path, (source) =>
    withPlace(writer.root, to.path, async (target) => {
      const found = await writer.attributes.of(source, seeAt(source) ?? missing(source));
      requireApprovedState(from, found);
      if (!sameState(found.state, to.after as FileState))
        refuse('RESULT_MISMATCH', `${to.path} would differ.`);
      requireFree(target);
      writer.proceed();
      requireSame(source, found);
      writer.touching(from.path);
      writer.touching(to.path);
      moveNew(source, target);
      if (found.state.attributes === undefined) writer.attributes.noteNone(target);
    }),
  );
}

function commit(writer: FileWriter, place: Place, temporary: string, put: () => void): void {
  try {
    writer.proceed();
    writer.touching(place.path);
    put();
  } catch (error) {
    drop(place, temporary);
    throw error;
  }
}

function drop(place: Place, temporary: string): void {
  if (statAt(place, temporary) !== null) removeAt(place, temporary);
}

/** The bytes must be the approved ones before any of them is written. */
function requireResult(change: PathChange, bytes: Uint8Array): FileState {
  const { after } = change;
  if (after === null || after === 'unknown' || sha256(bytes) !== after.sha256)
    return refuse('RESULT_MISMATCH', `${change.path} would not become what was approved.`, {
      path: change.path,
    });
  return after;
}

export function requireApprovedState({ path, before }: PathChange, found: Seen): void {
  if (before === 'unknown' || !sameState(before, found.state))
    refuse('PLAN_DRIFT', `${path} is not what was approved.`, { path, found: found.state.sha256 });
}

/** The last look before the change. A change by another process between this and the next call is not seen. */
export function requireSame(place: Place, found: Seen): void {
  const now = statAt(place);
  if (now === null) missing(place);
  if (identityOf(now) !== found.identity)
    refuse('PLAN_DRIFT', `${place.path} was changed just now.`, { path: place.path });
}

function isSame(place: Place, found: Seen): boolean {
  const now = statAt(place);
  return now !== null && identityOf(now) === found.identity;
}

function requireFree(place: Place): void {
  if (statAt(place) !== null)
    refuse('PLAN_DRIFT', `Something is at ${place.path} now.`, { path: place.path });
}

function missing(place: Place): never {
  // 004 section 12.2 prints the beginning of this message.
  return refuse('FILE_NOT_FOUND', `File not found: ${place.path}`, { path: place.path });
}
