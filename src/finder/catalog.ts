import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { SimulationStatus } from '../event/agent.ts';
import { refuse } from '../refusal.ts';
import { parseSimulation, type Simulation } from './simulation.ts';

/** Of one tenant, by the id of the simulation. */
export type Statuses = ReadonlyMap<string, SimulationStatus>;

export interface CatalogFile {
  readonly name: string;
  readonly text: string;
}

export interface CatalogEntry {
  readonly simulation: Simulation;
  readonly status: SimulationStatus;
  /** Of the definition alone: what an activation signs. */
  readonly digest: Digest;
}

/** All simulations of one tenant at one moment, in the order of their ids. */
export interface Catalog {
  /** Of definitions and statuses: the catalog_snapshot_ref of every decision that was made with it. */
  readonly digest: Digest;
  readonly simulations: readonly CatalogEntry[];
}

/** Reads the files of a catalog. What has no status is a Draft. */
export function parseCatalog(files: readonly CatalogFile[], statuses: Statuses): Catalog {
  return catalogOf(
    files.map(({ name, text }) => parseSimulation(name, text)),
    statuses,
  );
}

export function catalogOf(definitions: readonly Simulation[], statuses: Statuses): Catalog {
  const simulations = definitions
    .map((simulation) => ({
      simulation,
      status: statuses.get(simulation.id) ?? ('Draft' as const),
      digest: definitionDigest(simulation),
    }))
    .sort((a, b) => (a.simulation.id < b.simulation.id ? -1 : 1));
  const byId = new Map(simulations.map((entry) => [entry.simulation.id, entry.simulation]));
  if (byId.size !== simulations.length) refuseDouble(simulations);
  for (const { simulation } of simulations) requireSteps(simulation, byId);
  return { digest: snapshotDigest(simulations), simulations };
}

export function definitionDigest(simulation: Simulation): Digest {
  return sha256(canonicalBytes(simulation));
}

export function entryOf(catalog: Catalog, id: string): CatalogEntry | undefined {
  return catalog.simulations.find(({ simulation }) => simulation.id === id);
}

function snapshotDigest(simulations: readonly CatalogEntry[]): Digest {
  const lines = simulations.map(({ simulation, status, digest }) => [simulation.id, status, digest]);
  return sha256(canonicalBytes({ format: 'keyturn-catalog/1', simulations: lines }));
}

function refuseDouble(simulations: readonly CatalogEntry[]): never {
  const twice = simulations.find((entry, i) => simulations[i - 1]?.simulation.id === entry.simulation.id)!;
  return refuse('SIMULATION_INVALID', `Two files define the simulation "${twice.simulation.id}".`);
}

/** A step is one simulation with an effect of its own, and gets every field that it needs: no chain inside a chain. */
function requireSteps(simulation: Simulation, byId: ReadonlyMap<string, Simulation>): void {
  for (const { simulation: id, fields } of simulation.steps ?? []) {
    const target = byId.get(id);
    const wrong = target === undefined ? 'is not in the catalog' : stepProblem(target, Object.keys(fields));
    if (wrong !== null)
      refuse('SIMULATION_INVALID', `${simulation.id}: the step "${id}" ${wrong}.`, { step: id });
  }
}

function stepProblem(target: Simulation, given: readonly string[]): string | null {
  if (target.steps !== undefined) return 'has steps itself';
  const needed = Object.keys(target.fields);
  const missing = needed.find((name) => !given.includes(name));
  if (missing !== undefined) return `does not get its field "${missing}"`;
  const unknown = given.find((name) => !needed.includes(name));
  return unknown === undefined ? null : `has no field "${unknown}"`;
}
