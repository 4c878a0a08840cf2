import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { register } from 'tsx/esm/api';
import { parseDocument } from 'yaml';
import { dispatchesUnchecked } from './decision.mjs';

/**
 * Conditions 1, 3, 4, 6 and 7, tried: the real decision must refuse whatever lacks a check, and the real contracts must take a whole
 * value and refuse each that lacks something.
 */

const D = 'd'.repeat(64);
const U = '00000000-0000-4000-8000-000000000000';

const HEAD = {
  schema_version: 'keyturn-finder-packet/1',
  tenant_id: 'default',
  user_id: 'ada',
  correlation_id: 'c-1',
  turn_id: 'turn-1',
  idempotency_key: D,
  reason_code: 'SOME_REASON',
  policy_snapshot_ref: D,
  catalog_snapshot_ref: D,
  artifact_fingerprint_bundle_ref: D,
};

/** One whole packet of each kind, and what is a proof in it beside the head. */
const PACKETS = [
  {
    proofs: [
      'simulation_id',
      'confidence_bp',
      'evidence_spans',
      'required_fields_present',
      'required_fields_missing',
      'confirm_required',
      'access_actions_required',
      'idempotency_recipe_ref',
    ],
    packet: {
      kind: 'SIMULATION_MATCH',
      ...HEAD,
      intent_family: 'notes',
      simulation_id: 'note.add',
      candidate_rank: 1,
      confidence_bp: 9500,
      required_fields_present: [],
      required_fields_missing: [],
      evidence_spans: [],
      risk_tier: 'LOW',
      confirm_required: true,
      access_actions_required: ['note.add'],
      idempotency_recipe_ref: 'keyturn-step-idempotency/1',
      fallback_if_inactive_or_missing: 'REFUSE',
    },
  },
  {
    proofs: ['candidate_context_ref', 'attempt_index', 'max_attempts'],
    packet: {
      kind: 'CLARIFY',
      ...HEAD,
      question: 'Which?',
      missing_field: 'text',
      allowed_answer_formats: ['a', 'b'],
      attempt_index: 1,
      max_attempts: 2,
      on_exceed: 'REFUSE',
      candidate_context_ref: D,
    },
  },
  { proofs: ['evidence_refs'], packet: { kind: 'REFUSE', ...HEAD, message: 'No.', evidence_refs: [] } },
  {
    proofs: ['search_proof', 'dedupe_fingerprint', 'worthiness_parts'],
    packet: {
      kind: 'MISSING_SIMULATION',
      ...HEAD,
      requested_capability_name_normalized: 'fly',
      raw_user_utterance: 'fly',
      category: 'NEW_CAPABILITY',
      worthiness_score_bp: 1,
      worthiness_parts: { clarity_bp: 1, novelty_bp: 1, detail_bp: 1 },
      dedupe_fingerprint: D,
      search_proof: [
        { stage: 'ACTIVE', found: false, searched: 0, best_simulation_id: null, best_confidence_bp: 0 },
        { stage: 'DRAFT', found: false, searched: 0, best_simulation_id: null, best_confidence_bp: 0 },
        { stage: 'NONE' },
      ],
    },
  },
];

const ENVELOPE = {
  correlation_id: 'c-1',
  tenant_id: 'default',
  user_id: 'ada',
  step_id: D,
  simulation_id: 'note.add',
  required_fields: [],
  confirmation_proof_ref: D,
  access_action: 'note.add',
  idempotency_key: D,
  policy_snapshot_ref: D,
  artifact_fingerprint_bundle_ref: D,
  rollback_plan_ref: 'note.remove',
};

const STEP = {
  step_id: D,
  simulation_id: 'note.add',
  simulation_version: 1,
  definition: D,
  required_fields: [],
  required_fields_fingerprint: D,
  policy_snapshot_version: D,
  artifact_fingerprint_bundle_ref: D,
  confirmation_required: true,
  impactful: true,
  access_action: 'note.add',
  idempotency_key_recipe: 'keyturn-step-idempotency/1',
  retry_policy: 'human',
  rollback_plan_ref: 'note.remove',
};

const PLAN = {
  format: 'keyturn-agent-plan/1',
  plan_id: D,
  correlation_id: 'c-1',
  simulation_id: 'note.add',
  simulation_version: 1,
  definition: D,
  rolls_back: null,
  finder_packet_ref: D,
  ordered_steps: [STEP],
  required_confirmations: [D],
  risk_level: 'LOW',
  access_actions_required: ['note.add'],
  policy_snapshot_ref: D,
  catalog_snapshot_ref: D,
  artifact_fingerprint_bundle_ref: D,
  created_at: '2026-01-01T00:00:00.000Z',
};

const REFS = {
  finder_packet_ref: D,
  policy_snapshot_ref: D,
  catalog_snapshot_ref: D,
  artifact_fingerprint_bundle_ref: D,
  access_decision_ref: D,
  confirmation_parse_proof_ref: D,
  rollback_plan_ref: 'note.remove',
};

