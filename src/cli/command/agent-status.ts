import { visible } from '../../canonical/visible.ts';
import { type Keyturn, parseDuration, type SloReport } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { nextOf, wordFor } from '../conversation.ts';
import { actAs, whoActs } from '../human.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { table } from '../table.ts';
import { stored, talkOf, talkWords } from '../talk.ts';
import { instantOf } from '../terms.ts';

type Status = Awaited<ReturnType<Keyturn['agent']['status']>>;
type Conversation = Result<'agent status'>['conversations'][number];

/** One conversation with its whole story, or the latest ones and where they stand. */
export function status(call: Call): Promise<Answer> {
  const [correlation_id] = call.operands;
  return reading(call, async (keyturn) => {
    const ids = correlation_id === undefined ? await latest(keyturn) : [correlation_id];
    const conversations: Conversation[] = [];
    for (const id of ids) {
      const talk = correlation_id === undefined ? null : await talkOf(keyturn, id);
      conversations.push(await conversationOf(keyturn, await keyturn.agent.status(id), talk));
    }
    const result: Result<'agent status'> = { conversations };
    if (correlation_id !== undefined) return { result, lines: storyLines(conversations[0]!) };
    return { result, lines: conversations.length === 0 ? ['No conversations.'] : overview(conversations) };
  });
}

/** The conversations that the newest entries are about, the latest first. */
export async function latest(keyturn: Keyturn): Promise<string[]> {
  const subjects = (await keyturn.newest(ENTRIES)).map(({ subject }) => subject).toReversed();
  return [...new Set(subjects.filter((subject) => subject.startsWith(PREFIX)))]
    .slice(0, CONVERSATIONS)
    .map((subject) => subject.slice(PREFIX.length));
}

const PREFIX = 'agent:';
const ENTRIES = 2000;
const CONVERSATIONS = 20;

async function conversationOf(
  keyturn: Keyturn,
  status: Status,
  talk: Conversation['talk'],
): Promise<Conversation> {
  const { state, ledger } = status;
  const { correlation_id, user_id, thread_id, turns, turn } = state;
  const plans: Conversation['plans'] = [];
  for (const plan of state.plans) plans.push(planOf(plan, await nameOf(keyturn, plan)));
  return {
    correlation_id,
    user_id,
    thread_id,
    turns,
    packet_kind: turn.packet_kind,
    state: wordFor(status),
    next: await nextOf(keyturn, status),
    talk,
    plans,
    moves: ledger.map((row) => ({
      seq: row.seq,
      at: row.created_at,
      plan_id: row.plan_id,
      step_id: row.step_id === '' ? null : row.step_id,
      from: row.from_state === '' ? null : row.from_state,
      to: row.to_state,
      reason_code: row.reason_code,
    })),
  };
}

type Plan = Status['state']['plans'][number];

/** What the finder named: the simulation, or the one whose steps these are. */
async function nameOf(keyturn: Keyturn, { plan, steps }: Plan): Promise<string> {
  const made = await stored<{ simulation_id: string }>(keyturn, plan);
  return made?.simulation_id ?? [...new Set(steps.map(({ simulation }) => simulation))].join(', ');
}

function planOf(plan: Plan, simulation: string): Conversation['plans'][number] {
  const { plan_id, state, reason_code, risk_level, rolls_back, created_at, changed_at } = plan;
  const steps = plan.steps.map((step) => ({
    step_id: step.step_id,
    simulation: step.simulation,
    version: step.version,
    state: step.state,
    reason_code: step.reason_code,
    intent_id: step.intent_id ?? step.access?.intent_id ?? null,
    execution_id: step.execution_id,
  }));
  return { plan_id, simulation, state, reason_code, risk_level, rolls_back, created_at, changed_at, steps };
}

function overview(conversations: readonly Conversation[]): string[] {
  const rows = conversations.map(({ correlation_id, user_id, turns, state, plans }) =>
    [correlation_id, user_id, String(turns), state, aboutOf(plans)].map(visible),
  );
  return table(['CONVERSATION', 'USER', 'TURNS', 'STATE', 'SIMULATION'], rows);
}

/** The newest goal, and what undoes it. */
function aboutOf(plans: Conversation['plans']): string {
  const goal = plans.findLast(({ rolls_back }) => rolls_back === null);
  if (!goal) return '';
  const undo = plans.findLast(({ rolls_back }) => rolls_back === goal.plan_id);
  if (!undo) return goal.simulation;
  const by = [...new Set(undo.steps.map(({ simulation }) => simulation))].join(', ');
  return `${goal.simulation}, ${undo.state === 'COMPLETED' ? 'undone by' : 'to be undone by'} ${by}`;
}

