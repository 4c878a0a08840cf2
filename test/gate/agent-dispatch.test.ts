import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { type DispatchGrounds, nextDispatch, requireDispatchGrounds } from '../../src/gate/dispatch.ts';
import type { Simulation } from '../../src/gate/simulation.ts';
import type { IntentState } from '../../src/gate/state.ts';
import type { Principal } from '../../src/identity/principal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  AT,
  accessed,
  confirmed,
  dispatched,
  ended,
  fold,
  INTENT,
  KEY,
  moved,
  OUTCOME,
  onward,
  planned,
  RUN,
  ready,
  received,
  refs,
  STEP,
  step,
} from './agent-story.ts';
import * as intent from './story.ts';

const waiting = () => [
  received(),
  planned(),
  moved(STEP, 'PENDING', 'WAITING_CONFIRM'),
  moved(null, 'CREATED', 'WAITING_CONFIRM'),
];

describe('no confirmation, no dispatch', () => {
  const go = moved(STEP, 'WAITING_CONFIRM', 'READY');

  it('only an explicit yes makes a step ready, and its proof is named', async () => {
    await expectRefusal('CONFIRMATION_MISSING', () => fold(...waiting(), go));
    for (const answer of ['AMBIGUOUS', 'NO'] as const)
      await expectRefusal('CONFIRMATION_MISSING', () => fold(...waiting(), confirmed(answer), go));
    await expectRefusal('CONFIRMATION_MISSING', () =>
      fold(received(), planned(), moved(STEP, 'PENDING', 'READY')),
    );
    for (const confirmation_parse_proof_ref of [null, sha256('another proof')]) {
      const bare = moved(STEP, 'WAITING_CONFIRM', 'READY', { refs: refs({ confirmation_parse_proof_ref }) });
      await expectRefusal('AGENT_REFS_MISSING', () => fold(...waiting(), confirmed('YES'), bare));
    }
    const asked_again = fold(...waiting(), confirmed('AMBIGUOUS'), confirmed('YES'), go);
    expect(asked_again.plans[0]!.steps[0]).toMatchObject({ state: 'READY' });
  });

  it('a no is final, also after a yes', async () => {
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      fold(...waiting(), confirmed('NO'), confirmed('YES')),
    );
    await expectRefusal('CONFIRMATION_MISSING', () => fold(...ready(), confirmed('NO'), dispatched()));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), confirmed('YES')));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), dispatched(), confirmed('NO')));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(received(), planned(), confirmed('YES')));
  });

  it('a no counts also where nobody was asked, until the dispatch', async () => {
    const asks_nobody = step(STEP, { confirmation_required: false });
    const quiet = [received(), planned({ steps: [asks_nobody] })];
    const go_on = moved(STEP, 'PENDING', 'READY');
    const no = fold(...quiet, confirmed('NO'), moved(STEP, 'PENDING', 'SKIPPED'));
    expect(no.plans[0]!.steps[0]).toMatchObject({ state: 'SKIPPED', confirmation: { answer: 'NO' } });
    await expectRefusal('CONFIRMATION_MISSING', () => fold(...quiet, confirmed('NO'), go_on));
    const begun = [accessed('ALLOW'), moved(null, 'CREATED', 'READY'), moved(null, 'READY', 'IN_PROGRESS')];
    await expectRefusal('CONFIRMATION_MISSING', () =>
      fold(...quiet, go_on, ...begun, confirmed('NO'), dispatched()),
    );
    for (const answer of ['YES', 'AMBIGUOUS'] as const)
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...quiet, go_on, confirmed(answer)));
    const skipped = fold(...quiet, moved(STEP, 'PENDING', 'SKIPPED'));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(skipped, confirmed('NO')));
  });

  it('a plan in progress is called off as long as no step executes', async () => {
    const off = moved(null, 'IN_PROGRESS', 'CANCELLED');
    const called_off = fold(...ready(), confirmed('NO'), moved(STEP, 'READY', 'SKIPPED'), off);
    expect(called_off.plans[0]).toMatchObject({ state: 'CANCELLED' });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), off));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), dispatched(), off));
  });
});

