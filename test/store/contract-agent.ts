import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { AgentCurrentRow, AgentLedgerRow } from '../../src/store/agent-tables.ts';
import type { Store } from '../../src/store/store.ts';
import { moved, planned, received, STEP, STEP_2, step } from '../gate/agent-story.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  asksAndConfirms,
  changed,
  dispatchOf,
  endOf,
  type Goal,
  goal,
  of,
  offers,
  runs,
  stood,
} from './agent-facts.ts';
import { randomStories } from './agent-stories.ts';
import { simulationContract } from './contract-simulation.ts';
import { begun, claimed, enrolled, enrolledAgent, finished, issued, keyOf, retried } from './facts.ts';
import { codeOf, governed, type Place, reopen } from './place.ts';

/** What the table of the present holds after these rows of the ledger: of each plan and step the last one. */
function currentRows(ledger: readonly AgentLedgerRow[]): AgentCurrentRow[] {
  const newest = new Map(ledger.map((row) => [`${row.correlation_id} ${row.plan_id} ${row.step_id}`, row]));
  return Array.from(newest.values(), (row) => {
    const { tenant_id, correlation_id, plan_id, step_id, to_state: state, reason_code, seq } = row;
    const { idempotency_key, intent_id, execution_id, outcome_ref, created_at: updated_at } = row;
    return {
      ...{ tenant_id, correlation_id, plan_id, step_id, state, reason_code, seq, updated_at },
      ...{ idempotency_key, intent_id, execution_id, outcome_ref },
    };
  });
}

