import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText, parseJson } from '../canonical/json.ts';
import type { Simulation as Registered } from '../gate/simulation.ts';
import { refuse } from '../refusal.ts';
import { type Catalog, catalogOf, definitionDigest, type SimulationStatus } from './catalog.ts';
import type { AgentContext, ParsedFile } from './context.ts';
import { LEXICON_VERSION } from './lexicon/lexicon.ts';
import { parseSimulation, type Simulation, simulationSchema } from './simulation.ts';

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
  const registered = new Map((await store.simulations()).map((one) => [one.simulation, one]));
  const { catalog, bytes } = catalogNow(context, registered, now);
  const policy = (await store.system()).policy ?? refuse('POLICY_MISSING');
  const bundle = canonicalBytes({
    format: 'keyturn-artifacts/1',
    catalog: catalog.digest,
    policies: policy,
    registry: registry().digest,
    lexicon: LEXICON_VERSION,
  });
  const objects = [bytes, bundle].filter((one) => !context.memory.stored.has(sha256(one)));
  return { catalog, policy, bundle: sha256(bundle), registered, objects, now };
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
  const text = canonicalText(Object.fromEntries(statuses));
  const same = files.size === before.size && [...files].every(([name, file]) => before.get(name) === file);
  if (!same || memory.catalog?.statuses !== text) {
    const definitions = [...files.values()].map(({ simulation }) => simulation);
    const catalog = catalogOf(definitions, statuses);
    memory.catalog = { statuses: text, catalog, bytes: catalogBytes(catalog) };
  }
  memory.files = files;
  return memory.catalog!;
}

function parsed(name: string, text: string): ParsedFile {
  const simulation = parseSimulation(name, text);
  return { text, simulation, digest: definitionDigest(simulation) };
}

/** A file that is not what was registered is a draft, whatever the status of what was: somebody changed it since. */
function statusOf({ simulation, digest }: ParsedFile, known: Registered | null, now: Date): SimulationStatus {
  if (known === null || known.version !== simulation.version) return 'Draft';
  if (known.definition !== digest) return 'Draft';
  const is_over = known.expires_at !== null && Date.parse(known.expires_at) <= now.getTime();
  return known.status === 'Active' && is_over ? 'Deprecated' : known.status;
}

/** What the digest of a catalog covers. */
function catalogBytes({ digest, simulations }: Catalog): Uint8Array {
  const lines = simulations.map((entry) => [entry.simulation.id, entry.status, entry.digest]);
  const bytes = canonicalBytes({ format: 'keyturn-catalog/1', simulations: lines });
  if (sha256(bytes) !== digest) refuse('INTERNAL', 'The digest of the catalog is of something else.');
  return bytes;
}

/** The definition that was registered, from the store and not from a file that somebody can edit. */
export async function definitionOf({ journey, memory }: AgentContext, digest: Digest): Promise<Simulation> {
  const known = memory.definitions.get(digest);
  if (known) return known;
  const bytes = await journey.store.object(digest);
  const read = simulationSchema.safeParse(parseJson(bytes, bytes.length));
  if (!read.success) refuse('SIMULATION_INVALID', 'The stored definition cannot be read.');
  if (memory.definitions.size >= REMEMBERED) memory.definitions.clear();
  memory.definitions.set(digest, read.data);
  return read.data;
}

const REMEMBERED = 1000;
