import { isDigest } from '../../canonical/digest.ts';
import { isUuid } from '../../canonical/uuid.ts';
import { visible } from '../../canonical/visible.ts';
import { Keyturn, type Progress as PlanProgress, type Preview, type Report } from '../../keyturn.ts';
import { QUESTION, screen } from '../../lane/report.ts';
import { explain, Refusal, refuse } from '../../refusal.ts';
import { refusedLines, runLines } from '../adapter.ts';
import { type Answer, type Call, denied } from '../answer.ts';
import { painter } from '../paint.ts';
import { planScreen } from '../plan-lines.ts';
import { present } from '../present.ts';
import { presentedBy } from '../presented.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { confinementLines } from '../screen.ts';
import { refusalOf } from '../tell.ts';
import { atTerminal } from '../terminal.ts';

/** How far a run came. It decides what may be said about it when something goes wrong. */
export interface Progress {
  opened: boolean;
  confirmed: boolean;
}

/** The adapter of 001: one approved intent, one tool, one run, one report. */
export async function run(call: Call): Promise<Answer> {
  const progress: Progress = { opened: false, confirmed: false };
  try {
    const [intent_id = '', hash = ''] = call.operands;
    if (!isUuid(intent_id)) refuse('ID_MALFORMED');
    if (!isDigest(hash)) refuse('HASH_MALFORMED');
    return await withStore(call, progress, (keyturn) =>
      call.options.dryRun
        ? dryRun(keyturn, intent_id, hash, call)
        : realRun(keyturn, { intent_id, hash }, call, progress),
    );
  } catch (error) {
    const refusal = whatIsKnown(error, progress);
    return denied(refusal, refusedLines(refusal, progress.opened));
  }
}

async function withStore(
  call: Call,
  progress: Progress,
  act: (keyturn: Keyturn) => Promise<Answer>,
): Promise<Answer> {
  const keyturn = await Keyturn.open({ at: folderOf(call), mode: call.options.dryRun ? 'read' : 'write' });
  progress.opened = true;
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

/** After the y nobody can say that nothing was attempted, unless a refusal says so. */
export function whatIsKnown(error: unknown, { confirmed }: Progress): Refusal {
  if (error instanceof Refusal || !confirmed) return refusalOf(error);
  return new Refusal('RECORDING_FAILED', undefined, { because: refusalOf(error).message });
}

async function dryRun(keyturn: Keyturn, intent_id: string, hash: string, call: Call): Promise<Answer> {
  const { effect, shown, capability } = await keyturn.preview(intent_id, hash, presentedBy(call.options));
  const { capability_id } = capability.recorded;
  const told =
    effect.kind === 'tool' ? { tool: effect.tool, argv: effect.argv } : { tool: effect.plan_id, argv: [] };
  const result: Result<'run'> = { dry_run: true, intent_id, hash, capability_id, ...told, shown };
  return {
    result,
    lines: [...screenOf(intent_id, effect), '', '[OK] Dry run: nothing executed, nothing recorded'],
  };
}

function screenOf(intent_id: string, effect: Preview['effect']): string[] {
  return effect.kind === 'plan' ? planScreen(intent_id, effect) : screen(intent_id, effect);
}

// An interrupted tool is killed with all it started, and its end is recorded.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function realRun(
  keyturn: Keyturn,
  asked: { readonly intent_id: string; readonly hash: string },
  call: Call,
  progress: Progress,
): Promise<Answer> {
  const capability = presentedBy(call.options);
  return interruptible(async (abort) => {
    const confirm = async (seen: Preview) => {
      progress.confirmed = await confirmed(seen, call.options.json === true, abort);
      return progress.confirmed;
    };
    return reported(await keyturn.run({ ...asked, capability, confirm, abort, ...progressOf(call) }));
  });
}

/** From here on a signal does not end us half way: what runs is killed with all it started, and that is recorded. */
export async function interruptible<T>(act: (abort: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await act(interrupt.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/** A plan says how far it is, on a terminal only, in one line that is gone when it ends. */
export function progressOf({ options }: Call): { onProgress?: (progress: PlanProgress) => void } {
  if (options.json || !process.stderr.isTTY) return {};
  // A terminal that hangs up must not end a plan half way.
  process.stderr.on('error', () => {});
  return {
    onProgress: ({ done, of, what }) => {
      process.stderr.write(what === 'done' ? '\r\x1b[K' : `\r\x1b[K[${done}/${of}] ${visible(what)}`);
    },
  };
}

/** Only `y` is yes. */
function confirmed(
  { state, effect, shown, capability }: Preview,
  json: boolean,
  abort: AbortSignal,
): Promise<boolean> {
  return atTerminal(async (terminal) => {
    const look = { paint: painter(true), columns: terminal.columns };
    const more = confinementLines(shown, look, capability);
    await present(terminal, [...screenOf(state.intent_id, effect), ''], { json, more, abort });
    return (await terminal.ask(`${QUESTION} `, abort)) === 'y';
  });
}

/** What became of it, and why where it did not end well. */
export function reported(report: Report): Answer & { result: Result<'run'> } {
  const { reason_code } = report;
  const result = reportOf(report);
  const lines = runLines(report);
  if (reason_code === null) return { result, lines };
  return { result, lines, refusal: new Refusal(reason_code, explain(reason_code).meaning) };
}

export function reportOf(report: Report) {
  const { execution_id, intent_id, capability_id, tool, exit_code, signal, finished_at, folder } = report;
  return {
    dry_run: false as const,
    execution_id,
    intent_id,
    capability_id,
    tool,
    outcome: report.result,
    exit_code,
    signal,
    finished_at,
    stdout: Buffer.from(report.stdout.bytes).toString('utf8'),
    stderr: Buffer.from(report.stderr.bytes).toString('utf8'),
    folder,
    reports_missing: report.reports_missing,
  };
}
