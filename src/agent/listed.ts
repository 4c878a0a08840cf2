import type { Digest } from '../canonical/digest.ts';
import type { Line } from '../display/shown.ts';
import type { SimulationStatus } from '../event/agent.ts';
import type { CatalogEntry } from '../finder/catalog.ts';
import type { Simulation } from '../finder/simulation.ts';
import type { Simulation as Registered } from '../gate/simulation.ts';
import type { BoundSection } from '../journey/bound-shown.ts';
import { refuse } from '../refusal.ts';
import { type Held, heldBy } from './bound.ts';
import type { AgentContext } from './context.ts';
import { definitionLines, effectSections } from './shown.ts';
import { definitionOf, snapshotNow } from './snapshot.ts';

/** A simulation with its file and its status. */
export interface Listed {
  readonly id: string;
  readonly version: number;
  readonly status: SimulationStatus;
  readonly summary: string;
  readonly risk: Simulation['risk'];
  /** The version that the ledger has; null when it was never registered. */
  readonly registered_version: number | null;
  readonly expires_at: string | null;
  /** The file is not what was registered, or is gone. */
  readonly has_changed: boolean;
}

export async function listSimulations(context: AgentContext): Promise<Listed[]> {
  return (await allNow(context)).map(listedOf);
}

/** One simulation for the human who decides about it. */
export interface SimulationNow extends Listed {
  /** As the file says it; as it was registered, when the file is gone. */
  readonly definition: Simulation;
  readonly digest: Digest;
  readonly registered: Registered | null;
  /** In what it is not what was activated. */
  readonly differs: readonly string[];
  /** Every field of the definition but what it runs. */
  readonly lines: readonly Line[];
  /** What it runs, as the definition says it. */
  readonly sections: readonly BoundSection[];
}

export async function simulationNow(context: AgentContext, id: string): Promise<SimulationNow> {
  const known =
    (await allNow(context)).find(({ entry }) => entry.simulation.id === id) ??
    refuse('SIMULATION_NOT_REGISTERED', `There is no simulation "${id.slice(0, 64)}".`);
  const { simulation, status, digest } = known.entry;
  const { registered } = known;
  const held = await heldNow(context, registered);
  return {
    ...listedOf(known),
    ...{ digest, registered, differs: held?.differs ?? [] },
    ...{ definition: simulation, lines: definitionLines(simulation, status) },
    sections: effectSections(simulation),
  };
}

/** Whether what is active is still what was activated. Null for what is not active. */
async function heldNow(context: AgentContext, known: Registered | null): Promise<Held | null> {
  if (known?.status !== 'Active') return null;
  const simulation = await definitionOf(context, known.definition);
  return heldBy(context, known.bound, { simulation, digest: known.definition }, false);
}

interface Known {
  readonly entry: CatalogEntry;
  readonly registered: Registered | null;
  readonly is_gone: boolean;
}

/** What the catalog holds, and what was registered and has no file any more. */
async function allNow(context: AgentContext): Promise<Known[]> {
  const { catalog, registered } = await snapshotNow(context);
  const known: Known[] = catalog.simulations.map((entry) => ({
    ...{ entry, registered: registered.get(entry.simulation.id) ?? null },
    is_gone: false,
  }));
  for (const one of registered.values()) {
    if (known.some(({ entry }) => entry.simulation.id === one.simulation)) continue;
    const { definition: digest, status } = one;
    const simulation = await definitionOf(context, digest);
    known.push({ entry: { simulation, status, digest }, registered: one, is_gone: true });
  }
  return known.sort((a, b) => (a.entry.simulation.id < b.entry.simulation.id ? -1 : 1));
}

function listedOf({ entry, registered, is_gone }: Known): Listed {
  const { id, version, summary, risk } = entry.simulation;
  return {
    ...{ id, version, status: entry.status, summary: summary.en!, risk },
    registered_version: registered?.version ?? null,
    expires_at: registered?.expires_at ?? null,
    has_changed: is_gone || (registered !== null && registered.definition !== entry.digest),
  };
}
