import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AgentExecutionPlan,
  type AgentStep,
  agentPlans,
  confirmations,
  outcomes,
} from '../../src/agent/contracts.ts';
import { type DispatchDecision, type DispatchFacts, sealDispatchDecision } from '../../src/agent/decide.ts';
import { intentIdOf } from '../../src/agent/intent.ts';
import { agentPlannedEvent } from '../../src/agent/match.ts';
import { agentPlanMoved, closing, type MoveReason, stepMoved } from '../../src/agent/moves.ts';
import { digestOf, idempotencyKey, type Refs, refsOf } from '../../src/agent/plan.ts';
import { sealText } from '../../src/agent/turn.ts';
import { canonicalBytes, parseJson } from '../../src/canonical/json.ts';
import type { Event } from '../../src/event/event.ts';
import { LEXICON_VERSION } from '../../src/finder/lexicon/lexicon.ts';
import { packetRef, parsePacket } from '../../src/finder/packet.ts';
import type { AgentPlan } from '../../src/gate/agent-state.ts';
import { type DecisionRecord, openDecision, sealDecision } from '../../src/policy/replay.ts';
import { timeContext } from '../../src/policy/request.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';
import { activeFact } from './by-hand.ts';

/**
 * 003 section 17.2: a replay believes no record. The attacker can call the store, so every record here is whole and
 * consistent with itself, and only one thing in it is not true. The same record without the lie is replayed first.
 */

const place = agentPlace();
const A = 'a'.repeat(64);

async function commit(events: Event[], objects: Uint8Array[], claims: string[] = []): Promise<void> {
  const path = join(place().root, '.keyturn', 'store.db');
  const clock = () => new Date();
  const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
  await store.commit({ claims, events, objects });
  await store.close();
}

interface Target {
  readonly correlation_id: string;
  readonly plan: AgentExecutionPlan;
  readonly plan_now: AgentPlan;
  readonly step: AgentStep;
}

async function targetOf(correlation_id: string): Promise<Target> {
  const { keyturn } = place();
  const { plans: known } = await keyturn.conversations.status({ correlation_id });
  const plan_now = known[0]! as AgentPlan;
  const plan = agentPlans.open(await objectOf(keyturn, plan_now.plan));
  return { correlation_id, plan, plan_now, step: plan.ordered_steps[0]! };
}

/** A step that waits for a yes. */
async function waiting(): Promise<Target> {
  return targetOf((await askedFor(place().keyturn, 'append a notebook line "forged"')).correlation_id);
}

/** A step that waits for an approver, who then signs or does not. */
async function approvable(signs: boolean): Promise<Target> {
  const { keyturn, ada } = place();
  const waits = await yes(keyturn, await askedFor(keyturn, 'wipe the whole archive "forged"'));
  if (waits.kind !== 'AWAITS_APPROVER') throw new Error(waits.kind);
  const { intent_id, hash } = waits;
  if (signs) await keyturn.intents.approve({ intent_id, hash, signer: ada });
  return targetOf(waits.correlation_id);
}

function refusedEvent(key: string, reason_code: ReasonCode): Event<'intent.refused'> {
  return { kind: 'intent.refused', subject: intentIdOf(key), body: { reason_code, decision: null } };
}

interface Lie {
  /** What stood in the way of the intent, in the decision and in the entries of the intent. */
  readonly seen?: ReasonCode;
  readonly facts?: Partial<DispatchFacts>;
  readonly refs?: Partial<Refs>;
  readonly record?: Partial<DispatchDecision>;
  readonly access?: (record: DecisionRecord) => DecisionRecord;
  readonly code?: MoveReason;
  readonly outcome?: Partial<{ reason_code: string; dispatch_decision_hash: string; step_id: string }> | null;
  readonly without_decision?: boolean;
}

