import { dirname } from 'node:path/posix';
import { type Digest, sha256 } from '../../canonical/digest.ts';
import type { OpenFiles } from '../../durable/open-files.ts';
import type { Hold } from '../../effect/sql/hold.ts';
import { refuse } from '../../refusal.ts';
import type { FileWriter, PreparedAction, Stager } from '../handler/apply.ts';
import type { PathAccess } from '../input/rules.ts';
import type { ActionEffect, FileState, PlanEffect } from '../model.ts';
import type { Journal, JournalLine } from '../rollback/journal.ts';
import type { RollbackManifest } from '../rollback/manifest.ts';
import type { RollBackOutcome } from '../rollback/outcome.ts';
import type { Attributes } from '../state/attributes.ts';
import { foldersAbove, makeFolder } from '../state/folders.ts';
import type { Seen } from '../state/see.ts';
import { type ErrorRecord, errorRecord, type Recovery, recoveryOf } from './failure.ts';
import type { ActionWatch } from './halt.ts';
import type { ActionOutcome, AppliedChange, PlanProgress } from './outcome.ts';
import { Prefetch } from './prefetch.ts';

interface RunOptions {
  readonly root: string;
  readonly clock: () => Date;
  readonly onProgress: (progress: PlanProgress) => void;
  readonly onAnnounce: (journal: Digest) => Promise<void>;
  readonly protection: (path: string) => PathAccess;
  readonly attributes: Attributes;
  readonly replaced: OpenFiles;
}

/** Everything that is known about a run while it goes on. */
export class PlanRun {
  readonly effect: PlanEffect;
  readonly options: RunOptions;
  readonly started = new Date();
  readonly outcomes = new Map<string, ActionOutcome>();
  readonly errors: ErrorRecord[] = [];
  readonly changes: AppliedChange[] = [];
  /** Paths that may have been changed; all others are untouched by this run. */
  readonly touched = new Set<string>();
  /** Actions that leave no trace at a path and have begun. */
  readonly begun = new Set<string>();
  /** What each changed path must be now. */
  readonly expected = new Map<string, FileState | null>();
  /** What waits beside its place for its turn. */
  readonly prefetch = new Prefetch();
  /** The locks on the databases that the plan works on, until its end. */
  hold: Hold | undefined;
  /** The same for databases that other actions replace, move or remove. */
  lock: Hold | null = null;
  manifest: RollbackManifest | null = null;
  /** What the checkpoint found at each path that was not free. */
  originals: ReadonlyMap<string, Seen> = new Map();
  journal: Journal | null = null;
  rollback: RollBackOutcome | null = null;
  /** Temporary files that are still there, one line for each. */
  leftovers: readonly string[] = [];
  /** The first failure that ends the run, and whether everything must be undone. */
  stopped: string | null = null;
  must_roll_back = false;
  cancelled = false;
  escalate = false;
  readonly #made = new Set<string>();
  #temporaries = 0;
  #recorded: Promise<void> = Promise.resolve();

  constructor(effect: PlanEffect, options: RunOptions) {
    this.effect = effect;
    this.options = options;
    this.started = options.clock();
  }

  now(): string {
    return this.options.clock().toISOString();
  }

  say(line: JournalLine): void {
    if (!this.journal) refuse('INTERNAL', 'The journal is not open.');
    if (line.kind === 'started') this.begun.add(line.action_id);
    this.journal.append(line);
  }

  /** What the line announces may be done when this returns: a rollback believes it, whatever becomes of the file. */
  async announce(line: JournalLine): Promise<void> {
    this.say(line);
    // One after the other: a digest that is recorded late must not hide a line that another action announced meanwhile.
    const recorded = this.#recorded.then(() => this.options.onAnnounce(sha256(this.journal!.bytes())));
    this.#recorded = recorded.catch(() => {});
    await recorded;
  }

  /** Takes note of a failure and of what it leads to. */
  fail(error: unknown, action?: ActionEffect): ErrorRecord {
    const about = action
      ? { action_id: action.action_id, target: action.target, operation: action.action_type }
      : {};
    const record = errorRecord(error, about, this.options.clock());
    this.errors.push(record);
    this.#react(recoveryOf(error), record, action);
    return record;
  }

  #react(recovery: Recovery, { error_type }: ErrorRecord, action?: ActionEffect): void {
    const { stop_on_error, rollback_on_failure } = this.effect.instructions;
    const halts = recovery !== 'fail';
    if (halts || rollback_on_failure) this.must_roll_back = true;
    // Everything will be undone: no further action is started.
    if (halts || rollback_on_failure || stop_on_error)
      this.stopped ??= action ? `Stopped after ${action.action_id} failed` : `Stopped: ${error_type}`;
    if (recovery === 'escalate') this.escalate = true;
    if (error_type === 'PLAN_CANCELLED') this.cancelled = true;
  }

  stager(alone: boolean): Stager {
    return {
      root: this.options.root,
      attributes: this.options.attributes,
      alone,
      known: (path) => this.originals.get(path),
      temporary: () => `${this.manifest!.temporary_prefix}${this.#temporaries++}`,
    };
  }

  writer(action: ActionEffect, watch: ActionWatch): FileWriter {
    return {
      ...this.stager(this.effect.instructions.execution_order === 'sequential'),
      clock: this.options.clock,
      prefetched: () => this.#prepared(action),
      action_id: action.action_id,
      timeout_ms: action.timeout_ms,
      hold: this.hold,
      requireReadable: (path) => this.#requireReadable(path),
      get signal() {
        return watch.signal;
      },
      proceed: watch.proceed,
      touching: (path) => this.touched.add(path),
      makeFoldersOf: (path) => this.#makeFoldersOf(path),
      journal: (line) => this.say(line),
      announce: (line) => this.announce(line),
      leaves: (path, state) => this.expected.set(path, state),
      left: (path) => this.expected.get(path) ?? null,
    };
  }

  /** What could not be prepared may have found the disk full: the room of what is replaced by now can be enough. */
  async #prepared(action: ActionEffect): Promise<PreparedAction | null> {
    const prepared = await this.prefetch.take(action);
    if (prepared === null) await this.options.replaced.close();

    return prepared;
  }

  /** Other actions of this run may have temporary files in a folder that SQL reads. */
  #requireReadable(path: string): void {
    if (path.includes(this.manifest!.temporary_prefix) || this.effect.elevated.includes(path)) return;
    if (this.options.protection(path) !== 'free')
      refuse('PLAN_DRIFT', `${path} is protected, and was not there when the plan was approved.`, { path });
  }

  /** Only folders that were approved are made. One that another process made meanwhile is noted, so that a rollback keeps it. */
  async #makeFoldersOf(path: string): Promise<void> {
    for (const folder of foldersAbove(path)) {
      if (this.#made.has(folder) || !this.manifest!.folders_created.includes(folder)) continue;
      this.#made.add(folder);
      if (!makeFolder(this.options.root, folder))
        await this.announce({ kind: 'untouched', at: this.now(), paths: [folder] });
    }
  }

  /** Folders in which a name was added or removed. */
  changedFolders(): Set<string> {
    return new Set([...this.touched, ...this.#made].map(dirname));
  }
}
