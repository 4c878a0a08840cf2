import { type Digest, sha256 } from '../canonical/digest.ts';
import { deepFrozen } from '../canonical/frozen.ts';
import { canonicalBytesOfParsed, canonicalTextOfParsed, parseJson } from '../canonical/json.ts';
import type { SimulationStatus } from '../event/agent.ts';
import { type Catalog, catalogOf, definitionDigest } from '../finder/catalog.ts';
import { LEXICON_VERSION } from '../finder/lexicon/lexicon.ts';
import { PACKET_SCHEMA_VERSION } from '../finder/packet.ts';
import { parseSimulation, type Simulation, simulationSchema } from '../finder/simulation.ts';
import { notActive, type Simulation as Registered } from '../gate/simulation.ts';
import { refuse } from '../refusal.ts';
import { type AgentContext, type ParsedFile, rememberedAt } from './context.ts';

/** Everything that a decision of the agent core rests on besides the request, at one moment. */
export interface Snapshot {
  readonly catalog: Catalog;
  readonly policy: Digest;
  /** Catalog, policies, registry and lexicon together: the artifact_fingerprint_bundle_ref. */
  readonly bundle: Digest;
  readonly registered: ReadonlyMap<string, Registered>;
  /** What its refs name, where this process has not stored it before. */
  readonly objects: readonly Uint8Array[];
  readonly now: Date;
}

export async function snapshotNow(context: AgentContext): Promise<Snapshot> {
  const { store, clock, registry } = context.journey;
  const now = clock();
  const memory = rememberedAt(context.memory, now);
  const registered = new Map((await store.all('simulation')).map((one) => [one.simulation, one]));
  const { catalog, bytes } = catalogNow(context, registered, now);
  const policy = (await store.system()).policy ?? refuse('POLICY_MISSING');
  const bundle = artifactsOf(catalog.digest, policy, registry().digest);
  const objects = [bytes, bundle].filter((one) => !memory.stored.has(sha256(one)));
  return { catalog, policy, bundle: sha256(bundle), registered, objects, now };
}

/** Everything that a plan is made with. */
export function artifactsOf(catalog: Digest, policies: Digest, registry: Digest): Uint8Array {
  return canonicalBytesOfParsed({
    format: 'keyturn-artifacts/1',
    catalog,
    policies,
    registry,
    lexicon: LEXICON_VERSION,
  });
}

/** The files with their statuses. Files that did not change are not parsed again, and the same catalog stays the same. */
function catalogNow(context: AgentContext, registered: Snapshot['registered'], now: Date) {
  const { memory } = context;
  const before = memory.files;
  const files = new Map(
    context.files().map(({ name, text }) => {
      const known = before.get(name);
      return [name, known?.text === text ? known : parsed(name, text)];
    }),
  );
  const statuses = new Map(
    [...files.values()].map((file) => {
      const { id } = file.simulation;
      return [id, statusOf(file, registered.get(id) ?? null, now)];
    }),
  );
  const text = canonicalTextOfParsed(Object.fromEntries(statuses));
  const same = files.size === before.size && [...files].every(([name, file]) => before.get(name) === file);
  if (!same || memory.catalog?.statuses !== text) {
    const definitions = [...files.values()].map(({ simulation }) => simulation);
    // A finder is handed the very catalog that the next decision is made with, and must not be able to change it.
    const catalog = deepFrozen(catalogOf(definitions, statuses));
    memory.catalog = { statuses: text, catalog, bytes: catalogBytes(catalog) };
  }
  memory.files = files;
  return memory.catalog!;
}

function parsed(name: string, text: string): ParsedFile {
  const simulation = parseSimulation(name, text);
  return { text, simulation, digest: definitionDigest(simulation) };
}

/** A file that is not what was registered is a draft, whatever the status of what was registered: the file was changed since. */
function statusOf({ simulation, digest }: ParsedFile, known: Registered | null, now: Date): SimulationStatus {
  if (known === null || known.version !== simulation.version) return 'Draft';
  if (known.definition !== digest) return 'Draft';
  const is_active = notActive(known, {}, now.toISOString()) === null;
  return known.status === 'Active' && !is_active ? 'Deprecated' : known.status;
}

/** What the digest of a catalog covers. */
function catalogBytes({ digest, simulations }: Catalog): Uint8Array {
  const lines = simulations.map((entry) => [entry.simulation.id, entry.status, entry.digest]);
  const bytes = canonicalBytesOfParsed({ format: 'keyturn-catalog/1', simulations: lines });
  if (sha256(bytes) !== digest) refuse('INTERNAL', 'The digest of the catalog is of something else.');
  return bytes;
}

/** The definition that was registered, from the store and not from a file, which can be edited. */
export async function definitionOf({ journey, memory }: AgentContext, digest: Digest): Promise<Simulation> {
  const { definitions } = rememberedAt(memory, journey.clock());
  const known = definitions.get(digest);
  if (known) return known;
  const bytes = await journey.store.object(digest);
  const read = simulationSchema.safeParse(parseJson(bytes, bytes.length));
  if (!read.success) refuse('SIMULATION_INVALID', 'The stored definition cannot be read.');
  definitions.set(digest, deepFrozen(read.data));
  return read.data;
}

/** What another finder names in its packets, as it is now. */
export interface SnapshotRefs {
  readonly schema_version: typeof PACKET_SCHEMA_VERSION;
  readonly tenant_id: string;
  readonly policy_snapshot_ref: Digest;
  readonly catalog_snapshot_ref: Digest;
  readonly artifact_fingerprint_bundle_ref: Digest;
  readonly catalog: Catalog;
}

/** For a finder outside: a packet that names other refs than these is refused. Nothing is written. */
export async function snapshotRefs(context: AgentContext): Promise<SnapshotRefs> {
  const { catalog, policy, bundle } = await snapshotNow(context);
  return {
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id: context.journey.store.tenant,
    policy_snapshot_ref: policy,
    catalog_snapshot_ref: catalog.digest,
    artifact_fingerprint_bundle_ref: bundle,
    catalog,
  };
}
