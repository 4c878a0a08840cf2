import { IDLE, nextPace } from '../identity/pace.ts';
import { requirePace } from '../identity/quota.ts';
import { isSearch } from '../plan/edit/apply.ts';
import { type PathAccess, pathsOf } from '../plan/input/rules.ts';
import type { Action, Plan } from '../plan/model.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/**
 * An agent proposes changes of files that it may be kept from reading. Whether an edit fits, how often a pattern matches and where a parser
 * stops would tell it what is in them, one question after another. So it is told no more than that a plan does not fit.
 */

/** Counts each plan that an agent asks for, also one that is refused, and derives those of one agent one after another. */
export async function inAgentTurn<T>(context: Context, derive: () => Promise<T>): Promise<T> {
  const { untold, memory, proposals, clock, in_turn } = context;
  if (untold === undefined) return derive();
  const at = clock().toISOString();
  const pace = memory.plans_tried.get(untold) ?? IDLE;
  requirePace(pace, proposals, at);
  memory.plans_tried.set(untold, nextPace(pace, at));
  return in_turn(`plans of ${untold}`, derive);
}

/** Follows a derivation for an agent. */
export interface Simulating {
  /** The next action is simulated. */
  begin(action: Action): void;
}

/**
 * Derives a plan for an agent. Up to the first action that opens a file, what refuses it is the plan itself, or which paths exist. From there on every
 * refusal is the same.
 */
export async function untoldOf<T>(derive: (looking: Simulating) => Promise<T>): Promise<T> {
  let at: Action | null = null;
  let has_looked = false;
  const begin = (action: Action) => {
    has_looked ||= at !== null && looksInside(at);
    at = action;
  };
  try {
    return await derive({ begin });
  } catch (error) {
    if (!(error instanceof Refusal) || FAULTS.has(error.code)) throw error;
    const looks = at !== null && looksInside(at) && !OF_PATHS.has(error.code);
    if (!has_looked && !looks) throw error;
    return refuse('PLAN_UNFIT');
  }
}

/** Nothing of these follows from what is in a file. */
const FAULTS: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['INTERNAL', 'DISK_FULL', 'WRITE_FAILED']);

/** Why an action is refused before the file that it names is opened. */
const OF_PATHS: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'FILE_NOT_FOUND',
  'FILE_EXISTS',
  'FILE_IS_SYMLINK',
  'FILE_NOT_REGULAR',
  'FILE_HARD_LINKED',
  'FILE_IMMUTABLE',
  'PATH_ESCAPES',
  'PERMISSION_DENIED',
  'TOOL_UNKNOWN',
]);

/** Whether it depends on the text of a file that an action can be simulated. */
function looksInside({ action_type, operation }: Action): boolean {
  if (action_type === 'FILE_MODIFY') return operation.type !== 'mode_change';
  if (action_type === 'FILE_CREATE') return 'content_file' in operation;
  if (action_type === 'SQL_EXECUTE') return 'query_file' in operation;
  return action_type === 'SCHEMA_UPDATE' || action_type === 'PIPELINE_RUN';
}

/** The edits of a plan that fit no file. */
export function* editFaults({ actions }: Plan): Generator<{ action: string; refusal: Refusal }> {
  for (const action of actions)
    try {
      searchesBy(action);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      yield { action: action.action_id, refusal };
    }
}

/** Refuses an edit that fits no file. */
function searchesBy({ action_type, operation }: Action): boolean {
  if (action_type === 'SCHEMA_UPDATE') return isSearch(operation);
  return action_type === 'FILE_MODIFY' && operation.type !== 'mode_change' && isSearch(operation);
}

/**
 * What is refused of an agent before any file is opened: edits that fit no file, and a search beside a protected file, which would find a secret
 * in a few hundred proposals. A rename in the same plan gives a file another name, so all paths of the plan count.
 */
export function requireUntold(plan: Plan, protection: (path: string) => PathAccess): void {
  const searches = plan.actions.map(searchesBy).includes(true);
  const paths = plan.actions.flatMap(pathsOf).map(({ path }) => path);
  if (searches && paths.some((path) => protection(path) !== 'free')) refuse('PLAN_UNFIT');
}