/** Ends the step with a decision of our own making, and replays the conversation. */
async function forged({ correlation_id, plan, plan_now, step }: Target, lie: Lie = {}) {
  const { keyturn } = place();
  const step_now = plan_now.steps[0]!;
  const seen = openDecision(await objectOf(keyturn, step_now.access!.decision));
  const access = sealDecision(lie.access?.(seen) ?? seen);
  const refs: Refs = {
    ...refsOf(plan, step),
    access_decision_ref: access.digest,
    confirmation_parse_proof_ref: step_now.confirmation?.proof ?? null,
    ...lie.refs,
  };
  const { digest, bytes, decided } = sealDispatchDecision({
    correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    idempotency_key: idempotencyKey(correlation_id, step),
    refs,
    facts: {
      simulations: [await activeFact(keyturn, step)],
      access: step_now.access!.outcome,
      risk: plan.risk_level,
      same_registry: true,
      approved: false,
      obstacle: null,
      confirmation_required: true,
      confirmation: step_now.confirmation?.answer ?? null,
      ...(lie.seen && { obstacle: lie.seen }),
      ...lie.facts,
    },
    ...lie.record,
  });
  const code = lie.code ?? (decided.reason_code as MoveReason);
  const outcome = outcomes.seal({
    format: 'keyturn-agent-outcome/1',
    step_id: step.step_id,
    simulation_outcome: null,
    audit_event_id: null,
    proof_refs: [],
    dispatch_decision_hash: digest,
    next_step: null,
    reason_code: code,
    user_visible_text: 'Not done.',
    ...lie.outcome,
  });
  const ended = {
    dispatch_decision_hash: lie.without_decision ? null : digest,
    outcome: lie.outcome === null ? null : outcome.digest,
  };
  const events: Event[] = [
    ...(lie.seen ? [refusedEvent(idempotencyKey(correlation_id, step), lie.seen)] : []),
    stepMoved(plan, step, [step_now.state, 'FAILED_TERMINAL'], code, refs, ended),
    ...closing(plan, plan_now, step.step_id, ['FAILED', 'PLAN_ABORTED']),
  ];
  await commit(events, [bytes, access.bytes, outcome.bytes]);
  return keyturn.conversations.replay({ correlation_id });
}

const differs = (target: Target, lie: Lie) =>
  expectRefusal('AGENT_REPLAY_DIFFERS', () => forged(target, lie));

/** A refusal of the effect that only the process saw which met it. */
const SEEN = 'TOOL_UNKNOWN';

describe('a forged decision', () => {
  it('is replayed when nothing in it is a lie', async () => {
    const { decisions } = await forged(await waiting());
    expect(decisions).toMatchObject([{ decision: 'NO_DISPATCH', reason_code: 'CONFIRMATION_MISSING' }]);
  });

  it('cannot say that no yes is needed', async () => {
    await differs(await waiting(), { facts: { confirmation_required: false }, seen: SEEN });
  });

  it('cannot say that the risk is lower', async () => {
    await differs(await waiting(), { facts: { risk: 'LOW' } });
  });

  it('cannot rest on a yes that the step does not have', async () => {
    await differs(await waiting(), { facts: { confirmation: 'YES' }, seen: SEEN });
  });

  it('cannot rest on access of another user', async () => {
    const access = (seen: DecisionRecord): DecisionRecord => {
      const { principal } = seen.request;
      return { ...seen, request: { ...seen.request, principal: { ...principal, name: 'bob' } } };
    };
    await differs(await waiting(), { access });
  });

  it('cannot rest on access to another simulation', async () => {
    const { correlation_id } = await askedFor(place().keyturn, 'strike out some earlier writing "x"');
    const other = (await targetOf(correlation_id)).plan_now.steps[0]!.access!.decision;
    const record = openDecision(await objectOf(place().keyturn, other));
    await differs(await waiting(), { access: () => record });
  });

  it('cannot describe the simulation as less than it is', async () => {
    const access = (seen: DecisionRecord): DecisionRecord => {
      const { resource } = seen.request;
      if (resource.kind !== 'simulation') throw new Error(resource.kind);
      return { ...seen, request: { ...seen.request, resource: { ...resource, impactful: false } } };
    };
    await differs(await waiting(), { access });
  });

  it('cannot give the user a role that no human signed', async () => {
    const access = (seen: DecisionRecord): DecisionRecord => {
      const { principal } = seen.request;
      return { ...seen, request: { ...seen.request, principal: { ...principal, roles: ['chief'] } } };
    };
    await differs(await waiting(), { access });
  });

  it('cannot rest on a decision of another day', async () => {
    const access = (seen: DecisionRecord): DecisionRecord => {
      const { context } = seen.request;
      const before = timeContext(new Date((context.epoch_s - 86_400) * 1000));
      return { ...seen, request: { ...seen.request, context: { ...context, ...before } } };
    };
    await differs(await waiting(), { access });
  });

  it('cannot name other refs than the plan, nor another key', async () => {
    await differs(await waiting(), { refs: { catalog_snapshot_ref: A } });
    await differs(await waiting(), { refs: { artifact_fingerprint_bundle_ref: A } });
    await differs(await waiting(), { refs: { policy_snapshot_ref: A } });
    await differs(await waiting(), { refs: { rollback_plan_ref: null } });
    await differs(await waiting(), { refs: { access_decision_ref: null } });
    await differs(await waiting(), { record: { idempotency_key: A } });
    await differs(await waiting(), { record: { correlation_id: 'another' } });
    await differs(await waiting(), { record: { step_id: A } });
  });

  it('cannot be left out, nor give another reason than the move', async () => {
    await differs(await waiting(), { without_decision: true, outcome: null });
    await differs(await waiting(), { code: 'EFFECT_CHANGED' });
    await differs(await waiting(), { code: 'ACTIVATION_DIFFERS' });
  });

  it('cannot lead to an outcome of something else', async () => {
    await differs(await waiting(), { outcome: { dispatch_decision_hash: A } });
    await differs(await waiting(), { outcome: { reason_code: 'STEP_FAILED' } });
    await differs(await waiting(), { outcome: { step_id: A } });
  });
});

