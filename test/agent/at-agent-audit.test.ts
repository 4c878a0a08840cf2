import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentPlans } from '../../src/agent/contracts.ts';
import { type DispatchFacts, decide, sealDispatchDecision } from '../../src/agent/decide.ts';
import { valuesOf } from '../../src/agent/fields.ts';
import { closing, stepMoved } from '../../src/agent/moves.ts';
import { agentPlanOf, idempotencyKey, partsOf, refsOf } from '../../src/agent/plan.ts';
import { catalogOf, definitionDigest } from '../../src/finder/catalog.ts';
import { createFinder } from '../../src/finder/finder.ts';
import { PACKET_SCHEMA_VERSION, packetRef } from '../../src/finder/packet.ts';
import { simulationSchema } from '../../src/finder/simulation.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, SIMULATIONS, yes } from './agent-place.ts';
import { activeFact } from './by-hand.ts';

/** 003 sections 10 and 17.2: what is left behind is enough to follow every step, and to decide everything again. */

const place = agentPlace();

describe('AT-AGENT-08-audit-chain-complete', () => {
  it('from the outcome every link is found: packet, decision, access, confirmation, run, rollback', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "audit"');
    const done = await yes(keyturn, prompt);
    if (done.kind !== 'OUTCOME') throw new Error(done.kind);
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    const { moves: ledger } = state;
    const dispatch = ledger.find(({ to_state }) => to_state === 'EXECUTING')!;
    const end = ledger.find(({ from_state }) => from_state === 'EXECUTING')!;
    expect(dispatch).toMatchObject({
      finder_packet_ref: state.turn.finder_packet,
      policy_snapshot_ref: (await keyturn.system.get()).policy,
      catalog_snapshot_ref: state.turn.catalog_snapshot,
      access_decision_ref: state.plans[0]!.steps[0]!.access!.decision,
      confirmation_parse_proof_ref: state.plans[0]!.steps[0]!.confirmation!.proof,
      rollback_plan_ref: 'note.remove',
      dispatch_decision_hash: done.outcome.dispatch_decision_hash,
    });
    expect(end).toMatchObject({
      idempotency_key: dispatch.idempotency_key,
      outcome_ref: done.outcome_ref,
      execution_id: done.outcome.simulation_outcome!.execution_id,
    });
    expect(end.dispatch_ms).toBeGreaterThanOrEqual(0);
    for (const ref of [
      ...done.outcome.proof_refs.slice(0, -1),
      dispatch.catalog_snapshot_ref,
      dispatch.artifact_fingerprint_bundle_ref,
      done.outcome_ref,
    ])
      expect((await objectOf(keyturn, ref)).length).toBeGreaterThan(0);
    const finished = (await entriesAbout(keyturn, dispatch.intent_id!)).at(-1)!;
    expect(finished.kind).toBe('execution.finished');
    expect(done.outcome.audit_event_id).toBe(done.outcome.proof_refs.at(-1));
    await keyturn.ledger.verify({ deep: true });
    await keyturn.runs.replay({ execution_id: end.execution_id! });
  });
});

