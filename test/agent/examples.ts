import type { SimulationStatus } from '../../src/event/agent.ts';
import { type Catalog, catalogOf } from '../../src/finder/catalog.ts';
import { createFinder, type Finding } from '../../src/finder/finder.ts';
import type { ClarifyAnswer, FinderRequest } from '../../src/finder/request.ts';
import { type Simulation, simulationSchema } from '../../src/finder/simulation.ts';
import { requestFor } from './evaluate.ts';

/** A simulation that says as little as it may; what a test is about is given, and undefined takes a key away. */
export function simulation(id: string, given: Record<string, unknown> = {}): Simulation {
  return simulationSchema.parse(JSON.parse(JSON.stringify({ ...shape(id), ...given })));
}

export function shape(id: string): Record<string, unknown> {
  return {
    id,
    version: 1,
    family: 'examples',
    summary: { en: `Do ${id}` },
    risk: 'LOW',
    impactful: false,
    side_effecting: false,
    irreversible: false,
    access_action: id,
    effect: { tool: 'example', arguments: {} },
  };
}

export const field = (given: Record<string, unknown> = {}) => ({
  type: 'string',
  question: { en: 'Which one?' },
  formats: ['a', 'b'],
  ...given,
});

export function catalog(
  definitions: readonly Simulation[],
  statuses: Readonly<Record<string, SimulationStatus>> = {},
): Catalog {
  const all = definitions.map(({ id }) => [id, statuses[id] ?? 'Active'] as const);
  return catalogOf(definitions, new Map(all));
}

export function examine(from: Catalog, utterance: string, more: Partial<FinderRequest> = {}): Finding {
  return createFinder().examine({ ...requestFor(from, utterance), ...more });
}

/** The next request: the same goal, and the answer to the question. */
export function answer(from: Catalog, utterance: string, last: Finding, text: string): Finding {
  return examine(from, utterance, { clarify: answerTo(last, text) });
}

export function answerTo({ packet, context }: Finding, text: string): ClarifyAnswer {
  if (packet.kind !== 'CLARIFY' || context === null) throw new Error(`not a question: ${packet.kind}`);
  return {
    attempt_index: packet.attempt_index,
    candidate_context_ref: packet.candidate_context_ref,
    simulation_id: context.simulation_ids[0]!,
    fields_so_far: context.fields,
    missing_field: packet.missing_field,
    answer: text,
  };
}
