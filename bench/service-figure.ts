import { join } from 'node:path';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

const GET_LEAST = 0.5;
const TOGETHER_LEAST = 1.8;
const OF_PROCESS_LEAST = 0.6;
const STARTED_MOST_MS = 60;
const TURN_MOST_MS = 50;
const HEAP_MOST = 1.1;

export const SERVICE = { name: 'service', rows: serviceRows };

const verdict = (ok: boolean): Row['verdict'] => (ok ? 'ok' : 'MISSED');
const count = (value: number) => Math.round(value).toLocaleString('en');

async function serviceRows({ folder, ask }: Workshop, { service }: Sizes): Promise<Row[]> {
  const found = await ask('measureService', { root: join(folder, 'service'), ...service });
  const { get, get_anew, propose, started, mixed, heap } = found;
  return [
    {
      figure: 'service: same GET of one caller, nothing written, against node:http',
      measured: `${get.ratio.toFixed(2)} of its rate`,
      asked: `>= ${GET_LEAST}`,
      verdict: verdict(get.ratio >= GET_LEAST),
      baseline: `the kept bytes: ${count(get.per_s)} against ${count(get.plain_per_s)} a second`,
    },
    {
      figure: 'service: the same, another intent each time, with proposals in between',
      measured: `${get_anew.ratio.toFixed(2)} of its rate`,
      asked: 'to know',
      verdict: 'ok',
      baseline: `${count(get_anew.per_s)} against ${count(get_anew.plain_per_s)} a second`,
    },
    {
      figure: 'service: durable proposals, 64 callers against one',
      measured: `${propose.together.toFixed(2)} x`,
      asked: `>= ${TOGETHER_LEAST}`,
      verdict: verdict(propose.together >= TOGETHER_LEAST),
      baseline: `${count(propose.per_s)} against ${count(propose.alone_per_s)} a second`,
    },
    {
      figure: 'service: durable proposals of 64 callers, against 64 in process',
      measured: `${propose.of_process.toFixed(2)} of its rate`,
      asked: `>= ${OF_PROCESS_LEAST}`,
      verdict: verdict(propose.of_process >= OF_PROCESS_LEAST),
      baseline: `${count(propose.per_s)} against ${count(propose.process_per_s)} a second`,
    },
    {
      figure: 'service: from the finish of a turn to the start of its process, idle, p99',
      measured: `${started.p99_ms.toFixed(0)} ms`,
      asked: `<= ${STARTED_MOST_MS} ms`,
      verdict: verdict(started.p99_ms <= STARTED_MOST_MS),
      baseline: `usual ${started.usual_ms.toFixed(0)} ms, ${service.starts} turns; a bare start takes ${started.bare_ms.toFixed(1)} ms`,
    },
    {
      figure: `service: longest turn of the event loop in ${service.mixed_s} s of mixed load, ${service.followers} followers`,
      measured: `${mixed.longest_ms.toFixed(0)} ms`,
      asked: `<= ${TURN_MOST_MS} ms`,
      verdict: verdict(mixed.longest_ms <= TURN_MOST_MS && mixed.refused === 0 && mixed.silent === 0),
      baseline: `without the wait for a core; ${count(mixed.journeys)} proposals turned and run, of them ${count(mixed.plans)} plans, ${mixed.refused} not${mixed.why === null ? '' : ` (${mixed.why})`}, ${count(mixed.heard)} events told, ${mixed.silent} followers heard none`,
    },
    {
      figure: `service: heap after ${count(service.heap_last)} requests against after ${count(service.heap_first)}`,
      measured: `${heap.ratio.toFixed(2)} x`,
      asked: `<= ${HEAP_MOST}`,
      verdict: verdict(heap.ratio <= HEAP_MOST),
      baseline: `${heap.last_mb.toFixed(1)} against ${heap.first_mb.toFixed(1)} MB, after a collection`,
    },
  ];
}
