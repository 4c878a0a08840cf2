import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Line } from '../display/shown.ts';
import type { SimulationStatus } from '../event/agent.ts';
import type { Event } from '../event/event.ts';
import { type CatalogEntry, entryOf } from '../finder/catalog.ts';
import type { Simulation } from '../finder/simulation.ts';
import { fromNow, type Simulation as Registered } from '../gate/simulation.ts';
import {
  type ActDraft,
  type ActFacts,
  drawnAt,
  drawnId,
  keyMadeFor,
  type Signer,
  signActs,
} from '../identity/act.ts';
import { hasKey, requireHuman } from '../identity/principal.ts';
import type { SealedBound } from '../journey/bound.ts';
import { type BoundSection, showBound } from '../journey/bound-shown.ts';
import { enrolling } from '../journey/enrol.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { boundOf } from './bound.ts';
import { AGENT_CORE, type AgentContext } from './context.ts';
import { listConversations } from './conversation.ts';
import {
  type ChangedWords,
  changedWords,
  faultsOf,
  requireFaultless,
  type SimulationFault,
} from './faults.ts';
import { type ActivationProof, checkedOf, proofOf } from './proof.ts';
import { checkSamples } from './samples.ts';
import { approvesByDelegation, consentLines, delegatedActions } from './shown.ts';
import { definitionOf, type Snapshot, snapshotNow } from './snapshot.ts';

export interface ChangeRequest {
  readonly id: string;
  readonly reason: string;
  /** A human. */
  readonly signer: Signer;
}

/** A change that takes the file as it is. */
export interface FileRequest extends ChangeRequest {
  /** What the human looked at. A file that was changed since, even a moment ago, is refused. */
  readonly digest?: string;
}

interface ActivateRequest extends FileRequest {
  /** The digest of what the human saw that it binds. What is another one by now is refused. */
  readonly bound?: string;
  /** How long it is active: 30 days unless told. */
  readonly ttl_s?: number;
}

type Changed = Event<'simulation.changed'>;

/** Takes the file as it is now into the ledger, as a draft. From here on this version never changes. */
export async function registerSimulation(context: AgentContext, request: FileRequest): Promise<Changed> {
  const snapshot = await snapshotNow(context);
  const entry = await requireEntry(context, snapshot, request);
  const known = snapshot.registered.get(request.id) ?? null;
  const proof = await registering(context, snapshot, entry);
  return change(context, request, 'Draft', { entry, proof, known, snapshot });
}

/** Nothing of it is registered while anything is wrong with it: a version is used up by that. */
async function registering(
  context: AgentContext,
  snapshot: Snapshot,
  entry: CatalogEntry,
): Promise<ActivationProof> {
  requireFaultless(entry.simulation.id, await faultsOf(context, snapshot, entry));
  const checked = { shape: 'the definition is whole', ...checkSamples(entry.simulation) };
  return proofOf(context, snapshot, entry, checked);
}

/** What registering the file would refuse, and which words would then lead elsewhere. Nothing is written. */
export async function checkSimulation(context: AgentContext, id: string): Promise<SimulationChecked> {
  const snapshot = await snapshotNow(context);
  const entry =
    entryOf(snapshot.catalog, id) ??
    refuse('SIMULATION_NOT_REGISTERED', `simulations/ has no simulation "${id}".`);
  const faults = await faultsOf(context, snapshot, entry);
  const changes = await changedWords(context, snapshot, id, await pastGoals(context));
  return { id, version: entry.simulation.version, digest: entry.digest, faults, changes };
}

export interface SimulationChecked {
  readonly id: string;
  readonly version: number;
  readonly digest: Digest;
  readonly faults: readonly SimulationFault[];
  readonly changes: readonly ChangedWords[];
}

/** What users asked for last, where it was not erased. */
async function pastGoals(context: AgentContext): Promise<string[]> {
  const { found } = await listConversations(context, { limit: limits.tried_goals });
  return found.flatMap(({ goal }) => (goal === null ? [] : [goal]));
}

/**
 * A human makes a version active for this tenant, for a bounded time; one that is new is registered by it. The same signature delegates it to the agent core:
 * what is neither HIGH nor irreversible may then run on the yes of a user, and everything else waits for an approver.
 */
