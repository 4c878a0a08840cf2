import { visible } from '../../canonical/visible.ts';
import { type Keyturn, parseDuration, type SloReport } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { table } from '../table.ts';
import { instantOf } from '../terms.ts';

type Status = Awaited<ReturnType<Keyturn['agent']['status']>>;
type Conversation = Result<'agent status'>['conversations'][number];

/** One conversation with its whole story, or the latest ones and where they stand. */
export function status(call: Call): Promise<Answer> {
  const [correlation_id] = call.operands;
  return reading(call, async (keyturn) => {
    const ids = correlation_id === undefined ? await latest(keyturn) : [correlation_id];
    const conversations: Conversation[] = [];
    for (const id of ids) conversations.push(conversationOf(await keyturn.agent.status(id)));
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

function conversationOf({ state, ledger }: Status): Conversation {
  const { correlation_id, user_id, thread_id, turns, turn, plans } = state;
  return {
    correlation_id,
    user_id,
    thread_id,
    turns,
    packet_kind: turn.packet_kind,
    plans: plans.map(planOf),
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

function planOf(plan: Status['state']['plans'][number]): Conversation['plans'][number] {
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
  return { plan_id, state, reason_code, risk_level, rolls_back, created_at, changed_at, steps };
}

function overview(conversations: readonly Conversation[]): string[] {
  const rows = conversations.map(({ correlation_id, user_id, turns, packet_kind, plans }) => {
    const plan = plans.at(-1);
    const named = [...new Set(plan?.steps.map(({ simulation }) => simulation))].join(', ');
    return [correlation_id, user_id, String(turns), plan?.state ?? packet_kind, named].map(visible);
  });
  return table(['CONVERSATION', 'USER', 'TURNS', 'STATE', 'SIMULATIONS'], rows);
}

function storyLines({ correlation_id, user_id, packet_kind, plans, moves }: Conversation): string[] {
  const steps = plans.flatMap(({ steps }) => steps);
  const nameOf = (step_id: string | null) =>
    step_id === null ? 'plan' : (steps.find((step) => step.step_id === step_id)?.simulation ?? step_id);
  const waiting = steps.findLast(({ state }) => state === 'READY' || state === 'EXECUTING');
  return [
    `Conversation: ${correlation_id} of ${user_id}, ${plans.at(-1)?.state ?? packet_kind}`,
    ...moves.map(
      ({ seq, at, step_id, from, to, reason_code }) =>
        `${seq}  ${at}  ${nameOf(step_id)}: ${from ?? '-'} > ${to} (${reason_code})`,
    ),
    ...(waiting?.intent_id ? [`Intent: ${waiting.intent_id}`] : []),
  ].map(visible);
}

/** The figures of 003 section 14.2. A breach that no human waived is a no. */
export function slo(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const report = await keyturn.agent.slo();
    const result: Result<'agent slo'> = report;
    const lines = sloLines(report, stdoutPainter());
    if (report.is_blocked) return { result, lines, refusal: breach(report) };
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
  return [...lines, `${dispatches} dispatch(es) since ${since}`];
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

/** Makes every decision of a conversation again. */
export function replay(call: Call): Promise<Answer> {
  const [correlation_id = ''] = call.operands;
  return reading(call, async (keyturn) => {
    const result: Result<'agent replay'> = await keyturn.agent.replay(correlation_id);
    const lines = result.decisions.map(
      ({ seq, decision, reason_code }) => `${seq}  ${decision} (${reason_code})`,
    );
    return { result, lines: [...lines, `[OK] Replayed ${lines.length} decisions: all the same`] };
  });
}
