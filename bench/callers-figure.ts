import { join } from 'node:path';
import { CALLERS, type CallerTimes } from './callers.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

const LEAST = 1.5;

export const CALLER_FIGURE = {
  name: 'callers',
  async rows({ folder, ask }: Workshop, { caller_rounds: rounds, caller_journeys: journeys }: Sizes) {
    return [rowOf(await ask('measureCallers', { root: join(folder, 'callers'), rounds, journeys }))];
  },
};

function rowOf({ rates, failures, journeys }: CallerTimes): Row {
  const ratio = rates.at(-1)! / rates[0]!;
  const each = rates.map((rate) => rate.toFixed(0)).join(' / ');
  return {
    figure: `propose + approve + grant, ${CALLERS.at(-1)} callers against 1`,
    measured: `${ratio.toFixed(2)} x, ${failures} failed`,
    asked: `>= ${LEAST}, 0 failed`,
    verdict: ratio >= LEAST && failures === 0 ? 'ok' : 'MISSED',
    baseline: `${each} a second with ${CALLERS.join(' / ')} callers; ${journeys.toLocaleString('en')} journeys in all`,
  };
}
