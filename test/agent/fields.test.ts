import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type {
  AgentExecutionOutcome,
  AgentExecutionPlan,
  AgentGoalRequest,
} from '../../src/agent/contracts.ts';
import { idempotencyKey } from '../../src/agent/plan.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout, newestOf, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';

/**
 * The names that 003 and its neighbours give to the fields, written out by hand, and what real conversations put into
 * them. What each contract has besides is written out as well, so that nothing comes or goes unseen.
 */

const place = agentPlace();

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const DIGEST = /^[0-9a-f]{64}$/;

async function stored<T>(digest: string): Promise<T> {
  return JSON.parse(Buffer.from(await objectOf(place().keyturn, digest)).toString());
}

function expectFields(value: object, named: readonly string[], besides: readonly string[]): void {
  expect(Object.keys(value).sort()).toEqual([...named, ...besides].sort());
}

async function goalOf(correlation_id: string): Promise<AgentGoalRequest> {
  const state = await place().keyturn.conversations.status({ correlation_id });
  return stored(state.turn.goal);
}

async function planOf(correlation_id: string): Promise<AgentExecutionPlan> {
  const state = await place().keyturn.conversations.status({ correlation_id });
  return stored(state.plans.at(-1)!.plan);
}

describe('AgentGoalRequest, 003 section 4.1', () => {
  const NAMED = [
    'correlation_id',
    'tenant_id',
    'user_id',
    'thread_id',
    'raw_user_utterance',
    'normalized_intent',
    'sim_finder_packet',
    'confirm_state',
    'idempotency_key',
    'attempt_counter',
  ];

  it('a goal has every field, with what was said and what was found', async () => {
    const { keyturn } = place();
    const utterance = 'append a notebook line "goal"';
    const ids = { correlation_id: 'goal-1', thread_id: 'thread-1', turn_id: 'turn-a' };
    const { packet } = await keyturn.conversations.ask({ user_id: 'ada', utterance, ...ids });
    const goal = await goalOf('goal-1');
    expectFields(goal, NAMED, ['format', 'turn_id']);
    const state = await keyturn.conversations.status({ correlation_id: 'goal-1' });
    expect(goal).toMatchObject({
      ...ids,
      tenant_id: 'default',
      user_id: 'ada',
      raw_user_utterance: utterance,
      normalized_intent: { language: 'en', answer: null },
      sim_finder_packet: state.turn.finder_packet,
      confirm_state: 'REQUIRED',
      idempotency_key: packet.idempotency_key,
      attempt_counter: 0,
    });
    // The reference is the hash of the very packet, and leads to it.
    expect(sha256(await objectOf(keyturn, goal.sim_finder_packet))).toBe(goal.sim_finder_packet);
    expect(await stored(goal.sim_finder_packet)).toEqual(packet);
  });

  it.each([
    ['needs a yes', 'append a notebook line "state"', 'REQUIRED'],
    ['needs none', 'greet everybody kindly', 'NOT_REQUIRED'],
    ['is a question first', 'append a notebook line', 'NOT_APPLICABLE'],
    ['is refused', 'append \u202e a line', 'NOT_APPLICABLE'],
    ['does not exist', 'repaint eleven zeppelins', 'NOT_APPLICABLE'],
  ])('the confirm_state of a goal that %s', async (_, utterance, confirm_state) => {
    const { correlation_id } = await place().keyturn.conversations.ask({ user_id: 'ada', utterance });
    expect((await goalOf(correlation_id)).confirm_state).toBe(confirm_state);
  });
});

