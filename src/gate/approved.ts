import type { Event } from '../event/event.ts';
import { proofAssurance } from '../identity/assurance.ts';
import { refuse } from '../refusal.ts';
import { missingOf, signersOf } from './signers.ts';
import type { Approval, IntentState } from './state.ts';

/** Approved once enough different humans have signed: one who signs twice counts once. */
export function withApproval(state: IntentState, approval: Approval): IntentState {
  const approvals = [...state.approvals, approval];
  const is_enough = missingOf(state, signersOf(approvals)) === 0;
  return { ...state, approvals, status: is_enough ? 'approved' : state.status };
}

/** A delegation that says so counts as an approval by the human at its root. The store knows whether it says so. */
export function delegated(state: IntentState, { body }: Event<'intent.delegated'>): IntentState {
  const { approver, signed_at, expires_at, delegation } = body;
  const submitted = { ...state, delegates: [...new Set([...state.delegates, body.by])] };
  if (approver === null) return submitted;
  return withApproval(submitted, {
    signed_at,
    expires_at,
    assurance: 'delegation',
    account: null,
    delegation,
    ...approver,
  });
}

export function approved(state: IntentState, { body }: Event<'approval.granted'>): IntentState {
  const { by, key, signed_at, expires_at, account, signature } = body;
  const approval = { by, key, signed_at, expires_at, account, delegation: null };
  return withApproval(state, { assurance: proofAssurance(signature), ...approval });
}

/** One signature can approve and order. With it, enough humans must have approved. */
export function approvedBy(state: IntentState, { body }: Event<'order.given'>): IntentState {
  const { by, key, signed_at, approves_until: expires_at, account, signature } = body;
  if (expires_at === null) return state;
  const approval = { by, key, signed_at, expires_at, account, delegation: null };
  const after = withApproval(state, { assurance: proofAssurance(signature), ...approval });
  return after.status === 'approved' ? after : refuse('APPROVAL_MISSING');
}
