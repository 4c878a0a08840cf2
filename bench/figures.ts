import { join } from 'node:path';
import { AGENT } from './agent-figure.ts';
import { CALLER_FIGURE } from './callers-figure.ts';
import { capabilityRows } from './capability.ts';
import { COMMAND_LINE } from './command-line.ts';
import { TOGETHER } from './commit.ts';
import { CONSOLE } from './console-figure.ts';
import { COVERS } from './covers.ts';
import { finderFigure } from './finder.ts';
import { GROWTH } from './growth-figure.ts';
import type { CheckTimes, VerifyTimes } from './ledger.ts';
import { MCP } from './mcp-figure.ts';
import { PAGES } from './pages-figure.ts';
import { PASSKEY } from './passkey-figure.ts';
import { policyFigure } from './policy.ts';
import { SERVICE } from './service-figure.ts';
import type { Sizes } from './sizes.ts';
import { measureStarts, type Starts, startRow, writeQueue } from './start.ts';
import { countSyncs } from './syncs.ts';
import type { Row } from './table.ts';
import { WAITING } from './waiting-figure.ts';
import { CLI, type Workshop } from './workshop.ts';

/** One or more rows of the table, measured together. */
export interface Figure {
  readonly name: string;
  readonly rows: (workshop: Workshop, sizes: Sizes) => Promise<Row[]>;
}

export const FIGURES: readonly Figure[] = [
  { name: 'lane check', rows: laneCheck },
  { name: 'lane check, large queue', rows: laneCheckLarge },
  COMMAND_LINE,
  { name: 'commits', rows: commits },
  { name: 'governed run', rows: governedRun },
  CALLER_FIGURE,
  GROWTH,
  PAGES,
  WAITING,
  MCP,
  SERVICE,
  PASSKEY,
  policyFigure,
  { name: 'check and verify', rows: ledgers },
  { name: 'plans', rows: plans },
  COVERS,
  finderFigure,
  AGENT,
  CONSOLE,
  { name: 'postgres', rows: ({ folder, ask }, sizes) => ask('measurePostgres', { folder, sizes }) },
];

const verdict = (ok: boolean): Row['verdict'] => (ok ? 'ok' : 'MISSED');
const count = (value: number) => Math.round(value).toLocaleString('en');

async function laneCheck({ folder }: Workshop, { starts }: Sizes): Promise<Row[]> {
  const question = writeQueue(join(folder, 'queue-small'), 3);
  return [startRow('lane check, small queue, whole process', startOf(question, starts), 1.3)];
}

async function laneCheckLarge({ folder }: Workshop, { large_starts, queue_lines }: Sizes): Promise<Row[]> {
  const question = writeQueue(join(folder, 'queue-large'), queue_lines);
  return [startRow(`lane check, 2 x ${count(queue_lines)} lines`, startOf(question, large_starts), 8)];
}

function startOf(question: readonly string[], rounds: number): Starts {
  return measureStarts(CLI, [question], rounds)[0]!;
}

async function commits(workshop: Workshop, sizes: Sizes): Promise<Row[]> {
  const options = { folder: workshop.folder, rounds: sizes.commit_rounds, commits: sizes.commits };
  const time = await workshop.ask('measureCommits', options);
  const lone_rate = time.raw_us / time.lone_us;
  const gain = time.lone_us / time.grouped_us;
  const syncs = await countSyncs(workshop, 10 * TOGETHER);
  return [
    {
      figure: 'durable commits, one at a time',
      measured: `${lone_rate.toFixed(2)} of the raw rate`,
      asked: '>= 0.47',
      verdict: verdict(lone_rate >= 0.47),
      baseline: `${count(time.lone_us)} us against ${count(time.raw_us)} us for append + fdatasync of ${time.bytes} bytes`,
    },
    {
      figure: `durable commits, ${TOGETHER} at once`,
      measured: `${gain.toFixed(1)} x one at a time`,
      asked: '>= 4',
      verdict: verdict(gain >= 4),
      baseline: `${count(time.grouped_us)} us against ${count(time.lone_us)} us each; ${
        syncs
          ? `${syncs.commits} commits: ${syncs.together} syncs against ${syncs.lone}`
          : 'syncs not counted: no strace'
      }`,
    },
  ];
}

async function governedRun({ folder, ask }: Workshop, { runs }: Sizes): Promise<Row[]> {
  const time = await ask('measureRuns', { root: join(folder, 'governed'), runs });
  const added_ms = time.governed_ms - time.bare_ms;
  const budget_ms = 2 * time.commit_ms + 2;
  const journey_ms = time.journey_ms - time.bare_ms;
  const journey_budget_ms = 4 * time.commit_ms + 5;
  const capability = await ask('measureCapabilities', { rounds: runs });
  return [
    {
      figure: 'governed run of /bin/true, beyond the bare spawn',
      measured: `+${added_ms.toFixed(2)} ms`,
      asked: `<= ${budget_ms.toFixed(2)} ms`,
      verdict: verdict(added_ms <= budget_ms),
      baseline: `${time.governed_ms.toFixed(2)} ms against ${time.bare_ms.toFixed(2)} ms; asked is 2 commits of ${time.commit_ms.toFixed(2)} ms + 2 ms`,
    },
    {
      figure: 'the whole journey, proposal to record, beyond the bare spawn',
      measured: `+${journey_ms.toFixed(2)} ms`,
      asked: `<= ${journey_budget_ms.toFixed(2)} ms`,
      verdict: verdict(journey_ms <= journey_budget_ms),
      baseline: `${time.journey_ms.toFixed(2)} ms against ${time.bare_ms.toFixed(2)} ms; asked is 4 commits of ${time.commit_ms.toFixed(2)} ms + 5 ms`,
    },
    ...capabilityRows(capability, time.lookup_us),
  ];
}

