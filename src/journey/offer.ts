import type { ResourceScope } from '../capability/scope.ts';
import { showEffect } from '../display/effect.ts';
import type { Shown } from '../display/shown.ts';
import type { Event } from '../event/event.ts';
import { approvedNow } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { refuse } from '../refusal.ts';
import { orderAudience } from './addressed.ts';
import { provenState } from './audit.ts';
import { momentOf, refuseDenied, requireFormats } from './check.ts';
import { type Context, recordingRefusal } from './context.ts';
import { openAsked } from './effect.ts';
import type { GrantRequest } from './grant.ts';
import { neededScope } from './reach.ts';
import { termsOf } from './terms.ts';

export interface OfferRequest extends Omit<GrantRequest, 'signer' | 'delegation'> {
  /** Who is about to ask for a capability. */
  readonly by: string;
}

/** What a capability for the intent would allow, unless the caller asks for less. */
export interface Offer {
  readonly state: IntentState;
  readonly shown: Shown;
  readonly needs: ResourceScope;
  readonly audience: string;
  readonly ttl_s: number;
}

/**
 * What a human looks at before signing an order. Where the gate would say no in any case it says so now, before the human
 * types a passphrase, and that refusal is recorded as the one of the order itself would be.
 */
export async function offer(context: Context, request: OfferRequest): Promise<Offer> {
  const { intent_id, hash, by } = request;
  requireFormats(intent_id, hash);
  const denied = (reason_code: Event<'capability.denied'>['body']['reason_code']): Event => ({
    kind: 'capability.denied',
    subject: intent_id,
    body: { hash, by, reason_code, decision: null },
  });
  return recordingRefusal(context, denied, async () => {
    const proven = (await provenState(context, intent_id)) ?? refuse('INTENT_NOT_FOUND');
    const moment = await momentOf(context, proven.system, proven.authorities);
    const standing = approvedNow(proven.state, hash, moment);
    if ('eligible' in standing) return refuseDenied(standing);
    const { state } = standing;
    const asked = await openAsked(context, state);
    termsOf(context, request, state, asked, moment.now);
    const { effect } = asked;
    const { capability_ttl_s: ttl_s } = context;
    const audience = orderAudience(context, proven.system, effect);
    return { state, shown: showEffect(effect), needs: neededScope(effect), audience, ttl_s };
  });
}