function storyLines({ correlation_id, user_id, state, next, talk, plans, moves }: Conversation): string[] {
  const steps = plans.flatMap((plan) => plan.steps);
  const undos = new Set(plans.filter(({ rolls_back }) => rolls_back !== null).map(({ plan_id }) => plan_id));
  const planName = (plan_id: string) => (undos.has(plan_id) ? 'undo plan' : 'plan');
  const moved = moves.map(({ seq, at, plan_id, step_id, from, to, reason_code }) => {
    const name = steps.find((step) => step.step_id === step_id)?.simulation ?? planName(plan_id);
    return [seq, `${seq}  ${at}  ${name}: ${from ?? '-'} > ${to} (${reason_code})`] as const;
  });
  const said = (talk ?? []).map((one) => [one.seq, `${one.seq}  ${one.at}  ${talkWords(one)}`] as const);
  // Words come before what they lead to, which the same entry may say.
  const told = [...said, ...moved].sort(([a], [b]) => a - b);
  const waiting = steps.findLast((step) => step.state === 'READY' || step.state === 'EXECUTING');
  return [
    `Conversation: ${correlation_id} of ${user_id}, ${state}`,
    ...told.map(([, line]) => line),
    ...(waiting?.intent_id ? [`Intent: ${waiting.intent_id}`] : []),
    ...(next === null ? [] : [`Next: ${next}`]),
  ].map(visible);
}

/** The figures of 003 section 14.2. A breach that no human waived is a no. */
export function slo(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const report = await keyturn.agent.slo();
    const result: Result<'agent slo'> = report;
    const lines = sloLines(report, stdoutPainter());
    if (report.is_blocked) return { result, lines, refusal: breach(report), is_plain: true };
    return { result, lines: [...lines, '[OK] No figure is breached, or a human waived it'] };
  });
}

function sloLines({ figures, dispatches, since }: SloReport, paint: Paint): string[] {
  const rows = figures.map(({ figure, value, target, is_breached, waived_until }) => {
    const verdict = !is_breached ? 'ok' : waived_until === null ? 'BREACHED' : `waived until ${waived_until}`;
    return [figure, value === null ? '-' : String(value), String(target), verdict];
  });
  const lines = table(['FIGURE', 'VALUE', 'TARGET', ''], rows).map((line) =>
    line.endsWith('BREACHED') ? paint('alarm', line) : line,
  );
  return [...lines, `${counted(dispatches, 'dispatch', 'dispatches')} since ${since}`];
}

function breach({ figures }: SloReport): Refusal {
  const named = figures.filter((one) => one.is_breached && one.waived_until === null);
  const words = named.map(({ figure, value, target }) => `${figure} is ${value}, the target is ${target}`);
  return new Refusal('SLO_BREACHED', `${words.join('; ')}.`);
}

export function waive(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  const figures = figuresIn(call.options);
  const until = untilIn(call.options);
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { body } = await actAs(
      keyturn,
      name,
      (signer) => keyturn.agent.waive({ figures, until, reason, signer }),
      () => [`Waive: ${figures.join(', ')}, until ${until.toISOString()}`],
    );
    const { by } = body;
    const result: Result<'agent waive'> = { figures: [...body.figures], until: body.until, by, reason };
    return { result, lines: [`[OK] ${by} waived ${result.figures.join(', ')} until ${result.until}`] };
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
function untilIn({ until, ttl }: Options): Date {
  if ((until === undefined) === (ttl === undefined))
    refuse('USAGE', 'Say when the waiver ends: one of --until and --ttl.');
  return ttl === undefined ? new Date(instantOf(until!)) : new Date(Date.now() + parseDuration(ttl) * 1000);
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Makes every decision of a conversation again. */
export function replay(call: Call): Promise<Answer> {
  const [correlation_id = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const result: Result<'agent replay'> = await keyturn.agent.replay(correlation_id);
    const lines = result.decisions.map(
      ({ seq, decision, reason_code }) => `${seq}  ${decision} (${reason_code})`,
    );
    return { result, lines: [...lines, `[OK] Replayed ${counted(lines.length, 'decision')}: all the same`] };
  });
}
