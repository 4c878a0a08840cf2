import { join } from 'node:path';
import type { CallerTimes, ProcessTimes, Work } from './callers.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

/** What each number of callers must reach of the rate of one. */
const LEAST: Readonly<Record<Work, Readonly<Record<number, number>>>> = {
  turn: { 128: 1.5 },
  run: { 32: 1.8, 128: 1.6 },
};
const WORDS: Readonly<Record<Work, string>> = { turn: 'propose + turn', run: 'propose, turn and run' };
const OF_ONE_PROCESS = 0.6;
const LONGEST_MS = 50;

export const CALLER_FIGURE = {
  name: 'callers',
  async rows({ folder, ask }: Workshop, { caller_rounds: rounds, caller_journeys: journeys }: Sizes) {
    const [turns, runs] = [[1, 8, 32, 128] as const, [1, 32, 128] as const];
    const asked = { rounds, journeys };
    const turn = await ask('measureCallers', {
      ...asked,
      root: join(folder, 'turns'),
      work: 'turn',
      callers: turns,
    });
    const run = await ask('measureCallers', {
      ...asked,
      root: join(folder, 'runs'),
      work: 'run',
      callers: runs,
    });
    const { sqlite, postgres } = await ask('measureProcesses', {
      folder,
      rounds: Math.ceil(rounds / 2),
      journeys,
    });
    const longest = Math.max(turn.longest_ms, run.longest_ms, sqlite.longest_ms, postgres.longest_ms);
    return [
      ...callerRows('turn', turns, turn),
      ...callerRows('run', runs, run),
      processRow('SQLite file', sqlite),
      processRow('PostgreSQL', postgres),
      {
        figure: 'longest turn of the event loop in these, without the wait for a core',
        measured: `${longest.toFixed(0)} ms`,
        asked: `<= ${LONGEST_MS} ms`,
        verdict: verdict(longest <= LONGEST_MS),
        baseline: `turns ${turn.longest_ms.toFixed(0)}, runs ${run.longest_ms.toFixed(0)}, processes ${sqlite.longest_ms.toFixed(0)} and ${postgres.longest_ms.toFixed(0)} ms`,
      },
    ];
  },
};

function callerRows(work: Work, callers: readonly number[], found: CallerTimes): Row[] {
  const { rates, failures, journeys } = found;
  const each = rates.map((rate) => rate.toFixed(0)).join(' / ');
  return Object.entries(LEAST[work]).map(([count, least]) => {
    const ratio = rates[callers.indexOf(Number(count))]! / rates[0]!;
    return {
      figure: `${WORDS[work]}, ${count} callers against 1`,
      measured: `${ratio.toFixed(2)} x, ${failures} failed`,
      asked: `>= ${least}, 0 failed`,
      verdict: verdict(ratio >= least && failures === 0),
      baseline: `${each} a second with ${callers.join(' / ')} callers; ${journeys.toLocaleString('en')} journeys in all`,
    };
  });
}

function processRow(store: string, { ratio, rates, failures }: ProcessTimes): Row {
  const [one, many] = rates;
  return {
    figure: `8 processes of 4 callers on one ${store}, against one process of 32`,
    measured: `${ratio.toFixed(2)} x, ${failures} failed`,
    asked: `>= ${OF_ONE_PROCESS}, 0 failed`,
    verdict: verdict(ratio >= OF_ONE_PROCESS && failures === 0),
    baseline: `${many.toFixed(0)} against ${one.toFixed(0)} a second, propose + turn`,
  };
}

function verdict(is_reached: boolean): Row['verdict'] {
  return is_reached ? 'ok' : 'MISSED';
}
