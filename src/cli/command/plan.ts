import { counted } from '../../canonical/counted.ts';
import { decodeUtf8 } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import type { PlanSpec, Signer, Result as Verb } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { drawShown } from '../draw.ts';
import { actAs, provenBy, whoActs } from '../human.ts';
import { readInput } from '../input.ts';
import { shortIds } from '../list-table.ts';
import { meantBy, requireId } from '../operand.ts';
import { type Opened, reading, writing } from '../project.ts';
import { other } from '../remote-other.ts';
import { stdoutLook } from '../screen.ts';

/** Says everything that is wrong with a plan, each with its place. */
export function validate(call: Call): Promise<Answer> {
  const [file = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const result = await keyturn.plans.validate(planSource(file, call.options));
    const { plan_id, actions, checked, problems } = result;
    if (problems.length > 0) return problemsOf(file, call.options, result);
    const sound = checked === 'files' ? 'nothing is wrong with it' : 'nothing is wrong with its form';
    return {
      result,
      lines: [`[OK] ${visible(plan_id ?? '')}: ${counted(actions, 'action')}, ${sound}`],
    };
  });
}

function problemsOf(file: string, { config = '' }: Options, found: Verb<'plans.validate'>): Answer {
  const { problems } = found;
  const lines = problems.map(({ source, line, column, code, message, pointer }) => {
    const place = `${source === 'config' ? config : file}:${line}:${column}`;
    return `${visible(place)}: ${code} ${visible(message)} (${visible(pointer || '/')})`;
  });
  const result: Verb<'plans.validate'> = { ...found, plan_id: null, actions: 0 };
  const refusal = new Refusal('SHAPE_INVALID', `${counted(problems.length, 'problem')} in ${visible(file)}.`);
  return { result, lines, refusal };
}

/** What a plan would do to the files as they are now. Touches nothing. */
export function preview(call: Call): Promise<Answer> {
  const [file = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const result = await keyturn.plans.preview({ spec: await planIn(keyturn, file, call.options) });
    return { result, lines: drawShown(result.shown, stdoutLook(new Date())), is_long: true };
  });
}

/** Makes the missing reports of a finished run again. What is there stays as it is. */
export function report(call: Call): Promise<Answer> {
  const typed = requireId(call);
  return reading(call, async (keyturn) => {
    const execution_id = await meantBy(keyturn, 'execution', typed);
    const result = await (await provenBy(keyturn, undefined)).plans.report({ execution_id });
    const { folder, written } = result;
    const said = written.length === 0 ? 'No report is missing' : `Made again: ${written.join(', ')}`;
    return { result, lines: [`[OK] ${said}`, `  Reports: ${visible(folder)}`] };
  });
}

export async function planIn(keyturn: Opened, file: string, options: Options): Promise<PlanSpec> {
  const read = await keyturn.plans.read(planSource(file, options));
  if ('spec' in read) return read.spec;
  const [first] = read.problems;
  const more =
    read.problems.length > 1 ? ` and ${read.problems.length - 1} more; see keyturn plan validate` : '';
  const name = first!.source === 'config' ? options.config : file;
  return refuse(first!.code, `${name}:${first!.line}:${first!.column}: ${first!.message}${more}`);
}

function planSource(file: string, { config }: Options) {
  return {
    plan: textIn(file),
    config: config === undefined ? null : textIn(config),
  };
}

function textIn(file: string): string {
  return decodeUtf8(readInput(file, limits.json_bytes), limits.json_bytes);
}

