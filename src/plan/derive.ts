import { realpathSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Digest } from '../canonical/digest.ts';
import { projectPaths } from '../intent/path.ts';
import { actionTimeouts, limits, planLimits, planTimeout } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { createHandlers, type Handlers, type Runners } from './handler/handlers.ts';
import { executionOrder } from './input/graph.ts';
import { listedPaths, type PathAccess, pathsOf, requireListed } from './input/rules.ts';
import type { Action, ActionEffect, PathChange, PipelineStep, Plan, PlanEffect } from './model.ts';
import type { ActionType } from './operation.ts';
import { Attributes } from './state/attributes.ts';
import { foldersAbove } from './state/folders.ts';
import { PathOverlay } from './state/overlay.ts';
import { isPin } from './state/pin.ts';
import type { StatCache } from './state/stat-cache.ts';

export interface DeriveOptions {
  readonly plan: Plan;
  /** Absolute. All paths of the plan are beneath it. */
  readonly root: string;
  readonly config_digest: Digest | null;
  readonly protection?: (path: string) => PathAccess;
  readonly runners?: Runners;
  /** Sees each change with its contents: for previews. Nothing that it does is part of the effect. */
  readonly visit?: (visited: Visited) => Promise<void> | void;
  /** Remembers what was seen of the project. */
  readonly stat_cache?: StatCache;
  /** Remembers which attributes its files have. */
  readonly attributes?: Attributes;
  /** The next action is simulated. */
  readonly onBegin?: (action: Action) => void;
  /** With it, an action that cannot be simulated is told here and left out, and the others are looked at all the same. */
  readonly onProblem?: (action: Action, refusal: Refusal) => void;
}

export interface Visited {
  readonly action: Action;
  readonly change: PathChange;
  /** null where there is no file, or its content is not known yet. */
  before(): Promise<Uint8Array | null>;
  after(): Promise<Uint8Array | null>;
}

/**
 * What exactly a plan would do: every action in its order, with the state of each path before and after. Nothing is
 * touched. The same plan over the same files gives the same bytes.
 */
export async function derivePlan(options: DeriveOptions): Promise<PlanEffect> {
  const { plan, root } = options;
  requireTimes(plan);
  const ordered = executionOrder(plan.actions);
  const again = pathsMentionedTwice(ordered);
  const attributes = options.attributes ?? new Attributes();
  await attributes.learnPaths(root, [...new Set(ordered.flatMap(pathsOf).map(({ path }) => path))]);
  const overlay = new PathOverlay({
    root,
    attributes,
    preserve_permissions: plan.instructions.preserve_permissions,
    keep: (path) => again.has(path),
    stat_cache: options.stat_cache,
  });
  try {
    const actions: ActionEffect[] = [];
    const reads: string[] = [];
    for (const [i, action] of ordered.entries()) {
      // A service answers others between two actions.
      if (i > 0) await nextTurn();
      options.onBegin?.(action);
      const simulated = await simulateOrTell(action, overlay, options);
      if (simulated) actions.push(simulated.effect);
      if (simulated) reads.push(...simulated.reads);
      // Checked as it goes: a plan of a thousand files is refused after the first hundred.
      requireLimits(actions);
    }
    requireNoNesting(actions);
    requireAllListed(plan, actions);
    return {
      kind: 'plan',
      plan_id: plan.plan_id,
      task_id: plan.task_id,
      plan_digest: plan.digest,
      config_digest: options.config_digest,
      instructions: plan.instructions,
      actions,
      folders: overlay.folders(),
      validation: plan.validation,
      elevated: elevatedPaths(actions, reads, options),
    };
  } finally {
    overlay.close();
  }
}

async function simulateOrTell(
  action: Action,
  overlay: PathOverlay,
  options: DeriveOptions,
): Promise<Foreseen | null> {
  try {
    return await simulate(action, overlay, options);
  } catch (error) {
    if (!(error instanceof Refusal) || !options.onProblem) throw error;
    options.onProblem(action, error);
    return null;
  }
}

interface Foreseen {
  readonly effect: ActionEffect;
  readonly reads: readonly string[];
}

async function simulate(action: Action, overlay: PathOverlay, options: DeriveOptions): Promise<Foreseen> {
  const handlers = createHandlers(options.runners ?? {});
  overlay.begin();
  const {
    changes,
    reads = [],
    statements = [],
    query_text = null,
    steps = [],
  } = await simulateBy(handlers, action, overlay);
  for (const change of changes) await options.visit?.(visited(action, change, overlay));
  const { reversible: _, risk_level: __, ...kept } = action;
  const { undo } = handlers[action.action_type];
  return { effect: { ...kept, undo, changes, statements, query_text, steps }, reads };
}

function simulateBy<T extends ActionType>(handlers: Handlers, action: Action<T>, overlay: PathOverlay) {
  return handlers[action.action_type].simulate(action, overlay);
}

function visited(action: Action, change: PathChange, overlay: PathOverlay): Visited {
  return {
    action,
    change,
    before: async () => overlay.bytesOf(await overlay.previous(change.path)),
    after: async () => overlay.bytesOf(await overlay.entry(change.path)),
  };
}

function requireTimes({ actions, instructions }: Plan): void {
  if (instructions.timeout_ms > planTimeout.max_ms)
    refuse('PLAN_LIMIT_EXCEEDED', `The plan may take ${planTimeout.max_ms} ms at most.`);
  for (const { action_id, action_type, timeout_ms } of actions) {
    const { max_ms } = actionTimeouts[action_type];
    if (timeout_ms > max_ms) refuse('PLAN_LIMIT_EXCEEDED', `${action_id} may take ${max_ms} ms at most.`);
  }
}