describe('AT-AGENT-13-current-rebuilds-from-ledger-without-drift', () => {
  it('the tables are what the ledger says, after everything that can happen to a goal', async () => {
    const { keyturn } = place();
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    await keyturn.conversations.ask({ user_id: 'stranger', utterance: 'greet everybody kindly' });
    await askedFor(keyturn, 'append a notebook line "waits"');
    await yes(keyturn, await askedFor(keyturn, 'wipe the whole archive "waits"'));
    await yes(keyturn, await askedFor(keyturn, 'fill the weekly diary "waits"'));
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('a row that somebody changed by hand is found, and put right from the ledger', async () => {
    const { keyturn, root } = place();
    const database = new DatabaseSync(join(root, '.keyturn', 'store.db'));
    database.exec("UPDATE agent_execution_current SET state = 'SUCCEEDED' WHERE state = 'WAITING_CONFIRM'");
    database.close();
    expect((await keyturn.ledger.rebuild({ write: false })).differences.length).toBeGreaterThan(0);
    await keyturn.ledger.rebuild({ write: true });
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });
});

describe('the replay of a correlation', () => {
  it('fails when a decision that it rests on is gone', async () => {
    const { keyturn, ada } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "gone"');
    await yes(keyturn, prompt);
    const { correlation_id } = prompt;
    const state = await keyturn.conversations.status({ correlation_id });
    const step = state.plans[0]!.steps[0]!;
    const proof = JSON.parse(Buffer.from(await objectOf(keyturn, step.confirmation!.proof)).toString());
    // The words of the user may go: the token was the whole answer.
    await keyturn.ledger.erase({ digest: proof.text, reason: 'Privacy.', signer: ada });
    expect((await keyturn.conversations.replay({ correlation_id })).decisions).toHaveLength(1);
    await keyturn.ledger.erase({ digest: step.access!.decision, reason: 'A test.', signer: ada });
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => keyturn.conversations.replay({ correlation_id }));
  });

  it('fails when the recorded decision is not what its facts and refs lead to', async () => {
    const { keyturn, root } = place();
    const lied = async (over: Partial<DispatchFacts>) => {
      const { correlation_id } = await askedFor(keyturn, 'append a notebook line "lie"');
      const state = await keyturn.conversations.status({ correlation_id });
      const planned = state.plans[0]!;
      const plan = agentPlans.open(await objectOf(keyturn, planned.plan));
      const step = plan.ordered_steps[0]!;
      const refs = { ...refsOf(plan, step), access_decision_ref: planned.steps[0]!.access!.decision };
      const active = await activeFact(keyturn, step);
      const { digest, bytes, decided } = sealDispatchDecision({
        correlation_id,
        plan_id: plan.plan_id,
        step_id: step.step_id,
        idempotency_key: idempotencyKey(correlation_id, step),
        refs,
        facts: {
          simulations: [active],
          access: 'ALLOW',
          risk: plan.risk_level,
          same_registry: true,
          approved: false,
          obstacle: null,
          confirmation_required: true,
          confirmation: null,
          ...over,
        },
      });
      // An attacker who can call the store can write an entry without a signature.
      const store = await openSqliteStore({
        path: join(root, '.keyturn', 'store.db'),
        tenant: 'default',
        clock: () => new Date(),
        mode: 'write',
      });
      const failed = { dispatch_decision_hash: digest };
      const code = decided.reason_code as 'ACCESS_SCOPE_VIOLATION';
      const events = [
        stepMoved(plan, step, ['WAITING_CONFIRM', 'FAILED_TERMINAL'], code, refs, failed),
        ...closing(plan, planned, step.step_id, ['FAILED', 'PLAN_ABORTED']),
      ];
      await store.commit({ events, objects: [bytes] });
      await store.close();
      return keyturn.conversations.replay({ correlation_id });
    };
    expect((await lied({})).decisions).toMatchObject([{ reason_code: 'CONFIRMATION_MISSING' }]);
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => lied({ access: 'DENY' }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', () => lied({ confirmation: 'NO' }));
    const truth = await activeFact(place().keyturn, {
      simulation_id: 'note.add',
      simulation_version: 1,
      definition: (await keyturn.simulations.get({ id: 'note.add' })).digest,
    });
    const told = (over: object) => () => lied({ simulations: [{ ...truth, ...over }] });
    await told({})();
    await expectRefusal('AGENT_REPLAY_DIFFERS', told({ definition: 'a'.repeat(64) }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', told({ activated: 'a'.repeat(64) }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', told({ differs: ['effect.executables[0].sha256'] }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', told({ found: truth.definition, differs: ['effect'] }));
    await expectRefusal('AGENT_REPLAY_DIFFERS', told({ found: null, differs: [] }));
  });

  it('is refused for a correlation that nobody began', async () => {
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      place().keyturn.conversations.replay({ correlation_id: 'nothing' }),
    );
  });
});

const DEFINITIONS = SIMULATIONS.map((one) => simulationSchema.parse(one));
const PHRASES = DEFINITIONS.flatMap(({ phrases }) => phrases.en ?? []);
const STATUSES = new Map(DEFINITIONS.map(({ id }) => [id, 'Active' as const]));
const NOW = new Date('2026-03-02T12:00:00.000Z');

/** Everything from the words to the hash of the decision, once. */
function pipeline(utterance: string, correlation_id: string, definitions: typeof DEFINITIONS) {
  const catalog = catalogOf(definitions, STATUSES);
  const refs = { policy_snapshot_ref: 'a'.repeat(64), artifact_fingerprint_bundle_ref: 'b'.repeat(64) };
  const packet = createFinder().find({
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id: 'default',
    user_id: 'ada',
    correlation_id,
    turn_id: 'turn-1',
    idempotency_key: 'key',
    utterance,
    catalog,
    ...refs,
  });
  if (packet.kind !== 'SIMULATION_MATCH') return { packet };
  const definitionOf = (id: string) => {
    const simulation = definitions.find((one) => one.id === id)!;
    return { simulation, digest: definitionDigest(simulation) };
  };
  const named = definitionOf(packet.simulation_id);
  const plan = agentPlanOf({
    correlation_id,
    named,
    parts: partsOf(named, valuesOf(packet, named.simulation), definitionOf),
    rolls_back: null,
    finder_packet_ref: packetRef(packet),
    packet,
    catalog_snapshot_ref: catalog.digest,
    ...refs,
    now: new Date(NOW.getTime() + Math.floor(Math.random() * 1e9)),
  });
  const step = plan.ordered_steps[0]!;
  const { digest, decided } = sealDispatchDecision({
    correlation_id,
    plan_id: plan.plan_id,
    step_id: step.step_id,
    idempotency_key: 'c'.repeat(64),
    refs: refsOf(plan, step),
    facts: {
      simulations: [
        {
          simulation_id: step.simulation_id,
          version: 1,
          definition: step.definition,
          status: 'ACTIVE',
          ...HELD,
        },
      ],
      access: 'ALLOW',
      risk: 'LOW',
      same_registry: true,
      approved: false,
      obstacle: null,
      confirmation_required: step.confirmation_required,
      confirmation: 'YES',
    },
  });
  return { packet, plan_id: plan.plan_id, digest, decided };
}

/** It is what was activated. */
const HELD = { activated: 'b'.repeat(64), found: 'b'.repeat(64), differs: [] };

describe('the same inputs and snapshots', () => {
  it('always give the same packet, plan hash and decision', () => {
    const goal = fc
      .tuple(fc.constantFrom(...PHRASES), fc.string({ maxLength: 12 }), fc.uuid())
      .map(([phrase, words, id]) => [`${phrase} "${words}"`, id] as const);
    fc.assert(
      fc.property(
        goal,
        fc.shuffledSubarray(DEFINITIONS, { minLength: DEFINITIONS.length }),
        ([text, id], order) => {
          expect(pipeline(text, id, order)).toEqual(pipeline(text, id, DEFINITIONS));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('another value, correlation or definition gives another plan', () => {
    const base = pipeline('append a notebook line "a"', 'one', DEFINITIONS);
    expect(base.plan_id).toBeDefined();
    expect(pipeline('append a notebook line "b"', 'one', DEFINITIONS).plan_id).not.toBe(base.plan_id);
    expect(pipeline('append a notebook line "a"', 'two', DEFINITIONS).plan_id).not.toBe(base.plan_id);
    const louder = DEFINITIONS.map((one) =>
      one.id === 'note.add' ? { ...one, risk: 'HIGH' as const } : one,
    );
    expect(pipeline('append a notebook line "a"', 'one', louder).plan_id).not.toBe(base.plan_id);
  });
});

describe('the decision to dispatch', () => {
  const facts: DispatchFacts = {
    simulations: [{ simulation_id: 'a', version: 1, definition: 'a'.repeat(64), status: 'ACTIVE', ...HELD }],
    access: 'ALLOW',
    risk: 'LOW',
    same_registry: true,
    approved: false,
    obstacle: null,
    confirmation_required: true,
    confirmation: 'YES',
  };
  const registered = (one: 'NOT_ACTIVE' | 'NOT_REGISTERED') => ({
    simulations: [{ ...facts.simulations[0]!, status: one }],
  });

  it.each([
    ['everything is there', {}, 'STEP_DISPATCHED'],
    ['no yes is needed', { confirmation_required: false, confirmation: null }, 'STEP_DISPATCHED'],
    ['an approver signed', { access: 'AP_REQUIRED', approved: true }, 'STEP_DISPATCHED'],
    ['an approver signed what the finder calls grave', { risk: 'HIGH', approved: true }, 'STEP_DISPATCHED'],
    ['the finder calls it grave', { risk: 'HIGH' }, 'ACCESS_AP_REQUIRED'],
    [
      'it is not what was activated',
      { simulations: [{ ...facts.simulations[0]!, found: 'c'.repeat(64), differs: ['effect'] }] },
      'ACTIVATION_DIFFERS',
    ],
    ['the tools are others', { same_registry: false }, 'EFFECT_CHANGED'],
    ['a human rejected the intent', { obstacle: 'INTENT_REJECTED' }, 'INTENT_REJECTED'],
    [
      'a human rejected what needs an approver',
      { obstacle: 'INTENT_REJECTED', access: 'AP_REQUIRED' },
      'INTENT_REJECTED',
    ],
    ['no approver signed', { access: 'AP_REQUIRED' }, 'ACCESS_AP_REQUIRED'],
    ['nobody answered', { confirmation: null }, 'CONFIRMATION_MISSING'],
    ['the answer was no', { confirmation: 'NO' }, 'CONFIRMATION_MISSING'],
    ['the answer was vague', { confirmation: 'AMBIGUOUS' }, 'CONFIRMATION_AMBIGUOUS'],
    ['access is denied', { access: 'DENY' }, 'ACCESS_SCOPE_VIOLATION'],
    [
      'access is denied, though an approver signed',
      { access: 'DENY', approved: true },
      'ACCESS_SCOPE_VIOLATION',
    ],
    ['it is not active', registered('NOT_ACTIVE'), 'SIMULATION_NOT_ACTIVE'],
    ['it is not registered', registered('NOT_REGISTERED'), 'SIMULATION_NOT_REGISTERED'],
  ] as const)('is fixed when %s', (_, over, reason_code) => {
    const decided = decide({ ...facts, ...(over as Partial<DispatchFacts>) });
    expect(decided.reason_code).toBe(reason_code);
    expect(decided.decision).toBe(reason_code === 'STEP_DISPATCHED' ? 'DISPATCH' : 'NO_DISPATCH');
  });
});
