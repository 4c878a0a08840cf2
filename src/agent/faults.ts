import { type Catalog, type CatalogEntry, catalogOf, entryOf } from '../finder/catalog.ts';
import type { Finding } from '../finder/finder.ts';
import { WHICH_SIMULATION } from '../finder/packet.ts';
import { PLAN_ROLLBACK, type Simulation } from '../finder/simulation.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { turnsOf } from '../turns.ts';
import { effectFaults } from './bound.ts';
import type { AgentContext } from './context.ts';
import { sampleFaults } from './samples.ts';
import { definitionOf, type Snapshot } from './snapshot.ts';
import { type Trial, trialOver, withActive } from './trial.ts';

/** Everything that is wrong with a simulation, found before a version of it is used up. */
export interface SimulationFault {
  readonly code: ReasonCode;
  readonly message: string;
}

export async function faultsOf(
  context: AgentContext,
  snapshot: Snapshot,
  { simulation }: CatalogEntry,
): Promise<SimulationFault[]> {
  const known = [...effectFaults(context, simulation), ...sampleFaults(simulation)];
  return [
    ...known.map(({ code, message }) => ({ code, message })),
    ...(await undoFaults(context, snapshot, simulation)),
    ...(await phraseFaults(simulation, snapshot)),
  ];
}

/** Refuses with all of them, one to a line. */
export function requireFaultless(id: string, faults: readonly SimulationFault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const lines = faults.map(({ code, message }) => `${code}: ${message}`);
  refuse(faults.length === 1 ? first.code : 'SIMULATION_INVALID', lines.join('\n'), {
    simulation: id,
    faults: faults.length,
  });
}

/** What undoes it is in simulations/ or in the ledger, has no steps, and gets all of its values from what it undoes. */
async function undoFaults(
  context: AgentContext,
  { catalog, registered }: Snapshot,
  { rollback_plan_ref: ref, fields, steps, id }: Simulation,
): Promise<SimulationFault[]> {
  if (ref === undefined || ref === PLAN_ROLLBACK) return [];
  const recorded = registered.get(ref);
  const undo =
    entryOf(catalog, ref)?.simulation ??
    (recorded === undefined ? null : await definitionOf(context, recorded.definition));
  if (undo === null)
    return [{ code: 'SIMULATION_NOT_REGISTERED', message: `"${ref}", which undoes it, does not exist.` }];
  const has_steps =
    undo.steps === undefined ? [] : [`"${ref}" has steps, and neither a step nor an undo has any.`];
  const unknown = Object.entries(undo.fields)
    .filter(([name, { type }]) => steps === undefined && fields[name]?.type !== type)
    .map(([name]) => `"${ref}" needs the field "${name}", which "${id}" has not.`);
  return [...has_steps, ...unknown].map((message) => ({ code: 'SIMULATION_INVALID', message }));
}

/** Each phrase and summary, said word for word, leads to this simulation and to no other. */
async function phraseFaults(simulation: Simulation, snapshot: Snapshot): Promise<SimulationFault[]> {
  const { id } = simulation;
  const trial = trialOver(
    withActive(snapshot.catalog, (one) => one === id),
    snapshot,
  );
  const faults: SimulationFault[] = [];
  const turns = turnsOf();
  for (const [language, text] of ownWords(simulation)) {
    const others = turns();
    if (others) await others;
    const found = trial(text, language);
    if (!isFound(found, id)) faults.push({ code: 'SIMULATION_INVALID', message: lostWords(text, found, id) });
  }
  return faults;
}

function ownWords({ summary, phrases }: Simulation): (readonly [language: string, text: string])[] {
  const said = Object.entries(phrases).flatMap(([language, texts]) =>
    texts.map((text) => [language, text] as const),
  );
  return [...Object.entries(summary), ...said];
}

function isFound({ packet, candidates }: Finding, id: string): boolean {
  const leads = candidates[0]?.entry.simulation.id === id;
  if (packet.kind === 'CLARIFY') return leads && packet.missing_field !== WHICH_SIMULATION;
  return packet.kind === 'SIMULATION_MATCH' && leads;
}

function lostWords(text: string, { packet, candidates }: Finding, id: string): string {
  const other = candidates.find(({ entry }) => entry.simulation.id !== id)?.entry.simulation.id;
  const is_clash = packet.kind === 'CLARIFY' || packet.kind === 'SIMULATION_MATCH';
  return is_clash && other !== undefined
    ? `"${text}" also means "${other}". Say it in other words in one of the two.`
    : `"${text}" is not found when a user says it.`;
}

/** Words that would lead elsewhere with the file active than they do now. */
export interface ChangedWords {
  readonly text: string;
  readonly language: string | null;
  /** A phrase of a simulation, or what a user once asked for. */
  readonly source: 'phrase' | 'goal';
  readonly before: string | null;
  readonly after: string | null;
}

/** What leads now, and what would lead with the file of this simulation active. */
export async function changedWords(
  context: AgentContext,
  snapshot: Snapshot,
  id: string,
  goals: readonly string[],
): Promise<ChangedWords[]> {
  const before = trialOver(await catalogBefore(context, snapshot, id), snapshot);
  const after = trialOver(
    withActive(snapshot.catalog, (one) => one === id),
    snapshot,
  );
  const phrases = snapshot.catalog.simulations.flatMap(({ simulation }) =>
    ownWords(simulation).map(([language, text]) => ({ text, language, source: 'phrase' as const })),
  );
  const said = [...new Set(goals)].map((text) => ({ text, language: null, source: 'goal' as const }));
  const changed: ChangedWords[] = [];
  const turns = turnsOf();
  for (const one of [...phrases, ...said]) {
    const others = turns();
    if (others) await others;
    const led = (trial: Trial) => leading(trial(one.text, one.language ?? undefined));
    const change = { before: led(before), after: led(after) };
    if (change.before !== change.after) changed.push({ ...one, ...change });
  }
  return changed;
}

/** The catalog without the change: what was registered of this simulation, in the status that it has. */
async function catalogBefore(
  context: AgentContext,
  { catalog, registered }: Snapshot,
  id: string,
): Promise<Catalog> {
  const known = registered.get(id);
  const others = catalog.simulations.filter(({ simulation }) => simulation.id !== id);
  const mine = known === undefined ? [] : [await definitionOf(context, known.definition)];
  const statuses = new Map(others.map(({ simulation, status }) => [simulation.id, status]));
  if (known !== undefined) statuses.set(id, known.status);
  const steps = others.filter(({ simulation }) => !simulation.steps?.some((step) => step.simulation === id));
  return catalogOf(
    [...(mine.length === 0 ? steps : others).map(({ simulation }) => simulation), ...mine],
    statuses,
  );
}

function leading({ packet, candidates }: Finding): string | null {
  if (packet.kind === 'SIMULATION_MATCH') return packet.simulation_id;
  return packet.kind === 'CLARIFY' ? (candidates[0]?.entry.simulation.id ?? null) : null;
}
