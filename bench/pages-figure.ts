import { join } from 'node:path';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

/** A page of 50 may cost this much more among many rows than among a few. */
const MOST = 1.5;

export const PAGES = { name: 'pages', rows: pageRows };

async function pageRows({ folder, ask }: Workshop, { runs, small, large }: Sizes): Promise<Row[]> {
  const asked = { root: join(folder, 'pages'), rounds: runs, few: small, many: large };
  const count = (value: number) => value.toLocaleString('en');
  return (await ask('measurePages', asked)).map(({ list, few_ms, many_ms }) => {
    const ratio = many_ms / few_ms;
    return {
      figure: `a page of 50 among ${count(large)}: ${list}`,
      measured: `${ratio.toFixed(2)} x`,
      asked: `<= ${MOST}`,
      verdict: ratio <= MOST ? 'ok' : 'MISSED',
      baseline: `${many_ms.toFixed(2)} ms against ${few_ms.toFixed(2)} ms among ${count(small)}`,
    };
  });
}
