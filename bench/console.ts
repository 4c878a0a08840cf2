import type { Page } from 'playwright-core';
import { openStage, type Person, reached, type Stage } from '../test/console/stage.ts';
import { median, p95 } from './timing.ts';

interface Asked {
  readonly rounds: number;
  readonly waiting: number;
  readonly strokes: number;
  readonly lines: number;
}

interface Task {
  readonly wall_ms: number;
  /** Without the wait for a core. */
  readonly on_core_ms: number;
}

export interface ConsoleTimes {
  /** From the beginning of the navigation. */
  readonly empty_ms: number;
  readonly usable_ms: number;
  readonly stroke_p50_ms: number;
  readonly stroke_p95_ms: number;
  /** Of the diff: from the request for its screen to the first line of it, and the longest tasks. */
  readonly diff_ms: number;
  readonly drawing: Task;
  readonly scrolling: Task;
  readonly scrolled_px: number;
}

/** What a person waits for, in a real Chromium, with a service on this machine. */
export async function measureConsole({ rounds, waiting, strokes, lines }: Asked): Promise<ConsoleTimes> {
  const stage = await openStage();
  try {
    const ada = await stage.person();
    await stage.enrol(ada, 'ada');
    for (let i = 0; i < 3; i++) await stage.propose();
    const first = await measureFirst(stage, ada, rounds);
    for (let i = 3; i < waiting; i++) await stage.propose();
    const strokes_took = await measureStrokes(stage, strokes);
    return { ...first, ...strokes_took, ...(await measureDiff(stage, lines)) };
  } finally {
    await stage.close();
  }
}

/** Runs in each page before its own scripts: says when what is looked for was painted. */
const WATCH = `
globalThis.__name = (one) => one;
globalThis.painted = (selector) => new Promise((done) => {
  const look = () => {
    if (document.querySelector(selector) === null) return false;
    // The callback of the frame comes before its paint, a message from it after.
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done(performance.now());
      port2.postMessage(null);
    });
    return true;
  };
  if (look()) return;
  const observer = new MutationObserver(() => { if (look()) observer.disconnect(); });
  observer.observe(document, { childList: true, subtree: true, attributes: true });
});
globalThis.stroke = null;
`;
const USABLE = '.dock[data-state="ready"] button.yes';

/** A context of its own has an empty cache. Rounds alternate, so that what else the machine does disturbs both. */
async function measureFirst(stage: Stage, { context, page: old }: Person, rounds: number) {
  const storageState = await context.storageState();
  const opened = async (path: string, selector: string) => {
    const own = await stage.browser.newContext({ viewport: { width: 1440, height: 900 }, storageState });
    await own.addInitScript(WATCH);
    const page = await own.newPage();
    await page.goto(`${stage.address()}${path}`, { waitUntil: 'commit' });
    const at = (await page.evaluate((one) => painted(one), selector)) as number;
    await own.close();
    return at;
  };
  await old.close();
  const empty: number[] = [];
  const usable: number[] = [];
  for (let i = 0; i < rounds; i++) {
    empty.push(await opened('/livez', 'pre'));
    usable.push(await opened('/', USABLE));
  }
  return { empty_ms: median(empty), usable_ms: median(usable) };
}

declare function painted(selector: string): Promise<number>;
declare let stroke: Promise<number>;

/** From the key to the proposal that it asks for, drawn with its buttons' place; each key after the one before was drawn. */
async function measureStrokes(stage: Stage, strokes: number) {
  const { page, context } = await stage.person();
  await context.addInitScript(WATCH);
  await page.goto(stage.address());
  await page.reload();
  await page.waitForSelector(USABLE);
  const times: number[] = [];
  for (let i = 0; i < strokes; i++) {
    const now = (await page.getAttribute('[data-intent]', 'data-intent'))!;
    await page.evaluate(waitForStroke, now);
    await page.keyboard.press('j');
    times.push((await page.evaluate(() => stroke)) as number);
    await page.waitForSelector(USABLE);
  }
  await context.close();
  return { stroke_p50_ms: median(times), stroke_p95_ms: p95(times) };
}

/** Runs in the page: the time is there once the next proposal was painted. */
function waitForStroke(now: string): void {
  stroke = new Promise((done) => {
    addEventListener(
      'keydown',
      ({ timeStamp }) => {
        void painted(`[data-intent]:not([data-intent="${now}"]) .dock`).then((at) => done(at - timeStamp));
      },
      { once: true, capture: true },
    );
  });
}

async function measureDiff(stage: Stage, lines: number) {
  const person = await stage.person();
  const { page } = person;
  // What is behind another page is not drawn.
  await page.bringToFront();
  const text = (word: string) =>
    `${Array.from({ length: lines }, (_, i) => `const value_${i} = ${word}(${i}, "${word}");`).join('\n')}\n`;
  stage.write('large.ts', text('before'));
  const { intent_id } = await stage.propose({
    issuer: 'docs-bot',
    effect: {
      kind: 'plan',
      task_id: 'large',
      config: null,
      plan: {
        plan_id: 'large',
        action_plan: [
          {
            action_id: 'all',
            action_type: 'FILE_MODIFY',
            target: 'large.ts',
            operation: {
              type: 'text_replace',
              pattern: 'before(',
              replacement: 'after(',
              max_matches: lines,
            },
          },
        ],
      },
    },
  });
  await page.context().addInitScript(WATCH);
  await page.goto(`${stage.address()}#/health`);
  await page.reload();
  await page.waitForSelector('.live.live', { state: 'attached' });
  let diff_ms = 0;
  const drawing = await longestTask(stage, page, async () => {
    diff_ms = (await page.evaluate(async (id) => {
      const from = performance.now();
      location.hash = `/decide/${id}`;
      return (await painted('.file .ln')) - from;
    }, intent_id)) as number;
    await reached(person, 'ready');
  });
  let scrolled_px = 0;
  const scrolling = await longestTask(stage, page, async () => {
    scrolled_px = (await page.evaluate(scrollThrough)) as number;
  });
  return { diff_ms, drawing, scrolling, scrolled_px };
}

interface Traced {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Of the thread of a page, from what Chromium traces: the longest task, and the longest without its wait for a core. */
async function longestTask({ browser }: Stage, page: Page, work: () => Promise<void>): Promise<Task> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Traced[] };
  const threadOf = ({ pid, tid }: Traced) => `${pid} ${tid}`;
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(threadOf),
  );
  const tasks = traceEvents.filter(
    (one) => one.ph === 'X' && one.name.endsWith('RunTask') && threads.has(threadOf(one)),
  );
  if (tasks.length === 0) throw new Error('Chromium traced no task.');
  const most = (member: 'dur' | 'tdur') => Math.max(...tasks.map((one) => one[member] ?? 0)) / 1000;
  return { wall_ms: most('dur'), on_core_ms: most('tdur') };
}

/** Runs in the page: to the end and back, four fifths of a screen in each frame. A browser without a screen may stop drawing: it goes on. */
async function scrollThrough(): Promise<number> {
  const frame = () =>
    new Promise((done) => {
      requestAnimationFrame(done);
      setTimeout(done, 50);
    });
  let far = 0;
  for (const step of [0.8, -0.8]) {
    for (let before = -1; scrollY !== before; ) {
      before = scrollY;
      scrollBy(0, step * innerHeight);
      await frame();
      await frame();
      far += Math.abs(scrollY - before);
    }
  }
  return far;
}
