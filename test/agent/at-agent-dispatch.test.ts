import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turnKey } from '../../src/agent/turn.ts';
import type { SimulationMatchPacket } from '../../src/finder/packet.ts';
import { freshSigner } from '../support/keys.ts';
import { objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  agentPlace,
  askedFor,
  kindsOf,
  named,
  prompted,
  SIMULATIONS,
  words,
  writeSimulation,
  yes,
} from './agent-place.ts';

/** 003 section 13: from a goal to its dispatch, and everything that stands in the way. */

const place = agentPlace();

describe('AT-AGENT-01-single-step-dispatch', () => {
  it('a goal that needs no yes becomes one plan of one step, one run, and its outcome', async () => {
    const { keyturn } = place();
    const done = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect(done).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED', is_duplicate: false, next: null });
    if (done.kind !== 'OUTCOME') throw new Error(done.kind);
    const { execution_id } = done.outcome.simulation_outcome!;
    expect(await keyturn.runs.output({ execution_id })).toMatchObject({ stdout: 'hello' });
    const state = await keyturn.conversations.status({ correlation_id: done.correlation_id });
    const { moves: ledger } = state;
    expect(state.plans.map(({ steps }) => steps.length)).toEqual([1]);
    expect(ledger.map(({ from_state, to_state }) => `${from_state}>${to_state}`)).toEqual([
      '>CREATED',
      '>PENDING',
      'PENDING>READY',
      'CREATED>READY',
      'READY>IN_PROGRESS',
      'READY>EXECUTING',
      'EXECUTING>SUCCEEDED',
      'IN_PROGRESS>COMPLETED',
    ]);
  });

  it('the effect takes the road of every intent: proposed, delegated, granted, claimed, finished', async () => {
    const p = place();
    const { keyturn } = p;
    const done = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    const state = await keyturn.conversations.status({ correlation_id: done.correlation_id });
    const intent = await keyturn.intents.get({ intent_id: state.plans[0]!.steps[0]!.intent_id! });
    expect(intent).toMatchObject({ status: 'succeeded', proposer: 'agent-core', proposer_verified: true });
    expect(intent.actions).toEqual(['tool:say', 'simulation:hello.show@1']);
    expect(intent.approvals).toMatchObject([{ by: 'ada', assurance: 'delegation' }]);
    expect(await kindsOf(p, intent.intent_id)).toEqual([
      'intent.proposed',
      'intent.delegated',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
  });

  it('a step that fails says so, and nothing is tried again', async () => {
    const { keyturn } = place();
    const done = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    expect(done).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'FAILED',
      reason_code: 'TOOL_EXIT_NONZERO',
      outcome: { simulation_outcome: { result: 'failure' } },
    });
    const state = await keyturn.conversations.status({ correlation_id: done.correlation_id });
    expect(state.plans[0]!.steps[0]!.state).toBe('FAILED_RETRYABLE');
    const again = await keyturn.conversations.resume({ correlation_id: done.correlation_id });
    expect(again).toMatchObject({ kind: 'OUTCOME', is_duplicate: true, reason_code: 'TOOL_EXIT_NONZERO' });
  });

  it('a step that takes too long is stopped, and fails for good', async () => {
    const { keyturn } = place();
    const done = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'boil the copper kettle' });
    expect(done).toMatchObject({ kind: 'OUTCOME', plan_state: 'FAILED', reason_code: 'STEP_TIMED_OUT' });
    const state = await keyturn.conversations.status({ correlation_id: done.correlation_id });
    expect(state.plans[0]!.steps[0]!.state).toBe('FAILED_TERMINAL');
  });
});

