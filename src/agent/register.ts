import { randomUUID } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { Line } from '../display/shown.ts';
import type { Body, Event } from '../event/event.ts';
import type { Simulation as Registered, SimulationStatus } from '../gate/simulation.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import type { SealedBound } from '../journey/bound.ts';
import { type BoundSection, showBound } from '../journey/bound-shown.ts';
import { enrol } from '../journey/enrol.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { boundOf, type Held, heldBy } from './bound.ts';
import { type CatalogEntry, entryOf } from './catalog.ts';
import { AGENT_CORE, type AgentContext } from './context.ts';
import { checkedOf, type Proof, proofOf } from './proof.ts';
import { checkSamples } from './samples.ts';
import { consentLines, definitionLines, delegatedActions, effectSections } from './shown.ts';
import type { Simulation } from './simulation.ts';
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

export interface ActivateRequest extends FileRequest {
  /** The digest of what the human saw that it binds. What is another one by now is refused. */
  readonly bound?: string;
  /** How long it is active: 30 days unless told. */
  readonly ttl_s?: number;
}

type Changed = Event<'simulation.changed'>;
const ACTIVE_S = 30 * 24 * 3600;

/** Takes the file as it is now into the ledger, as a draft. From here on this version never changes. */
export async function registerSimulation(context: AgentContext, request: FileRequest): Promise<Changed> {
  const snapshot = await snapshotNow(context);
  const entry = await requireEntry(context, snapshot, request);
  const checked = { shape: 'the definition is whole', ...checkSamples(entry.simulation) };
  const proof = proofOf(context, snapshot, entry, checked);
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
  const bound = await boundOf(context, entry);
  if (request.bound !== undefined && request.bound !== bound.digest)
    refuse('ACTIVATION_DIFFERS', 'It is not what was looked at. Look at it again.', { bound: bound.digest });
  const proof = proofOf(context, snapshot, entry, checkedOf(context, entry, bound.value));
  const expires_at = activeUntil(snapshot.now, request.ttl_s ?? ACTIVE_S);
  const granted =
    entry.simulation.effect === undefined
      ? null
      : delegationOf(context, request, entry.simulation, {
          actions: delegatedActions(bound.value),
          expires_at,
          core: await coreKey(context, request),
        });
  return change(context, request, 'Active', { entry, proof, bound, known, snapshot, granted, expires_at });
}

/** What an activation of the file would bind now, for the eyes of the human who signs it. Nothing is written. */
export async function boundNow(context: AgentContext, id: string): Promise<BoundNow> {
  const { catalog } = await snapshotNow(context);
  const entry = entryOf(catalog, id) ?? refuse('SIMULATION_NOT_REGISTERED', undefined, { simulation: id });
  const sealed = await boundOf(context, entry);
  const consent = consentLines(entry.simulation, sealed.value);
  return { ...sealed, consent, sections: showBound(sealed.value) };
}

export interface BoundNow extends SealedBound {
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

/** Works from what was registered: a file that is gone or broken must not keep anybody from stopping something. */
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
  readonly proof: Proof;
  readonly bound?: SealedBound;
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
  { entry, proof, bound, known, granted = null, expires_at, snapshot }: Change,
): Promise<Changed> {
  const { simulation, digest } = entry;
  const before = known?.standing_delegation ?? null;
  const facts: Omit<Body<'simulation.changed'>, 'by' | 'key' | 'signed_at' | 'signature'> = {
    simulation: id,
    version: simulation.version,
    status,
    definition: digest,
    proof: proof.digest,
    bound: bound?.digest ?? null,
    standing_delegation: granted?.subject ?? null,
    replaces: before,
    expires_at: expires_at ?? null,
    reason,
  };
  const now = journey.clock();
  const changed = signAct(journey.origin, 'simulation.changed', `simulation:${id}`, facts, signer, now);
  const held = before === null ? null : await journey.store.find('delegation', before);
  const ended =
    held?.status === 'active'
      ? [signAct(journey.origin, 'delegation.revoked', held.delegation_id, { reason }, signer, now)]
      : [];
  await journey.store.commit({
    events: [...(granted ? [granted] : []), changed, ...ended],
    objects: [
      canonicalBytes(simulation),
      proof.bytes,
      ...(bound ? [bound.bytes] : []),
      ...(snapshot?.objects ?? []),
    ],
  });
  return changed;
}

function delegationOf(
  { journey }: AgentContext,
  { reason, signer }: ChangeRequest,
  simulation: Simulation,
  {
    actions,
    expires_at,
    core,
  }: { readonly actions: string[]; readonly expires_at: string; readonly core: Signer },
): Event<'delegation.granted'> {
  const facts = {
    delegate: AGENT_CORE,
    delegate_key: core.public_key,
    actions,
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
  const known = await context.journey.store.find('principal', AGENT_CORE);
  if (known === null) {
    const { public_key } = core;
    await enrol(context.journey, { name: AGENT_CORE, principal: 'agent', public_key, signer });
  } else if (known.public_key !== core.public_key || known.status !== 'active')
    refuse('KEY_FILE_INVALID', 'The key of the agent core is not the enrolled one, or was revoked.');
  return core;
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

/** A simulation with its file and its status. */
export interface Listed {
  readonly id: string;
  readonly version: number;
  readonly status: SimulationStatus;
  readonly summary: string;
  readonly risk: Simulation['risk'];
  /** As the file says it; as it was registered, when the file is gone. */
  readonly definition: Simulation;
  readonly digest: Digest;
  readonly registered: Registered | null;
  /** Every field of the definition but what it runs. */
  readonly lines: readonly Line[];
  /** What it runs, as the definition says it. */
  readonly sections: readonly BoundSection[];
  /** The file is not what was registered, or is gone. */
  readonly has_changed: boolean;
}

/** Whether what is active is still what was activated. Null for what is not active. */
export async function heldNow(context: AgentContext, id: string): Promise<Held | null> {
  const known = await context.journey.store.find('simulation', id);
  if (known?.status !== 'Active') return null;
  const simulation = await definitionOf(context, known.definition);
  return heldBy(context, known.bound, { simulation, digest: known.definition }, false);
}

/** What the catalog holds, and what was registered and has no file any more. */
export async function listSimulations(context: AgentContext): Promise<Listed[]> {
  const { catalog, registered } = await snapshotNow(context);
  const listed = catalog.simulations.map((entry) =>
    listedOf(entry, registered.get(entry.simulation.id) ?? null, false),
  );
  for (const known of registered.values()) {
    if (listed.some(({ id }) => id === known.simulation)) continue;
    const { definition: digest, status } = known;
    const simulation = await definitionOf(context, digest);
    listed.push(listedOf({ simulation, status, digest }, known, true));
  }
  return listed.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function listedOf(
  { simulation, status, digest }: CatalogEntry,
  registered: Registered | null,
  is_gone: boolean,
): Listed {
  const { id, version, summary, risk } = simulation;
  const has_changed = is_gone || (registered !== null && registered.definition !== digest);
  const named = { id, version, status, summary: summary.en!, risk };
  const shown = { lines: definitionLines(simulation, status), sections: effectSections(simulation) };
  return { ...named, ...shown, definition: simulation, digest, registered, has_changed };
}