export async function activateSimulation(context: AgentContext, request: ActivateRequest): Promise<Changed> {
  const snapshot = await snapshotNow(context);
  const entry = await requireEntry(context, snapshot, request);
  const known = snapshot.registered.get(request.id) ?? null;
  const is_new = known === null || known.version < entry.simulation.version;
  if (!is_new && known.definition !== entry.digest)
    refuse('SIMULATION_CHANGE_ILLEGAL', 'The file is not what was registered. Give it a new version.');
  const registers = is_new ? await registering(context, snapshot, entry) : null;
  const bound = await boundOf(context, entry);
  if (request.bound !== undefined && request.bound !== bound.digest)
    refuse('ACTIVATION_DIFFERS', 'It is not what was looked at. Look at it again.', { bound: bound.digest });
  const proof = proofOf(context, snapshot, entry, checkedOf(context, entry, bound.value));
  const expires_at = activeUntil(
    drawnAt(request.signer, snapshot.now),
    request.ttl_s ?? limits.active_s_default,
  );
  const delegates =
    entry.simulation.effect === undefined
      ? []
      : await delegating(context, request, entry.simulation, {
          actions: delegatedActions(bound.value),
          expires_at,
        });
  return change(context, request, 'Active', {
    ...{ entry, proof, registers, bound, known, snapshot, delegates, expires_at },
  });
}

/** What an activation of the file would bind now, for the human who signs it to look at. Nothing is written. */
export async function boundNow(context: AgentContext, id: string): Promise<BoundNow> {
  const { catalog } = await snapshotNow(context);
  const entry = entryOf(catalog, id) ?? refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: id });
  const sealed = await boundOf(context, entry);
  const consent = consentLines(entry.simulation, sealed.value);
  const { value, digest } = sealed;
  return { digest, value, consent, sections: showBound(value) };
}

export interface BoundNow {
  readonly digest: Digest;
  readonly value: SealedBound['value'];
  /** What the signature allows. */
  readonly consent: readonly Line[];
  /** What would run, and what would undo it. */
  readonly sections: readonly BoundSection[];
}

/** As long as a delegation may hold, whether there is one or not: a template has none. */
function activeUntil(now: Date, ttl_s: number): string {
  // NaN is no answer to either of the two.
  if (!(ttl_s > 0 && ttl_s <= limits.delegation_ttl_s))
    refuse('TIME_MALFORMED', `An activation holds ${limits.delegation_ttl_s / 86_400} days at most.`);
  return new Date(now.getTime() + ttl_s * 1000).toISOString();
}

export async function deprecateSimulation(context: AgentContext, request: ChangeRequest): Promise<Changed> {
  return withdraw(context, request, 'Deprecated');
}

export async function disableSimulation(context: AgentContext, request: ChangeRequest): Promise<Changed> {
  return withdraw(context, request, 'Disabled');
}

/** Works from what was registered: a file that is gone or broken must not keep a human from stopping a simulation. */
async function withdraw(
  context: AgentContext,
  request: ChangeRequest,
  status: 'Deprecated' | 'Disabled',
): Promise<Changed> {
  const { store } = context.journey;
  const known =
    (await store.find('simulation', request.id)) ??
    refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: request.id });
  await requireHumanSigner(context, request);
  const simulation = await definitionOf(context, known.definition);
  const bytes = canonicalBytes({
    format: 'keyturn-simulation-proof/1',
    simulation: known.simulation,
    version: known.version,
    definition: known.definition,
    checked: {},
  });
  const entry = { simulation, status: known.status, digest: known.definition };
  return change(context, request, status, { entry, proof: { bytes, digest: sha256(bytes) }, known });
}

interface Change {
  readonly entry: CatalogEntry;
  readonly proof: ActivationProof;
  /** Of the registration that comes first, where the version is a new one. */
  readonly registers?: ActivationProof | null;
  readonly bound?: SealedBound;
  readonly known: Registered | null;
  readonly snapshot?: Snapshot;
  /** The acts that delegate it to the agent core; the last one is the delegation. */
  readonly delegates?: readonly ActDraft[];
  readonly expires_at?: string;
}

