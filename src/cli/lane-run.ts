import { resolve } from 'node:path';
import { queueFolder } from '../lane/folder.ts';
import type { LaneRunRequest } from '../lane/precondition.ts';
import { reasonLine, reasonOf, type ShownReason } from '../lane/reason.ts';
import {
  denial,
  type Finished,
  QUESTION,
  RECORDING_FAILED_LINES,
  runReport,
  screen,
  shownOf,
} from '../lane/report.ts';
import { previewRun, type RunSetting, runIntent } from '../lane/run.ts';
import type { Claimed } from '../lane/verify.ts';
import { jsonLine } from '../lane/visible.ts';
import { Refusal, refuse } from '../refusal.ts';
import { openFreezes, requireNotFrozen } from './lane-freeze.ts';
import type { LaneAnswer } from './lane-schema.ts';
import { painter } from './paint.ts';
import { present } from './present.ts';
import { saysYes } from './question.ts';
import { say } from './say.ts';
import { confinementLines } from './screen.ts';
import { atTerminal, type Terminal } from './terminal.ts';

export interface LaneRunOptions {
  readonly queue?: string;
  readonly registry?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `keyturn lane run`: the adapter of 001 on the plain files. Returns the exit code. */
export async function laneRun(claimed: Claimed, options: LaneRunOptions): Promise<number> {
  try {
    const request = requestOf(claimed, options);
    return options.dryRun ? await dryRun(request, options) : await realRun(request, options);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const lines = error.code === 'RECORDING_FAILED' ? RECORDING_FAILED_LINES : denial(error);
    tell(options, lines, { ok: false, lines }, reasonOf(error));
    return 1;
  }
}

function requestOf(claimed: Claimed, options: LaneRunOptions): LaneRunRequest {
  return {
    ...claimed,
    queue: queueFolder(resolve(options.queue || refuse('USAGE', 'The lane needs --queue DIR.'))),
    registry_path: options.registry ? resolve(options.registry) : null,
    working_folder: process.cwd(),
  };
}

async function dryRun(request: LaneRunRequest, options: LaneRunOptions): Promise<number> {
  const effect = await previewRun(request);
  await requireNotFrozen(request, effect);
  const lines = [...screen(request.id, effect), '', '[OK] Dry run: nothing executed, nothing recorded'];
  tell(
    options,
    lines,
    { ok: true, dry_run: true, id: request.id, tool: effect.tool, argv: effect.argv },
    null,
  );
  return 0;
}

async function realRun(request: LaneRunRequest, options: LaneRunOptions): Promise<number> {
  const interrupt = new AbortController();
  const confirm: RunSetting['confirm'] = async (effect) => {
    // From here on a signal does not end us half way: at the question it is a no, and later the tool is killed with all
    // it started, and that is recorded.
    for (const signal of SIGNALS) process.on(signal, () => interrupt.abort());
    await requireNotFrozen(request, effect);
    return atTerminal((terminal) =>
      ask(terminal, { id: request.id, effect, options, abort: interrupt.signal }),
    );
  };
  const finished = await runIntent(request, {
    confirm,
    freezes: (effect) => openFreezes(request, effect),
    clock: () => new Date(),
    abort: interrupt.signal,
  });
  tell(options, runReport(finished), asJson(finished), reasonOfRun(finished));
  return finished.outcome === 'success' ? 0 : 1;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Asked {
  readonly id: string;
  readonly effect: Parameters<RunSetting['confirm']>[0];
  readonly options: LaneRunOptions;
  readonly abort: AbortSignal;
}

async function ask(terminal: Terminal, { id, effect, options, abort }: Asked): Promise<boolean> {
  const { columns } = terminal;
  const more = confinementLines(shownOf(effect), { paint: painter(true), columns });
  await present(terminal, [...screen(id, effect), ''], { json: options.json === true, more, abort });
  return saysYes(terminal, QUESTION, abort);
}

function reasonOfRun({ failure }: Finished): ShownReason | null {
  return failure === null ? null : reasonOf(failure);
}

function asJson({ id, tool, timestamp, outcome, exit_code, run }: Finished): Said {
  return {
    ok: outcome === 'success',
    id,
    tool,
    timestamp,
    outcome,
    exit_code,
    signal: run.signal,
    stdout: Buffer.from(run.stdout.bytes).toString('utf8'),
    stderr: Buffer.from(run.stderr.bytes).toString('utf8'),
    truncated: run.stdout.truncated || run.stderr.truncated,
  };
}

type OmitEach<T> = T extends unknown ? Omit<T, keyof ShownReason> : never;
type Said = OmitEach<LaneAnswer<'run'>>;

function tell(
  options: LaneRunOptions,
  lines: readonly string[],
  json: Said,
  reason: ShownReason | null,
): void {
  const { code = null, message = null, advice = null } = reason ?? {};
  say(1, options.json ? jsonLine({ ...json, code, message, advice }) : lines);
  if (reason !== null && !options.json) say(2, reasonLine(reason));
}