const movedWith = (refs) => ({
  kind: 'agent.moved',
  subject: 'agent:c-1',
  body: {
    plan_id: D,
    step_id: D,
    from: 'READY',
    to: 'EXECUTING',
    reason_code: 'STEP_DISPATCHED',
    idempotency_key: D,
    intent_id: U,
    execution_id: null,
    refs,
    dispatch_decision_hash: D,
    dispatch_ms: null,
    outcome: null,
  },
});

const SIMULATION = {
  id: 'note.add',
  version: 1,
  family: 'notes',
  summary: { en: 'Adds a note' },
  risk: 'LOW',
  impactful: true,
  side_effecting: true,
  irreversible: false,
  access_action: 'note.add',
  effect: { tool: 'note' },
  rollback_plan_ref: 'note.remove',
};

/** Loads the contracts of the tree and tries them. */
export async function probes(root) {
  const unregister = register();
  try {
    const load = (path) => import(pathToFileURL(join(root, path)).href);
    const { parsePacket } = await load('src/finder/packet.ts');
    const { envelopes, agentPlans } = await load('src/agent/contracts.ts');
    const { parseSimulation } = await load('src/finder/simulation.ts');
    const { parseEvent } = await load('src/event/event.ts');
    const { decide } = await load('src/agent/decide.ts');
    const simulation = (value) => parseSimulation('probe.yaml', JSON.stringify(value));
    const stepIn = (step) => agentPlans.check({ ...PLAN, ordered_steps: [step] });
    const as_tool = { simulation_id: 'tool:note' };
    return {
      decisions: dispatchesUnchecked(decide),
      tools: [
        ...refusesEach('a packet', parsePacket, PACKETS[0].packet, [as_tool]),
        ...refusesEach('a dispatch envelope', envelopes.check, ENVELOPE, [as_tool]),
        ...refusesEach('a step', stepIn, STEP, [as_tool]),
      ],
      rollbacks: [
        ...refusesWithout('a simulation', simulation, SIMULATION, ['rollback_plan_ref']),
        ...shippedWithoutRollback(root),
      ],
      packets: PACKETS.flatMap(({ packet, proofs }) =>
        refusesWithout(packet.kind, parsePacket, packet, [...Object.keys(HEAD), ...proofs]),
      ),
      refs: [
        ...refusesWithout('a dispatch envelope', envelopes.check, ENVELOPE, refsOf(ENVELOPE)),
        ...refusesWithout('a step', stepIn, STEP, refsOf(STEP)),
        ...refusesWithout('a plan', agentPlans.check, PLAN, refsOf(PLAN)),
        ...refusesWithout('a move', (refs) => parseEvent(movedWith(refs)), REFS, refsOf(REFS)),
      ],
    };
  } finally {
    await unregister();
  }
}

const refsOf = (value) =>
  Object.keys(value).filter((key) => /^(policy_snapshot|artifact_fingerprint)/.test(key));

/** Left away, null and empty: each must be refused. */
function refusesWithout(what, check, whole, keys) {
  const variants = keys.flatMap((key) => {
    const { [key]: _, ...rest } = whole;
    return [rest, { ...whole, [key]: null }, { ...whole, [key]: '' }].map((value) => ({ key, value }));
  });
  return tried(what, check, whole, variants, (key) => `${what} without ${key} is taken`);
}

function refusesEach(what, check, whole, changes) {
  const variants = changes.map((change) => ({ key: JSON.stringify(change), value: { ...whole, ...change } }));
  return tried(what, check, whole, variants, (key) => `${what} with ${key} is taken`);
}

/** A check that refuses everything would prove nothing: the whole value is tried first. */
function tried(what, check, whole, variants, words) {
  try {
    check(whole);
  } catch (error) {
    return [`${what} that is whole is refused: ${error.message}`];
  }
  const taken = variants.filter(({ value }) => passes(check, value)).map(({ key }) => words(key));
  return [...new Set(taken)];
}

function passes(check, value) {
  try {
    check(value);
    return true;
  } catch (error) {
    if (error.name === 'Refusal') return false;
    throw error;
  }
}

/** Every file in a folder called simulations/, wherever the tree ships one. It is read as plain YAML, not by our schema. */
function shippedWithoutRollback(root) {
  return simulationFiles(root)
    .map((path) => ({ path, value: parseDocument(readFileSync(path, 'utf8')).toJS() }))
    .filter(({ value }) => value?.impactful === true && !value.rollback_plan_ref)
    .map(({ path }) => `${relative(root, path)} is impactful and names no rollback`);
}

function simulationFiles(root) {
  const tops = ['simulations', 'demo', 'docs', 'src', 'test', 'bench'].map((name) => join(root, name));
  return tops.filter(existsSync).flatMap((top) =>
    readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
      .filter((entry) => /(^|[\\/])simulations$/.test(entry.parentPath))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}
