import { type Event, parseEvent } from '../event/event.ts';
import { BUILDER, type SloFigure } from '../gate/waiver.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { isLive } from '../identity/principal.ts';
import { openEntry } from '../ledger/entry.ts';
import { limits, simulationLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { AgentLedgerRow } from '../store/agent-tables.ts';
import type { AgentContext } from './context.ts';

/** The targets of 003 section 14.2. */
export const SLO_TARGETS: Readonly<Record<SloFigure, number>> = {
  agent_dispatch_p95_ms: 1200,
  agent_dispatch_p99_ms: 2500,
  execution_error_rate: 0.005,
  idempotency_duplicate_side_effect_rate: 0,
};

export interface SloReport {
  readonly since: string;
  readonly dispatches: number;
  readonly figures: readonly {
    readonly figure: SloFigure;
    /** Null where nothing was measured, which is no pass. A breach stays what it was until something newer is measured. */
    readonly value: number | null;
    readonly target: number;
    readonly is_breached: boolean;
    /** A human accepts the breach until then. */
    readonly waived_until: string | null;
  }[];
  /** A figure is breached and not waived, or was not measured. */
  readonly is_blocked: boolean;
}

const DAY_MS = 86_400_000;

/** The figures of the last 24 hours, from the ledger and from nothing else. */
export async function slo(context: AgentContext): Promise<SloReport> {
  const now = context.journey.clock();
  const since = daysBefore(now);
  const rows = await rowsSince(context, since);
  const values = rows.some(isEnd) ? figuresOf(rows, now) : await lastBreaches(context, figuresOf(rows, now));
  const waivers = await waiversOf(context, now);
  const figures = (Object.keys(SLO_TARGETS) as SloFigure[]).map((figure) => {
    const value = values[figure];
    const is_breached = isBeyond(figure, value);
    const target = SLO_TARGETS[figure];
    return { figure, value, target, is_breached, waived_until: waivers.get(figure) ?? null };
  });
  const is_blocked = figures.some((one) => one.value === null || isOpen(one));
  return { since, dispatches: rows.filter(isDispatch).length, figures, is_blocked };
}

const daysBefore = (at: Date): string => new Date(at.getTime() - DAY_MS).toISOString();
const isBeyond = (figure: SloFigure, value: number | null): boolean =>
  value !== null && value > SLO_TARGETS[figure];
const isOpen = ({ is_breached, waived_until }: SloReport['figures'][number]): boolean =>
  is_breached && waived_until === null;

/** Nothing ended in the last 24 hours: what was beyond its target when something last did still is. Idling mends nothing. */
async function lastBreaches(context: AgentContext, values: Figures): Promise<Figures> {
  const last = await lastEnd(context);
  if (last === null) return values;
  const at = new Date(last.created_at);
  const then = figuresOf(await rowsSince(context, daysBefore(at)), at);
  const kept = (Object.keys(SLO_TARGETS) as SloFigure[]).map((figure) => {
    const is_kept = values[figure] === null && isBeyond(figure, then[figure]);
    return [figure, is_kept ? then[figure] : values[figure]];
  });
  return Object.fromEntries(kept) as Figures;
}

/** For a release: what is breached and not waived is refused, and so is what was not measured. */
export async function requireSlo(context: AgentContext): Promise<SloReport> {
  const report = await slo(context);
  if (!report.is_blocked) return report;
  const open = report.figures.filter(isOpen);
  const words = open.map(({ figure, value, target }) => `${figure} is ${value}, the target is ${target}`);
  return open.length > 0 ? refuse('SLO_BREACHED', `${words.join('; ')}.`) : refuse('SLO_NOT_MEASURED');
}

async function rowsSince({ journey }: AgentContext, since: string): Promise<AgentLedgerRow[]> {
  const rows: AgentLedgerRow[] = [];
  for (;;) {
    const after = rows.at(-1);
    const page = await journey.store.agentLedger({
      since,
      limit: limits.read_batch,
      ...(after && { after }),
    });
    rows.push(...page);
    if (page.length < limits.read_batch) return rows;
  }
}

async function lastEnd({ journey }: AgentContext): Promise<AgentLedgerRow | null> {
  for (let after: AgentLedgerRow | undefined; ; ) {
    const page = await journey.store.agentLedger({
      newest_first: true,
      limit: limits.read_batch,
      ...(after && { after }),
    });
    const found = page.find(isEnd);
    if (found || page.length < limits.read_batch) return found ?? null;
    after = page.at(-1);
  }
}

const isDispatch = ({ to_state, step_id }: AgentLedgerRow) => to_state === 'EXECUTING' && step_id !== '';
const isEnd = ({ from_state }: AgentLedgerRow) => from_state === 'EXECUTING';

type Figures = Record<SloFigure, number | null>;

/** Pure. A dispatch that has no end long after it must have one counts as an error. */
export function figuresOf(rows: readonly AgentLedgerRow[], now: Date): Figures {
  const dispatches = rows.filter(isDispatch);
  const ends = rows.filter(isEnd);
  const ended = new Set(ends.map(({ idempotency_key }) => idempotency_key));
  const overdue = dispatches.filter(
    ({ idempotency_key, created_at }) =>
      !ended.has(idempotency_key) && now.getTime() - Date.parse(created_at) > simulationLimits.timeout_ms,
  );
  const errors = ends.filter(({ to_state }) => to_state !== 'SUCCEEDED').length + overdue.length;
  const times_ms = ends.flatMap(({ dispatch_ms }) => dispatch_ms ?? []).toSorted((a, b) => a - b);
  return {
    agent_dispatch_p95_ms: percentile(times_ms, 0.95),
    agent_dispatch_p99_ms: percentile(times_ms, 0.99),
    execution_error_rate: rate(errors, ends.length + overdue.length),
    idempotency_duplicate_side_effect_rate: rate(duplicates(ends), ends.length),
  };
}

/** Ends of one key that name different executions: a side effect that happened twice. */
function duplicates(ends: readonly AgentLedgerRow[]): number {
  const executions = new Map<string, Set<string>>();
  for (const { idempotency_key, execution_id } of ends) {
    if (idempotency_key === null || execution_id === null) continue;
    executions.set(idempotency_key, (executions.get(idempotency_key) ?? new Set()).add(execution_id));
  }
  return [...executions.values()].reduce((sum, { size }) => sum + size - 1, 0);
}

function rate(count: number, of: number): number | null {
  return of === 0 ? null : count / of;
}

/** The nearest rank: a value that was really measured. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted.at(Math.max(0, Math.ceil(share * sorted.length) - 1)) ?? null;
}

/** A waiver dies with its key, and with the role of its human: a thief of one must not profit from it afterwards. */
async function waiversOf({ journey }: AgentContext, now: Date): Promise<Map<SloFigure, string>> {
  const waived = new Map<SloFigure, string>();
  const humans = new Map((await journey.store.all('principal')).map((one) => [one.name, one]));
  for (const { bytes } of await journey.store.entriesOf('system')) {
    const event = parseEvent(openEntry(bytes));
    if (event.kind !== 'slo.waived' || Date.parse(event.body.until) <= now.getTime()) continue;
    const human = humans.get(event.body.by) ?? null;
    if (!isLive(human, event.body.key) || !human?.roles.includes(BUILDER)) continue;
    for (const figure of event.body.figures) waived.set(figure, event.body.until);
  }
  return waived;
}

export interface WaiveRequest {
  readonly figures: readonly SloFigure[];
  readonly until: string;
  readonly reason: string;
  /** A human with the role `builder`. */
  readonly signer: Signer;
}

/** A builder accepts a breach that is there, for a bounded time. Nothing is accepted in advance. */
export async function waive(
  context: AgentContext,
  { figures, until, reason, signer }: WaiveRequest,
): Promise<Event<'slo.waived'>> {
  const { journey } = context;
  const human = await journey.store.find('principal', signer.name);
  // An agent, or a name that is not enrolled, the ledger refuses by itself.
  if (human?.kind === 'human' && !human.roles.includes(BUILDER))
    refuse('ROLE_REQUIRED', `Only a human with the role "${BUILDER}" waives a target.`, { role: BUILDER });
  const report = await slo(context);
  const early = report.figures.find(({ figure, is_breached }) => figures.includes(figure) && !is_breached);
  if (early !== undefined) refuse('SLO_NOT_BREACHED', `${early.figure} is not breached.`);
  const facts = { figures: [...figures], until, reason };
  const waived = await signAct(journey.origin, 'slo.waived', 'system', facts, signer, journey.clock());
  await journey.store.commit({ events: [waived] });
  return waived;
}
