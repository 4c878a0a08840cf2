import { visible } from '../../canonical/visible.ts';
import { ELIGIBLE_LINE, type Result, type Signer } from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { refusedLines } from '../adapter.ts';
import type { Answer, Call } from '../answer.ts';
import { BREAK_GLASS_LINE } from '../capability-lines.ts';
import { earlierLines } from '../earlier.ts';
import { type Field, fieldLines } from '../fold.ts';
import { onlyHere, type Possible, possible, requirePossible, unlock, whoActs } from '../human.ts';
import { liveOf, sayStep } from '../live.ts';
import { meantBy, requireId } from '../operand.ts';
import { painter } from '../paint.ts';
import { nextAt, type Opened, writing } from '../project.ts';
import { saysYes, tellAt } from '../question.ts';
import type { Result as Printed } from '../schema.ts';
import { atTerminal, type Terminal } from '../terminal.ts';
import { type SeenIntent, showReview } from './approve.ts';
import { orderLines } from './grant.ts';
import { interruptible, reported, whatIsKnown } from './run.ts';

/**
 * The short way for a person whom the policies allow all of it: one look, one y, one passphrase. What follows are verbs that any program
 * can ask for, each recorded by itself. Until the y nothing is recorded: it was only a look.
 */
export function turn(call: Call): Promise<Answer> {
  const typed = call.operands.length === 0 ? null : requireId(call);
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { seen, approves, before } =
      typed === null
        ? await nextFor(keyturn, name)
        : { ...(await turnable(keyturn, name, await meantBy(keyturn, 'intent', typed))), before: [] };
    const { intent_id, hash, attempt, effect_digest } = seen.intent;
    const shown = { attempt, effect_digest };
    const asked = await possible(keyturn, name, (signer) =>
      keyturn.intents.turn({ intent_id, hash, shown, signer }),
    );
    const signer = await atTerminal(async (terminal) => {
      for (const line of [...before, ...(before.length > 0 ? [''] : [])]) tellAt(terminal, line);
      await showTurn(keyturn, terminal, seen, { name, approves });
      if (!(await saysYes(terminal, 'Turn the key? (y/n)'))) refuse('CONFIRMATION_DECLINED');
      return unlock(keyturn, terminal, asked);
    });
    return turnedAndRun({ keyturn, seen, signer, call }, asked);
  });
}

interface Turnable {
  readonly seen: SeenIntent;
  readonly approves: boolean;
}

async function turnable(keyturn: Opened, name: string, intent_id: string): Promise<Turnable> {
  const seen = await keyturn.intents.review({ intent_id });
  try {
    return { seen, approves: await requirePossible(keyturn, seen.intent, name, 'turn') };
  } catch (error) {
    throw error instanceof Refusal ? await withWhatIsLeft(keyturn, seen.intent, name, error) : error;
  }
}

/** Where others must approve it, too, a human can still do their part: the last of them turns the key. */
async function withWhatIsLeft(
  keyturn: Opened,
  { intent_id, hash, missing, approvers }: SeenIntent['intent'],
  by: string,
  refusal: Refusal,
): Promise<Refusal> {
  const is_first = refusal.code === 'POLICY_DENIED' && missing > 1 && !approvers.includes(by);
  if (!is_first || (await keyturn.intents.whatIf({ intent_id, hash, by, act: 'approve' })).code !== null)
    return refusal;
  const { code, message, facts } = refusal;
  const yours = nextAt(keyturn, `keyturn approve ${intent_id}`);
  return new Refusal(code, `${message} ${missing} must approve it: \`${yours}\` is your part.`, facts);
}

/** What has waited longest for this human, of what they may turn. What they may not turn is named, and waits on. */
async function nextFor(
  keyturn: Opened,
  name: string,
): Promise<Turnable & { readonly before: readonly string[] }> {
  const passed: string[] = [];
  let first: Refusal | null = null;
  let after: string | undefined;
  while (passed.length < cliLimits.turn_candidates) {
    const { intent_id, more } = await keyturn.intents.next({ needs: name, ...(after && { after }) });
    if (intent_id === null) break;
    try {
      const found = await turnable(keyturn, name, intent_id);
      return { ...found, before: [...passed, nextLine(intent_id, name, more)] };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      first ??= new Refusal(error.code, `${intent_id}: ${error.message}`, error.facts);
      passed.push(
        `Passed over: ${intent_id}. ${visible(error.message)} See keyturn show, or keyturn reject.`,
      );
      after = intent_id;
    }
  }
  throw first ?? new Refusal('INTENT_NOT_FOUND', `Nothing waits for ${name}.`);
}

