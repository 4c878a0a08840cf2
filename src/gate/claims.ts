import { type Digest, sha256 } from '../canonical/digest.ts';
import { type Event, isSigned, type SignedKind } from '../event/event.ts';
import { statementOf } from '../identity/act.ts';
import { isDispatch } from './agent-move.ts';

/**
 * Pure: the unique keys that an event takes by being written. The second of two that want the same one
 * is refused, so each of these facts is in the ledger at most once.
 */
export function claimsOf(event: Event): readonly string[] {
  const { kind, subject, body } = event;
  switch (kind) {
    case 'intent.proposed':
      return [`intent:${subject}`];
    case 'execution.claimed':
      return [`execution:${subject}:${body.attempt}`, `capability:${body.capability_id}`];
    case 'mcp.shadowed':
    case 'mcp.shadow_ended':
      return [`${kind}:${subject}`];
    // What was erased stays erased: a store does not take its bytes again.
    case 'object.erased':
      return [erasedClaim(subject)];
    case 'rollback.claimed':
      return [`rollback:${body.execution_id}:${body.round}`];
    case 'agent.moved':
      return isDispatch(body) ? [`idempotency:${body.idempotency_key}`] : NONE;
    default:
      return isSigned(event) ? [actClaim(event)] : NONE;
  }
}

/**
 * A human signs an act to be done once. Who reads the ledger has its statement and its proof, and would do it again within its deadline.
 * It goes by what was signed: the bytes of a proof can be others for the same statement.
 */
function actClaim({ kind, subject, body }: Event): string {
  return `${ACT}${sha256(statementOf('', kind as SignedKind, subject, body))}`;
}

const ACT = 'act:';

export function isActClaim(claim: string): boolean {
  return claim.startsWith(ACT);
}

export function erasedClaim(digest: Digest): string {
  return `erased:${digest}`;
}

const NONE: readonly string[] = [];