describe('a dispatch names all that it rests on', () => {
  it('key, intent, decision, access, proof and undo are there, or nothing is dispatched', async () => {
    for (const over of [
      { idempotency_key: null },
      { intent_id: null },
      { dispatch_decision_hash: null },
      { refs: refs({ access_decision_ref: null }) },
      { refs: refs({ access_decision_ref: sha256('another decision') }) },
      { refs: refs({ confirmation_parse_proof_ref: null }) },
      { refs: refs({ rollback_plan_ref: null }) },
      { refs: refs({ finder_packet_ref: sha256('another packet') }) },
    ])
      await expectRefusal('AGENT_REFS_MISSING', () => fold(...ready(), dispatched(over)));
    expect(fold(...ready(), dispatched()).plans[0]!.steps[0]).toMatchObject({ state: 'EXECUTING' });
  });

  it('what changes little needs neither a yes nor an undo', () => {
    const quiet = step(STEP, { confirmation_required: false, impactful: false });
    const bare = refs({ confirmation_parse_proof_ref: null, rollback_plan_ref: null });
    const state = fold(
      received(),
      planned({ steps: [quiet] }),
      moved(STEP, 'PENDING', 'READY', { refs: bare }),
      accessed('ALLOW'),
      moved(null, 'CREATED', 'READY'),
      moved(null, 'READY', 'IN_PROGRESS'),
      dispatched({ refs: bare }),
    );
    expect(state.plans[0]!.steps[0]).toMatchObject({ state: 'EXECUTING', intent_id: INTENT });
  });

  it('the newest decision about access counts, for this user', async () => {
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () => fold(...ready(), accessed('DENY'), dispatched()));
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () =>
      fold(received(), planned(), accessed('ALLOW', { user_id: 'eve' })),
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), dispatched(), accessed('DENY')));
  });

  it('where an approver is needed, only the intent that waits for one is dispatched', async () => {
    const other = '00000000-0000-4000-8000-000000000000';
    for (const intent_id of [null, other])
      await expectRefusal('ACCESS_AP_REQUIRED', () =>
        fold(...ready(), accessed('AP_REQUIRED', { intent_id }), dispatched()),
      );
    const state = fold(...ready(), accessed('AP_REQUIRED', { intent_id: INTENT }), dispatched());
    expect(state.plans[0]!.steps[0]!.state).toBe('EXECUTING');
  });

  it('nothing is dispatched from a plan that is not in progress', async () => {
    const paused = fold(...ready(), moved(null, 'IN_PROGRESS', 'PAUSED'));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => onward(paused, dispatched()));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready().slice(0, -1), dispatched()));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => fold(...ready(), dispatched(), dispatched()));
  });

  it('an outcome is of what was dispatched', async () => {
    for (const over of [
      { idempotency_key: sha256('another key') },
      { intent_id: null },
      { outcome: null },
      { execution_id: null },
    ])
      await expectRefusal('AGENT_REFS_MISSING', () =>
        fold(...ready(), dispatched(), ended('SUCCEEDED', over)),
      );
    await expectRefusal('AGENT_REFS_MISSING', () =>
      fold(...ready(), dispatched({ execution_id: RUN }), ended('FAILED_TERMINAL', { execution_id: null })),
    );
    const refused = fold(...ready(), dispatched(), ended('FAILED_TERMINAL', { execution_id: null }));
    expect(refused.plans[0]!.steps[0]).toMatchObject({ state: 'FAILED_TERMINAL', execution_id: null });
  });
});

describe('an idempotency key', () => {
  it('is spent once, and remembers what came of it', async () => {
    const state = fold(...ready(), dispatched());
    const spent = nextDispatch(null, dispatched(), state);
    expect(spent).toMatchObject({ idempotency_key: KEY, intent_id: INTENT, outcome: null });
    await expectRefusal('IDEMPOTENCY_VIOLATION', () => nextDispatch(spent, dispatched(), state));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => nextDispatch(null, ended('SUCCEEDED'), state));
    expect(nextDispatch(spent, ended('SUCCEEDED'), state)).toMatchObject({
      execution_id: RUN,
      outcome: OUTCOME,
    });
    const other_moves = [moved(STEP, 'PENDING', 'READY'), moved(null, 'READY', 'IN_PROGRESS')];
    for (const move of other_moves) expect(nextDispatch(null, move, state)).toBeNull();
  });
});

