import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import { type ConversationStatus, parseDuration, type Request, type Result } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { type ConversationAnswer, nextCommand } from '../conversation.ts';
import { actAs, whoActs } from '../human.ts';
import { filledPage, pageLines } from '../list-page.ts';
import { listLines } from '../list-table.ts';
import { meantBy } from '../operand.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { type Opened, reading, writing } from '../project.ts';
import { table } from '../table.ts';
import { talkWords } from '../talk.ts';
import { instantOf } from '../terms.ts';
import { timeOf } from '../time.ts';
import { countOf, stdoutTable } from './list.ts';

/** One conversation with its whole story. */
export function status(call: Call): Promise<Answer> {
  const [named = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const result = await keyturn.conversations.status({ correlation_id });
    return { result, lines: storyLines(keyturn, result) };
  });
}

export function list(call: Call): Promise<Answer> {
  const { status, user, text, since, until, limit, cursor } = call.options;
  const request: Request<'conversations.list'> = {
    ...(status !== undefined && { status: status as ConversationStatus }),
    ...(user !== undefined && { user }),
    ...(text !== undefined && { text }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...(until !== undefined && { until: timeOf(until, '--until') }),
    ...(limit !== undefined && { limit: countOf(limit, 0, '--limit', limits.page_rows) }),
    ...(cursor !== undefined && { cursor }),
  };
  return reading(call, async (keyturn) => {
    const result = await filledPage('conversations', request, (one) => keyturn.conversations.list(one));
    const { conversations } = result;
    const rows = conversations.length === 0 ? [] : overview(conversations);
    return { result, lines: pageLines(result, rows, { what: 'conversations', cursor }) };
  });
}

type Plans = ConversationAnswer['plans'];

function overview(conversations: Result<'conversations.list'>['conversations']): string[] {
  const lines = conversations.map(({ correlation_id, user_id, status, begun_at, plans, goal }) => ({
    ids: [correlation_id],
    status_word: status,
    at: begun_at,
    tool: aboutOf(plans),
    name: user_id,
    goal,
  }));
  return listLines({ ids: ['ID'], tool: 'simulation', name: 'for' }, lines, stdoutTable(new Date()));
}

/** The newest goal, and what undoes it. */
function aboutOf(plans: Plans): string {
  const goal = plans.findLast(({ rolls_back }) => rolls_back === null);
  if (!goal) return '-';
  const undo = plans.findLast(({ rolls_back }) => rolls_back === goal.plan_id);
  if (!undo) return goal.simulation;
  const by = [...new Set(undo.steps.map(({ simulation }) => simulation))].join(', ');
  return `${goal.simulation}, ${undo.state === 'COMPLETED' ? 'undone by' : 'to be undone by'} ${by}`;
}

function storyLines(keyturn: Opened, conversation: ConversationAnswer): string[] {
  const { correlation_id, user_id, status, talk, plans, moves } = conversation;
  const steps = plans.flatMap((plan) => plan.steps);
  const undos = new Set(plans.filter(({ rolls_back }) => rolls_back !== null).map(({ plan_id }) => plan_id));
  const planName = (plan_id: string) => (undos.has(plan_id) ? 'undo plan' : 'plan');
  const moved = moves.map(({ seq, created_at, plan_id, step_id, from_state, to_state, reason_code }) => {
    const name = steps.find((step) => step.step_id === step_id)?.simulation ?? planName(plan_id);
    return [
      seq,
      `${seq}  ${created_at}  ${name}: ${from_state || '-'} > ${to_state} (${reason_code})`,
    ] as const;
  });
  const said = talk.map((one) => [one.seq, `${one.seq}  ${one.at}  ${talkWords(one)}`] as const);
  // Words come before what they lead to, which the same entry may say.
  const told = [...said, ...moved].sort(([a], [b]) => a - b);
  const waiting = steps.findLast((step) => step.state === 'READY' || step.state === 'EXECUTING');
  const intent_id = waiting?.intent_id ?? waiting?.access?.intent_id;
  const next = nextCommand(keyturn, conversation);
  return [
    `Conversation: ${correlation_id} of ${user_id}, ${status}`,
    ...told.map(([, line]) => line),
    ...(intent_id ? [`Intent: ${intent_id}`] : []),
    ...(next === null ? [] : [`Next: ${next}`]),
  ].map(visible);
}

type SloReport = Result<'conversations.slo'>;

/** The figures of 003 section 14.2. A breach that no human waived is a no, and so is what was not measured. */
export function slo(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.conversations.slo();
    const lines = sloLines(result, stdoutPainter());
    if (result.is_blocked) return { result, lines, refusal: blocked(result), is_plain: true };
    return { result, lines: [...lines, '[OK] Each figure is within its target, or a human waived it'] };
  });
}

