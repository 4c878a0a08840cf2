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
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { confinementLines } from '../screen.ts';
import { refusalOf } from '../tell.ts';
import { atTerminal } from '../terminal.ts';

/** How far a run came. It decides what may be said about it when something goes wrong. */
interface Progress {
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
        ? dryRun(keyturn, intent_id, hash)
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
function whatIsKnown(error: unknown, { confirmed }: Progress): Refusal {
  if (error instanceof Refusal || !confirmed) return refusalOf(error);
  return new Refusal('RECORDING_FAILED', undefined, { because: refusalOf(error).message });
}

async function dryRun(keyturn: Keyturn, intent_id: string, hash: string): Promise<Answer> {
  const { effect } = await keyturn.preview(intent_id, hash);
  const told =
    effect.kind === 'tool' ? { tool: effect.tool, argv: effect.argv } : { tool: effect.plan_id, argv: [] };
  const result: Result<'run'> = { dry_run: true, intent_id, hash, ...told };
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
  const interrupt = new AbortController();
  const stop = () => interrupt.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    const confirm = async (seen: Preview) => {
      progress.confirmed = await confirmed(seen, call.options.json === true, interrupt.signal);
      return progress.confirmed;
    };
    const onProgress = progressOf(call);
    return answerOf(
      await keyturn.run({ ...asked, confirm, abort: interrupt.signal, ...(onProgress && { onProgress }) }),
    );
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

/** A plan says how far it is, on a terminal only, in one line that is gone when it ends. */
function progressOf({ options }: Call): ((progress: PlanProgress) => void) | null {
  if (options.json || !process.stderr.isTTY) return null;
  // A terminal that hangs up must not end a plan half way.
  process.stderr.on('error', () => {});
  return ({ done, of, what }) => {
    process.stderr.write(what === 'done' ? '\r\x1b[K' : `\r\x1b[K[${done}/${of}] ${visible(what)}`);
  };
}

/** Only `y` is yes. */
function confirmed({ state, effect }: Preview, json: boolean, abort: AbortSignal): Promise<boolean> {
  return atTerminal(async (terminal) => {
    const { columns } = terminal;
    const more = effect.kind === 'tool' ? confinementLines(effect, { paint: painter(true), columns }) : [];
    present(terminal, [...screenOf(state.intent_id, effect), ''], { json, more });
    return (await terminal.ask(`${QUESTION} `, abort)) === 'y';
  });
}

function answerOf(report: Report): Answer {
  const {
    execution_id,
    intent_id,
    tool,
    result: outcome,
    exit_code,
    signal,
    finished_at,
    reason_code,
  } = report;
  const stdout = Buffer.from(report.stdout.bytes).toString('utf8');
  const stderr = Buffer.from(report.stderr.bytes).toString('utf8');
  const { folder } = report;
  const told = {
    execution_id,
    intent_id,
    tool,
    outcome,
    exit_code,
    signal,
    finished_at,
    stdout,
    stderr,
    folder,
  };
  const result: Result<'run'> = { dry_run: false, ...told };
  const lines = runLines(report);
  if (reason_code === null) return { result, lines };
  return { result, lines, refusal: new Refusal(reason_code, explain(reason_code).meaning) };
}