/** The part of the contract about the agent core. Not yet part of `storeContract`: each store calls it when it can. */
export function agentContract(name: string, place: () => Promise<Place>): void {
  async function made() {
    const world = await governed(await place());
    await world.store.commit({ events: [changed('Draft'), changed('Active')] });
    return world;
  }

  async function lived(store: Store, one: Goal, ordinal = 1): Promise<void> {
    await asksAndConfirms(store, one);
    await store.commit({ events: [dispatchOf(one)] });
    await runs(store, one, ordinal);
    const done = of(one, moved(null, 'IN_PROGRESS', 'COMPLETED'));
    await store.commit({ events: [endOf(one, 'SUCCEEDED'), done] });
  }

  describe(`${name}: the agent core`, () => {
    it('follows a goal from the question to its end, in state and tables alike', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await lived(store, one);
      expect(await store.find('agent', 'goal-1')).toMatchObject({
        user_id: 'mia',
        plans: [{ plan_id: one.plan_id, state: 'COMPLETED', steps: [{ state: 'SUCCEEDED' }] }],
      });
      expect(await store.find('agent', 'goal-2')).toBeNull();
      const rows = await store.agentLedger({ correlation_id: 'goal-1', limit: 100 });
      expect(
        rows.map((row) => `${row.step_id === '' ? 'plan' : 'step'} ${row.from_state}>${row.to_state}`),
      ).toEqual([
        'plan >CREATED',
        'step >PENDING',
        'step PENDING>WAITING_CONFIRM',
        'plan CREATED>WAITING_CONFIRM',
        'step WAITING_CONFIRM>READY',
        'plan WAITING_CONFIRM>READY',
        'plan READY>IN_PROGRESS',
        'step READY>EXECUTING',
        'step EXECUTING>SUCCEEDED',
        'plan IN_PROGRESS>COMPLETED',
      ]);
      const current = await store.agentCurrent({ plan_id: one.plan_id });
      expect(current).toEqual(await store.agentCurrent({ correlation_id: 'goal-1' }));
      const folded = currentRows(rows).toSorted((a, b) => (a.step_id < b.step_id ? -1 : 1));
      expect(current).toEqual(folded);
      expect(current).toMatchObject([
        { step_id: '', state: 'COMPLETED', tenant_id: 'default' },
        { step_id: one.step_id, state: 'SUCCEEDED', execution_id: one.execution_id },
      ]);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('a dispatch row names everything that the decision rests on', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await lived(store, one);
      const rows = await store.agentLedger({ plan_id: one.plan_id, limit: 100 });
      const { refs, dispatch_decision_hash } = dispatchOf(one).body;
      expect(rows.find(({ to_state }) => to_state === 'EXECUTING')).toMatchObject({
        ...refs,
        dispatch_decision_hash,
        idempotency_key: one.idempotency_key,
        intent_id: one.intent_id,
        reason_code: 'STEP_DISPATCHED',
      });
    });

    it('an idempotency key leads to what it was spent on, and is spent once', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await asksAndConfirms(store, one);
      expect(await store.find('dispatch', one.idempotency_key)).toBeNull();
      const commit = { events: [dispatchOf(one)] };
      const outcomes = await Promise.allSettled([1, 2, 3].map(() => store.commit(commit)));
      expect(outcomes.map(codeOf)).toEqual(['ok', 'CLAIM_TAKEN', 'CLAIM_TAKEN']);
      await expectRefusal('CLAIM_TAKEN', () => store.commit(commit));
      expect(await store.find('dispatch', one.idempotency_key)).toMatchObject({
        correlation_id: 'goal-1',
        step_id: one.step_id,
        intent_id: one.intent_id,
        execution_id: null,
        outcome: null,
      });
      await runs(store, one, 1);
      await store.commit({ events: [endOf(one, 'SUCCEEDED')] });
      expect(await store.find('dispatch', one.idempotency_key)).toMatchObject({
        execution_id: one.execution_id,
        outcome: endOf(one, 'SUCCEEDED').body.outcome,
      });
    });

    it('the key of one step cannot be spent by another', async () => {
      const { store } = await made();
      const [one, other] = [goal('goal-1'), goal('goal-2')];
      for (const each of [one, other]) await asksAndConfirms(store, each);
      await store.commit({ events: [dispatchOf(one)] });
      const stolen = dispatchOf({ ...other, idempotency_key: one.idempotency_key });
      await expectRefusal('CLAIM_TAKEN', () => store.commit({ events: [stolen] }));
      expect(await store.agentLedger({ correlation_id: 'goal-2', limit: 100 })).toHaveLength(7);
    });

    it('of two turns that move the same step, one wins', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await store.commit({
        events: [received(), planned({ steps: [step(one.step_id)] })].map((e) => of(one, e)),
      });
      const move = { events: [of(one, moved(STEP, 'PENDING', 'WAITING_CONFIRM'))] };
      const outcomes = await Promise.allSettled([store.commit(move), store.commit(move)]);
      expect(outcomes.map(codeOf)).toEqual(['ok', 'AGENT_TRANSITION_ILLEGAL']);
      expect(await store.agentLedger({ correlation_id: 'goal-1', limit: 100 })).toHaveLength(3);
    });

    it('a simulation that is no longer active is not dispatched, however the plan was made', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await asksAndConfirms(store, one);
      await store.commit({ events: [changed('Deprecated')] });
      const commit = { events: [dispatchOf(one)] };
      await expectRefusal('SIMULATION_NOT_ACTIVE', () => store.commit(commit));
      await store.commit({
        events: [
          changed('Disabled', 'ada', { from: stood('Deprecated') }),
          changed('Draft', 'ada', { version: 2, from: stood('Disabled') }),
        ],
      });
      await store.commit({ events: [changed('Active', 'ada', { version: 2 })] });
      await expectRefusal('SIMULATION_NOT_ACTIVE', () => store.commit(commit));
      const steps = [step(one.step_id, { simulation: 'user.unheard', confirmation_required: false })];
      const unheard = goal('goal-2');
      const events = [
        received(),
        planned({ steps: [{ ...steps[0]!, step_id: unheard.step_id }] }),
        moved(STEP, 'PENDING', 'READY'),
        moved(null, 'CREATED', 'READY'),
        moved(null, 'READY', 'IN_PROGRESS'),
      ];
      await store.commit({ events: events.map((event) => of(unheard, event)) });
      await expectRefusal('SIMULATION_NOT_REGISTERED', () => store.commit({ events: [dispatchOf(unheard)] }));
    });

    it('a step ends as the record of its run says, and not before', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await asksAndConfirms(store, one);
      await store.commit({ events: [dispatchOf(one)] });
      const end = (event: Event) => () => store.commit({ events: [event] });
      await expectRefusal('EXECUTION_NOT_FOUND', end(endOf(one, 'SUCCEEDED')));
      await runs(store, one, 1, 'failure');
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', end(endOf(one, 'SUCCEEDED')));
      await expectRefusal('EXECUTION_NOT_FOUND', end(endOf(one, 'FAILED_TERMINAL', { execution_id: null })));
      await store.commit({ events: [endOf(one, 'FAILED_RETRYABLE')] });
      expect(await store.agentCurrent({ correlation_id: 'goal-1' })).toMatchObject([
        { state: 'IN_PROGRESS' },
        { state: 'FAILED_RETRYABLE' },
      ]);
    });

    it('what the agent core proposed runs while it is dispatched, or when a human retries it', async () => {
      const { store } = await made();
      const [one, other] = [goal('goal-1'), goal('goal-2')];
      const { intent_id, execution_id } = one;
      const claim = { events: [claimed(intent_id, execution_id)] };
      await store.commit({ events: [enrolledAgent('agent-core', 'ada', keyOf('agent-core'))] });
      for (const [i, each] of [one, other].entries()) {
        await asksAndConfirms(store, each);
        await offers(store, each, i + 1);
      }
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => store.commit(claim));
      expect(await store.find('dispatched', intent_id)).toBeNull();

      for (const each of [one, other]) await store.commit({ events: [dispatchOf(each)] });
      expect(await store.find('dispatched', intent_id)).toMatchObject({
        correlation_id: 'goal-1',
        is_over: false,
      });
      await store.commit(claim);
      await store.commit({ events: [finished(intent_id, execution_id, 'failure')] });
      await store.commit({ events: [endOf(one, 'FAILED_RETRYABLE')] });
      expect(await store.find('dispatched', intent_id)).toMatchObject({
        step_id: one.step_id,
        is_over: true,
      });
      const again = issued(intent_id, 'ada', { attempt: 2, ordinal: 3 });
      await store.commit({ events: [retried(intent_id, execution_id, 2, 'ada'), ...again] });
      await store.commit({ events: [claimed(intent_id, randomUUID(), 2)] });

      // The step is over, and nothing ran: the capability is still good, and is not enough.
      const ended = endOf(other, 'FAILED_TERMINAL', { execution_id: null, reason_code: 'STEP_TIMED_OUT' });
      await store.commit({ events: [ended] });
      const late = () => store.commit({ events: [claimed(other.intent_id)] });
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', late);
      expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    });

    it('what it dispatched does not run once its simulation is no longer active', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      await store.commit({ events: [enrolledAgent('agent-core', 'ada', keyOf('agent-core'))] });
      await asksAndConfirms(store, one);
      await offers(store, one, 1);
      await store.commit({ events: [dispatchOf(one)] });
      await store.commit({ events: [changed('Deprecated')] });
      const claim = () => store.commit({ events: [claimed(one.intent_id)] });
      await expectRefusal('SIMULATION_NOT_ACTIVE', claim);
      await store.commit({
        events: [
          changed('Disabled', 'ada', { from: stood('Deprecated') }),
          changed('Draft', 'ada', { version: 2, from: stood('Disabled') }),
        ],
      });
      await store.commit({ events: [changed('Active', 'ada', { version: 2 })] });
      await expectRefusal('SIMULATION_NOT_ACTIVE', claim);
      expect(await store.find('intent', one.intent_id)).toMatchObject({ status: 'approved', runs: [] });
    });

    it('an intent is dispatched once, under whatever key', async () => {
      const { store } = await made();
      const [one, other] = [goal('goal-1'), goal('goal-2')];
      for (const each of [one, other]) await asksAndConfirms(store, each);
      await store.commit({ events: [dispatchOf(one)] });
      const again = dispatchOf({ ...other, intent_id: one.intent_id });
      await expectRefusal('IDEMPOTENCY_VIOLATION', () => store.commit({ events: [again] }));
    });

    it('pages through its ledger by correlation, plan and time', async () => {
      const { store, setTime } = await made();
      const goals = ['goal-1', 'goal-2', 'goal-3'].map(goal);
      for (const [i, one] of goals.entries()) {
        setTime(`2026-01-15T1${2 + i}:30:00.000Z`);
        await asksAndConfirms(store, one);
      }
      const all = await store.agentLedger({ limit: 100 });
      expect(all.map(({ correlation_id }) => correlation_id)).toEqual(
        goals.flatMap(({ correlation }) => Array(7).fill(correlation)),
      );
      const pages = [];
      for (let after = all[0]; after; ) {
        const page = await store.agentLedger({ limit: 4, after });
        pages.push(...page);
        after = page.at(-1);
      }
      expect(pages).toEqual(all.slice(1));
      const since = '2026-01-15T13:30:00.000Z';
      expect(await store.agentLedger({ since, limit: 100 })).toEqual(all.slice(7));
      expect(await store.agentLedger({ since, correlation_id: 'goal-1', limit: 100 })).toEqual([]);
      expect(await store.agentLedger({ plan_id: goals[1]!.plan_id, limit: 100 })).toEqual(all.slice(7, 14));
      for (const limit of [0, -1, 0.5])
        await expectRefusal('SHAPE_INVALID', () => store.agentLedger({ limit }));
    });

    it('keeps the plans of two tenants apart', async () => {
      const at = await place();
      const [left, right] = [await reopen(at, 'create', 'left'), await reopen(at, 'create', 'right')];
      const one = goal('goal-1');
      const events = [received(), planned({ steps: [step(one.step_id)] })].map((event) => of(one, event));
      for (const store of [left, right]) {
        await store.commit({ events: [begun(), enrolled('ada', 'ada', undefined, store.tenant)] });
        await store.commit({ events });
      }
      await left.commit({ events: [of(one, moved(STEP, 'PENDING', 'SKIPPED'))] });
      expect(await left.agentLedger({ limit: 9 })).toHaveLength(3);
      expect(await right.agentLedger({ limit: 9 })).toHaveLength(2);
      expect(await right.agentCurrent({ correlation_id: 'goal-1' })).toMatchObject([
        { tenant_id: 'right', state: 'CREATED' },
        { state: 'PENDING' },
      ]);
      for (const store of [left, right])
        expect(await store.rebuild({ write: true })).toMatchObject({ differences: [] });
    });

    it('several steps come into being in one entry, each with its row', async () => {
      const { store } = await made();
      const one = goal('goal-1');
      const steps = [step(one.step_id), step(STEP_2)];
      await store.commit({ events: [received(), planned({ steps })].map((event) => of(one, event)) });
      const rows = await store.agentLedger({ plan_id: one.plan_id, limit: 9 });
      expect(rows.map(({ part, step_id, to_state }) => [part, step_id, to_state])).toEqual([
        [0, '', 'CREATED'],
        [1, one.step_id, 'PENDING'],
        [2, STEP_2, 'PENDING'],
      ]);
    });
  });

  simulationContract(name, place);

  describe(`${name}: rebuild of the agent core`, () => {
    it('AT-AGENT-13-current-rebuilds-from-ledger-without-drift: after 200 random stories', async () => {
      await randomStories(200, async (walk) => {
        const { store } = await made();
        const tried = await walk(store);
        expect(tried.committed).toBeGreaterThan(400);
        expect(tried.refused).toBeGreaterThan(50);
        // Of the 18 states of plans and steps, a walk may miss one or two.
        expect(tried.states.size).toBeGreaterThanOrEqual(15);
        expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
        const rows = await store.agentLedger({ limit: 100_000 });
        const current = await Promise.all(
          tried.correlations.map((correlation_id) => store.agentCurrent({ correlation_id })),
        );
        const byKey = (a: { plan_id: string; step_id: string }, b: { plan_id: string; step_id: string }) =>
          `${a.plan_id}${a.step_id}` < `${b.plan_id}${b.step_id}` ? -1 : 1;
        expect(current.flat().toSorted(byKey)).toEqual(currentRows(rows).toSorted(byKey));
      });
    });
  });
}
