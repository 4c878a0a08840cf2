import * as z from 'zod';
import { once } from '../canonical/once.ts';
import type { Signer } from '../identity/act.ts';
import type { Envelope } from '../intent/envelope.ts';
import type { Proposal } from '../journey/propose.ts';
import { calledName } from '../mcp-call/name.ts';
import { digest, id, name, time } from './parts.ts';

/** What a proposer is told of its proposal. */
export const proposal = once(() =>
  z.strictObject({
    intent_id: id,
    hash: digest,
    tool: name,
    effect_digest: digest,
    proposer: name,
    /** Whether the proposer's key signed it. */
    signed: z.boolean(),
    replaces: id.nullable(),
    expires_at: time,
    /** Who has it can withdraw the intent. It is told only here. Null where the proposer signed. */
    receipt: z.string().nullable(),
    /** It was proposed before, under the same idempotency key. */
    repeated: z.boolean(),
  }),
);

export function proposalAnswer(
  { intent_id, hash, receipt, repeated, envelope }: Proposal,
  signer: Signer | undefined,
) {
  return {
    intent_id,
    hash,
    tool: nameOf(envelope.effect),
    effect_digest: envelope.effect.digest,
    proposer: envelope.issuer,
    signed: signer !== undefined,
    replaces: envelope.replaces,
    expires_at: envelope.expiry,
    receipt,
    repeated,
  };
}

function nameOf(effect: Envelope['effect']): string {
  if (effect.kind === 'mcp') return calledName(effect.server, effect.tool);
  return effect.kind === 'tool' ? effect.tool : String(effect.plan.plan_id);
}
