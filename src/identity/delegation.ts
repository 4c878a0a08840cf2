import type { Body, Event } from '../event/event.ts';
import { limits, mcpLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isMadeLater } from './made.ts';
import { hasKey, isLive, type Principal } from './principal.ts';

/** What a human allows the key of an agent to do: which actions, until when, and whether it stands for an approval. */
export interface Delegation {
  readonly delegation_id: string;
  readonly delegate: string;
  readonly delegate_key: string;
  readonly actions: readonly string[];
  readonly approves: boolean;
  /** How often it may be used, and within which bounds: a grant. Null for any number of times. */
  readonly grant: Body<'delegation.granted'>['grant'];
  readonly expires_at: string;
  readonly parent: string | null;
  /** The human at the root. When that key is revoked, so is everything that rests on it. */
  readonly root: { readonly by: string; readonly key: string };
  /** From the human to the delegate. */
  readonly chain: readonly string[];
  readonly granted_at: string;
  readonly status: 'active' | 'revoked';
}

export const DELEGATION_KINDS = ['delegation.granted', 'delegation.revoked'] as const;

export type DelegationEvent = Event<(typeof DELEGATION_KINDS)[number]>;

/** Whom a judgement may look up. */
export interface Authorities {
  principal(name: string): Principal | null;
  delegation(delegation_id: string): Delegation | null;
}

/** Pure: the delegation after this event. A chain never gets wider, longer than its parent, or back to its own links. */
export function nextDelegation(
  state: Delegation | null,
  event: DelegationEvent,
  at: string,
  { delegation }: Authorities,
): Delegation {
  if (event.kind === 'delegation.revoked') {
    if (state === null) refuse('DELEGATION_UNKNOWN');
    if (state.status === 'revoked') refuse('DELEGATION_REVOKED');
    return { ...state, status: 'revoked' };
  }
  if (state !== null) refuse('TRANSITION_ILLEGAL', 'This delegation id was used before.');
  const { delegation: parent_id, by, key } = event.body;
  const parent =
    parent_id === null ? null : (delegation(parent_id) ?? refuse('DELEGATION_UNKNOWN', undefined));
  const granted = delegationOf(event, at, parent ?? { root: { by, key }, chain: [by] });
  requireBounds(granted, at);
  if (parent) requireNarrower(granted, parent);
  return granted;
}

function delegationOf(
  { subject, body }: Event<'delegation.granted'>,
  granted_at: string,
  { root, chain }: Pick<Delegation, 'root' | 'chain'>,
): Delegation {
  const { delegate, delegate_key, actions, approves, grant, expires_at, delegation } = body;
  if (chain.includes(delegate)) refuse('DELEGATION_CYCLE', `"${delegate}" is in the chain already.`);
  return {
    delegation_id: subject,
    delegate,
    delegate_key,
    actions,
    approves,
    grant,
    expires_at,
    parent: delegation,
    root,
    chain: [...chain, delegate],
    granted_at,
    status: 'active',
  };
}

function requireBounds({ expires_at, chain, grant, approves }: Delegation, at: string): void {
  const life_ms = Date.parse(expires_at) - Date.parse(at);
  if (life_ms <= 0) refuse('DELEGATION_EXPIRED', 'It would have ended before it began.');
  if (life_ms > limits.delegation_ttl_s * 1000)
    refuse('TIME_MALFORMED', `A delegation holds ${limits.delegation_ttl_s / 86_400} days at most.`);
  if (grant && life_ms > mcpLimits.grant_ttl_s * 1000)
    refuse('TIME_MALFORMED', `A grant holds ${mcpLimits.grant_ttl_s / 3600} hours at most.`);
  // What it does not approve could not be told from what was never submitted under it.
  if (grant && !approves)
    refuse('GRANT_BOUNDS_MALFORMED', 'A grant stands for the look of a human, so it approves.');
  if (chain.length - 1 > limits.delegation_depth)
    refuse('DELEGATION_WIDENED', `It can be passed on ${limits.delegation_depth - 1} times.`);
}

function requireNarrower(child: Delegation, parent: Delegation): void {
  if (parent.grant) refuse('DELEGATION_WIDENED', 'What was granted for a number of uses is not passed on.');
  const wider = child.actions.find((action) => !parent.actions.some((given) => includes(given, action)));
  if (wider !== undefined) refuse('DELEGATION_WIDENED', `"${wider}" was not delegated.`);
  if (child.approves && !parent.approves)
    refuse('DELEGATION_WIDENED', 'The right to approve was not delegated.');
  if (Date.parse(child.expires_at) > Date.parse(parent.expires_at))
    refuse('DELEGATION_WIDENED', 'It would outlive the delegation that it passes on.');
}

/** Whether everything that `asked` stands for is given: `tool:*` includes `tool:deploy` and `tool:dep*`. */
export function includes(given: string, asked: string): boolean {
  return given.endsWith('*') ? asked.startsWith(given.slice(0, -1)) : asked === given;
}

export function covers({ actions }: Delegation, asked: readonly string[]): boolean {
  return asked.every((action) => actions.some((given) => includes(given, action)));
}

/** A delegation holds while every link of its chain does and the human at its root still has that key. */
export function requireHolds(authorities: Authorities, delegation_id: string, at: string): Delegation {
  const asked = authorities.delegation(delegation_id) ?? refuse('DELEGATION_UNKNOWN');
  for (let link: Delegation | null = asked; link; link = parentOf(authorities, link)) {
    if (link.status === 'revoked') refuse('DELEGATION_REVOKED');
    if (Date.parse(link.expires_at) <= Date.parse(at)) refuse('DELEGATION_EXPIRED');
    if (isMadeLater(link.granted_at, at)) refuse('MADE_IN_FUTURE');
    if (!hasKey(authorities.principal(link.delegate), link.delegate_key)) refuse('KEY_REVOKED');
  }
  const { by, key } = asked.root;
  if (!isLive(authorities.principal(by), key))
    refuse('DELEGATION_REVOKED', `The key of ${by} no longer counts.`);
  return asked;
}

function parentOf({ delegation }: Authorities, { parent }: Delegation): Delegation | null {
  return parent === null ? null : (delegation(parent) ?? refuse('DELEGATION_UNKNOWN'));
}