describe('the approval of a human', () => {
  const unsigned = { facts: { approved: true }, seen: SEEN } as const;

  it('is what the entries of the intent say', async () => {
    const { decisions } = await forged(await approvable(true), unsigned);
    expect(decisions.at(-1)).toMatchObject({ decision: 'NO_DISPATCH', reason_code: SEEN });
    await differs(await approvable(false), unsigned);
  });

  it('cannot be kept quiet', async () => {
    expect((await forged(await approvable(false))).decisions.at(-1)).toMatchObject({
      reason_code: 'ACCESS_AP_REQUIRED',
    });
    // As a forger who decided long after the signature would have to write it.
    const access = (seen: DecisionRecord): DecisionRecord => {
      const later = timeContext(new Date(Date.now() + 60_000));
      return { ...seen, request: { ...seen.request, context: { ...seen.request.context, ...later } } };
    };
    await differs(await approvable(true), { access });
  });
});

describe('a failure of what could be dispatched', () => {
  const approved = { approved: true } as const;
  const untold = (obstacle: ReasonCode) => ({ facts: { ...approved, obstacle } });

  it('is in the decision, in its outcome and in the entries of the intent', async () => {
    const told = { facts: approved, seen: SEEN } as const;
    expect((await forged(await approvable(true), told)).decisions.at(-1)).toMatchObject({
      reason_code: SEEN,
    });
    await differs(await approvable(true), untold(SEEN));
    await differs(await approvable(true), { facts: approved, code: SEEN });
    await differs(await approvable(true), { ...told, outcome: { reason_code: 'STEP_FAILED' } });
  });

  it.each(['CONFIRMATION_MISSING', 'ACCESS_SCOPE_VIOLATION', 'SIMULATION_NOT_REGISTERED'] as const)(
    'is not %s, since the decision says the opposite',
    async (code) => {
      await differs(await approvable(true), untold(code));
    },
  );

  it.each([
    'INTENT_REJECTED',
    'INTENT_EXPIRED',
    'SIMULATION_NOT_ACTIVE',
    'ACTIVATION_DIFFERS',
    'POLICY_DENIED',
    'STEP_FAILED' as ReasonCode,
  ] as const)('is not %s, since the ledger knows nothing of it', async (code) => {
    await differs(await approvable(true), untold(code));
  });

  it('is INTENT_REJECTED when a human rejected it', async () => {
    const { keyturn, ada } = place();
    const rejected = async () => {
      const target = await approvable(false);
      const { intent_id } = target.plan_now.steps[0]!.access!;
      const { hash } = await keyturn.intents.get({ intent_id: intent_id! });
      await keyturn.intents.reject({ intent_id: intent_id!, hash, reason: 'No.', signer: ada });
      return target;
    };
    const lie = { facts: { obstacle: 'INTENT_REJECTED' } } as const;
    expect((await forged(await rejected(), lie)).decisions).toHaveLength(2);
    // Nor can the rejection be kept quiet: as a forger who decided long after it would have to write it.
    const access = (seen: DecisionRecord): DecisionRecord => {
      const later = timeContext(new Date(Date.now() + 60_000));
      return { ...seen, request: { ...seen.request, context: { ...seen.request.context, ...later } } };
    };
    await differs(await rejected(), { access });
  });
});

