import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { WaitTimes } from './waiting.ts';
import type { Workshop } from './workshop.ts';

const WAITERS = 1_000;
/** Of one core, while nothing happens; and from the commit of another process to the one who waits for it. */
const IDLE_MOST = 0.05;
const WAKE_MOST_MS = 60;

export const WAITING = { name: 'waiting', rows: waitingRows };

async function waitingRows({ folder, ask }: Workshop, { runs }: Sizes): Promise<Row[]> {
  const { sqlite, postgres } = await ask('measureWaiting', { folder, waiters: WAITERS, wakings: runs });
  return [...storeRows('SQLite', sqlite, runs), ...storeRows('PostgreSQL', postgres, runs)];
}

function storeRows(store: string, { idle_share, usual_ms, p99_ms }: WaitTimes, wakings: number): Row[] {
  return [
    {
      figure: `${store}: ${WAITERS.toLocaleString('en')} waiters while nothing happens, of one core`,
      measured: `${(idle_share * 100).toFixed(1)} %`,
      asked: `< ${IDLE_MOST * 100} %`,
      verdict: idle_share < IDLE_MOST ? 'ok' : 'MISSED',
      baseline: 'the time of five seconds, of the process that waits',
    },
    {
      figure: `${store}: waking one waiter after a commit by another process, p99 beyond the commit`,
      measured: `${p99_ms.toFixed(0)} ms`,
      asked: `<= ${WAKE_MOST_MS} ms`,
      verdict: p99_ms <= WAKE_MOST_MS ? 'ok' : 'MISSED',
      baseline: `${wakings} wakings, usual ${usual_ms.toFixed(0)} ms`,
    },
  ];
}
