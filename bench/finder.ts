import { type Catalog, catalogOf } from '../src/finder/catalog.ts';
import { createFinder } from '../src/finder/finder.ts';
import { PACKET_SCHEMA_VERSION } from '../src/finder/packet.ts';
import { indexCatalog } from '../src/finder/rank.ts';
import type { FinderRequest } from '../src/finder/request.ts';
import { queryOf, searchFor } from '../src/finder/search-index.ts';
import { type Simulation, simulationSchema } from '../src/finder/simulation.ts';
import { termsIn, unitsOf, withoutData } from '../src/finder/text.ts';
import { spokenGoal, wordsFor } from './finder-words.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

/** Of which the words of a goal name one. */
const SIMULATIONS = 10_000;
/** Whether something is left behind does not depend on the catalog; how long so many queries take does. */
const MEMORY_SIMULATIONS = 1_000;
const MOST = 1.6;
/** What the garbage collector leaves lying about is not growth. */
const FLAT = 1.1;

export const finderFigure = { name: 'finder', rows: finderRows };

/** The finder against the bare search of the same terms in the same index, in turn. */
async function finderRows(_: Workshop, { finder: sizes }: Sizes): Promise<Row[]> {
  const catalog = catalogWith(sizes.simulations);
  const { active } = indexCatalog(catalog);
  const finder = createFinder();
  const request = (i: number): FinderRequest => ({ ...HEAD, catalog, utterance: utterance(i) });
  const query = (i: number) => queryOf(termsIn(unitsOf(withoutData(utterance(i)))));
  for (let i = 0; i < 200; i++) [finder.find(request(i)), searchFor(active, query(i))];
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < sizes.timed; i++) {
    const [asked, bare] = [request(i), query(i)];
    times.bare.push(timed_us(() => searchFor(active, bare)));
    times.ours.push(timed_us(() => finder.find(asked)));
  }
  return [ratioRow(sizes.simulations, p99(times.ours), p99(times.bare)), heapRow(sizes)];
}

function heapRow({ timed, queries }: Sizes['finder']): Row {
  const finder = createFinder();
  const catalog = catalogWith(MEMORY_SIMULATIONS);
  const ask = (i: number) => finder.find({ ...HEAD, catalog, utterance: utterance(i) });
  for (let i = 0; i < timed; i++) ask(i);
  const before_mb = heap_mb();
  for (let i = 0; i < queries; i++) ask(i);
  return memoryRow(queries, before_mb, heap_mb());
}

function catalogWith(size: number): Catalog {
  const all = definitions(size);
  return catalogOf(all, new Map(all.map(({ id }) => [id, 'Active' as const])));
}

function timed_us(act: () => unknown): number {
  const from = process.hrtime.bigint();
  act();
  return Number(process.hrtime.bigint() - from) / 1e3;
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

function heap_mb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

function ratioRow(simulations: number, ours_us: number, bare_us: number): Row {
  const ratio = ours_us / bare_us;
  return {
    figure: `finder over ${simulations.toLocaleString('en')} simulations, p99`,
    measured: `${ratio.toFixed(2)} x`,
    asked: `<= ${MOST}`,
    verdict: ratio <= MOST ? 'ok' : 'MISSED',
    baseline: `${ours_us.toFixed(0)} us against ${bare_us.toFixed(0)} us for the bare search`,
  };
}

function memoryRow(queries: number, before_mb: number, after_mb: number): Row {
  const growth = after_mb / before_mb;
  return {
    figure: `finder, heap after ${queries.toLocaleString('en')} queries`,
    measured: `${growth.toFixed(2)} x`,
    asked: `flat (<= ${FLAT})`,
    verdict: growth <= FLAT ? 'ok' : 'MISSED',
    baseline: `${after_mb.toFixed(0)} MB against ${before_mb.toFixed(0)} MB before them`,
  };
}

const VERBS = 'create delete update send cancel approve archive export import restart publish review'.split(
  ' ',
);
const SYLLABLES = 'ba ce di fo gu ka le mi no pu ra se ti vo zu lan mer tic dor vel'.split(' ');

/** Every third simulation has words in ten languages, as people give them who want to be heard in all of them. */
const WITH_WORDS = 3;

/** An invented object such as `ratimer`, always the same for the same number. */
function thing(n: number): string {
  const { length } = SYLLABLES;
  return [n, n / length, n / length ** 2].map((part) => SYLLABLES[Math.floor(part) % length]).join('');
}

const objectOf = (i: number) => `${thing(i % 900)} ${thing(7000 - Math.floor(i / 12))}`;

function definitions(length: number): Simulation[] {
  return Array.from({ length }, (_, i) => {
    const [verb, object] = [VERBS[i % VERBS.length]!, objectOf(i)];
    return simulationSchema.parse({
      id: `s${i}`,
      version: 1,
      family: 'bench',
      summary: { en: `${verb} the ${object} of a customer`, es: `${verb}ar ${object} del cliente` },
      phrases: { en: [`${verb} ${object}`, `please ${verb} a ${object}`], de: [`${object} ${verb}en`] },
      ...(i % WITH_WORDS === 0 && { words: wordsFor(i % VERBS.length, object) }),
      risk: 'LOW',
      impactful: false,
      side_effecting: false,
      irreversible: false,
      access_action: `a${i}`,
      fields: {
        ticket: {
          type: 'string',
          pattern: 'T-[0-9]+',
          extract: 'token',
          question: { en: 'Which ticket?' },
          formats: ['T-1', 'T-2'],
        },
      },
      effect: { tool: 'noop', arguments: { ticket: '{ticket}' } },
    });
  });
}

/** Every third with a slip of the finger, every fourth with words around it, every fifth unknown, every seventh in another language. */
function utterance(i: number): string {
  const n = (i * 7919) % SIMULATIONS;
  const [verb, object] = [n % VERBS.length, objectOf(n)];
  const typed = i % 3 === 0 ? object.replace(/.(.)$/, '$1') : object;
  if (i % 5 === 0) return `polish the brass ${thing(i % 8000)}x on the door T-${i}`;
  if (i % 7 === 0) return `${spokenGoal(i, verb, typed)} T-${i}`;
  if (i % 4 === 0)
    return `hello, yesterday we talked about it for an hour, so ${VERBS[verb]} the ${typed} T-${i} for Anna`;
  return `${VERBS[verb]} ${typed} T-${i}`;
}

const HEAD = {
  schema_version: PACKET_SCHEMA_VERSION,
  tenant_id: 'acme',
  user_id: 'alice',
  correlation_id: 'c-1',
  turn_id: 't-1',
  idempotency_key: 'k-1',
  policy_snapshot_ref: 'sha256:policy',
  artifact_fingerprint_bundle_ref: 'sha256:artifacts',
} as const;
