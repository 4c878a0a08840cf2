import { isLiveAct } from '../identity/authority.ts';
import type { Authorities } from '../identity/delegation.ts';
import { isMadeLater } from '../identity/made.ts';
import { isLive } from '../identity/principal.ts';
import { limits } from '../limits.ts';
import type { Lacking } from '../policy/lacking.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { type ApprovalsMoment, type ApprovalsNow, approvalsNow, whyLapsed } from './approvals.ts';
import { capabilityNow, usableUntil } from './capability.ts';
import { type CapabilityWord, timedWordOf } from './capability-word.ts';
import { type DispatchedIntent, lacksDispatch, NOT_DISPATCHED } from './dispatched.ts';
import { type Freeze, freezeWords, frozenFor } from './freeze.ts';
import { BLOCKS } from './next.ts';
import type { Approver, Capability, IntentState } from './state.ts';
import { hasExpired, isDue } from './status-word.ts';
import { type ControlKey, lostIssuer } from './system.ts';

/** What the standing of an intent depends on besides the intent itself. */
export interface Moment {
  readonly now: Date;
  /** The time of the newest entry: a clock behind it cannot judge an expiry. Null where that is not asked. */
  readonly ledger_at: string | null;
  readonly tenant: string;
  readonly freezes: readonly Freeze[];
  /** When entries were last forgotten: what was proposed before may have run since. */
  readonly set_back_at: string | null;
  readonly authorities: Authorities;
  readonly control_keys: readonly ControlKey[];
  /** Its dispatch, where only the agent core may run it; left out for none. */
  readonly dispatched?: DispatchedIntent | null;
  readonly is_running?: boolean;
  /** What the policies lack of the approvals; not asked by an act, which asks the policies itself. */
  readonly lacking?: Lacking | null;
}

export interface Denial {
  readonly eligible: false;
  readonly code: ReasonCode;
  readonly executed_at: string | null;
  /** More than the code says, such as who froze it. */
  readonly words?: string;
}

export type Verdict =
  | { readonly eligible: true; readonly state: IntentState; readonly capability: Capability }
  | Denial;

/**
 * What an intent waits for: a human who approves it, one who orders its run, the agent core, or an executor. Null where nothing of these
 * leads on: it is over or frozen, or the time cannot be judged.
 */
export type NextStep = 'approval' | 'order' | 'dispatch' | 'run' | null;

/** What holds about an intent at one moment. Whatever judges an intent, or tells where it stands, reads this. */
export interface Standing extends ApprovalsNow {
  readonly state: IntentState;
  readonly freeze: Freeze | null;
  /** The capability that a run would use; null where there is none that could be used. */
  readonly capability: Capability | null;
  /** Until when what was ordered can be used; null where nothing is ordered that can be used. */
  readonly ordered_until: string | null;
  /** Why no signature of a human leads on from here: it is over, or its time is; null where one does. */
  readonly not_open: Denial | null;
  /** Why no capability may be granted for it now; null where one may. */
  readonly not_granted: Denial | null;
  /** Why no order of it can be used now, whether or not one may be given; null where one can. */
  readonly not_ordered: Denial | null;
  /** Why the agent core does not let it run now; null where it does, or is not asked. */
  readonly not_dispatched: Denial | null;
  /** Why it may not run now; null where it may. */
  readonly not_run: Denial | null;
  readonly next: NextStep;
}

