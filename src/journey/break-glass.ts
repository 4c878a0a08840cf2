import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { breakGlassSince } from '../gate/break-glass.ts';
import { standingOf } from '../gate/standing.ts';
import { type Signer, signAct } from '../identity/act.ts';
import type { Authorities } from '../identity/delegation.ts';
import { isLive, requireHuman } from '../identity/principal.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { momentFor, refuseDenied, requireFormats } from './check.ts';
import { type Context, type Kept, recordingRefusal, requireClock, requireIntent } from './context.ts';
import { decidedHere } from './control.ts';
import { openAsked } from './effect.ts';
import { signedOnce } from './fresh.ts';
import { type Matter, rule } from './rules.ts';

export interface BreakGlassRequest {
  readonly intent_id: string;
  readonly hash: string;
  readonly reason: string;
  readonly signer: Signer;
}

/**
 * Two humans go past a freeze and past what the policies forbid, for one attempt of one intent, and only if a policy of the
 * emergency scope permits it. Approval, digest and single use stay as they are.
 */
export async function breakGlass(
  context: Context,
  request: BreakGlassRequest,
): Promise<Event<'break_glass.used'>> {
  const { intent_id, hash, signer } = request;
  requireFormats(intent_id, hash);
  return recordingRefusal(context, forbidden(request), (keep) =>
    signedOnce(context, signer, (once) => breakNow(context, { ...request, signer: once }, keep)),
  );
}

async function breakNow(
  context: Context,
  request: BreakGlassRequest,
  keep: (ruling: Kept) => void,
): Promise<Event<'break_glass.used'>> {
  const { intent_id, hash, reason, signer } = request;
  const { state, system, ruling, now } = await weighBreakGlass(context, request, keep);
  const facts = { attempt: state.attempt, hash, decision: ruling.digest, reason };
  const broken = await signAct(context.origin, 'break_glass.used', intent_id, facts, signer, now);
  const events = decidedHere(context, signer, system, [broken]);
  await context.store.commit({ events, objects: [ruling.bytes] });
  return events[0] as Event<'break_glass.used'>;
}

/** Everything that would refuse it and can be known before a human signs. */
export async function weighBreakGlass(
  context: Context,
  { intent_id, hash, signer }: Omit<BreakGlassRequest, 'reason'>,
  keep: (ruling: Kept) => void,
) {
  const now = await requireClock(context);
  const state = await requireIntent(context, intent_id);
  if (state.hash !== hash) refuse('HASH_MISMATCH');
  const { not_open } = standingOf(state, await momentFor(context, state));
  if (not_open) refuseDenied(not_open);
  const principal = requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const system = await context.store.system();
  const asked = await openAsked(context, state);
  const ruling = await rule(context, { action: 'break_glass', principal, state, ...asked, system, now });
  keep(ruling);
  if (!ruling.decision.allowed) refuse('BREAK_GLASS_FORBIDDEN', ruling.decision.words);
  return { state, system, ruling, now };
}

/**
 * Whether two humans still go past the policies for this attempt: their keys are good, it is not too long ago, and the
 * policies still permit a break-glass.
 */
export async function breakGlassHolds(
  context: Context,
  matter: Omit<Matter, 'action'>,
  authorities: Authorities,
): Promise<boolean> {
  const { state, now } = matter;
  const breaker = state.break_glass.at(-1);
  const isLiveKey = (name: string, key: string) => isLive(authorities.principal(name), key);
  if (!breaker || breakGlassSince(state, now.toISOString(), isLiveKey) === null) return false;
  const principal = authorities.principal(breaker.by);
  if (!principal) return false;
  const { decision } = await rule(context, { ...matter, principal, delegated: false, action: 'break_glass' });
  return decision.allowed;
}

function forbidden({ intent_id, hash, signer }: BreakGlassRequest) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => ({
    kind: 'capability.denied',
    subject: intent_id,
    body: { hash, by: signer.name, reason_code, decision },
  });
}