describe('AgentExecutionPlan and AgentStep, 003 sections 4.2 and 4.3', () => {
  const PLAN = [
    'plan_id',
    'finder_packet_ref',
    'ordered_steps',
    'required_confirmations',
    'risk_level',
    'access_actions_required',
    'policy_snapshot_ref',
    'created_at',
  ];
  const PLAN_BESIDES = [
    'format',
    'correlation_id',
    'simulation_id',
    'simulation_version',
    'definition',
    'rolls_back',
    'catalog_snapshot_ref',
    'artifact_fingerprint_bundle_ref',
  ];
  const STEP = [
    'step_id',
    'simulation_id',
    'required_fields',
    'required_fields_fingerprint',
    'policy_snapshot_version',
    'confirmation_required',
    'access_action',
    'idempotency_key_recipe',
    'retry_policy',
    'rollback_plan_ref',
  ];
  const STEP_BESIDES = ['simulation_version', 'definition', 'artifact_fingerprint_bundle_ref', 'impactful'];

  it('a plan of three steps has every field, and asks for exactly the yeses and the access that it needs', async () => {
    const { keyturn } = place();
    const { correlation_id, plan_id } = await askedFor(keyturn, 'fill the weekly diary "mon"');
    const plan = await planOf(correlation_id);
    expectFields(plan, PLAN, PLAN_BESIDES);
    for (const step of plan.ordered_steps) expectFields(step, STEP, STEP_BESIDES);
    const [one, two, three] = plan.ordered_steps;
    const state = await keyturn.conversations.status({ correlation_id });
    const { policy } = await keyturn.system.get();
    expect(plan).toMatchObject({
      plan_id,
      finder_packet_ref: state.turn.finder_packet,
      required_confirmations: [one!.step_id, three!.step_id],
      // The template is LOW; a step of it is MEDIUM.
      risk_level: 'MEDIUM',
      // Of what was asked for, and of what runs, each once.
      access_actions_required: ['diary.week', 'note.add', 'hello.show'],
      policy_snapshot_ref: policy,
    });
    expect(new Set([one!.step_id, two!.step_id, three!.step_id]).size).toBe(3);
    expect(Math.abs(Date.now() - Date.parse(plan.created_at))).toBeLessThan(3_600_000);
  });

  it('each step has its values, their fingerprint, its recipe and its way back', async () => {
    const { correlation_id } = await askedFor(place().keyturn, 'fill the weekly diary "tue"');
    const { ordered_steps } = await planOf(correlation_id);
    const { policy } = await place().keyturn.system.get();
    const shared = {
      policy_snapshot_version: policy,
      idempotency_key_recipe: 'keyturn-step-idempotency/1',
      retry_policy: 'human',
    };
    const note = (value: string) => ({
      ...shared,
      simulation_id: 'note.add',
      required_fields: [{ field: 'text', value }],
      required_fields_fingerprint: sha256(`[{"field":"text","value":"${value}"}]`),
      confirmation_required: true,
      access_action: 'note.add',
      rollback_plan_ref: 'note.remove',
    });
    expect(ordered_steps).toMatchObject([
      note('tue one'),
      {
        ...shared,
        simulation_id: 'hello.show',
        required_fields: [],
        required_fields_fingerprint: sha256('[]'),
        confirmation_required: false,
        access_action: 'hello.show',
        rollback_plan_ref: null,
      },
      note('tue two'),
    ]);
  });
});

describe('the dispatch envelope, 003 section 2.2', () => {
  it('has these twelve fields: with them it is the step that ran, and without any of them it is nothing', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "envelope"');
    const { correlation_id } = prompt;
    const first = await yes(keyturn, prompt);
    if (first.kind !== 'OUTCOME') throw new Error(first.kind);
    const plan = await planOf(correlation_id);
    const step = plan.ordered_steps[0]!;
    const state = await keyturn.conversations.status({ correlation_id });
    const envelope = {
      correlation_id,
      tenant_id: 'default',
      user_id: 'ada',
      step_id: step.step_id,
      simulation_id: 'note.add',
      required_fields: [{ field: 'text', value: 'envelope' }],
      confirmation_proof_ref: state.plans[0]!.steps[0]!.confirmation!.proof,
      access_action: 'note.add',
      idempotency_key: idempotencyKey(correlation_id, step),
      policy_snapshot_ref: plan.policy_snapshot_ref,
      artifact_fingerprint_bundle_ref: plan.artifact_fingerprint_bundle_ref,
      rollback_plan_ref: 'note.remove',
    };
    // The executor compares every field with what the ledger planned, so this is what the core handed over.
    const again = await keyturn.conversations.dispatch(envelope);
    expect(again).toMatchObject({ kind: 'OUTCOME', is_duplicate: true, outcome_ref: first.outcome_ref });
    for (const name of Object.keys(envelope)) {
      const { [name as keyof typeof envelope]: _, ...without } = envelope;
      await expectRefusal('SHAPE_INVALID', () => keyturn.conversations.dispatch(without as never));
    }
    expect(written().filter((line) => line === '+ envelope')).toHaveLength(1);
  });
});