describe('what a dispatch and its end rest on', () => {
  const simulation: Simulation = {
    simulation: 'user.create',
    version: 1,
    status: 'Active',
    definition: KEY,
    proof: KEY,
    bound: KEY,
    own_delegation: null,
    expires_at: null,
    by: 'ada',
    registered_at: AT,
    changed_at: AT,
  };
  const state = fold(...ready());
  const look = (found: Simulation | null, run: IntentState | null = null): DispatchGrounds => ({
    simulation: () => found,
    intent: () => run,
    principal: () => null,
    policy: refs().policy_snapshot_ref,
  });
  const dispatch = (found: Simulation | null) => () =>
    requireDispatchGrounds(state, dispatched(), AT, look(found));

  it('the simulation is registered and active now, in the version that was planned', async () => {
    dispatch(simulation)();
    await expectRefusal('SIMULATION_NOT_REGISTERED', dispatch(null));
    for (const status of ['Draft', 'Deprecated', 'Disabled'] as const)
      await expectRefusal('SIMULATION_NOT_ACTIVE', dispatch({ ...simulation, status }));
    await expectRefusal('SIMULATION_NOT_ACTIVE', dispatch({ ...simulation, version: 2 }));
    await expectRefusal('SIMULATION_NOT_ACTIVE', dispatch({ ...simulation, expires_at: AT }));
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      requireDispatchGrounds(null, dispatched(), AT, look(simulation)),
    );
  });

  it('so is the template that it is a step of; the policies are those that were asked, and the user is not revoked', async () => {
    const [first, ...rest] = ready().slice(1);
    const template = { simulation: 'user.month', version: 3 };
    const chain = fold(
      received(),
      planned({ ...(first as ReturnType<typeof planned>).body, template }),
      ...rest,
    );
    const named = { ...simulation, simulation: 'user.month', version: 3 };
    const dispatch = (found: Simulation | null, over: Partial<DispatchGrounds> = {}) =>
      requireDispatchGrounds(chain, dispatched(), AT, {
        ...look(simulation),
        simulation: (id) => (id === 'user.month' ? found : simulation),
        ...over,
      });
    dispatch(named);
    await expectRefusal('SIMULATION_NOT_REGISTERED', () => dispatch(null));
    await expectRefusal('SIMULATION_NOT_ACTIVE', () => dispatch({ ...named, status: 'Disabled' }));
    await expectRefusal('SIMULATION_NOT_ACTIVE', () => dispatch({ ...named, version: 4 }));
    for (const policy of [null, KEY])
      await expectRefusal('DECISION_STALE', () => dispatch(named, { policy }));
    const mia = { status: 'revoked' } as Principal;
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () => dispatch(named, { principal: () => mia }));
    const eve = { kind: 'human', status: 'active', roles: ['auditor'] } as unknown as Principal;
    await expectRefusal('ACCESS_SCOPE_VIOLATION', () => dispatch(named, { principal: () => eve }));
    const robot = { kind: 'agent', status: 'active' } as Principal;
    await expectRefusal('USER_IS_AGENT', () => dispatch(named, { principal: () => robot }));
  });

  const end = (run: IntentState | null, ...[to, over]: Parameters<typeof ended>) =>
    requireDispatchGrounds(state, ended(to, over), AT, look(simulation, run));
  const run = (...events: Parameters<typeof intent.fold>) =>
    intent.fold(intent.proposed(), intent.granted(), intent.issued(), intent.claimed(), ...events);

  it('a step ends as its run did, and a run without an end leaves it open', async () => {
    end(run(intent.finished('success')), 'SUCCEEDED');
    end(run(intent.finished('failure')), 'FAILED_RETRYABLE');
    end(run(intent.finished('partial')), 'FAILED_TERMINAL');
    end(run(intent.resolved('happened')), 'SUCCEEDED');
    end(null, 'FAILED_TERMINAL', { execution_id: null });
    for (const to of ['SUCCEEDED', 'FAILED_TERMINAL'] as const)
      await expectRefusal('RUN_IN_DOUBT', () => end(run(), to));
    for (const [result, to] of [
      ['failure', 'SUCCEEDED'],
      ['success', 'FAILED_TERMINAL'],
      ['success', 'FAILED_RETRYABLE'],
      ['partial', 'FAILED_RETRYABLE'],
    ] as const)
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => end(run(intent.finished(result)), to));
  });

  it('an outcome that names no run, or another one, is refused', async () => {
    await expectRefusal('EXECUTION_NOT_FOUND', () => end(null, 'SUCCEEDED'));
    const done = run(intent.finished('success'));
    await expectRefusal('EXECUTION_NOT_FOUND', () => end(done, 'FAILED_TERMINAL', { execution_id: null }));
    await expectRefusal('EXECUTION_NOT_FOUND', () => end(done, 'SUCCEEDED', { execution_id: intent.RUN_2 }));
  });
});
