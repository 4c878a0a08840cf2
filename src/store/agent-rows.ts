import type { Event } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';
import type {
  AgentAccessRow,
  AgentConfirmationRow,
  AgentCurrentRow,
  AgentLedgerRow,
  AgentTableRows,
} from './agent-tables.ts';

interface Place {
  readonly tenant: string;
  readonly seq: number;
  readonly at: string;
}

/** Pure: the rows that this event adds to the tables; null for all events that add none. */
export function agentTableRows(event: Event, place: Place): AgentTableRows | null {
  switch (event.kind) {
    case 'agent.planned':
      return { ...NONE, agent_execution_ledger: plannedRows(event, place) };
    case 'agent.moved':
      return { ...NONE, agent_execution_ledger: [movedRow(event, place)] };
    case 'agent.confirmed':
      return { ...NONE, agent_execution_confirmation_ledger: [confirmationRow(event, place)] };
    case 'agent.access':
      return { ...NONE, agent_execution_access_decision_ledger: [accessRow(event, place)] };
    default:
      return null;
  }
}

const NONE: AgentTableRows = {
  agent_execution_ledger: [],
  agent_execution_confirmation_ledger: [],
  agent_execution_access_decision_ledger: [],
};

function movedRow({ subject, body }: Event<'agent.moved'>, { tenant, seq, at }: Place): AgentLedgerRow {
  const { plan_id, step_id, from, to, outcome, refs, ...rest } = body;
  return {
    tenant_id: tenant,
    correlation_id: correlationOf(subject),
    plan_id,
    step_id: step_id ?? '',
    seq,
    part: 0,
    from_state: from,
    to_state: to,
    ...rest,
    ...refs,
    outcome_ref: outcome,
    created_at: at,
  };
}

/** The plan comes first, then its steps in their order. */
function plannedRows(event: Event<'agent.planned'>, place: Place): AgentLedgerRow[] {
  const { plan_id, steps, refs } = event.body;
  const reason_code = 'PLAN_CREATED' as const;
  const nothing = {
    idempotency_key: null,
    intent_id: null,
    execution_id: null,
    dispatch_decision_hash: null,
    dispatch_ms: null,
    outcome: null,
  };
  const rowOf = (step_id: string | null, to: 'CREATED' | 'PENDING', part: number) => {
    const body = { plan_id, step_id, from: to, to, reason_code, refs, ...nothing };
    return { ...movedRow({ ...event, kind: 'agent.moved', body }, place), part, from_state: '' };
  };
  return [rowOf(null, 'CREATED', 0), ...steps.map(({ step_id }, i) => rowOf(step_id, 'PENDING', i + 1))];
}

function confirmationRow(
  { subject, body }: Event<'agent.confirmed'>,
  { tenant, seq, at }: Place,
): AgentConfirmationRow {
  const { plan_id, step_id, answer, proof, confirm_lexicon_version_ref } = body;
  return {
    tenant_id: tenant,
    correlation_id: correlationOf(subject),
    plan_id,
    step_id,
    answer,
    confirmation_parse_proof_ref: proof,
    confirm_lexicon_version_ref,
    seq,
    created_at: at,
  };
}

function accessRow({ subject, body }: Event<'agent.access'>, { tenant, seq, at }: Place): AgentAccessRow {
  const { decision, ...rest } = body;
  return {
    tenant_id: tenant,
    correlation_id: correlationOf(subject),
    ...rest,
    access_decision_ref: decision,
    seq,
    created_at: at,
  };
}

/**
 * What `agent_execution_current` holds after these rows of the ledger, each plan and step once: the last row wins. The
 * whole table is this function of the whole ledger table.
 */
export function currentRows(ledger: Iterable<AgentLedgerRow>): AgentCurrentRow[] {
  const newest = new Map<string, AgentLedgerRow>();
  for (const row of ledger) newest.set(`${row.correlation_id} ${row.plan_id} ${row.step_id}`, row);
  return Array.from(newest.values(), currentOf);
}

function currentOf(row: AgentLedgerRow): AgentCurrentRow {
  const { tenant_id, correlation_id, plan_id, step_id, reason_code, idempotency_key } = row;
  const { intent_id, execution_id, outcome_ref, seq } = row;
  return {
    tenant_id,
    correlation_id,
    plan_id,
    step_id,
    state: row.to_state,
    reason_code,
    idempotency_key,
    intent_id,
    execution_id,
    outcome_ref,
    seq,
    updated_at: row.created_at,
  };
}
