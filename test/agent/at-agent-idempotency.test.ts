import { describe, expect, it } from 'vitest';
import type { Confirm } from '../../src/agent/answer-shape.ts';
import { idempotencyKey } from '../../src/agent/plan.ts';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { objectOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { confirmer } from '../support/racers.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, prompted, writeSimulation, yes } from './agent-place.ts';

/** One goal, one effect: also where a user asks again, in another process or conversation, and whatever broke in between. */

const place = agentPlace();

const count = (line: string) =>
  place()
    .written()
    .filter((one) => one === line).length;

async function planOf(correlation_id: string) {
  const { keyturn } = place();
  const state = await keyturn.conversations.status({ correlation_id });
  return JSON.parse(Buffer.from(await objectOf(keyturn, state.plans.at(-1)!.plan)).toString());
}

describe('AT-AGENT-05-idempotent-retry-safe', () => {
  it('a yes that is sent again returns the original outcome and its proof', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "once"');
    const first = await yes(keyturn, prompt);
    const second = await yes(keyturn, prompt);
    if (first.kind !== 'OUTCOME' || second.kind !== 'OUTCOME') throw new Error(second.kind);
    expect(second).toMatchObject({ is_duplicate: true, outcome_ref: first.outcome_ref });
    expect(second.outcome).toEqual(first.outcome);
    expect(count('+ once')).toBe(1);
  });

  it('the same goal in the same conversation is the same step, and is not done twice', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "twice"');
    const first = await yes(keyturn, prompt);
    const { correlation_id } = prompt;
    const again = { user_id: 'ada', correlation_id, utterance: 'append a notebook line "twice"' };
    const second = await yes(keyturn, prompted(await keyturn.conversations.ask(again)));
    if (first.kind !== 'OUTCOME' || second.kind !== 'OUTCOME') throw new Error(second.kind);
    expect(second).toMatchObject({
      is_duplicate: true,
      outcome_ref: first.outcome_ref,
      plan_state: 'CANCELLED',
    });
    expect(count('+ twice')).toBe(1);
    // With other values it is another step.
    const other = await keyturn.conversations.ask({ ...again, utterance: 'append a notebook line "thrice"' });
    expect(await yes(keyturn, prompted(other))).toMatchObject({ kind: 'OUTCOME', is_duplicate: false });
    expect(count('+ thrice')).toBe(1);
  });

  it('a turn that is sent again is answered, and other words under its name are refused', async () => {
    const { keyturn } = place();
    const turn = { user_id: 'ada', correlation_id: 'turn-twice', turn_id: 't1' };
    const first = await keyturn.conversations.ask({ ...turn, utterance: 'append a notebook line "t"' });
    const second = await keyturn.conversations.ask({ ...turn, utterance: 'append a notebook line "t"' });
    expect(second).toMatchObject({ kind: 'CONFIRM', plan_id: prompted(first).plan_id });
    expect((await keyturn.conversations.status({ correlation_id: 'turn-twice' })).turns).toBe(1);
    await expectRefusal('IDEMPOTENCY_VIOLATION', () =>
      keyturn.conversations.ask({ ...turn, utterance: 'greet everybody kindly' }),
    );
  });

  it('a process that is killed during the run leaves it in doubt, by its name, until a human settles it', async () => {
    const { keyturn, root, ada } = place();
    writeSimulation(root, {
      id: 'oven.bake',
      version: 1,
      family: 'notes',
      summary: { en: 'Bake the sourdough loaves' },
      risk: 'LOW',
      impactful: false,
      side_effecting: true,
      irreversible: false,
      access_action: 'oven.bake',
      effect: { tool: 'wait', arguments: { seconds: 600 } },
      timeout_ms: 600_000,
    });
    const change = { id: 'oven.bake', reason: 'A test.', signer: ada };
    await keyturn.simulations.register(change);
    await keyturn.simulations.activate(change);
    const prompt = await askedFor(keyturn, 'bake the sourdough loaves');
    const killed = confirmer(root, prompt);
    await killed.ready;
    killed.go();
    const too_soon = killed.answer.then((answer) => expect.fail(`it ended with ${answer}`));
    const execution_id = await Promise.race([claimed(prompt), too_soon]);
    too_soon.catch(() => {});
    killed.child.kill('SIGKILL');
    expect(await killed.answer).toBe('killed');

    const refusal = await expectRefusal('RUN_IN_DOUBT', () => yes(keyturn, prompt));
    expect(refusal.facts.execution_id).toBe(execution_id);
    await expectRefusal('RUN_IN_DOUBT', () =>
      keyturn.conversations.resume({ correlation_id: prompt.correlation_id }),
    );
    await keyturn.runs.resolve({ execution_id, outcome: 'did_not_happen', reason: 'Cold.', signer: ada });
    expect(await keyturn.conversations.resume({ correlation_id: prompt.correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'FAILED',
      outcome: { simulation_outcome: { result: 'did_not_happen', execution_id } },
    });
  });
});

/** Waits until the step of this prompt has a claimed run. */
function claimed({ correlation_id }: Confirm): Promise<string> {
  const { keyturn } = place();
  return until(async () => {
    const state = await keyturn.conversations.status({ correlation_id });
    const intent_id = state.plans[0]!.steps[0]!.intent_id;
    return intent_id === null ? null : (await keyturn.intents.get({ intent_id })).runs.at(-1)?.execution_id;
  });
}

describe('AT-AGENT-11-idempotency-key-includes-sim-and-field-fingerprint', () => {
  it('the key is the hash of correlation, step, simulation, fields and policies, and of nothing else', async () => {
    const { keyturn } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "key"');
    await yes(keyturn, prompt);
    const { correlation_id } = prompt;
    const [step] = (await planOf(correlation_id)).ordered_steps;
    const recipe = [
      correlation_id,
      step.step_id,
      'note.add',
      step.required_fields_fingerprint,
      (await keyturn.system.get()).policy!,
    ];
    const key = sha256(canonicalBytes(recipe));
    const state = await keyturn.conversations.status({ correlation_id });
    expect(state.plans[0]!.steps[0]!.idempotency_key).toBe(key);
    for (const over of [
      { step_id: 'a'.repeat(64) },
      { simulation_id: 'other' },
      { required_fields_fingerprint: 'a'.repeat(64) },
      { policy_snapshot_version: 'a'.repeat(64) },
    ])
      expect(idempotencyKey(correlation_id, { ...step, ...over })).not.toBe(key);
    expect(idempotencyKey('other', step)).not.toBe(key);
  });
});
