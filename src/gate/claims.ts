import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { isDispatch } from './agent-move.ts';

/**
 * Pure: the unique keys that an event takes by being written, whoever writes it. The second of two that want the same one
 * is refused, so each of these facts is in the ledger at most once.
 */
export function claimsOf({ kind, subject, body }: Event): readonly string[] {
  switch (kind) {
    case 'intent.proposed':
      return [`intent:${subject}`];
    case 'execution.claimed':
      return [`execution:${subject}:${body.attempt}`, `capability:${body.capability_id}`];
    // What was erased stays erased: a store does not take its bytes again.
    case 'object.erased':
      return [erasedClaim(subject)];
    case 'rollback.claimed':
      return [`rollback:${body.execution_id}:${body.round}`];
    case 'agent.moved':
      return isDispatch(body) ? [`idempotency:${body.idempotency_key}`] : NONE;
    default:
      return NONE;
  }
}

export function erasedClaim(digest: Digest): string {
  return `erased:${digest}`;
}

const NONE: readonly string[] = [];
