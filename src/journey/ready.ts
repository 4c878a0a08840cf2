import type { Digest } from '../canonical/digest.ts';
import { approvedNow, type Denial, lostBy, lostOrder, type Moment, type Standing } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { requireExecutor } from '../gate/system.ts';
import type { Authorities } from '../identity/delegation.ts';
import { refuse } from '../refusal.ts';
import { requireBoundHere } from './addressed.ts';
import { provenState } from './audit.ts';
import { breakGlassHolds } from './break-glass.ts';
import { momentOf, refuseDenied } from './check.ts';
import type { Context } from './context.ts';
import type { Derived, Prepared } from './derived.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { requireBounds } from './extent.ts';
import { type AskedToRun, capabilityFor, type Issue, type Looking } from './issue.ts';
import type { Presented, UsableCapability } from './present.ts';
import { provenDispatch } from './prove-agent.ts';
import { secretsIn } from './reach.ts';
import { type Matter, type Ruling, requireAllowed, rule } from './rules.ts';
import { seenOf } from './seen.ts';

/** Which run is meant. */
export interface LookRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** A capability from elsewhere, such as one that was made narrower; without it the one that a human granted. */
  readonly capability?: Presented;
  /** When the call came that this run is for, in milliseconds of this process. */
  readonly since_ms?: number | undefined;
}

/** A run that only has to be claimed. */
export interface Ready {
  readonly state: IntentState;
  readonly seen: Digest;
  readonly capability: UsableCapability;
  /** The capability itself, where it was only ordered: it is issued with the claim. */
  readonly issue: Issue | null;
  readonly ruling: Ruling;
  readonly matter: Omit<Matter, 'action' | 'system' | 'now'>;
  readonly derived: Derived;
  readonly prepared: Prepared;
}

/** Every question that can be asked before the claim, in the order of 000, 001 and 002, from the signed entries. */
export async function makeReady(
  context: Context,
  { intent_id, hash, capability: presented, since_ms }: LookRequest,
  looking: Looking,
  earlier?: Pick<Ready, 'state' | 'derived'>,
): Promise<Ready> {
  const { moment, ...about } = await askedToRun(
    context,
    { intent_id, hash },
    context.executor_key().public_key,
  );
  const { standing, system, authorities, asked, now } = about;
  const { state } = standing;
  const { issue, capability } = await capabilityFor(context, about, presented ?? {}, looking);
  requireStillCounted(standing, capability, moment);

  const { recorded } = capability;
  const principal = authorities.principal(recorded.by) ?? refuse('PRINCIPAL_UNKNOWN');
  const matter = { principal, delegated: recorded.delegation !== null, state, ...asked, authorities };
  const ruling = await rule(context, { action: 'execute', system, now, ...matter });
  looking.keep(ruling);
  const break_glass =
    recorded.issued.break_glass && (await breakGlassHolds(context, { system, now, ...matter }, authorities));
  if (!break_glass) requireAllowed(ruling);

  const derived = await requireSameEffect(context, state, asked, { earlier, is_prepared: true });
  requireBounds(context, asked.envelope, derived.effect);
  const secrets = await context.secrets(secretsIn(derived.effect));
  const prepared = await derived.prepare(capability.held.claims.scope, secrets, since_ms);
  const shown = { order_id: recorded.capability_id, bounds: recorded.bounds, ...state };
  const seen = seenOf(shown, presented?.text === undefined ? null : capability.held.digest);
  return { state, seen, capability, issue, ruling, matter, derived, prepared };
}

/** What the decision to issue a capability to this executor is made from. Refused where the intent may not run, or not there. */
export async function askedToRun(
  context: Context,
  { intent_id, hash }: Pick<LookRequest, 'intent_id' | 'hash'>,
  executor: string,
): Promise<AskedToRun & { readonly moment: Moment }> {
  // A row can be forged; a signature cannot.
  const proven = await provenState(context, intent_id);
  const moment: Moment = {
    ...(await momentOf(
      context,
      proven?.system ?? (await context.store.system()),
      proven?.authorities ?? NOBODY,
      proven?.end,
    )),
    dispatched: proven && (await provenDispatch(context, proven.state)),
  };
  const standing = approvedNow(proven?.state ?? null, hash, moment);
  if (proven === null || 'eligible' in standing) return refuseDenied(standing as Denial);
  const { system, authorities, state } = proven;
  const known = requireExecutor(system, executor);
  if (standing.not_dispatched) refuseDenied(standing.not_dispatched);
  const asked = await openAsked(context, state);
  requireBoundHere(known, asked.effect);
  return { standing, system, authorities, asked, now: moment.now, moment };
}

const NOBODY: Authorities = { principal: () => null, delegation: () => null };

/** What the capability rests on: who ordered it, and the approvers whom the decision to issue it counted. */
function requireStillCounted(
  standing: Standing,
  { recorded }: UsableCapability,
  { authorities, now }: Moment,
): void {
  const lost =
    lostOrder(recorded, authorities, now.toISOString()) ??
    lostBy(recorded.issued.approvers, standing, authorities);
  if (lost) throw lost;
}
