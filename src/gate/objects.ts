import type { Digest } from '../canonical/digest.ts';
import type { Body, Event, EventKind } from '../event/event.ts';

/** What a stored object is to the fact that names it. */
export type ObjectRole =
  | 'envelope'
  | 'effect'
  | 'decision'
  | 'output'
  | 'report'
  | 'registry'
  | 'content'
  | 'policies'
  | 'token'
  | 'bounds'
  | 'server'
  | 'grant bounds'
  | 'call'
  | 'simulation'
  | 'simulation proof'
  | 'simulation bound'
  | 'catalog'
  | 'artifacts'
  | 'goal'
  | 'finder packet'
  | 'agent plan'
  | 'confirmation'
  | 'words'
  | 'dispatch decision'
  | 'outcome'
  | 'intake';

export interface NamedObject {
  readonly role: ObjectRole;
  readonly digest: Digest;
}

type Named = readonly (readonly [ObjectRole, Digest | null])[];

/**
 * The stored objects that each fact names. Other digests name nothing that is stored: the id of a plan, a key that is spent
 * once, a capability that its holder made narrower, a hash from a request, which may be of nothing.
 */
const NAMED: { readonly [K in EventKind]?: (body: Body<K>) => Named } = {
  'policy.activated': ({ snapshot }) => [['policies', snapshot]],
  'mcp.accepted': ({ accepted }) => [['server', accepted]],
  'mcp.shadowed': ({ accepted, effect, ruling }) => [
    ['server', accepted],
    ['effect', effect],
    ['decision', ruling],
  ],
  'mcp.shadow_ended': ({ output }) => [['output', output.digest]],
  'call.passed': called,
  'call.blocked': called,
  'delegation.granted': ({ grant }) => [['grant bounds', grant?.bounds ?? null]],
  'intent.proposed': ({ hash, effect_digest, registry_digest, alternates, contents }) => [
    ['envelope', hash],
    ['effect', effect_digest],
    ['registry', registry_digest],
    ...alternates.map((one) => ['effect', one.effect_digest] as const),
    ...contents.map((one) => ['content', one] as const),
  ],
  'intent.refused': decided,
  'intent.submitted': decided,
  'intent.delegated': decided,
  'approval.granted': decided,
  'order.given': ({ bounds, decision }) => [
    ['bounds', bounds],
    ['decision', decision],
  ],
  'order.denied': decided,
  'capability.issued': ({ token, policy, decision }) => [
    ['token', token],
    ['policies', policy],
    ['decision', decision],
  ],
  'capability.denied': decided,
  'break_glass.used': decided,
  'execution.claimed': ({ policy, decision }) => [
    ['policies', policy],
    ['decision', decision],
  ],
  'execution.refused': decided,
  'violation.detected': decided,
  'execution.finished': ({ stdout, stderr, reports }) => [
    ['output', stdout.digest],
    ['output', stderr.digest],
    ...Object.values(reports).map((report) => ['report', report] as const),
  ],
  'rollback.finished': ({ report }) => [['report', report]],
  'simulation.changed': ({ definition, proof, bound }) => [
    ['simulation', definition],
    ['simulation proof', proof],
    ['simulation bound', bound],
  ],
  'agent.received': ({ finder_packet, goal, catalog_snapshot, policy_snapshot }) => [
    ['finder packet', finder_packet],
    ['goal', goal],
    ['catalog', catalog_snapshot],
    ['policies', policy_snapshot],
  ],
  'agent.planned': ({ plan, refs }) => [['agent plan', plan], ...referred(refs)],
  'agent.confirmed': ({ proof, text }) => [
    ['confirmation', proof],
    ['words', text],
  ],
  'agent.access': decided,
  'agent.moved': ({ refs, dispatch_decision_hash, outcome }) => [
    ...referred(refs),
    ['dispatch decision', dispatch_decision_hash],
    ['outcome', outcome],
  ],
  'intake.recorded': ({ packet }) => [['intake', packet]],
};

function called({ call, decision }: { readonly call: Digest; readonly decision: Digest | null }): Named {
  return [
    ['call', call],
    ['decision', decision],
  ];
}

function decided({ decision }: { readonly decision: Digest | null }): Named {
  return [['decision', decision]];
}

/** All but the name of what undoes a step. */
function referred(refs: Body<'agent.moved'>['refs']): Named {
  return [
    ['finder packet', refs.finder_packet_ref],
    ['policies', refs.policy_snapshot_ref],
    ['catalog', refs.catalog_snapshot_ref],
    ['artifacts', refs.artifact_fingerprint_bundle_ref],
    ['decision', refs.access_decision_ref],
    ['confirmation', refs.confirmation_parse_proof_ref],
  ];
}

/** The objects that were stored with a fact, or before it. */
export function objectsOf(event: Event): NamedObject[] {
  const named = NAMED[event.kind] as ((body: Event['body']) => Named) | undefined;
  const found = named ? named(event.body) : [];
  return found.flatMap(([role, digest]) => (digest === null ? [] : [{ role, digest }]));
}

/**
 * What is never erased: the rules that decisions were made by, which hold no words of a person, and without which no
 * decision can be made or made again; and capabilities, which are revoked instead.
 */
const KEPT: ReadonlySet<ObjectRole> = new Set<ObjectRole>([
  'policies',
  'token',
  'server',
  'grant bounds',
  'simulation',
  'simulation proof',
  'simulation bound',
  'catalog',
  'artifacts',
]);

export function isKept(role: ObjectRole): boolean {
  return KEPT.has(role);
}

/** The digest whose bytes go with this entry; null where none go. */
export function removedBy({ kind, subject }: Pick<Event, 'kind' | 'subject'>): Digest | null {
  return kind === 'object.erased' || kind === 'object.expired' ? subject : null;
}

/**
 * What entries say of objects, read in their order. An erased object never comes back; one that a gc removed is stored again with
 * the next entry that names it.
 */
export class ObjectRecord {
  readonly #named = new Map<Digest, number>();
  readonly #erased = new Set<Digest>();
  readonly #expired = new Map<Digest, number>();

  names(digest: Digest, seq: number): void {
    this.#named.set(digest, seq);
  }

  removes({ kind, subject }: Pick<Event, 'kind' | 'subject'>, seq: number): void {
    if (kind === 'object.erased') this.#erased.add(subject);
    if (kind === 'object.expired') this.#expired.set(subject, seq);
  }

  named(): Digest[] {
    return [...this.#named.keys()];
  }

  /** False where an entry says that its bytes were removed, and none names it after that. */
  mustBeStored(digest: Digest): boolean {
    return !this.#erased.has(digest) && (this.#expired.get(digest) ?? -1) <= (this.#named.get(digest) ?? -1);
  }
}

/** What an export or a proof with objects holds. A capability is left out: until it is spent, any bearer may use it. */
export function disclosedBy(event: Event): Digest[] {
  return objectsOf(event)
    .filter(({ role }) => role !== 'token')
    .map(({ digest }) => digest);
}
