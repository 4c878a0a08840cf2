import { randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Body, Event } from '../event/event.ts';
import type { Simulation as Registered, SimulationStatus } from '../gate/simulation.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { enrol } from '../journey/enrol.ts';
import { refuse } from '../refusal.ts';
import { type CatalogEntry, entryOf } from './catalog.ts';
import { AGENT_CORE, type AgentContext } from './context.ts';
import { effectAction, simulationAction } from './intent.ts';
import { checkActivation, type Proof, proofOf } from './proof.ts';
import type { Simulation } from './simulation.ts';
import { definitionOf, type Snapshot, snapshotNow } from './snapshot.ts';

export interface ChangeRequest {
  readonly id: string;
  readonly reason: string;
  /** A human. */
  readonly signer: Signer;
}

export interface ActivateRequest extends ChangeRequest {
  /** How long it is active: 30 days unless told. */
  readonly ttl_s?: number;
}

type Changed = Event<'simulation.changed'>;
const ACTIVE_S = 30 * 24 * 3600;

/** Takes the file as it is now into the ledger, as a draft. From here on this version never changes. */
export async function registerSimulation(context: AgentContext, request: ChangeRequest): Promise<Changed> {
  const snapshot = await snapshotNow(context);
  const entry = await requireEntry(context, snapshot, request);
  const proof = proofOf(context, snapshot, entry, { shape: 'the definition is whole' });
  const known = snapshot.registered.get(request.id) ?? null;
  return change(context, request, 'Draft', { entry, proof, known, snapshot });
}

/**
 * A human makes a version active for this tenant, for a bounded time. The same signature delegates it to the agent core:
 * what is neither HIGH nor irreversible may then run on the yes of a user, and everything else waits for an approver.
 */
export async function activateSimulation(context: AgentContext, request: ActivateRequest): Promise<Changed> {
  const snapshot = await snapshotNow(context);
  const entry = await requireEntry(context, snapshot, request);
  const known =
    snapshot.registered.get(request.id) ??
    refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: request.id });
  if (known.definition !== entry.digest)
    refuse('SIMULATION_CHANGE_ILLEGAL', 'The file is not what was registered. Register it again.');
  const proof = proofOf(context, snapshot, entry, checkActivation(context, snapshot, entry));
  const expires_at = new Date(snapshot.now.getTime() + (request.ttl_s ?? ACTIVE_S) * 1000).toISOString();
  const granted =
    entry.simulation.effect === undefined
      ? null
      : delegationOf(context, request, entry.simulation, expires_at, await coreKey(context, request));
  return change(context, request, 'Active', { entry, proof, known, snapshot, granted, expires_at });
}

export async function deprecateSimulation(context: AgentContext, request: ChangeRequest): Promise<Changed> {
  return withdraw(context, request, 'Deprecated');
}

export async function disableSimulation(context: AgentContext, request: ChangeRequest): Promise<Changed> {
  return withdraw(context, request, 'Disabled');
}

/** Works from what was registered: a file that is gone or broken must not keep anybody from stopping something. */
async function withdraw(
  context: AgentContext,
  request: ChangeRequest,
  status: 'Deprecated' | 'Disabled',
): Promise<Changed> {
  const { store } = context.journey;
  const known =
    (await store.simulation(request.id)) ??
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
  readonly proof: Proof;
  readonly known: Registered | null;
  readonly snapshot?: Snapshot;
  readonly granted?: Event<'delegation.granted'> | null;
  readonly expires_at?: string;
}

