import { canonicalText } from '../canonical/json.ts';
import { watchWhile } from '../effect/watching.ts';
import { outstanding } from '../gate/capability.ts';
import { freezeWords } from '../gate/freeze.ts';
import { lostBy, lostOrder, standingOf } from '../gate/standing.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { isRevokedExecutor } from '../gate/system.ts';
import type { Unsigned } from '../identity/fact.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Grown } from '../store/store.ts';
import { provenState } from './audit.ts';
import { breakGlassHolds } from './break-glass.ts';
import type { Context } from './context.ts';
import { conditionBroken, type UsableCapability } from './present.ts';
import { type Matter, type Ruling, rule } from './rules.ts';
import { Cancelled, isRunAskedToStop } from './run-words.ts';

/** F5 of 002: something that had to hold while it ran no longer does. */
export interface Violation {
  readonly refusal: Refusal;
  readonly ruling: Ruling | null;
}

export interface Watch {
  /** Aborts the run at the first violation, and when the caller does. */
  readonly signal: AbortSignal;
  readonly violation: () => Violation | null;
  /** Whether the caller whose call it is ended it. */
  readonly isCancelled: () => boolean;
  stop(): void;
}

export interface Watched extends Omit<Matter, 'action' | 'system' | 'now'> {
  readonly capability: UsableCapability;
  readonly execution_id: string;
  readonly abort?: AbortSignal | undefined;
}

/**
 * Looks at a running action several times a second: a freeze, a stop, a revocation, a policy of the execution scope, a condition of
 * the capability, and whether its proposer asked to stop it. Whatever cannot be read is a violation, too, and so is a store that does not answer in time.
 */
export function watchRun(context: Context, watched: Watched): Watch {
  const since_ms = context.clock().getTime();
  const { execution_id, abort } = watched;
  const asked = new AbortController();
  const { signal, found, lookSoon, stop } = watchWhile({
    look: async () => {
      if (await isRunAskedToStop(context, execution_id)) asked.abort(new Cancelled());
      return violationNow(context, watched, since_ms);
    },
    failed: unreadable,
    late: () => by(new Refusal('STORE_UNREACHABLE', LATE)),
    abort: abort ? AbortSignal.any([abort, asked.signal]) : asked.signal,
  });
  // Where the store tells of writes, a run stops sooner; the look every now and then is the floor.
  const told = ({ may_end_runs }: Grown) => void (may_end_runs && lookSoon());
  const following = context.store.changes?.(told).catch(() => null);
  return {
    signal,
    violation: found,
    isCancelled: () => signal.reason instanceof Cancelled,
    stop() {
      stop();
      void following?.then((end) => end?.()).catch(() => null);
    },
  };
}

const LATE = 'The store did not answer in time, so the run could not have been stopped.';

function unreadable(error: unknown): Violation {
  const refusal = error instanceof Refusal ? error : new Refusal('INTERNAL', String(error));
  return { refusal, ruling: null };
}

async function violationNow(context: Context, watched: Watched, since_ms: number): Promise<Violation | null> {
  const { capability } = watched;
  const proven = await provenState(context, watched.state.intent_id);
  const state = requireClaim(context, watched, proven?.state ?? null);
  const { system, authorities } = proven!;
  const now = context.clock();
  const { recorded } = capability;
  const { freezes, set_back_at, control_keys } = system;
  const { tenant } = context.store;
  const moment = { now, ledger_at: null, tenant, freezes, set_back_at, control_keys, authorities };
  const { freeze } = standingOf(state, moment);
  if (freeze) return by(new Refusal('FROZEN', freezeWords(freeze)));
  if (isRevokedExecutor(system, context.executor_key().public_key))
    return by(new Refusal('EXECUTOR_REVOKED'));
  if (isRevoked(state, capability)) return by(takenBack(state));
  const { issued } = recorded;
  const order_lost = lostOrder(recorded, authorities, issued.at);
  if (order_lost) return by(order_lost);
  // That time passes does not stop a run: an approval that counted for the order counts until its key is revoked.
  const granted = standingOf(state, { ...moment, now: new Date(issued.at) });
  const lost = lostBy(issued.approvers, granted, authorities);
  if (lost) return by(lost);
  const broken = conditionBroken(context, capability);
  if (broken) return by(broken);

  const running_s = Math.max(0, Math.floor((now.getTime() - since_ms) / 1000));
  const ruling = await rule(context, { action: 'execute', system, now, ...watched, running_s });
  const { code, words } = ruling.decision;
  if (code === null) return null;
  const matter = { system, now, ...watched, state };
  if (issued.break_glass && (await breakGlassHolds(context, matter, authorities))) return null;
  return { refusal: new Refusal(code, words), ruling };
}

/**
 * The claim was acknowledged before the watch began. A server that took over without it, or a human who settled the run
 * meanwhile, lets others do the same effect again. A capability is spent once and a process is one: both name the claim.
 */
function requireClaim({ process }: Context, { capability }: Watched, state: IntentState | null): IntentState {
  const { capability_id } = capability.recorded;
  const isOurs = (run: Run | undefined) =>
    run?.capability_id === capability_id && canonicalText(run.executor) === canonicalText(process);
  if (state?.status === 'claimed' && isOurs(state.runs.at(-1))) return state;
  if (state?.runs.some(isOurs)) refuse('RESOLVE_NOT_DUE', 'The run was settled while it went on.');
  return refuse('LEDGER_TRUNCATED', 'The ledger no longer has the claim of this run.');
}

function by(refusal: Refusal): Violation {
  return { refusal, ruling: null };
}

function isRevoked({ capabilities }: IntentState, { recorded }: UsableCapability): boolean {
  const { capability_id } = recorded;
  return capabilities.some((one) => one.capability_id === capability_id && one.status === 'revoked');
}

/** A stop takes the capability of its run back, and is told as what it is. */
function takenBack({ runs }: IntentState): Refusal {
  const stopped = runs.at(-1)?.stopped;
  return stopped
    ? new Refusal('RUN_STOPPED', `${stopped.by} stopped the run.`)
    : new Refusal('CAPABILITY_REVOKED');
}

/** Recorded with the end of the run. Everything that is outstanding for the intent is revoked by it. */
export function violationOf(
  state: IntentState,
  execution_id: string,
  { refusal, ruling }: Violation,
  now: Date,
): Unsigned<'executor', 'violation.detected'> {
  return {
    kind: 'violation.detected',
    subject: state.intent_id,
    body: {
      execution_id,
      reason_code: refusal.code,
      decision: ruling?.digest ?? null,
      revoked: outstanding(state, now.toISOString()),
    },
  };
}
