import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planOf, replace } from '../journey/plan-story.ts';
import { agentPlace, askedFor, writeSimulation, yes } from './agent-place.ts';

/** A simulation whose effect is a plan: what it changed is put back by the plan's own undo. */

const place = agentPlace();

const SLOWLY = {
  action_id: 'a2',
  action_type: 'SQL_EXECUTE',
  target: 'data.duckdb',
  operation: {
    type: 'sql_execute',
    query: 'CREATE TABLE t AS SELECT count(*) AS n FROM range(3000000) a, range(3000000) b',
  },
  depends_on: ['a1'],
};

async function active(id: string, phrase: string, actions: readonly object[], timeout_ms: number) {
  const { keyturn, ada, root } = place();
  writeFileSync(join(root, 'notes.txt'), 'old\n');
  writeSimulation(root, {
    id,
    version: 1,
    family: 'notes',
    summary: { en: phrase },
    phrases: { en: [phrase] },
    risk: 'LOW',
    impactful: true,
    side_effecting: true,
    irreversible: false,
    access_action: id,
    effect: { plan: JSON.parse(planOf(actions)) },
    rollback_plan_ref: 'plan:rollback',
    timeout_ms,
  });
  const change = { id, reason: 'A test.', signer: ada };
  await keyturn.simulations.register(change);
  await keyturn.simulations.activate(change);
  return { keyturn, notes: () => readFileSync(join(root, 'notes.txt'), 'utf8') };
}

const CHANGE = replace('a1', 'notes.txt', 'old', 'new');

describe('a step whose effect is a plan', () => {
  it('changes what the plan says, on a yes', async () => {
    const { keyturn, notes } = await active('plan.quick', 'polish the silver spoons', [CHANGE], 60_000);
    const prompt = await askedFor(keyturn, 'polish the silver spoons');
    expect(notes()).toBe('old\n');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(notes()).toBe('new\n');
  });

  it('that takes too long is stopped, rolled back, and says that it timed out', async () => {
    const actions = [CHANGE, SLOWLY];
    const { keyturn, notes } = await active('plan.slow', 'calibrate the harbour compass', actions, 8_000);
    const prompt = await askedFor(keyturn, 'calibrate the harbour compass');
    const seen = new Set<string>();
    const looking = setInterval(() => seen.add(notes()), 20);
    const done = await yes(keyturn, prompt).finally(() => clearInterval(looking));
    expect(done).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'FAILED',
      reason_code: 'STEP_TIMED_OUT',
      outcome: {
        reason_code: 'STEP_TIMED_OUT',
        simulation_outcome: { result: 'rolled_back' },
        next_step: null,
      },
    });
    expect([...seen]).toContain('new\n');
    expect(notes()).toBe('old\n');
    expect(existsSync(join(place().root, 'data.duckdb'))).toBe(false);
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    // Nothing is left of it, so a human may try again.
    expect(state.plans[0]!.steps[0]).toMatchObject({
      state: 'FAILED_RETRYABLE',
      reason_code: 'STEP_TIMED_OUT',
    });
    expect((await keyturn.intents.get({ intent_id: state.plans[0]!.steps[0]!.intent_id! })).status).toBe(
      'rolled_back',
    );
    expect(await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      is_duplicate: true,
    });
    expect(notes()).toBe('old\n');
  });
});