/** One commit: the new status, what it delegates, and the end of what an earlier activation delegated. */
async function change(
  { journey }: AgentContext,
  { id, reason, signer }: ChangeRequest,
  status: SimulationStatus,
  { entry, proof, known, granted = null, expires_at, snapshot }: Change,
): Promise<Changed> {
  const { simulation, digest } = entry;
  const facts: Omit<Body<'simulation.changed'>, 'by' | 'key' | 'signed_at' | 'signature'> = {
    simulation: id,
    version: simulation.version,
    status,
    definition: digest,
    proof: proof.digest,
    standing_delegation: granted?.subject ?? null,
    expires_at: expires_at ?? null,
    reason,
  };
  const now = journey.clock();
  const changed = signAct(journey.origin, 'simulation.changed', `simulation:${id}`, facts, signer, now);
  const before = known?.standing_delegation ?? null;
  const held = before === null ? null : await journey.store.delegation(before);
  const ended =
    held?.status === 'active'
      ? [signAct(journey.origin, 'delegation.revoked', held.delegation_id, { reason }, signer, now)]
      : [];
  await journey.store.commit({
    events: [...(granted ? [granted] : []), changed, ...ended],
    objects: [canonicalBytes(simulation), proof.bytes, ...(snapshot?.objects ?? [])],
  });
  return changed;
}

function delegationOf(
  { journey }: AgentContext,
  { reason, signer }: ChangeRequest,
  simulation: Simulation,
  expires_at: string,
  core: Signer,
): Event<'delegation.granted'> {
  const facts = {
    delegate: AGENT_CORE,
    delegate_key: core.public_key,
    actions: [effectAction(journey, simulation), simulationAction(simulation)],
    approves: simulation.risk !== 'HIGH' && !simulation.irreversible,
    expires_at,
    delegation: null,
    reason,
  };
  return signAct(journey.origin, 'delegation.granted', randomUUID(), facts, signer, journey.clock());
}

/** The key of the agent core is made, and enrolled by this human, when it is needed for the first time. */
async function coreKey(context: AgentContext, { signer }: ChangeRequest): Promise<Signer> {
  const core = context.core_key() ?? context.create_core_key();
  const known = await context.journey.store.principal(AGENT_CORE);
  if (known === null) {
    const { public_key } = core;
    await enrol(context.journey, { name: AGENT_CORE, principal: 'agent', public_key, signer });
  } else if (known.public_key !== core.public_key || known.status !== 'active')
    refuse('KEY_FILE_INVALID', 'The key of the agent core is not the enrolled one, or was revoked.');
  return core;
}

async function requireEntry(
  context: AgentContext,
  { catalog }: Snapshot,
  request: ChangeRequest,
): Promise<CatalogEntry> {
  await requireHumanSigner(context, request);
  return (
    entryOf(catalog, request.id) ??
    refuse('SIMULATION_NOT_REGISTERED', `simulations/ has no simulation "${request.id}".`)
  );
}

async function requireHumanSigner({ journey }: AgentContext, { signer }: ChangeRequest): Promise<void> {
  requireHuman(await journey.store.principal(signer.name), signer.public_key);
}

/** A simulation with its file and its status. */
export interface Listed {
  readonly id: string;
  readonly version: number;
  readonly status: SimulationStatus;
  readonly summary: string;
  readonly risk: Simulation['risk'];
  readonly registered: Registered | null;
  /** The file is not what was registered, or is gone. */
  readonly has_changed: boolean;
}

/** What the catalog holds, and what was registered and has no file any more. */
export async function listSimulations(context: AgentContext): Promise<Listed[]> {
  const { catalog, registered } = await snapshotNow(context);
  const listed = catalog.simulations.map(({ simulation, status, digest }): Listed => {
    const { id, version, summary, risk } = simulation;
    const known = registered.get(id) ?? null;
    const has_changed = known !== null && known.definition !== digest;
    return { id, version, status, summary: summary.en!, risk, registered: known, has_changed };
  });
  for (const known of registered.values()) {
    if (listed.some(({ id }) => id === known.simulation)) continue;
    const { summary, risk } = await definitionOf(context, known.definition);
    const { simulation: id, version, status } = known;
    listed.push({ id, version, status, summary: summary.en!, risk, registered: known, has_changed: true });
  }
  return listed.sort((a, b) => (a.id < b.id ? -1 : 1));
}