/** One commit: the new status, what it delegates, and the end of what an earlier activation delegated. */
async function change(
  { journey }: AgentContext,
  { id, reason, signer }: ChangeRequest,
  status: SimulationStatus,
  { entry, proof, registers = null, bound, known, delegates = [], expires_at, snapshot }: Change,
): Promise<Changed> {
  const { simulation, digest } = entry;
  const before = known?.own_delegation ?? null;
  const stood = known && fromNow(known);
  const facts: ActFacts<'simulation.changed'> = {
    simulation: id,
    version: simulation.version,
    status,
    definition: digest,
    proof: proof.digest,
    bound: bound?.digest ?? null,
    own_delegation: delegates.at(-1)?.subject ?? null,
    replaces: registers === null ? before : null,
    from: registers === null ? stood : { status: 'Draft', bound: null, expires_at: null },
    expires_at: expires_at ?? null,
    reason,
  };
  const draft: ActFacts<'simulation.changed'> = {
    ...facts,
    status: 'Draft',
    proof: (registers ?? proof).digest,
    ...{ bound: null, own_delegation: null, replaces: before, from: stood, expires_at: null },
  };
  const subject = `simulation:${id}`;
  const held = before === null ? null : await journey.store.find('delegation', before);
  const drafts: ActDraft[] = [
    ...(registers === null ? [] : [{ kind: 'simulation.changed' as const, subject, facts: draft }]),
    ...delegates,
    { kind: 'simulation.changed', subject, facts },
  ];
  if (held?.status === 'active')
    drafts.push({ kind: 'delegation.revoked', subject: held.delegation_id, facts: { reason } });
  const events = await signActs(journey.origin, drafts, signer, journey.clock());
  await journey.store.commit({
    events,
    objects: [
      canonicalBytes(simulation),
      proof.bytes,
      ...(registers ? [registers.bytes] : []),
      ...(bound ? [bound.bytes] : []),
      ...(snapshot?.objects ?? []),
    ],
  });
  return events.findLast((event) => event.kind === 'simulation.changed') as Changed;
}

/** The key of the agent core is made, and enrolled by the same human, when it is needed for the first time. */
async function delegating(
  context: AgentContext,
  { reason, signer }: ChangeRequest,
  simulation: Simulation,
  { actions, expires_at }: { readonly actions: string[]; readonly expires_at: string },
): Promise<ActDraft[]> {
  const public_key = context.core_key()?.public_key ?? keyMadeFor(signer, context.create_core_key);
  const facts: ActFacts<'delegation.granted'> = {
    delegate: AGENT_CORE,
    delegate_key: public_key,
    actions,
    approves: approvesByDelegation(simulation),
    grant: null,
    expires_at,
    delegation: null,
    reason,
  };
  const delegation: ActDraft = { kind: 'delegation.granted', subject: drawnId(signer), facts };
  const known = await context.journey.store.find('principal', AGENT_CORE);
  if (known === null) return [enrolling({ name: AGENT_CORE, principal: 'agent', public_key }), delegation];
  if (!hasKey(known, public_key))
    refuse('KEY_FILE_INVALID', 'The key of the agent core is not the enrolled one, or was revoked.');
  return [delegation];
}

/** The attacker changes the file between the look of the human and the signature. */
async function requireEntry(
  context: AgentContext,
  { catalog }: Snapshot,
  request: FileRequest,
): Promise<CatalogEntry> {
  await requireHumanSigner(context, request);
  const { id, digest } = request;
  const entry =
    entryOf(catalog, id) ?? refuse('SIMULATION_NOT_REGISTERED', `simulations/ has no simulation "${id}".`);
  if (digest !== undefined && digest !== entry.digest)
    refuse('SIMULATION_CHANGE_ILLEGAL', 'The file is not what was looked at. Look at it again.', {
      digest: entry.digest,
    });
  return entry;
}

async function requireHumanSigner({ journey }: AgentContext, { signer }: ChangeRequest): Promise<void> {
  requireHuman(await journey.store.find('principal', signer.name), signer.public_key);
}
