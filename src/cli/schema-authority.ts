import { z } from 'zod';
import { approval, digest, id, kind, name, report, time } from './schema-parts.ts';
import { shown } from './schema-shown.ts';

/** What the commands about authority answer: who, by which right, until when. */

const key = z.string();
const why = { by: name, reason: z.string() };
/** Only what is named has to hold. */
const conditions = z
  .strictObject({
    not_before: time.optional(),
    environment: z.string().optional(),
    host: z.string().optional(),
    hours: z.strictObject({ from: z.int(), to: z.int() }).optional(),
    files: z.record(z.string(), digest.nullable()).optional(),
  })
  .meta({ id: 'conditions' });
const paths = z.array(z.string());
const scope = z
  .strictObject({
    unconfined: z.boolean(),
    network: z.boolean(),
    read: paths,
    write: paths,
    pipelines: z.array(z.string()),
  })
  .meta({ id: 'scope' });

const granted = z
  .strictObject({
    intent_id: id,
    hash: digest,
    capability_id: id,
    attempt: z.int(),
    action: z.string(),
    scope,
    conditions,
    audience: z.string(),
    holder: key.nullable(),
    by: name,
    delegation: id.nullable(),
    policy: digest,
    glass: z.boolean(),
    expires_at: time,
    /** Where the token is; `null` when only the store has it. */
    file: z.string().nullable(),
  })
  .meta({ id: 'granted' });

export const freeze = z
  .strictObject({
    scope: z.enum(['system', 'tenant', 'agent', 'tool']),
    name: z.string(),
    at: time,
    ...why,
  })
  .meta({ id: 'freeze' });
const frozen = z
  .strictObject({ scope: z.enum(['system', 'tenant', 'agent', 'tool']), name: z.string(), ...why })
  .meta({ id: 'frozen' });

const delegation = z
  .strictObject({
    delegation_id: id,
    delegate: name,
    delegate_key: key,
    actions: z.array(z.string()).readonly(),
    approves: z.boolean(),
    expires_at: time,
    parent: id.nullable(),
    root: z.strictObject({ by: name, key }).readonly(),
    chain: z.array(name).readonly(),
    granted_at: time,
    status: z.enum(['active', 'revoked']),
  })
  .meta({ id: 'delegation' });

const decision = z.looseObject({ allowed: z.boolean(), words: z.string() });
const changes = {
  active: digest.nullable(),
  files: digest,
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  /** Every text that differs: policies, quorums and tests. */
  shown,
  asked: z.int(),
  decisions: z.array(
    z.strictObject({
      subject: z.string(),
      at: time,
      action: z.string(),
      principal: z.string(),
      before: decision,
      after: decision,
    }),
  ),
};

const step = z.strictObject({
  step: z.enum(['approve', 'grant', 'check', 'run']),
  outcome: z.enum(['done', 'skipped', 'refused']),
});

export const authorityResults = {
  'identity add': z.strictObject({
    name,
    kind,
    public_key: key.nullable(),
    roles: z.array(name),
    key_file: z.string().nullable(),
  }),
  'identity list': z.strictObject({
    principals: z.array(
      z.strictObject({
        name,
        kind,
        public_key: key.nullable(),
        roles: z.array(name),
        status: z.enum(['active', 'revoked']),
        enrolled_at: time,
        enrolled_by: name,
      }),
    ),
  }),
  'identity assign': z.strictObject({ name, roles: z.array(name), ...why }),
  'identity revoke': z.strictObject({ name, ...why }),
  'delegation add': z.strictObject({
    delegation_id: id,
    delegate: name,
    actions: z.array(z.string()),
    approves: z.boolean(),
    expires_at: time,
    parent: id.nullable(),
    ...why,
  }),
  'delegation list': z.strictObject({ delegations: z.array(delegation) }),
  'delegation revoke': z.strictObject({ delegation_id: id, ...why }),
  submit: z.strictObject({
    intent_id: id,
    hash: digest,
    by: name,
    delegation: id,
    /** The human as whose approval it counts; `null` when a human still has to approve. */
    approver: name.nullable(),
    expires_at: time,
  }),
  grant: granted,
  attenuate: z.strictObject({
    capability_id: id,
    intent_id: id,
    action: z.string(),
    scope,
    conditions,
    holder: key.nullable(),
    expires_at: time,
    /** How many times it was made narrower. */
    depth: z.int(),
    file: z.string(),
  }),
  revoke: z.strictObject({ capability_id: id, intent_id: id, ...why }),
  freeze: frozen,
  unfreeze: frozen,
  'break-glass': z.strictObject({
    intent_id: id,
    hash: digest,
    attempt: z.int(),
    /** Who has broken it so far. */
    humans: z.array(name),
    broken: z.boolean(),
    ...why,
  }),
  'policy check': z.strictObject({
    problems: z.array(
      z
        .strictObject({
          file: z.string(),
          line: z.int(),
          policy: z.string().nullable(),
          message: z.string(),
          severity: z.enum(['error', 'warning']),
        })
        .readonly(),
    ),
  }),
  'policy test': z.strictObject({
    tests: z.array(
      z.strictObject({
        name: z.string(),
        expected: z.strictObject({ allowed: z.boolean(), by: z.string().nullable() }).readonly(),
        got: decision,
        passed: z.boolean(),
      }),
    ),
  }),
  'policy diff': z.strictObject(changes),
  'policy activate': z.strictObject({
    snapshot: digest,
    /** False when these policies were active already. */
    activated: z.boolean(),
    by: name.nullable(),
    reason: z.string(),
  }),
  'control rotate': z.strictObject({ public_key: key, keys: z.int(), ...why }),
  turn: z.strictObject({
    intent_id: id,
    hash: digest,
    by: name,
    steps: z.array(step),
    approval: approval.nullable(),
    capability: granted.nullable(),
    run: report.nullable(),
  }),
  replay: z.strictObject({
    execution_id: id,
    intent_id: id,
    steps: z.array(z.strictObject({ seq: z.int(), what: z.string(), outcome: z.string() }).readonly()),
  }),
} as const;
