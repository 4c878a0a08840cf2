import type { Principal } from '../identity/principal.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** The facts that decide whether this human may approve this intent now. */
export interface ApprovalRequest {
  readonly hash: string;
  readonly approved_hash: string;
  /** The approver asked for it themselves, in their own name or by way of the agent core. */
  readonly is_own: boolean;
  readonly has_expired: boolean;
  readonly approver: Principal;
  /** How many are active. */
  readonly humans: number;
}

/** Pure. While one human is enrolled they may approve what they proposed; with two or more, no one may. */
export function requireMayApprove(request: ApprovalRequest): void {
  if (request.hash !== request.approved_hash) refuse('HASH_MISMATCH');
  if (request.approver.kind !== 'human') refuse('NOT_HUMAN');
  if (request.has_expired) refuse('INTENT_EXPIRED');
  if (request.humans > 1 && request.is_own) refuse('SELF_APPROVAL');
}

/** An approval never outlives its intent. */
export function approvalExpiry(now: Date, ttl_s: number, intent_expires_at: string): string {
  if (!(ttl_s > 0) || ttl_s > limits.approval_ttl_s) {
    refuse('TIME_MALFORMED', `An approval lives ${limits.approval_ttl_s / 86_400} days at most.`);
  }
  const expiry_ms = Math.min(now.getTime() + ttl_s * 1000, Date.parse(intent_expires_at));
  return new Date(expiry_ms).toISOString();
}
