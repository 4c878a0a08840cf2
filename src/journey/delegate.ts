import type { Event } from '../event/event.ts';
import { drawnAt, drawnId, type Signer, signAct } from '../identity/act.ts';
import { hasKey, onlyKeyOf } from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { type GrantLimits, sealGrant } from './grant-bounds.ts';

export interface DelegateRequest {
  /** An enrolled principal with a key. */
  readonly delegate: string;
  /** Which of its keys; needed where it has several. */
  readonly delegate_key?: string;
  readonly actions: readonly string[];
  readonly ttl_s: number;
  /** Whether what is submitted under it counts as approved by the human at the root. */
  readonly approves?: boolean;
  readonly reason: string;
  /** A human; or a delegate who passes a delegation on. */
  readonly signer: Signer;
  readonly delegation?: string;
  /** Makes it a grant: so many uses, within these limits. */
  readonly grant?: GrantLimits;
}

/** A human lets the key of another principal submit and be granted certain actions, until a certain time. */
export async function delegate(
  context: Context,
  request: DelegateRequest,
): Promise<Event<'delegation.granted'>> {
  const { delegate: name, actions, ttl_s, approves = false, reason, signer, delegation = null } = request;
  const principal =
    (await context.store.find('principal', name)) ??
    refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  const { delegate_key = onlyKeyOf(principal) } = request;
  // Nothing could be done under it, and a key that was mistyped would be noticed only then.
  if (!hasKey(principal, delegate_key)) refuse('KEY_FILE_INVALID', `"${name}" has no such key.`);
  if (approves && !request.grant && actions.some((action) => action.startsWith('mcp:')))
    refuse(
      'GRANT_BOUNDS_MALFORMED',
      'What approves calls of an MCP server has a number of uses: without one nothing would count them.',
    );
  const bounds = request.grant ? await sealGrant(context, actions, request.grant) : null;
  const now = context.clock();
  const expires_at = new Date(drawnAt(signer, now).getTime() + ttl_s * 1000).toISOString();
  const facts = {
    delegate: name,
    delegate_key,
    actions: [...actions],
    approves,
    grant: bounds && { uses: request.grant!.uses, bounds: bounds.digest },
    expires_at,
    delegation,
    reason,
  };
  const granted = await signAct(context.origin, 'delegation.granted', drawnId(signer), facts, signer, now);
  await context.store.commit({ events: [granted], objects: bounds ? [bounds.bytes] : [] });
  return granted;
}

export interface RevokeDelegationRequest {
  readonly delegation_id: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Takes a delegation back, with everything that was passed on from it. */
export async function revokeDelegation(
  context: Context,
  { delegation_id, reason, signer }: RevokeDelegationRequest,
): Promise<Event<'delegation.revoked'>> {
  const now = context.clock();
  const revoked = await signAct(context.origin, 'delegation.revoked', delegation_id, { reason }, signer, now);
  await context.store.commit({ events: [revoked] });
  return revoked;
}