function sloLines({ figures, dispatches, since }: SloReport, paint: Paint): string[] {
  const rows = figures.map(({ figure, value, target, is_breached, waived_until }) => {
    if (value === null) return [figure, '-', String(target), 'not measured'];
    const verdict = !is_breached ? 'ok' : waived_until === null ? 'BREACHED' : `waived until ${waived_until}`;
    return [figure, String(value), String(target), verdict];
  });
  const lines = table(['FIGURE', 'VALUE', 'TARGET', ''], rows).map((line) =>
    line.endsWith('BREACHED') ? paint('alarm', line) : line,
  );
  return [...lines, `${counted(dispatches, 'dispatch', 'dispatches')} since ${since}`];
}

/** As `requireSlo` says it. */
function blocked({ figures }: SloReport): Refusal {
  const open = figures.filter((one) => one.is_breached && one.waived_until === null);
  const words = open.map(({ figure, value, target }) => `${figure} is ${value}, the target is ${target}`);
  return open.length > 0
    ? new Refusal('SLO_BREACHED', `${words.join('; ')}.`)
    : new Refusal('SLO_NOT_MEASURED');
}

export function waive(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  const figures = figuresIn(call.options);
  const until = untilIn(call.options);
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.conversations.waive({ figures, until, reason, signer }),
      () => [`Waive: ${figures.join(', ')}, until ${until}`],
    );
    return { result, lines: [`[OK] ${result.by} waived ${result.figures.join(', ')} until ${result.until}`] };
  });
}

type Figure = SloReport['figures'][number]['figure'];

const FIGURES: Readonly<Record<Figure, true>> = {
  agent_dispatch_p95_ms: true,
  agent_dispatch_p99_ms: true,
  execution_error_rate: true,
  idempotency_duplicate_side_effect_rate: true,
};

function figuresIn({ figure = [] }: Options): Figure[] {
  return [...new Set(figure)].map((name) =>
    Object.hasOwn(FIGURES, name)
      ? (name as Figure)
      : refuse(
          'USAGE',
          `"${name.slice(0, 60)}" is not a figure. There are: ${Object.keys(FIGURES).join(', ')}.`,
        ),
  );
}

/** A waiver always ends: nothing is assumed about when. */
function untilIn({ until, ttl }: Options): string {
  if ((until === undefined) === (ttl === undefined))
    refuse('USAGE', 'Say when the waiver ends: one of --until and --ttl.');
  return ttl === undefined
    ? new Date(instantOf(until!)).toISOString()
    : new Date(Date.now() + parseDuration(ttl) * 1000).toISOString();
}

/** Makes every decision of a conversation again. */
export function replay(call: Call): Promise<Answer> {
  const [named = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const result = await keyturn.conversations.replay({ correlation_id });
    const lines = result.decisions.map(
      ({ seq, decision, reason_code }) => `${seq}  ${decision} (${reason_code})`,
    );
    return { result, lines: [...lines, `[OK] Replayed ${counted(lines.length, 'decision')}: all the same`] };
  });
}
