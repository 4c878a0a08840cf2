/** The ledgers among the tables of the agent core: like entries, their rows are never changed and never deleted. */
export const AGENT_LEDGERS = [
  'agent_execution_ledger',
  'agent_execution_confirmation_ledger',
  'agent_execution_access_decision_ledger',
] as const;

/** Only a rebuild lifts these, inside its own transaction, to put right what somebody else changed. */
export const KEEP_AGENT_LEDGERS = AGENT_LEDGERS.map(
  (table) => `
  CREATE TRIGGER main.${table}_no_update BEFORE UPDATE ON ${table}
    BEGIN SELECT RAISE(ABORT, '${table} rows are never changed'); END;
  CREATE TRIGGER main.${table}_no_delete BEFORE DELETE ON ${table}
    BEGIN SELECT RAISE(ABORT, '${table} rows are never deleted'); END;`,
).join('');

export const FREE_AGENT_LEDGERS = AGENT_LEDGERS.map(
  (table) =>
    `DROP TRIGGER IF EXISTS main.${table}_no_update; DROP TRIGGER IF EXISTS main.${table}_no_delete;`,
).join('');

/**
 * Version 2 of the schema: the tables of 003 section 10.1. Time never goes back in a ledger, so rows that are kept in
 * the order of time are appended to the last page, and a span of time is one run of rows.
 */
export const AGENT_MIGRATION = `
  CREATE TABLE agent_execution_ledger (
    tenant_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    reason_code TEXT NOT NULL,
    idempotency_key TEXT,
    intent_id TEXT,
    execution_id TEXT,
    finder_packet_ref TEXT NOT NULL,
    policy_snapshot_ref TEXT NOT NULL,
    catalog_snapshot_ref TEXT NOT NULL,
    artifact_fingerprint_bundle_ref TEXT NOT NULL,
    access_decision_ref TEXT,
    confirmation_parse_proof_ref TEXT,
    rollback_plan_ref TEXT,
    dispatch_decision_hash TEXT,
    dispatch_ms INTEGER,
    outcome_ref TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq, part)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX agent_execution_dispatch ON agent_execution_ledger
    (tenant_id, correlation_id, step_id, idempotency_key) WHERE to_state = 'EXECUTING';
  CREATE INDEX agent_execution_plan ON agent_execution_ledger (tenant_id, plan_id, step_id);
  CREATE INDEX agent_execution_replay ON agent_execution_ledger (tenant_id, correlation_id, created_at);

  CREATE TABLE agent_execution_current (
    tenant_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    state TEXT NOT NULL,
    reason_code TEXT NOT NULL,
    idempotency_key TEXT,
    intent_id TEXT,
    execution_id TEXT,
    outcome_ref TEXT,
    seq INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, correlation_id, plan_id, step_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX agent_execution_current_plan ON agent_execution_current (tenant_id, plan_id, step_id);

  CREATE TABLE agent_execution_confirmation_ledger (
    tenant_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    answer TEXT NOT NULL,
    confirmation_parse_proof_ref TEXT NOT NULL,
    confirm_lexicon_version_ref TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE agent_execution_access_decision_ledger (
    tenant_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    access_action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    access_decision_ref TEXT NOT NULL,
    intent_id TEXT,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq)
  ) STRICT, WITHOUT ROWID;
  ${KEEP_AGENT_LEDGERS}
`;
