import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import { ROOT, type Workshop } from './workshop.ts';

/** A kilobyte is 1,000 bytes. */
const BYTES_MOST = 40_000;
const FIRST_MOST = 3;
const STROKE_MOST_MS = 50;
const TASK_MOST_MS = 100;

export const CONSOLE = { name: 'console', rows: consoleRows };

async function consoleRows({ ask }: Workshop, { console: sizes }: Sizes): Promise<Row[]> {
  const bytes = firstScreenBytes();
  const time = await ask('measureConsole', sizes);
  const ratio = time.usable_ms / time.empty_ms;
  const { diff_ms, drawing, scrolling } = time;
  return [
    {
      figure: 'console: JavaScript of the first screen, gzip',
      measured: `${bytes.toLocaleString('en')} bytes`,
      asked: `<= ${BYTES_MOST.toLocaleString('en')}`,
      verdict: verdict(bytes <= BYTES_MOST),
      baseline: 'what the page asks for before anything is drawn',
    },
    {
      figure: 'console: usable decision screen, cold cache',
      measured: `${ratio.toFixed(2)} x an empty page`,
      asked: `<= ${FIRST_MOST}`,
      verdict: verdict(ratio <= FIRST_MOST),
      baseline: `${time.usable_ms.toFixed(0)} ms against ${time.empty_ms.toFixed(0)} ms for /livez, from the request to the paint, ${sizes.rounds} rounds`,
    },
    {
      figure: `console: key to the next proposal, ${sizes.waiting.toLocaleString('en')} waiting, p95`,
      measured: `${time.stroke_p95_ms.toFixed(0)} ms`,
      asked: `<= ${STROKE_MOST_MS} ms`,
      verdict: verdict(time.stroke_p95_ms <= STROKE_MOST_MS),
      baseline: `usual ${time.stroke_p50_ms.toFixed(0)} ms, ${sizes.strokes} keys`,
    },
    {
      figure: `console: diff of ${sizes.lines.toLocaleString('en')} lines, longest task to its first paint`,
      measured: `${drawing.on_core_ms.toFixed(0)} ms`,
      asked: `<= ${TASK_MOST_MS} ms`,
      verdict: verdict(drawing.on_core_ms <= TASK_MOST_MS),
      baseline: `${withWait(drawing)}; its first lines after ${diff_ms.toFixed(0)} ms`,
    },
    {
      figure: 'console: the same, longest task while it is scrolled through',
      measured: `${scrolling.on_core_ms.toFixed(0)} ms`,
      asked: `<= ${TASK_MOST_MS} ms`,
      verdict: verdict(scrolling.on_core_ms <= TASK_MOST_MS),
      baseline: `${withWait(scrolling)}; ${Math.round(time.scrolled_px).toLocaleString('en')} pixels, to the end and back`,
    },
  ];
}

const withWait = ({ wall_ms }: { readonly wall_ms: number }) =>
  `less the wait for a core, with it ${wall_ms.toFixed(0)} ms`;
const verdict = (ok: boolean): Row['verdict'] => (ok ? 'ok' : 'MISSED');

/** All scripts that the page itself asks for, each as a server would send it. */
function firstScreenBytes(): number {
  const folder = join(ROOT, 'dist/console');
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  const files = [...page.matchAll(/\/console\/([\w-]+\.js)"/g)].map(([, file]) => file!);
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);
}