describe('a forged confirmation', () => {
  /** A yes of our own making, and then a failure that it would have to explain. */
  async function confirmed(lie: { token?: string; user_id?: string; lexicon?: string } = {}) {
    const { correlation_id, plan, step } = await waiting();
    const confirm_lexicon_version_ref = lie.lexicon ?? LEXICON_VERSION;
    const proof = confirmations.seal({
      format: 'keyturn-confirmation/1',
      correlation_id,
      plan_id: plan.plan_id,
      step_id: step.step_id,
      user_id: lie.user_id ?? 'ada',
      answer: 'YES',
      token: lie.token ?? 'yes',
      language: 'en',
      confirm_lexicon_version_ref,
      reason: 'TOKEN',
      text: sealText('yes').digest,
    });
    const said = { plan_id: plan.plan_id, step_id: step.step_id, answer: 'YES' } as const;
    const body = { ...said, proof: proof.digest, text: null, confirm_lexicon_version_ref };
    const refs = { ...refsOf(plan, step), confirmation_parse_proof_ref: proof.digest };
    await commit(
      [
        { kind: 'agent.confirmed', subject: `agent:${correlation_id}`, body },
        stepMoved(plan, step, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
        agentPlanMoved(plan, ['WAITING_CONFIRM', 'READY'], 'CONFIRM_ACCEPTED', refs),
      ],
      [proof.bytes],
    );
    return forged(await targetOf(correlation_id), { seen: SEEN });
  }

  it('is read again, and is of the user who asked', async () => {
    expect((await confirmed()).decisions).toMatchObject([{ reason_code: SEEN }]);
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => confirmed({ token: 'maybe' }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => confirmed({ user_id: 'bob' }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => confirmed({ lexicon: 'confirm-lexicon/0' }));
  });
});

describe('a forged plan', () => {
  let count = 0;

  /** The packet of a real turn, said to be of another conversation, and a plan of our own making. */
  async function planned(lie: {
    plan?: (made: AgentExecutionPlan) => AgentExecutionPlan;
    body?: (body: Event<'agent.planned'>['body']) => Event<'agent.planned'>['body'];
    packet?: object;
    plan_id?: string;
  }) {
    const { keyturn } = place();
    const real = await waiting();
    const { turn, thread_id } = await keyturn.conversations.status({ correlation_id: real.correlation_id });
    count += 1;
    const correlation_id = `forged-${count}`;
    const bytes = await objectOf(keyturn, turn.finder_packet);
    const shown = parseJson(bytes, bytes.length) as object;
    const packet = parsePacket({ ...shown, correlation_id });
    const finder_packet = packetRef(packet);
    const made = { ...real.plan, correlation_id, finder_packet_ref: finder_packet };
    const { plan_id: _, created_at, ...unnamed } = (lie.plan ?? renamed)(renamed(made));
    const plan_id = lie.plan_id ?? digestOf(unnamed);
    const { bytes: plan_bytes, digest, value } = agentPlans.seal({ ...unnamed, plan_id, created_at });
    const event = agentPlannedEvent(value, digest);
    const { goal, catalog_snapshot, policy_snapshot, reason_code } = turn;
    const said = { turn_id: turn.turn_id, user_id: 'ada', thread_id, packet_kind: packet.kind };
    const received: Event<'agent.received'> = {
      kind: 'agent.received',
      subject: `agent:${correlation_id}`,
      body: { ...said, finder_packet, goal, catalog_snapshot, policy_snapshot, reason_code, ...lie.packet },
    };
    await commit(
      [received, { ...event, body: lie.body?.(event.body) ?? event.body }],
      [canonicalBytes(packet), plan_bytes],
    );
    return keyturn.conversations.replay({ correlation_id });
  }

  /** The name of a step follows from the conversation. */
  function renamed(plan: AgentExecutionPlan): AgentExecutionPlan {
    const step = plan.ordered_steps[0]!;
    const step_id = digestOf({
      format: 'keyturn-agent-step/1',
      correlation_id: plan.correlation_id,
      named: plan.simulation_id,
      rolls_back: null,
      place: 0,
      simulation_id: step.simulation_id,
    });
    return { ...plan, ordered_steps: [{ ...step, step_id }], required_confirmations: [step_id] };
  }

  const withStep = (over: Partial<AgentStep>) => (plan: AgentExecutionPlan) => ({
    ...plan,
    ordered_steps: [{ ...plan.ordered_steps[0]!, ...over }],
  });

  it('is what its packet and the definitions make of it, under its own hash', async () => {
    expect((await planned({})).decisions).toEqual([]);
    const lies: Parameters<typeof planned>[0][] = [
      { plan_id: A },
      { plan: withStep({ confirmation_required: false }) },
      { plan: withStep({ rollback_plan_ref: null }) },
      { plan: withStep({ required_fields: [{ field: 'text', value: 'other' }] }) },
      { plan: (plan) => ({ ...plan, risk_level: 'LOW' }) },
      { plan: (plan) => ({ ...plan, catalog_snapshot_ref: A }) },
      { body: (body) => ({ ...body, steps: [{ ...body.steps[0]!, confirmation_required: false }] }) },
      { body: (body) => ({ ...body, risk_level: 'LOW' }) },
      { packet: { policy_snapshot: A } },
      { packet: { turn_id: 'turn-9' } },
    ];
    for (const lie of lies) await expectRefusal('AGENT_REPLAY_DIFFERS', () => planned(lie));
  });
});