describe('AT-AGENT-02-confirm-required-before-impactful-sim', () => {
  it('an impactful simulation waits for a yes, and runs on it', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "milk"');
    expect(prompt.user_visible_text).toContain('milk');
    expect(written()).not.toContain('+ milk');
    expect((await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).kind).toBe(
      'CONFIRM',
    );
    expect(written()).not.toContain('+ milk');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(written().filter((line) => line === '+ milk')).toHaveLength(1);
  });

  it('a no ends the plan, and a later yes changes nothing', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "bread"');
    const no = await words(keyturn, prompt, 'no');
    expect(no).toMatchObject({ kind: 'CANCELLED', reason_code: 'CONFIRM_DECLINED' });
    expect((await yes(keyturn, prompt)).kind).toBe('CANCELLED');
    expect(written()).not.toContain('+ bread');
  });

  it('nobody says yes in the name of somebody else', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "wine"');
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () => yes(keyturn, prompt, 'bob'));
    expect(written()).not.toContain('+ wine');
  });

  it('the executor takes no envelope without the yes, and none that the ledger did not plan', async () => {
    const { keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "forged"');
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const plan = JSON.parse(Buffer.from(await objectOf(keyturn, state.plans[0]!.plan)).toString());
    const step = plan.ordered_steps[0];
    const envelope = {
      correlation_id: prompt.correlation_id,
      tenant_id: 'default',
      user_id: 'ada',
      step_id: step.step_id,
      simulation_id: 'note.add',
      required_fields: step.required_fields,
      confirmation_proof_ref: 'a'.repeat(64),
      access_action: 'note.add',
      idempotency_key: 'b'.repeat(64),
      policy_snapshot_ref: plan.policy_snapshot_ref,
      artifact_fingerprint_bundle_ref: plan.artifact_fingerprint_bundle_ref,
      rollback_plan_ref: 'note.remove',
    };
    await expectRefusal('IDEMPOTENCY_VIOLATION', () => keyturn.conversations.dispatch(envelope));
    const { idempotencyKey } = await import('../../src/agent/plan.ts');
    const keyed = { ...envelope, idempotency_key: idempotencyKey(prompt.correlation_id, step) };
    await expectRefusal('AGENT_REFS_MISSING', () => keyturn.conversations.dispatch(keyed));
    const silent = { ...keyed, confirmation_proof_ref: null };
    await expectRefusal('CONFIRMATION_MISSING', () => keyturn.conversations.dispatch(silent));
    const other = [{ field: 'text', value: 'other' }];
    await expectRefusal('AGENT_REFS_MISSING', () =>
      keyturn.conversations.dispatch({ ...keyed, required_fields: other }),
    );
    await expectRefusal('SHAPE_INVALID', () =>
      keyturn.conversations.dispatch({ ...keyed, more: 1 } as never),
    );
    // A vague answer has a proof, too, and is no yes.
    await keyturn.conversations.confirm({ ...named(prompt), user_id: 'ada', text: 'okay' });
    const vague = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const confirmation_proof_ref = vague.plans[0]!.steps[0]!.confirmation!.proof;
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.conversations.dispatch({ ...keyed, confirmation_proof_ref }),
    );
    expect((await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).kind).toBe(
      'CONFIRM',
    );
    expect(written()).not.toContain('+ forged');
  });
});

describe('AT-AGENT-03-access-deny-fail-closed', () => {
  it('somebody who is not enrolled gets nothing, and the decision is kept', async () => {
    const { keyturn, written } = place();
    const answer = await keyturn.conversations.ask({
      user_id: 'stranger',
      utterance: 'append a notebook line "x1"',
    });
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' });
    const state = await keyturn.conversations.status({ correlation_id: answer.correlation_id });
    expect(state.plans[0]).toMatchObject({ state: 'FAILED', steps: [{ access: { outcome: 'DENY' } }] });
    const { decision } = await keyturn.ledger.decision({
      digest: state.plans[0]!.steps[0]!.access!.decision,
    });
    expect(decision).toMatchObject({ allowed: false, code: 'POLICY_NO_PERMIT' });
    expect(written()).not.toContain('+ x1');
  });

  it('who was revoked between the question and the yes gets nothing', async () => {
    const { keyturn, ada, written } = place();
    const { public_key } = freshSigner('mia');
    await keyturn.people.enrol({ name: 'mia', principal: 'human', public_key, signer: ada });
    const prompt = await askedFor(keyturn, 'append a notebook line "x2"', 'mia');
    await keyturn.people.revoke({ name: 'mia', reason: 'A test.', signer: ada });
    const answer = await yes(keyturn, prompt, 'mia');
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' });
    expect(written()).not.toContain('+ x2');
    expect(
      (await keyturn.conversations.replay({ correlation_id: prompt.correlation_id })).decisions,
    ).toMatchObject([{ decision: 'NO_DISPATCH', reason_code: 'ACCESS_SCOPE_VIOLATION' }]);
  });

  it('the agent core is no user, though it is enrolled', async () => {
    const { keyturn } = place();
    const ask = { user_id: 'agent-core', utterance: 'greet everybody kindly' };
    await expectRefusal('USER_IS_AGENT', () => keyturn.conversations.ask(ask));
  });
});