async function plans(
  { folder, ask }: Workshop,
  { plan_pairs, plan_rounds, plan_file_bytes }: Sizes,
): Promise<Row[]> {
  const time = await ask('measurePlans', {
    root: join(folder, 'plans'),
    rounds: plan_pairs,
    bytes: 100_000,
  });
  const edit = await ask('measureEdit', { rounds: plan_rounds });
  const rewrites = await ask('measureRewrites', { root: join(folder, 'rewrites'), rounds: plan_rounds });
  const large = join(folder, 'plan-memory');
  await ask('layPlanMemory', { root: large, bytes: plan_file_bytes });
  const { peak_mb } = await ask('measurePlanMemory', { root: large });
  const against = (ms: number) =>
    `${ms.toFixed(0)} ms against ${time.bare_ms.toFixed(0)} ms for the bare loop; the median of ${plan_pairs} rounds`;
  return [
    ratioRow(
      'plan, 100 files of 100 KB, from the y to the record',
      time.run_ratio,
      1.5,
      `${against(time.run_ms)}; with its reports ${time.whole_ms.toFixed(0)} ms`,
    ),
    ratioRow('its rollback', time.rollback_ratio, 1.1, against(time.rollback_ms)),
    rewriteRow('30 files of 18 KB, every line changed, propose', rewrites.propose_ms),
    rewriteRow('the same, from the y to the record', rewrites.run_ms),
    ratioRow(
      `one JSON edit in ${edit.mb.toFixed(1)} MB`,
      edit.edit_ms / edit.parse_ms,
      8,
      `${edit.edit_ms.toFixed(0)} ms against ${edit.parse_ms.toFixed(0)} ms for JSON.parse + JSON.stringify`,
    ),
    {
      figure: `plan, 100 files of ${count(plan_file_bytes / 1e6)} MB, peak memory`,
      measured: `${peak_mb.toFixed(0)} MB`,
      asked: '< 230 MB',
      verdict: verdict(peak_mb < 230),
      baseline: 'the whole process, node included',
    },
  ];
}

function rewriteRow(figure: string, { one, every }: { one: number; every: number }): Row {
  const baseline = `${every.toFixed(0)} ms against ${one.toFixed(0)} ms with one line changed in each`;
  return ratioRow(figure, every / one, 3, baseline);
}

function ratioRow(figure: string, ratio: number, most: number, baseline: string): Row {
  return {
    figure,
    measured: `${ratio.toFixed(2)} x`,
    asked: `<= ${most}`,
    verdict: verdict(ratio <= most),
    baseline,
  };
}

/** How many intents `check` is asked about, evenly across each ledger. */
const ASKED = 250;

async function ledgers({ folder, ask }: Workshop, sizes: Sizes): Promise<Row[]> {
  const [small, large] = [join(folder, 'small'), join(folder, 'large')];
  const every = sizes.large / ASKED;
  await ask('fill', { root: small, size: sizes.small, every: sizes.small / ASKED });
  await ask('fill', { root: large, size: sizes.middle, every });
  const middle = await ask('measureVerify', { root: large, passes: 2 });
  await ask('fill', { root: large, size: sizes.large, every });
  const whole = await ask('measureVerify', { root: large, passes: 2 });
  const { check_rounds: rounds, checks } = sizes;
  const times = await ask('measureChecks', { small, large, rounds, checks });
  return [...times.map((time) => checkRow(time, sizes)), verifyRow(whole, middle), memoryRow(whole, middle)];
}

function checkRow({ intents, small_us, large_us }: CheckTimes, { small, large }: Sizes): Row {
  const ratio = large_us / small_us;
  return {
    figure: `check, ${count(large)} entries, ${intents === 1 ? '1 intent' : `${intents} intents across them`}`,
    measured: `${ratio.toFixed(2)} x ${count(small)} entries`,
    asked: '<= 1.2',
    verdict: verdict(ratio <= 1.2),
    baseline: `${large_us.toFixed(1)} us against ${small_us.toFixed(1)} us`,
  };
}

function verifyRow(whole: VerifyTimes, middle: VerifyTimes): Row {
  return {
    figure: `ledger verify, ${count(whole.entries)} entries`,
    measured: `${count(whole.per_s)} entries/s`,
    asked: '>= 100,000',
    verdict: verdict(whole.per_s >= 100_000),
    baseline: `with ${count(middle.entries)} entries ${count(middle.per_s)}; per CPU second ${count(whole.per_cpu_s)}`,
  };
}

/** Ten times the entries may not cost more memory than the garbage collector's own mood does. */
const FLAT = 1.15;

function memoryRow(whole: VerifyTimes, middle: VerifyTimes): Row {
  const growth = whole.peak_mb / middle.peak_mb;
  return {
    figure: 'ledger verify, resident memory',
    measured: `${growth.toFixed(2)} x ${count(middle.entries)} entries`,
    asked: `flat (<= ${FLAT})`,
    verdict: verdict(growth <= FLAT),
    baseline: `peak ${whole.peak_mb.toFixed(0)} MB against ${middle.peak_mb.toFixed(0)} MB`,
  };
}
