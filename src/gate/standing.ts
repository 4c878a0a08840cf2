import { isLiveAct } from '../identity/authority.ts';
import type { Authorities } from '../identity/delegation.ts';
import { isMadeLater } from '../identity/made.ts';
import { isLive } from '../identity/principal.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import { capabilityNow } from './capability.ts';
import { type Freeze, freezeWords, frozenFor } from './freeze.ts';
import { BLOCKS } from './next.ts';
import { signersOf } from './signers.ts';
import type { Approval, Approver, Capability, IntentState } from './state.ts';

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
  /** The tools of a plan, besides the one that it is named after. */
  readonly tools?: readonly string[];
}

/** An approval that does not count now, and why. */
export interface Lapsed {
  readonly approval: Approval;
  readonly code: 'APPROVAL_EXPIRED' | 'MADE_IN_FUTURE' | 'APPROVER_REVOKED';
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

/** What holds about an intent at one moment. Whatever judges an intent, or tells where it stands, reads this. */
export interface Standing {
  readonly state: IntentState;
  readonly counted: readonly Approval[];
  readonly lapsed: readonly Lapsed[];
  /** The humans behind the approvals that count, each once. */
  readonly approvers: readonly string[];
  readonly freeze: Freeze | null;
  /** The capability that a run would use; null where there is none that could be used. */
  readonly capability: Capability | null;
  /** Why no capability may be granted for it now; null where one may. */
  readonly not_granted: Denial | null;
  /** Why it may not run now; null where it may. */
  readonly not_run: Denial | null;
}

export function standingOf(state: IntentState, moment: Moment): Standing {
  const { counted, lapsed } = approvalsNow(state, moment);
  const approvers = signersOf(counted);
  const freeze = freezeIn(state, moment);
  const not_granted = notGranted(state, moment, { approvers, lapsed, freeze });
  const found = capabilityNow(state, moment.now);
  const capability = typeof found === 'string' ? null : found;
  const not_run = not_granted ?? notRun(found, { counted, lapsed }, moment);
  return { state, counted, lapsed, approvers, freeze, capability, not_granted, not_run };
}

/** The approvals that count, and those that do not: all that policies are told of the standing. */
export function approvalsNow(
  { approvals }: IntentState,
  moment: Pick<Moment, 'now' | 'authorities'>,
): Pick<Standing, 'counted' | 'lapsed'> {
  const judged = approvals.map((approval) => ({ approval, code: lapseOf(approval, moment) }));
  return {
    counted: judged.filter(({ code }) => code === null).map(({ approval }) => approval),
    lapsed: judged.filter((one): one is Lapsed => one.code !== null),
  };
}

/** Why an approval does not count; null where it does. It dies with the key that made it, and with its delegation. */
function lapseOf(
  approval: Approval,
  { now, authorities }: Pick<Moment, 'now' | 'authorities'>,
): Lapsed['code'] | null {
  const at = now.toISOString();
  if (isMadeLater(approval.signed_at, at)) return 'MADE_IN_FUTURE';
  if (Date.parse(approval.expires_at) <= now.getTime()) return 'APPROVAL_EXPIRED';
  return isLiveAct(authorities, approval, at) ? null : 'APPROVER_REVOKED';
}

function freezeIn(state: IntentState, { now, tenant, freezes, authorities, tools }: Moment) {
  const isLiveKey = (name: string, key: string) => isLive(authorities.principal(name), key);
  return frozenFor(state, {
    freezes,
    tenant,
    at: now.toISOString(),
    isLiveKey,
    ...(tools && { tools }),
  });
}

type Counted = Pick<Standing, 'counted' | 'lapsed'>;

/** Approval first, then history, as 000 section 4 orders it; then the freeze. */
function notGranted(
  state: IntentState,
  { now, ledger_at, set_back_at }: Moment,
  { approvers, lapsed, freeze }: Pick<Standing, 'approvers' | 'lapsed' | 'freeze'>,
): Denial | null {
  const block = BLOCKS[state.status];
  if (block !== null) return denied(block, { executed_at: state.runs.at(-1)?.claimed_at ?? null });
  if (ledger_at !== null && now.getTime() < Date.parse(ledger_at) - limits.clock_skew_ms)
    return denied('CLOCK_BEHIND');
  if (set_back_at !== null && Date.parse(state.proposed_at) <= Date.parse(set_back_at))
    return denied('LEDGER_SET_BACK');
  if (Date.parse(state.expires_at) <= now.getTime()) return denied('INTENT_EXPIRED');
  if (isMadeLater(state.proposed_at, now.toISOString())) return denied('MADE_IN_FUTURE');
  if (approvers.length < state.approvals_needed) return denied(whyLapsed(lapsed));
  return freeze ? denied('FROZEN', { words: freezeWords(freeze) }) : null;
}

const REASONS = ['MADE_IN_FUTURE', 'APPROVER_REVOKED', 'APPROVAL_EXPIRED'] as const;

/** One reason of several: a revoked key says more than the time that passed. */
function whyLapsed(lapsed: readonly Lapsed[]): ReasonCode {
  return REASONS.find((code) => lapsed.some((one) => one.code === code)) ?? 'APPROVAL_MISSING';
}

function notRun(
  found: Capability | ReasonCode,
  approvals: Counted,
  { now, authorities }: Moment,
): Denial | null {
  if (typeof found === 'string') return denied(found);
  const lost =
    lostOrder(found, authorities, now.toISOString()) ??
    lostBy(found.issued?.approvers ?? found.approvers, approvals, authorities);
  return lost && denied(lost.code, { words: lost.message });
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