describe('AT-AGENT-04-sim-not-active-fail-closed', () => {
  it('what was disabled between the question and the yes does not run', async () => {
    const { keyturn, ada, root, written } = place();
    writeSimulation(root, {
      ...(SIMULATIONS[0] as object),
      id: 'shelf.add',
      phrases: { en: ['stack another shelf plank'] },
      summary: { en: 'Stack another shelf plank' },
    });
    const change = { id: 'shelf.add', reason: 'A test.', signer: ada };
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const prompt = await askedFor(keyturn, 'stack another shelf plank "x3"');
    await keyturn.simulations.disable(change);
    expect(await yes(keyturn, prompt)).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'SIMULATION_NOT_ACTIVE',
    });
    expect(written()).not.toContain('+ x3');
    expect(
      (await keyturn.conversations.replay({ correlation_id: prompt.correlation_id })).decisions,
    ).toMatchObject([{ decision: 'NO_DISPATCH', reason_code: 'SIMULATION_NOT_ACTIVE' }]);
  });

  it('a file that was edited after its activation is a draft, and what was activated is what runs', async () => {
    const { keyturn, root } = place();
    const [note] = SIMULATIONS as { id: string; risk: string }[];
    const prompt = await askedFor(keyturn, 'append a notebook line "x4"');
    writeSimulation(root, { ...note!, risk: 'LOW' });
    const listed = (await keyturn.simulations.list()).simulations.find(({ id }) => id === 'note.add');
    expect(listed).toMatchObject({ status: 'Draft', has_changed: true });
    const missing = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'append a notebook line "x5"',
    });
    expect(missing).toMatchObject({ kind: 'MISSING_SIMULATION', intake: 'LINKED_TO_DRAFT' });
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    writeSimulation(root, note!);
  });

  it('a simulation that the packet names and nobody registered is refused', async () => {
    const { keyturn } = place();
    const packet = await packetOf({ simulation_id: 'ghost.ride' });
    const answer = await keyturn.conversations.ask({ ...asking('ghost'), packet });
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_REGISTERED' });
  });

  it('a simulation that is only registered is refused, whoever names it', async () => {
    const { keyturn, ada } = place();
    await keyturn.simulations.register({ id: 'lamp.dim', reason: 'A test.', signer: ada });
    const packet = await packetOf({ simulation_id: 'lamp.dim' }, 'lamp');
    const answer = await keyturn.conversations.ask({ ...asking('lamp'), packet });
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'SIMULATION_NOT_ACTIVE' });
  });
});

const asking = (correlation_id: string) => ({
  user_id: 'ada',
  correlation_id,
  turn_id: 'turn-1',
  utterance: 'greet everybody kindly',
});

/** A packet of another finder: the one of ours, for these snapshots, with other contents. */
async function packetOf(over: Partial<SimulationMatchPacket>, correlation_id = 'ghost') {
  const { packet } = await place().keyturn.conversations.ask({
    ...asking('template'),
    turn_id: `t-${Date.now()}`,
  });
  const idempotency_key = turnKey(asking(correlation_id));
  const match = packet as SimulationMatchPacket;
  return { ...match, correlation_id, turn_id: 'turn-1', idempotency_key, ...over };
}

describe('AT-AGENT-09-finder-top1-is-consumed-without-rerank', () => {
  it('what the finder put first is taken, though our own finder would choose another', async () => {
    const { keyturn } = place();
    const spans = [{ field: 'text', source: 'utterance', start: 0, end: 1, text: 'g', value: 'z' }] as const;
    const packet = await packetOf(
      {
        simulation_id: 'note.add',
        confidence_bp: 9000,
        required_fields_present: ['text'],
        evidence_spans: [...spans],
        confirm_required: false,
      },
      'other-finder',
    );
    const prompt = prompted(await keyturn.conversations.ask({ ...asking('other-finder'), packet }));
    const state = await keyturn.conversations.status({ correlation_id: 'other-finder' });
    expect(state.plans[0]!.steps[0]!.simulation).toBe('note.add');
    // A packet cannot take away a confirmation that the registered definition asks for.
    expect(prompt.kind).toBe('CONFIRM');
  });

  it.each([
    ['another turn', { turn_id: 'turn-9' }],
    ['another user', { user_id: 'bob' }],
    ['another catalog', { catalog_snapshot_ref: 'a'.repeat(64) }],
    ['other policies', { policy_snapshot_ref: 'a'.repeat(64) }],
    ['other artifacts', { artifact_fingerprint_bundle_ref: 'a'.repeat(64) }],
    ['a second rank', { candidate_rank: 2 }],
    ['no proof of its key', { idempotency_key: undefined }],
  ])('a packet of %s is refused', async (_, over) => {
    const { keyturn } = place();
    const packet = JSON.parse(JSON.stringify({ ...(await packetOf({}, 'wrong')), ...over }));
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ ...asking('wrong'), packet }),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.conversations.status({ correlation_id: 'wrong' }),
    );
  });

  it('a value that the registered field does not take is refused', async () => {
    const { keyturn } = place();
    const long = 'z'.repeat(81);
    const spans = [{ field: 'text', source: 'utterance', start: 0, end: 1, text: 'g', value: long }] as const;
    const over = { simulation_id: 'note.add', required_fields_present: ['text'], evidence_spans: [...spans] };
    const packet = await packetOf(over, 'too-long');
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ ...asking('too-long'), packet }),
    );
  });
});

describe('while policies are edited', () => {
  it('the active ones go on deciding', async () => {
    const { keyturn, root, written } = place();
    const path = join(root, 'policies', 'extra.cedar');
    writeFileSync(path, 'forbid (principal,');
    onTestFinished(() => rmSync(path));
    const prompt = await askedFor(keyturn, 'append a notebook line "x6"');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(written()).toContain('+ x6');
  });
});
