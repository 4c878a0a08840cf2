import { isDigest } from '../../canonical/digest.ts';
import { isUuid } from '../../canonical/uuid.ts';
import { Keyturn, type Result } from '../../keyturn.ts';
import { QUESTION, screen } from '../../lane/report.ts';
import { explain, Refusal, refuse } from '../../refusal.ts';
import { printedLines, refusedLines, runLines } from '../adapter.ts';
import { type Answer, type Call, denied } from '../answer.ts';
import { liveOf } from '../live.ts';
import { painter } from '../paint.ts';
import { callScreen, planScreen } from '../plan-lines.ts';
import { present } from '../present.ts';
import { presentedBy } from '../presented.ts';
import { folderOf } from '../project.ts';
import { saysYes } from '../question.ts';
import { confinementLines } from '../screen.ts';
import { refusalFrom } from '../tell.ts';
import { atTerminal } from '../terminal.ts';

type Preview = Result<'runs.preview'>;

/** How far a run came. It decides what may be said about it when something goes wrong. */
export interface RunReached {
  opened: boolean;
  confirmed: boolean;
}

/** The adapter of 001: one approved intent, one tool, one run, one report. */
export async function run(call: Call): Promise<Answer> {
  const progress: RunReached = { opened: false, confirmed: false };
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
  progress: RunReached,
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

/** After the y it is not known that nothing was attempted, unless a refusal says so. */
export function whatIsKnown(error: unknown, { confirmed }: RunReached): Refusal {
  if (error instanceof Refusal || !confirmed) return refusalFrom(error);
  return new Refusal('RECORDING_FAILED', undefined, { because: refusalFrom(error).message });
}

async function dryRun(keyturn: Keyturn, intent_id: string, hash: string, call: Call): Promise<Answer> {
  const result = await keyturn.runs.preview({ intent_id, hash, ...presentedBy(call.options) });
  return {
    result,
    lines: [...screenOf(intent_id, result.effect), '', '[OK] Dry run: nothing executed, nothing recorded'],
  };
}

function screenOf(intent_id: string, effect: Preview['effect']): string[] {
  if (effect.kind === 'mcp') return callScreen(intent_id, effect);
  return effect.kind === 'plan' ? planScreen(intent_id, effect) : screen(intent_id, effect);
}

// An interrupted tool is killed with all it started, and its end is recorded.
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function realRun(
  keyturn: Keyturn,
  asked: { readonly intent_id: string; readonly hash: string },
  call: Call,
  progress: RunReached,
): Promise<Answer> {
  const which = { ...asked, ...presentedBy(call.options) };
  return interruptible(async (abort) => {
    const shown = await keyturn.runs.look(which);
    if (!(await confirmed(shown, call.options.json === true, abort))) refuse('CONFIRMATION_DECLINED');
    progress.confirmed = true;
    const { seen } = shown;
    const live = liveOf(call);
    const report = await keyturn.runs.run({ ...which, seen, abort, ...live?.on });
    live?.end();
    return reported(report, live !== null);
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

function confirmed(
  { intent, effect, shown, capability }: Preview,
  json: boolean,
  abort: AbortSignal,
): Promise<boolean> {
  return atTerminal(async (terminal) => {
    const look = { paint: painter(true), columns: terminal.columns };
    const more = confinementLines(shown, look, capability);
    await present(terminal, [...screenOf(intent.intent_id, effect), ''], { json, more, abort });
    return saysYes(terminal, QUESTION, abort);
  });
}

/** What became of it, and why where it did not end well. 001 shows the errors of a tool that failed; the rest of its output goes beside. */
export function reported(result: Result<'runs.run'>, is_seen: boolean): Answer {
  const { reason_code, folder, stdout } = result;
  const lines = runLines(result);
  if (reason_code === null) return { result, lines };
  const refusal = new Refusal(reason_code, explain(reason_code).meaning);
  if (is_seen || folder !== null || stdout === '') return { result, lines, refusal };
  return { result, lines, refusal, notes: ['Tool output:', ...printedLines(result, 'stdout')] };
}
