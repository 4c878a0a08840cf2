import { FIGURES, type Figure } from './figures.ts';
import { FULL, QUICK, type Sizes } from './sizes.ts';
import { type Row, tableOf } from './table.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

/**
 * `npm run bench`: every figure beside its baseline, both measured in this run. `-- --quick` uses small sizes; other
 * words choose figures by name. A bench informs: it ends with 0 whatever it finds, and with 1 where a figure could not be measured.
 */
const words = process.argv.slice(2);
const sizes = words.includes('--quick') ? QUICK : FULL;
const chosen = words.filter((word) => !word.startsWith('-'));
const wanted = FIGURES.filter(({ name }) => chosen.length === 0 || chosen.includes(name));

const FAILED = 'failed';

async function rowsOf(figure: Figure, workshop: Workshop, sizes: Sizes): Promise<Row[]> {
  const from = Date.now();
  try {
    return await figure.rows(workshop, sizes);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return [{ figure: figure.name, measured: FAILED, asked: '', verdict: 'MISSED', baseline: problem }];
  } finally {
    console.error(`${figure.name}: measured in ${((Date.now() - from) / 1000).toFixed(0)} s`);
  }
}

const workshop = await openWorkshop();
const rows: Row[] = [];
for (const figure of wanted) rows.push(...(await rowsOf(figure, workshop, sizes)));
console.log(`\n${tableOf(rows)}

Times are lower quartiles of interleaved rounds (a plan and its rollback: the median of the ratios of each round), and the better of two passes for verify: what else the machine does can
only add to a time. Commits are measured once the WAL has its full length.`);
if (rows.some(({ measured }) => measured === FAILED)) process.exitCode = 1;
