import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Action } from '../model.ts';
import type { ActionType } from '../operation.ts';
import type { SystemConfig } from './config.ts';
import { type PathGlobs, pathGlobs } from './glob.ts';
import { type Protection, protectionOf, protectionWith } from './protection.ts';

/** What a plan must keep to: the built-in rules, made narrower by a system config. */
export interface PlanRules {
  readonly max_files: number;
  /** null: all of 004 section 2.2. */
  readonly allowed_operations: readonly ActionType[] | null;
  readonly forbidden: PathGlobs;
  readonly protection: Protection;
  /** The longest that a plan may take. */
  readonly timeout_ms: number | null;
}

export function rulesOf(config: SystemConfig | null, registries?: readonly string[]): PlanRules {
  return {
    max_files: Math.min(config?.max_files ?? planLimits.files, planLimits.files),
    allowed_operations: config?.allowed_operations ?? null,
    forbidden: pathGlobs(config?.forbidden_globs ?? []),
    protection: protectionWith(config?.protected_files ?? {}, registries),
    timeout_ms: config?.timeout_ms ?? null,
  };
}

/** Refuses a path that no approval opens. */
export function requireWritable(path: string, rules: PlanRules): void {
  if (protectionOf(path, rules.protection) === 'own')
    refuse('PLAN_PATH_OWN', `No plan may change ${path}: it belongs to Keyturn.`, { path });
  if (rules.forbidden.matches(path))
    refuse('PLAN_PATH_FORBIDDEN', `The configuration forbids ${path}.`, { path });
}

/** What a plan reads ends up in results and reports, so secrets are not for reading either. */
export function requireReadable(path: string, rules: PlanRules): void {
  requireWritable(path, rules);
  if (protectionOf(path, rules.protection) === 'critical')
    refuse('PLAN_PATH_FORBIDDEN', `No plan may read ${path}.`, { path });
}

/** May this path be changed? `elevated` needs a second approver; `own` and `forbidden` are opened by no approval. */
export type PathAccess = 'free' | 'elevated' | 'own' | 'forbidden';

/** For `derivePlan`: by whose approval may this path be changed? */
export function pathAccessOf(path: string, rules: PlanRules): PathAccess {
  const protection = protectionOf(path, rules.protection);
  if (protection === 'own') return 'own';
  if (rules.forbidden.matches(path)) return 'forbidden';
  return protection === null ? 'free' : 'elevated';
}

export function requireOperation(type: ActionType, { allowed_operations }: PlanRules): void {
  if (allowed_operations !== null && !allowed_operations.includes(type))
    refuse('PLAN_OPERATION_FORBIDDEN', `The configuration does not allow ${type}.`, { action_type: type });
}

/** A path that an operation names, and where in the operation. */
export interface NamedPath {
  readonly path: string;
  /** The key of the operation; null for the target. */
  readonly key: string | null;
  readonly index?: number;
  readonly writes: boolean;
}

/** The parameters that can name a path. A broken operation may hold anything there, and what it names is checked all the same. */
export interface NamingPaths {
  readonly type?: unknown;
  readonly connection?: unknown;
  readonly destination?: unknown;
  readonly query_file?: unknown;
  readonly content_file?: unknown;
  readonly save_results_to?: unknown;
  readonly readable?: unknown;
}

interface NamesPaths {
  readonly action_type: ActionType;
  readonly target: string;
  readonly operation: NamingPaths;
}

/** Every path that an action names. What is not here it does not touch. */
export function pathsOf({ action_type, target, operation }: NamesPaths): NamedPath[] {
  const found: NamedPath[] = [];
  const writes_target = action_type !== 'PIPELINE_RUN' && operation.connection !== 'memory';
  found.push({ path: target, key: null, writes: writes_target });
  for (const [key, writes] of PATH_KEYS) {
    const path = operation[key];
    if (typeof path === 'string') found.push({ path, key, writes });
  }
  for (const [index, path] of listOf(operation).entries())
    found.push({ path, key: 'readable', index, writes: false });
  return found;
}

const PATH_KEYS: readonly (readonly [keyof NamingPaths, boolean])[] = [
  ['destination', true],
  ['query_file', false],
  ['content_file', false],
  ['save_results_to', true],
];

function listOf({ readable }: NamingPaths): string[] {
  return Array.isArray(readable) ? readable.filter((path): path is string => typeof path === 'string') : [];
}

/** The files that the plan may change: those that it lists, and no others. */
export function listedPaths(actions: readonly Action[]): Set<string> {
  return new Set(
    actions
      .flatMap(pathsOf)
      .filter(({ writes }) => writes)
      .map(({ path }) => path),
  );
}

/** The file allow-list of 004 section 2.3. */
export function requireListed(path: string, listed: ReadonlySet<string>): void {
  if (!listed.has(path)) refuse('PLAN_PATH_UNLISTED', `${path} is not a file of this plan.`, { path });
}
