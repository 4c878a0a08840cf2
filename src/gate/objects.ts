import type { Digest } from '../canonical/digest.ts';
import type { Body, Event, EventKind } from '../event/event.ts';

type Named = readonly (Digest | null)[];

/**
 * The stored objects that each fact names. Other digests name nothing that is stored: the id of a plan, a key that is spent
 * once, a capability that its holder made narrower, a hash that somebody asked for and that may be of nothing.
 */
const NAMED: { readonly [K in EventKind]?: (body: Body<K>) => Named } = {
  'policy.activated': ({ snapshot }) => [snapshot],
  'intent.proposed': ({ hash, effect_digest, registry_digest, alternates }) => [
    hash,
    effect_digest,
    registry_digest,
    ...alternates.map((one) => one.effect_digest),
  ],
  'intent.refused': decided,
  'intent.submitted': decided,
  'intent.delegated': decided,
  'approval.granted': decided,
  'capability.issued': ({ token, policy, decision }) => [token, policy, decision],
  'capability.denied': decided,
  'glass.broken': decided,
  'execution.claimed': ({ policy, decision }) => [policy, decision],
  'execution.refused': decided,
  'violation.detected': decided,
  'execution.finished': ({ stdout, stderr, reports }) => [
    stdout.digest,
    stderr.digest,
    ...Object.values(reports),
  ],
  'rollback.finished': ({ report }) => [report],
  'simulation.changed': ({ definition, proof }) => [definition, proof],
  'agent.received': ({ finder_packet, goal, catalog_snapshot, policy_snapshot }) => [
    finder_packet,
    goal,
    catalog_snapshot,
    policy_snapshot,
  ],
  'agent.planned': ({ plan, refs }) => [plan, ...referred(refs)],
  'agent.confirmed': ({ proof }) => [proof],
  'agent.access': decided,
  'agent.moved': ({ refs, dispatch_decision_hash, outcome }) => [
    ...referred(refs),
    dispatch_decision_hash,
    outcome,
  ],
  'intake.recorded': ({ packet }) => [packet],
};

function decided({ decision }: { readonly decision: Digest | null }): Named {
  return [decision];
}

/** All but the name of what undoes a step. */
function referred({ rollback_plan_ref: _, ...refs }: Body<'agent.moved'>['refs']): Named {
  return Object.values(refs);
}

/** The digests of the objects that were stored with a fact, or before it. */
export function objectsOf(event: Event): Digest[] {
  const named = NAMED[event.kind] as ((body: Event['body']) => Named) | undefined;
  return named ? named(event.body).filter((digest) => digest !== null) : [];
}