/** Paths whose simulated content a later action may ask for. */
function pathsMentionedTwice(actions: readonly Action[]): Set<string> {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const { path } of actions.flatMap(pathsOf)) {
    if (seen.has(path)) again.add(path);
    seen.add(path);
  }
  return again;
}

/** Whether the new content comes from a file of the project. */
export function takesContent({ action_type, operation }: ActionEffect | Action): boolean {
  return action_type === 'FILE_CREATE' && 'content_file' in operation;
}

/** The paths that really change, each with what was there before the first change. */
function changedPaths(actions: readonly ActionEffect[]): Map<string, PathChange> {
  const first = new Map<string, PathChange>();
  for (const change of actions.flatMap((action) => action.changes)) {
    if (!first.has(change.path) && !isPin(change)) first.set(change.path, change);
  }
  return first;
}

function requireLimits(actions: readonly ActionEffect[]): void {
  const changed = [...changedPaths(actions).values()];
  if (changed.length > planLimits.files)
    refuse('PLAN_LIMIT_EXCEEDED', `The plan changes more than ${planLimits.files} files.`);
  const backup = changed.reduce(
    (sum, { before }) => sum + (before === 'unknown' ? 0 : (before?.size ?? 0)),
    0,
  );
  if (backup > planLimits.backup_bytes)
    refuse('PLAN_LIMIT_EXCEEDED', `The backups would take more than ${planLimits.backup_bytes} bytes.`);
  requireYamlFits(actions);
  requireContentFits(actions);
  requireShowable(actions);
}

/** A plan may edit its own large file a thousand times, and each time it is parsed. */
function requireYamlFits(actions: readonly ActionEffect[]): void {
  const read = actions.flatMap(({ operation, changes }) =>
    operation.type === 'yaml_update' ? [sizeOf(changes[0]!.before)] : [],
  );
  if (read.reduce((sum, size) => sum + size, 0) > planLimits.yaml_bytes)
    refuse('EDIT_COSTLY', `The edits of YAML files read more than ${planLimits.yaml_bytes} bytes in all.`);
}

/** What a plan takes from files is kept in the store. */
function requireContentFits(actions: readonly ActionEffect[]): void {
  const taken = actions.filter(takesContent).flatMap(({ changes }) => sizeOf(changes.at(-1)!.after));
  if (taken.reduce((sum, size) => sum + size, 0) > planLimits.content_bytes)
    refuse(
      'PLAN_LIMIT_EXCEEDED',
      `The content files of a plan may have ${planLimits.content_bytes} bytes in all.`,
    );
}

function sizeOf(state: PathChange['after']): number {
  return state === null || state === 'unknown' ? 0 : state.size;
}

/** What the plan takes from the registry and from SQL files is part of the effect, and a person reads all of it. */
function requireShowable(actions: readonly ActionEffect[]): void {
  const texts = actions.flatMap(({ query_text }) => (query_text === null ? [] : [query_text]));
  const steps = actions.flatMap((action) => action.steps).map((step) => JSON.stringify(step));
  const taken = [...texts, ...steps].reduce((sum, text) => sum + text.length, 0);
  if (taken > planLimits.taken_chars || texts.some((text) => text.length > limits.json_string_chars))
    refuse(
      'PLAN_LIMIT_EXCEEDED',
      `The SQL files and pipelines of a plan may have ${planLimits.taken_chars} characters in all, and one file ${limits.json_string_chars}.`,
    );
}

/** A file that makes way for a folder of the same name could not be restored path by path. */
function requireNoNesting(actions: readonly ActionEffect[]): void {
  const changed = changedPaths(actions);
  for (const path of changed.keys()) {
    const folder = foldersAbove(path).find((above) => changed.has(above));
    if (folder !== undefined)
      refuse('PLAN_PATHS_NESTED', `${folder} is a file and a folder.`, { path: folder });
  }
}

/** 004 section 2.3: whatever a handler would do, it stays with the files that the plan itself lists. */
function requireAllListed(plan: Plan, actions: readonly ActionEffect[]): void {
  const listed = listedPaths(plan.actions);
  for (const path of changedPaths(actions).keys()) requireListed(path, listed);
}

/** Protected paths that the plan changes, or whose contents it may put elsewhere. */
function elevatedPaths(
  actions: readonly ActionEffect[],
  reads: readonly string[],
  { protection, root }: DeriveOptions,
): string[] {
  if (!protection) return [];
  const changed = [...changedPaths(actions).keys()].sort();
  for (const path of changed) requireOpen(path, protection(path), 'change');
  for (const path of reads) requireOpen(path, protection(path), 'read');
  // What the registry fixed is not refused here: a human wrote it, and a second one is asked.
  const registered = actions.flatMap(({ steps }) => stepReads(steps, root));
  const touched = new Set([...changed, ...reads, ...registered]);
  return [...touched].filter((path) => protection(path) === 'elevated').sort();
}

function requireOpen(path: string, access: PathAccess, verb: 'change' | 'read'): void {
  if (access === 'own')
    refuse('PLAN_PATH_OWN', `No plan may ${verb} ${path}: it belongs to Keyturn.`, { path });
  if (access === 'forbidden') refuse('PLAN_PATH_FORBIDDEN', `No plan may ${verb} ${path}.`, { path });
}

/** What the steps of a pipeline name to read, as a plan would name it. */
function stepReads(steps: readonly PipelineStep[], root: string): string[] {
  if (steps.length === 0) return [];
  const real = realpathSync.native(root);
  return steps.flatMap((step) => {
    if (step.kind === 'sql') return [step.file, step.database];
    return step.sandbox === 'none' ? [] : step.sandbox.read.flatMap((path) => projectPaths(real, path));
  });
}