function nextLine(intent_id: string, name: string, more: number): string {
  const after = more === 0 ? 'nothing else waits' : more === 1 ? '1 more waits' : `${more} more wait`;
  return `What has waited longest for ${name} is ${intent_id}; ${after}.`;
}

interface Acting {
  readonly name: string;
  /** Whether the signature approves it, too. */
  readonly approves: boolean;
}

async function showTurn(
  keyturn: Opened,
  terminal: Terminal,
  seen: SeenIntent,
  { name, approves }: Acting,
): Promise<void> {
  const { intent_id, approvers, missing, approvals_needed, break_glass } = seen.intent;
  const needed = Math.max(approvals_needed, approvers.length + missing);
  const { policy } = await keyturn.system.get();
  const found: Field[] = [
    [
      'Approved',
      `${approvers.length === 0 ? 'none yet' : `by ${approvers.join(', ')}`}, of ${needed} needed`,
    ],
    ['Policies', `${policy?.slice(0, 12) ?? 'none'}: asked again at each step, and each can say no`],
    ['Turn', [['bold', `${approves ? 'approve, ' : ''}order one run, check, run`]]],
  ];
  const paint = painter(true);
  const loud = new Set(break_glass.map((one) => one.by)).size > 1 ? [paint('alarm', BREAK_GLASS_LINE)] : [];
  const lines = fieldLines(found, { paint, columns: terminal.columns });
  const earlier = await earlierLines(keyturn, terminal, { intent_id, name });
  await showReview(terminal, seen, [...earlier, '', ...loud, ...lines]);
}

type Turned = Result<'intents.turn'>;

interface Turning {
  readonly keyturn: Opened;
  readonly seen: SeenIntent;
  readonly signer: Signer;
  readonly call: Call;
}

/** The first refusal ends it, and what was done before it stands. */
async function turnedAndRun(turning: Turning, { act }: Possible<Turned>): Promise<Answer> {
  const { keyturn, seen, signer, call } = turning;
  const { intent_id, hash } = seen.intent;
  let turned: Turned | null = null;
  try {
    turned = await act(signer);
    sayStep(call, turnedLines(turned));
    if (keyturn.service !== undefined) {
      if (!(await takenElsewhere(turning, turned))) refuse('ORDER_LAPSED', NOT_TAKEN);
      return await ranByExecutor(turning, turned);
    }
    const verdict = await keyturn.intents.check({ intent_id, hash });
    if (!verdict.eligible) refuse(verdict.code, verdict.words);
    sayStep(call, [ELIGIBLE_LINE]);
  } catch (error) {
    if (turned !== null && keyturn.service === undefined && (await runUnder(turning, turned)))
      return ranByExecutor(turning, turned);
    const refusal = whatIsKnown(error, { opened: true, confirmed: false });
    const why = `[ERROR] ${turned === null ? 'The key was not turned' : 'Not eligible for execution'}`;
    return stopped(turning, turned, refusal, [why]);
  }
  return runTurned(turning, turned);
}

function turnedLines({ approved_until, ...order }: Turned): string[] {
  const { by, intent_id } = order;
  const approved = `${by} ${approved_until === null ? `has approved ${intent_id} before` : `approved ${intent_id}`}`;
  return [`[OK] ${approved}`, ...orderLines(order, false, [])];
}

/** No second question: the y was to this effect, and what was ordered is for it alone. */
async function runTurned(turning: Turning, turned: Turned): Promise<Answer> {
  const { keyturn, seen, call } = turning;
  const { intent_id, hash, tool } = seen.intent;
  const live = liveOf(call);
  let is_ours = false;
  const onClaimed = (execution_id: string) => {
    is_ours = true;
    sayStep(call, [`[OK] Issued and claimed: ${visible(tool)} runs as ${execution_id}`]);
  };
  try {
    const run = await interruptible((abort) =>
      keyturn.runs.run({
        intent_id,
        hash,
        seen: turned.seen,
        or_elsewhere: true,
        abort,
        onClaimed,
        ...live?.on,
      }),
    );
    live?.end();
    const answer = reported(run, live !== null);
    const lines = [...answer.lines, ...(await undoLines(turning))];
    return { ...answer, lines, result: resultOf(turning, turned, run) };
  } catch (error) {
    if (!is_ours && (await runUnder(turning, turned))) return ranByExecutor(turning, turned);
    const is_taken = isElsewhere(error) && (await takenElsewhere(turning, turned).catch(() => false));
    if (is_taken) return ranByExecutor(turning, turned);
    const refusal = whatIsKnown(error, { opened: true, confirmed: true });
    return stopped(turning, turned, refusal, refusedLines(refusal, true));
  }
}