/** Undoes a run of a plan, whole, by checkpoint, or but for some paths. */
export function rollback(call: Call): Promise<Answer> {
  const run = runOf(call);
  const {
    checkpoint: checkpoints = [],
    except = [],
    reason,
    as,
    hostIsDead: host_is_dead = false,
  } = call.options;
  if (checkpoints.length > 0 && except.length > 0)
    refuse('USAGE', 'Say --checkpoint for what to restore, or --except for what to leave, not both.');
  const chosen = { checkpoints, except, host_is_dead };
  if (call.options.preview)
    return reading(call, async (keyturn) =>
      foretold(await keyturn.plans.previewRollback({ run, ...chosen })),
    );
  if (reason === undefined) refuse('USAGE', 'A rollback needs --reason, or --preview to only look.');
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, as);
    const seen = await keyturn.plans.previewRollback({ run, ...chosen });
    if (seen.status === 'rolled_back') return foretold(seen);
    // The run that was looked at: a later one may have become the last meanwhile.
    const { execution_id, checkpoints: meant } = seen;
    if (meant.length !== checkpoints.length || !meant.every((id, i) => id.startsWith(checkpoints[i]!)))
      other('which checkpoints were meant');
    const request = { execution_id, ...chosen, checkpoints: meant, reason };
    const undo = (signer: Signer) => keyturn.plans.rollback({ ...request, signer });
    return rolledBack(await actAs(keyturn, name, undo, () => foretold(seen).lines), seen.instructions);
  });
}

/** What a look says. Where the run is undone already, nothing is signed, so no passphrase is asked for. */
function foretold(outcome: Outcome): Answer {
  const { execution_id, status } = outcome;
  const answer = rolledBack(outcome);
  return status === 'rolled_back'
    ? { ...answer, lines: [`[OK] ${execution_id} is rolled back already`] }
    : answer;
}

function runOf({ operands: [run], options: { last = false } }: Call): string {
  if ((run === undefined) !== last) refuse('USAGE', 'Name the run by an id, or say --last.');
  return run ?? 'last';
}

type Outcome = Verb<'plans.rollback'>;

/** What was shown before the gesture is not said again. */
function rolledBack(outcome: Outcome, shown: readonly string[] = []): Answer {
  const { execution_id, paths } = outcome;
  const lost = paths.filter(({ step }) => step === 'refuse').length;
  const short = shortIds(paths.map(({ checkpoint_id }) => checkpoint_id));
  // What `--checkpoint` takes.
  const named = (id: string) => (outcome.status === 'preview' ? ` (${short(id)})` : '');
  const details = [
    ...paths.map((one) => `  ${visible(one.path)}: ${pathWords(one, outcome)}${named(one.checkpoint_id)}`),
    ...outcome.folders_removed.map((folder) => `  ${visible(folder)}: folder removed`),
    ...outcome.not_undone.map((action) => `  ${visible(action)}: CANNOT BE UNDONE`),
    ...outcome.instructions.filter((line) => !shown.includes(line)).map((line) => `  ${visible(line)}`),
  ];
  if (outcome.status === 'stuck') {
    const refusal = new Refusal('ROLLBACK_STUCK');
    return {
      result: outcome,
      lines: [`[ERROR] The rollback of ${execution_id} is stuck`, ...details],
      refusal,
    };
  }
  const line =
    outcome.status === 'preview'
      ? previewLine(execution_id, paths.length, lost)
      : `[OK] ${execution_id} is rolled back`;
  return { result: outcome, lines: [line, ...details] };
}

function previewLine(execution_id: string, paths: number, lost: number): string {
  if (lost > 0) return `A rollback of ${execution_id} CANNOT RESTORE ${lost} of ${counted(paths, 'path')}`;
  return `[OK] A rollback of ${execution_id} would ${paths === 0 ? 'change nothing' : 'do this'}`;
}

/** Why a path is not restored stands in the instruction for it, where there is one. */
function pathWords(
  { path, step, done, message }: Outcome['paths'][number],
  { status, instructions }: Outcome,
): string {
  const is_told = instructions.some((line) => line.startsWith(`${path}: ${message}`));
  const why = message && !is_told ? `, ${visible(message)}` : '';
  if (step === 'refuse') return `${status === 'preview' ? 'CANNOT BE RESTORED' : 'NOT RESTORED'}${why}`;
  return `${done || status === 'preview' ? '' : 'NOT DONE: '}${step}${why}`;
}
