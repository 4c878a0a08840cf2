/**
 * The tables of 003 section 10.1, which people query under these names. Each row follows from one ledger entry and from
 * nothing else. Every store writes them in the transaction of that entry, and folds and compares them in a rebuild.
 */
export interface AgentLedgerRow {
  readonly tenant_id: string;
  readonly correlation_id: string;
  readonly plan_id: string;
  /** Empty where the plan itself moves. */
  readonly step_id: string;
  /** The entry, and the place of this row among those of the entry. */
  readonly seq: number;
  readonly part: number;
  /** Empty where the plan or step comes into being. */
  readonly from_state: string;
  readonly to_state: string;
  readonly reason_code: string;
  readonly idempotency_key: string | null;
  readonly intent_id: string | null;
  readonly execution_id: string | null;
  readonly finder_packet_ref: string;
  readonly policy_snapshot_ref: string;
  readonly catalog_snapshot_ref: string;
  readonly artifact_fingerprint_bundle_ref: string;
  readonly access_decision_ref: string | null;
  readonly confirmation_parse_proof_ref: string | null;
  readonly rollback_plan_ref: string | null;
  readonly dispatch_decision_hash: string | null;
  readonly dispatch_ms: number | null;
  readonly outcome_ref: string | null;
  readonly created_at: string;
}

/** The newest row of the ledger about a plan or step, without what it rests on. */
export interface AgentCurrentRow {
  readonly tenant_id: string;
  readonly correlation_id: string;
  readonly plan_id: string;
  readonly step_id: string;
  readonly state: string;
  readonly reason_code: string;
  readonly idempotency_key: string | null;
  readonly intent_id: string | null;
  readonly execution_id: string | null;
  readonly outcome_ref: string | null;
  readonly seq: number;
  readonly updated_at: string;
}

export interface AgentConfirmationRow {
  readonly tenant_id: string;
  readonly correlation_id: string;
  readonly plan_id: string;
  readonly step_id: string;
  readonly answer: string;
  readonly confirmation_parse_proof_ref: string;
  readonly confirm_lexicon_version_ref: string;
  readonly seq: number;
  readonly created_at: string;
}

export interface AgentAccessRow {
  readonly tenant_id: string;
  readonly correlation_id: string;
  readonly plan_id: string;
  readonly step_id: string;
  readonly user_id: string;
  readonly access_action: string;
  readonly outcome: string;
  readonly access_decision_ref: string;
  readonly intent_id: string | null;
  readonly seq: number;
  readonly created_at: string;
}

/** What one entry adds. `agent_execution_current` follows from its ledger: see `currentRows`. */
export interface AgentTableRows {
  readonly agent_execution_ledger: readonly AgentLedgerRow[];
  readonly agent_execution_confirmation_ledger: readonly AgentConfirmationRow[];
  readonly agent_execution_access_decision_ledger: readonly AgentAccessRow[];
}

/** The columns of each table in their order, and those that make a row unique. */
export const AGENT_TABLES = {
  agent_execution_ledger: {
    columns: [
      'tenant_id',
      'correlation_id',
      'plan_id',
      'step_id',
      'seq',
      'part',
      'from_state',
      'to_state',
      'reason_code',
      'idempotency_key',
      'intent_id',
      'execution_id',
      'finder_packet_ref',
      'policy_snapshot_ref',
      'catalog_snapshot_ref',
      'artifact_fingerprint_bundle_ref',
      'access_decision_ref',
      'confirmation_parse_proof_ref',
      'rollback_plan_ref',
      'dispatch_decision_hash',
      'dispatch_ms',
      'outcome_ref',
      'created_at',
    ] satisfies (keyof AgentLedgerRow)[],
    key: ['tenant_id', 'created_at', 'seq', 'part'],
  },
  agent_execution_current: {
    columns: [
      'tenant_id',
      'correlation_id',
      'plan_id',
      'step_id',
      'state',
      'reason_code',
      'idempotency_key',
      'intent_id',
      'execution_id',
      'outcome_ref',
      'seq',
      'updated_at',
    ] satisfies (keyof AgentCurrentRow)[],
    key: ['tenant_id', 'correlation_id', 'plan_id', 'step_id'],
  },
  agent_execution_confirmation_ledger: {
    columns: [
      'tenant_id',
      'correlation_id',
      'plan_id',
      'step_id',
      'answer',
      'confirmation_parse_proof_ref',
      'confirm_lexicon_version_ref',
      'seq',
      'created_at',
    ] satisfies (keyof AgentConfirmationRow)[],
    key: ['tenant_id', 'created_at', 'seq'],
  },
  agent_execution_access_decision_ledger: {
    columns: [
      'tenant_id',
      'correlation_id',
      'plan_id',
      'step_id',
      'user_id',
      'access_action',
      'outcome',
      'access_decision_ref',
      'intent_id',
      'seq',
      'created_at',
    ] satisfies (keyof AgentAccessRow)[],
    key: ['tenant_id', 'created_at', 'seq'],
  },
} as const;

export type AgentTable = keyof typeof AGENT_TABLES;