export function standingOf(state: IntentState, moment: Moment): Standing {
  const approvals = approvalsNow(state, moment);
  const freeze = freezeIn(state, moment);
  const not_open = notOpen(state, moment);
  const not_granted = notGranted(state, approvals, { not_open, freeze });
  const found = capabilityNow(state, moment.now);
  const capability = typeof found === 'string' ? null : found;
  const not_ordered = notOrdered(found, approvals, moment);
  const not_dispatched = notDispatched(state, moment);
  const not_run = not_granted ?? not_ordered ?? not_dispatched;
  const next = nextStep(approvals, { not_open, not_granted, not_ordered, not_dispatched });
  const is_usable = approvals.missing === 0 && isDue(state) && not_ordered === null;
  const { counted, lapsed, approvers, missing, wanted, status_word } = approvals;
  // Written member by member: V8 makes a hidden class for each object that begins with a spread.
  return {
    counted,
    lapsed,
    approvers,
    missing,
    wanted,
    status_word,
    state,
    freeze,
    capability,
    ordered_until: is_usable && capability ? usableUntil(capability) : null,
    not_open,
    not_granted,
    not_ordered,
    not_dispatched,
    not_run,
    next,
  };
}

type Why = Pick<Standing, 'not_open' | 'not_granted' | 'not_ordered' | 'not_dispatched'>;

function nextStep(
  { missing }: ApprovalsNow,
  { not_open, not_granted, not_ordered, not_dispatched }: Why,
): NextStep {
  if (missing > 0) return not_open === null ? 'approval' : null;
  if (not_granted) return null;
  if (not_ordered) return 'order';
  return not_dispatched ? 'dispatch' : 'run';
}

function freezeIn(state: IntentState, { now, tenant, freezes, authorities }: Moment): Freeze | null {
  const isLiveKey = (name: string, key: string) => isLive(authorities.principal(name), key);
  return frozenFor(state, { freezes, tenant, at: now.toISOString(), isLiveKey });
}

type Counted = Pick<ApprovalsNow, 'counted' | 'lapsed'>;

function notOpen(state: IntentState, moment: Moment): Denial | null {
  const { status, runs } = state;
  if (isDue(state)) return outOfTime(state, moment);
  return denied(BLOCKS[status]!, { executed_at: runs.at(-1)?.claimed_at ?? null });
}

/** Approval first, then history, as 000 section 4 orders it; then the freeze. */
function notGranted(
  { status }: IntentState,
  { missing, lapsed }: ApprovalsNow,
  { not_open, freeze }: { readonly not_open: Denial | null; readonly freeze: Freeze | null },
): Denial | null {
  if (status === 'proposed') return denied(BLOCKS[status]!);
  if (not_open) return not_open;
  if (missing > 0) return denied(whyLapsed(lapsed));
  return freeze ? denied('FROZEN', { words: freezeWords(freeze) }) : null;
}

/** What no human can mend by signing. */
function outOfTime(state: IntentState, { now, ledger_at, set_back_at }: Moment): Denial | null {
  if (ledger_at !== null && now.getTime() < Date.parse(ledger_at) - limits.clock_skew_ms)
    return denied('CLOCK_BEHIND');
  if (set_back_at !== null && Date.parse(state.proposed_at) <= Date.parse(set_back_at))
    return denied('LEDGER_SET_BACK');
  if (hasExpired(state, now)) return denied('INTENT_EXPIRED');
  return isMadeLater(state.proposed_at, now.toISOString()) ? denied('MADE_IN_FUTURE') : null;
}

function notOrdered(found: Capability | ReasonCode, approvals: Counted, moment: OrderMoment): Denial | null {
  if (typeof found === 'string') return denied(found);
  const lost = lostNow(found, approvals, moment);
  return lost && denied(lost.code, { words: lost.message });
}

type OrderMoment = Pick<Moment, 'now' | 'authorities'> & Pick<ApprovalsMoment, 'control_keys'>;

/** Why what it rests on no longer holds; null while it does. */
function lostNow(
  capability: Capability,
  approvals: Counted,
  { now, authorities, control_keys = [] }: OrderMoment,
): Refusal | null {
  const { issued } = capability;
  return (
    lostOrder(capability, authorities, now.toISOString()) ??
    (issued && lostIssuer(control_keys, issued.control_key)) ??
    lostBy(issued?.approvers ?? capability.approvers, approvals, authorities)
  );
}

