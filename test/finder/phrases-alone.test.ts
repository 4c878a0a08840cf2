import { describe, expect, it } from 'vitest';
import { catalogOf } from '../../src/finder/catalog.ts';
import { createFinder } from '../../src/finder/finder.ts';
import { simulationSchema } from '../../src/finder/simulation.ts';
import { requestFor } from '../agent/evaluate.ts';

/** Simulations without `words`, which only read, so that a match runs at once. */
const all = [
  { id: 'spaces.show', phrases: ['show the free parking spaces'] },
  { id: 'menu.show', phrases: ['show the canteen menu'] },
  { id: 'gate.status', phrases: ['tell the state of the gate'] },
].map(({ id, phrases }) =>
  simulationSchema.parse({
    id,
    version: 1,
    family: 'house',
    access_action: id,
    effect: { tool: 'noop', arguments: {} },
    risk: 'LOW',
    impactful: false,
    side_effecting: false,
    irreversible: false,
    summary: { en: phrases[0] },
    phrases: { en: phrases },
  }),
);
const catalog = catalogOf(all, new Map(all.map(({ id }) => [id, 'Active' as const])));
const finder = createFinder();
const heard = (utterance: string) => finder.examine(requestFor(catalog, utterance)).packet;

describe('a simulation that is known by its phrases alone', () => {
  it.each(['free parking spaces', 'the canteen menu', 'canteen menu', 'the state of the gate', 'show me'])(
    'is not matched by its thing or its act alone: %s',
    (utterance) => {
      expect(heard(utterance).kind).not.toBe('SIMULATION_MATCH');
    },
  );

  it.each([
    ['show the free parking spaces', 'spaces.show'],
    ['please show me the canteen menu', 'menu.show'],
    ['could you tell me the state of the gate?', 'gate.status'],
  ])('is matched by a whole phrase: %s', (utterance, simulation_id) => {
    expect(heard(utterance)).toMatchObject({ kind: 'SIMULATION_MATCH', simulation_id });
  });
});
