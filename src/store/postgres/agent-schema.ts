/** The ledgers among the tables of the agent core: like entries, their rows are never changed and never deleted. */
export const AGENT_LEDGERS = [
  'agent_execution_ledger',
  'agent_execution_confirmation_ledger',
  'agent_execution_access_decision_ledger',
] as const;

/** Only a rebuild lifts this, inside its own transaction and with the role that owns the tables. */
export const freeLedger = (table: string) => `ALTER TABLE keyturn.${table} DISABLE TRIGGER rows_are_kept;`;
export const keepLedger = (table: string) =>
  `ALTER TABLE keyturn.${table} ENABLE ALWAYS TRIGGER rows_are_kept;`;

const TRIGGERS = AGENT_LEDGERS.map(
  (table) => `
  CREATE TRIGGER rows_are_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON keyturn.${table}
    FOR EACH STATEMENT EXECUTE FUNCTION keyturn.refuse_change();`,
).join('');

/** Version 2 of the schema: the tables of 003 section 10.1, which people query under these names. */
export const AGENT_MIGRATION = `
  CREATE TABLE keyturn.agent_execution_ledger (
    tenant_id text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    plan_id text COLLATE "C" NOT NULL,
    step_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    part bigint NOT NULL,
    from_state text COLLATE "C" NOT NULL,
    to_state text COLLATE "C" NOT NULL,
    reason_code text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C",
    intent_id text COLLATE "C",
    execution_id text COLLATE "C",
    finder_packet_ref text COLLATE "C" NOT NULL,
    policy_snapshot_ref text COLLATE "C" NOT NULL,
    catalog_snapshot_ref text COLLATE "C" NOT NULL,
    artifact_fingerprint_bundle_ref text COLLATE "C" NOT NULL,
    access_decision_ref text COLLATE "C",
    confirmation_parse_proof_ref text COLLATE "C",
    rollback_plan_ref text COLLATE "C",
    dispatch_decision_hash text COLLATE "C",
    dispatch_ms bigint,
    outcome_ref text COLLATE "C",
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq, part)
  );
  CREATE UNIQUE INDEX agent_execution_dispatch ON keyturn.agent_execution_ledger
    (tenant_id, correlation_id, step_id, idempotency_key) WHERE to_state = 'EXECUTING';
  CREATE INDEX agent_execution_plan ON keyturn.agent_execution_ledger (tenant_id, plan_id, step_id);
  CREATE INDEX agent_execution_replay ON keyturn.agent_execution_ledger (tenant_id, correlation_id, created_at);

  CREATE TABLE keyturn.agent_execution_current (
    tenant_id text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    plan_id text COLLATE "C" NOT NULL,
    step_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    reason_code text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C",
    intent_id text COLLATE "C",
    execution_id text COLLATE "C",
    outcome_ref text COLLATE "C",
    seq bigint NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, correlation_id, plan_id, step_id)
  );
  CREATE INDEX agent_execution_current_plan ON keyturn.agent_execution_current (tenant_id, plan_id, step_id);

  CREATE TABLE keyturn.agent_execution_confirmation_ledger (
    tenant_id text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    plan_id text COLLATE "C" NOT NULL,
    step_id text COLLATE "C" NOT NULL,
    answer text COLLATE "C" NOT NULL,
    confirmation_parse_proof_ref text COLLATE "C" NOT NULL,
    confirm_lexicon_version_ref text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq)
  );

  CREATE TABLE keyturn.agent_execution_access_decision_ledger (
    tenant_id text COLLATE "C" NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    plan_id text COLLATE "C" NOT NULL,
    step_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    access_action text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    access_decision_ref text COLLATE "C" NOT NULL,
    intent_id text COLLATE "C",
    seq bigint NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_id, created_at, seq)
  );
  ${TRIGGERS}
  ${AGENT_LEDGERS.map(keepLedger).join('')}
`;