/**
 * Where an order of an intent stands, or what was issued for it. `void`: its time is not over, and no run can use it any more, because of
 * what became of its intent, of who approved it or of who ordered it. Without authorities only the intent and the clock count.
 */
export function capabilityWordOf(
  state: IntentState,
  capability: Capability,
  moment: ApprovalsMoment,
): CapabilityWord {
  const { now, authorities, control_keys = [] } = moment;
  const word = timedWordOf(capability, now);
  if (word !== 'ordered' && word !== 'issued') return word;
  if (!isDue(state) || capability.attempt !== state.attempt) return 'void';
  const approvals = approvalsNow(state, moment);
  const is_lost = authorities && lostNow(capability, approvals, { now, authorities, control_keys });
  return approvals.missing > 0 || is_lost ? 'void' : word;
}

/** Until when the order of the present attempt, or what was issued under it, can be used; null where none can. */
export function orderedUntil(
  state: IntentState,
  approvals: ApprovalsNow,
  { now, authorities, control_keys = [] }: Pick<ApprovalsMoment, 'now' | 'authorities' | 'control_keys'>,
): string | null {
  if (approvals.missing > 0 || !isDue(state)) return null;
  const found = capabilityNow(state, now);
  if (typeof found === 'string') return null;
  return authorities && notOrdered(found, approvals, { now, authorities, control_keys })
    ? null
    : usableUntil(found);
}

/** What the agent core proposed runs only while it is dispatched. */
function notDispatched(state: IntentState, { dispatched = null }: Moment): Denial | null {
  if (!lacksDispatch(state, () => dispatched)) return null;
  return denied('AGENT_TRANSITION_ILLEGAL', { words: NOT_DISPATCHED });
}

/** A capability dies with the key that ordered it, and with its delegation. Null while both hold. */
export function lostOrder(capability: Capability, authorities: Authorities, at: string): Refusal | null {
  if (isLiveAct(authorities, capability, at)) return null;
  return new Refusal('CAPABILITY_REVOKED', `What ${capability.by} ordered it with no longer holds.`);
}

/**
 * The decision behind a capability counted these people, with the roles that they had. Null while each of them still counts:
 * without one of them it might have been another decision.
 */
export function lostBy(
  approvers: readonly Approver[],
  { counted, lapsed }: Counted,
  authorities: Authorities,
): Refusal | null {
  for (const { name, roles } of approvers) {
    if (!counted.some(({ by }) => by === name)) {
      const code = whyLapsed(lapsed.filter(({ approval }) => approval.by === name));
      return new Refusal(
        code,
        `It was granted because ${name} approved it, and that approval no longer counts.`,
      );
    }
    const now = authorities.principal(name)?.roles ?? [];
    const role = roles.find((one) => !now.includes(one));
    if (role !== undefined)
      return new Refusal(
        'APPROVER_REVOKED',
        `It was granted because ${name} approved it as ${role}, which ${name} no longer is.`,
      );
  }
  return null;
}

function denied(code: ReasonCode, more: Partial<Pick<Denial, 'executed_at' | 'words'>> = {}): Denial {
  return { eligible: false, code, executed_at: null, ...more };
}

/** The intent that is asked about, or why there is nothing to ask. */
function named(state: IntentState | null, hash: string): IntentState | Denial {
  if (state === null) return denied('INTENT_NOT_FOUND');
  return state.hash === hash ? state : denied('HASH_MISMATCH');
}

/** May this intent run now? */
export function eligible(state: IntentState | null, hash: string, moment: Moment): Verdict {
  const asked = named(state, hash);
  if ('eligible' in asked) return asked;
  const { not_run, capability } = standingOf(asked, moment);
  return not_run ?? { eligible: true, state: asked, capability: capability! };
}

/** The same question without the capability: may one be issued for it? */
export function approvedNow(state: IntentState | null, hash: string, moment: Moment): Standing | Denial {
  const asked = named(state, hash);
  if ('eligible' in asked) return asked;
  const standing = standingOf(asked, moment);
  return standing.not_granted ?? standing;
}
