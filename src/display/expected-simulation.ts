import type { Json } from '../canonical/json.ts';
import { AGENT_CORE } from '../gate/agent-core.ts';
import type { ActKnown } from './expected.ts';
import type { ExpectedAct } from './signed.ts';

/** The acts that change the status of a simulation: the change, what it delegates to the agent core, and the end of what was delegated. */

type Members = Readonly<Record<string, Json>>;

const NOTHING = { bound: null, own_delegation: null, expires_at: null };

function changeOf({ id, reason }: ActKnown, status: string, fixed: Members, free: string[]): ExpectedAct {
  return {
    kind: 'simulation.changed',
    subject: `simulation:${id}`,
    fixed: { simulation: id!, status, reason: reason!, ...fixed },
    // The digest of what was checked, which is only kept.
    free: ['proof', ...free],
  };
}

/** The delegation of an earlier activation ends with it. */
const endOf = ({ reason, replaces }: ActKnown): ExpectedAct => ({
  kind: 'delegation.revoked',
  subject: null,
  subjectOf: (before) => replaces ?? before.replaces ?? '',
  fixed: { reason: reason! },
  free: [],
});

/** It works from what was registered, so the version and its digest are the service's. */
export function withdrawnActs(known: ActKnown, status: 'Deprecated' | 'Disabled'): readonly ExpectedAct[] {
  const change = changeOf(known, status, NOTHING, ['version', 'definition', 'replaces', 'from']);
  return known.acts === 1 ? [change] : [change, endOf(known)];
}

export function registeredActs(known: ActKnown): readonly ExpectedAct[] | null {
  const draft = draftOf(known);
  if (draft === null) return null;
  return known.acts === 1 ? [draft] : [draft, endOf(known)];
}

function draftOf(known: ActKnown): ExpectedAct | null {
  const { digest, version, replaces } = known;
  if (digest === undefined || version === undefined || replaces === undefined) return null;
  return changeOf(known, 'Draft', { definition: digest, version, replaces, ...NOTHING }, ['from']);
}

/** A new version is registered first. The key of the agent core is enrolled where it never was, and then there was no delegation to end. */
export function activatedActs(known: ActKnown): readonly ExpectedAct[] | null {
  const { digest, version, bound, replaces, actions, approves, core_key, reason, is_new } = known;
  const draft = draftOf(known);
  if (draft === null || bound === undefined || !Array.isArray(actions)) return null;
  const ttl_s = Number(known.ttl_s);
  const delegates = actions.length > 0;
  const least = 1 + (is_new ? 1 : 0) + (delegates ? 1 : 0);
  const has_more = Number(known.acts) > least;
  const enrols = has_more && replaces === null;
  const active: ExpectedAct = {
    ...changeOf(
      known,
      'Active',
      { definition: digest!, version: version!, bound, replaces: is_new ? null : replaces! },
      ['expires_at', 'from'],
    ),
    at_most_s: { expires_at: ttl_s },
    follows: (_, before) => ({ own_delegation: delegates ? before.subject! : null }),
  };
  const delegation: ExpectedAct = {
    kind: 'delegation.granted',
    subject: null,
    fixed: {
      delegate: AGENT_CORE,
      actions,
      approves: approves!,
      grant: null,
      delegation: null,
      reason: reason!,
    },
    free: ['expires_at'],
    at_most_s: { expires_at: ttl_s },
    follows: (_, before) => ({ delegate_key: enrols ? keyIn(before) : (core_key ?? null) }),
  };
  const enrolment: ExpectedAct = {
    kind: 'key.enrolled',
    subject: AGENT_CORE,
    fixed: { principal: 'agent', roles: [] },
    free: ['credential'],
  };
  return [
    ...(is_new ? [draft] : []),
    ...(enrols ? [enrolment] : []),
    ...(delegates ? [delegation] : []),
    active,
    ...(has_more && !enrols ? [endOf(known)] : []),
  ];
}

const keyIn = ({ credential }: Members): Json =>
  (credential as { readonly public_key?: string } | undefined)?.public_key ?? null;