/** The run that the order began, by any executor. */
async function runUnder({ keyturn, seen }: Turning, { capability_id }: Turned) {
  const { runs } = await keyturn.intents.get({ intent_id: seen.intent.intent_id });
  return runs.find((run) => run.capability_id === capability_id);
}

const isElsewhere = (error: unknown) => error instanceof Refusal && error.code === 'EXECUTOR_ELSEWHERE';

const NOT_TAKEN = 'No executor of the service took the order in time.';

/** Whether an executor elsewhere took the order before it lapsed. What was begun in time is waited for to its end. */
async function takenElsewhere(turning: Turning, turned: Turned): Promise<boolean> {
  const { keyturn, seen, call } = turning;
  const { intent_id } = seen.intent;
  sayStep(call, [`[OK] Ordered for ${visible(turned.audience)}, until ${turned.lapses_at}`]);
  const lapses_ms = Math.max(0, Date.parse(turned.lapses_at) - Date.now()) + cliLimits.lapse_ms;
  const lapsed = AbortSignal.timeout(lapses_ms);
  try {
    await interruptible((abort) =>
      keyturn.intents.waitFor({ intent_id, signal: AbortSignal.any([abort, lapsed]) }),
    );
  } catch (error) {
    if (error !== lapsed.reason) throw error;
  }
  return (await runUnder(turning, turned)) !== undefined;
}

/** A service or an executor was first: the same order, the same one run. */
async function ranByExecutor(turning: Turning, turned: Turned): Promise<Answer> {
  const { keyturn, seen, call } = turning;
  const { intent_id, tool } = seen.intent;
  sayStep(call, [`[OK] An executor runs ${visible(tool)}`]);
  await interruptible((signal) => keyturn.intents.waitFor({ intent_id, signal }));
  const under = await runUnder(turning, turned);
  const { run } = under ? await keyturn.runs.report({ execution_id: under.execution_id }) : { run: null };
  const result = resultOf(turning, turned, run);
  if (run === null) return { result, lines: ['[ERROR] in doubt'], refusal: new Refusal('RUN_IN_DOUBT') };
  const answer = reported(run, false);
  return { ...answer, result, lines: [...answer.lines, ...(await undoLines(turning))] };
}

/** How it can be undone, where its tool says so. The run is recorded by now: that this cannot be told changes nothing about it. */
async function undoLines({ keyturn, seen, signer }: Turning): Promise<string[]> {
  const { intent_id } = seen.intent;
  try {
    const { undo } = await keyturn.intents.result({ intent_id });
    if (undo === null) return [];
    // The line is run as it is printed: where several humans have a key here, it says who proposes.
    const by = (await onlyHere(keyturn)) === null ? ` --by ${signer.name}` : '';
    return [`Undo: ${nextAt(keyturn, `keyturn undo ${intent_id}${by}`)} (proposes ${undo.tool})`];
  } catch {
    return [];
  }
}

function resultOf(
  { seen, signer }: Turning,
  turned: Turned | null,
  run: Printed<'turn'>['run'],
): Printed<'turn'> {
  const { intent_id, hash } = seen.intent;
  return { intent_id, hash, by: signer.name, turned, run };
}

/** Why it ended, and what is now as it was not before. */
async function stopped(
  turning: Turning,
  turned: Turned | null,
  refusal: Refusal,
  why: readonly string[],
): Promise<Answer> {
  // Where it is not known whether it ran, what stands is not known.
  const stands = refusal.code === 'RECORDING_FAILED' ? [] : await whatStands(turning, turned);
  return { result: resultOf(turning, turned, null), lines: [...why, ...stands], refusal };
}

async function whatStands({ keyturn }: Turning, turned: Turned | null): Promise<string[]> {
  if (turned === null) return ['Nothing was changed.'];
  const { by, intent_id, capability_id, approved_until, lapses_at } = turned;
  // The order may be spent, denied or revoked by now.
  const { capabilities } = await keyturn.intents.get({ intent_id });
  const order = capabilities.find((one) => one.capability_id === capability_id);
  return [
    ...(approved_until === null ? [] : [`The approval of ${by} stands until ${approved_until}`]),
    ...(order?.status === 'ordered'
      ? [`The order ${capability_id} stands until ${lapses_at}; keyturn revoke takes it back`]
      : []),
  ];
}