describe('AgentExecutionOutcome, 003 section 4.4', () => {
  const NAMED = [
    'step_id',
    'simulation_outcome',
    'audit_event_id',
    'proof_refs',
    'dispatch_decision_hash',
    'next_step',
    'reason_code',
    'user_visible_text',
  ];

  it('an outcome has every field, and its proofs are those of this very step, in their order', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'fill the weekly diary "wed"');
    const done = await yes(keyturn, prompt);
    if (done.kind !== 'OUTCOME') throw new Error(done.kind);
    expectFields(done.outcome, NAMED, ['format']);
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const { moves: ledger } = state;
    const step = state.plans[0]!.steps[0]!;
    const dispatch = ledger.find(({ to_state, step_id }) => to_state === 'EXECUTING' && step_id !== '')!;
    const finished = (await entriesAbout(keyturn, step.intent_id!)).at(-1)!;
    expect(finished.kind).toBe('execution.finished');
    // An entry names the one before it by its hash.
    const { prev } = (await newestOf(keyturn, 50)).find(({ seq }) => seq === finished.seq + 1)!;
    expect(done.outcome).toMatchObject({
      step_id: prompt.step_id,
      simulation_outcome: { intent_id: step.intent_id, result: 'success', exit_code: 0 },
      audit_event_id: prev,
      proof_refs: [
        state.turn.finder_packet,
        step.access!.decision,
        step.confirmation!.proof,
        dispatch.dispatch_decision_hash,
        prev,
      ],
      dispatch_decision_hash: dispatch.dispatch_decision_hash,
      next_step: (await planOf(prompt.correlation_id)).ordered_steps[1]!.step_id,
      reason_code: 'STEP_SUCCEEDED',
      user_visible_text: 'Done.',
    });
    expect(new Set(done.outcome.proof_refs).size).toBe(5);
    // Returned as it was persisted.
    expect(await stored(done.outcome_ref)).toEqual(done.outcome);
  });

  it('an outcome of a step that was refused has them as well: no run, and the proofs that there are', async () => {
    const { keyturn, ada } = place();
    const { public_key } = freshSigner('mia');
    await keyturn.people.enrol({ name: 'mia', principal: 'human', public_key, signer: ada });
    const prompt = await askedFor(keyturn, 'append a notebook line "refused"', 'mia');
    await keyturn.people.revoke({ name: 'mia', reason: 'A test.', signer: ada });
    expect((await yes(keyturn, prompt, 'mia')).kind).toBe('REFUSED');
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const { moves: ledger } = state;
    const step = state.plans[0]!.steps[0]!;
    const end = ledger.find(({ to_state }) => to_state === 'FAILED_TERMINAL')!;
    const outcome = await stored<AgentExecutionOutcome>(end.outcome_ref!);
    expectFields(outcome, NAMED, ['format']);
    expect(outcome).toMatchObject({
      step_id: prompt.step_id,
      simulation_outcome: null,
      audit_event_id: null,
      proof_refs: [
        state.turn.finder_packet,
        step.access!.decision,
        step.confirmation!.proof,
        end.dispatch_decision_hash,
      ],
      next_step: null,
      reason_code: 'ACCESS_SCOPE_VIOLATION',
    });
    expect(outcome.user_visible_text).toMatch(/^Not done\. /);
  });
});

describe('the four packets', () => {
  const SHARED = [
    'schema_version',
    'tenant_id',
    'user_id',
    'correlation_id',
    'turn_id',
    'idempotency_key',
    'reason_code',
    'policy_snapshot_ref',
    'catalog_snapshot_ref',
    'artifact_fingerprint_bundle_ref',
  ];
  const asked = async (utterance: string) =>
    (await place().keyturn.conversations.ask({ user_id: 'ada', utterance })).packet;

  it('SIMULATION_MATCH names the simulation, its values and what they rest on', async () => {
    const packet = await asked('append a notebook line "packet"');
    expectFields(
      packet,
      [
        ...SHARED,
        'intent_family',
        'simulation_id',
        'candidate_rank',
        'confidence_bp',
        'required_fields_present',
        'required_fields_missing',
        'evidence_spans',
        'risk_tier',
        'confirm_required',
        'access_actions_required',
        'idempotency_recipe_ref',
        'fallback_if_inactive_or_missing',
      ],
      ['kind'],
    );
    expect(packet).toMatchObject({
      kind: 'SIMULATION_MATCH',
      intent_family: 'notes',
      simulation_id: 'note.add',
      candidate_rank: 1,
      required_fields_present: ['text'],
      required_fields_missing: [],
      evidence_spans: [{ field: 'text', value: 'packet' }],
      risk_tier: 'MEDIUM',
      confirm_required: true,
      access_actions_required: ['note.add'],
      idempotency_recipe_ref: 'keyturn-step-idempotency/1',
      fallback_if_inactive_or_missing: 'REFUSE',
    });
  });

  it('CLARIFY asks one question about one field', async () => {
    const packet = await asked('append a notebook line');
    expectFields(
      packet,
      [
        ...SHARED,
        'question',
        'missing_field',
        'allowed_answer_formats',
        'attempt_index',
        'max_attempts',
        'on_exceed',
        'candidate_context_ref',
      ],
      ['kind'],
    );
    expect(packet).toMatchObject({
      kind: 'CLARIFY',
      question: 'Which words?',
      missing_field: 'text',
      allowed_answer_formats: ['"words in quotes"', 'plain words'],
      attempt_index: 1,
      max_attempts: 2,
      on_exceed: 'REFUSE',
    });
  });

  it('REFUSE says why, and what it rests on', async () => {
    const packet = await asked('append \u202e a line');
    expectFields(packet, [...SHARED, 'message', 'evidence_refs'], ['kind']);
    expect(packet).toMatchObject({ kind: 'REFUSE', reason_code: 'UTTERANCE_UNSAFE' });
  });

  it('MISSING_SIMULATION says what was wanted and where it was looked for', async () => {
    const utterance = 'launch a rocket towards mars';
    const packet = await asked(utterance);
    expectFields(
      packet,
      [
        ...SHARED,
        'requested_capability_name_normalized',
        'raw_user_utterance',
        'category',
        'worthiness_score_bp',
        'worthiness_parts',
        'dedupe_fingerprint',
        'search_proof',
      ],
      ['kind'],
    );
    expect(packet).toMatchObject({
      kind: 'MISSING_SIMULATION',
      raw_user_utterance: utterance,
      category: 'NEW_CAPABILITY',
      search_proof: [{ stage: 'ACTIVE', found: false }, { stage: 'DRAFT', found: false }, { stage: 'NONE' }],
    });
  });

  it('all of them name the snapshots, the turn and the user that they were made for', async () => {
    const { keyturn } = place();
    const { policy } = await keyturn.system.get();
    const turn = { user_id: 'ada', turn_id: 'turn-7' };
    const utterances = [
      'append a notebook line "all"',
      'append a notebook line',
      'append \u202e a line',
      'launch a rocket towards mars',
    ];
    const snapshots = new Set<string>();
    for (const [i, utterance] of utterances.entries()) {
      const { packet } = await keyturn.conversations.ask({ ...turn, utterance, correlation_id: `all-${i}` });
      expect(packet).toMatchObject({
        ...turn,
        schema_version: 'keyturn-finder-packet/1',
        tenant_id: 'default',
        correlation_id: `all-${i}`,
        policy_snapshot_ref: policy,
      });
      expect(packet.idempotency_key).toMatch(DIGEST);
      snapshots.add(`${packet.catalog_snapshot_ref} ${packet.artifact_fingerprint_bundle_ref}`);
    }
    expect(snapshots.size).toBe(1);
  });
});
