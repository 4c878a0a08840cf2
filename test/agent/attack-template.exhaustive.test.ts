import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERMITS, policy, rules } from '../journey/authority.ts';
import { agentPlace, askedFor, prompted, writeSimulation, yes } from './agent-place.ts';

/** A template is more than its steps: what it says about itself counts, too. */

const place = agentPlace();

async function template(id: string, phrase: string, over: object): Promise<void> {
  const { root, keyturn, ada } = place();
  writeSimulation(root, {
    id,
    version: 1,
    family: 'vaults',
    summary: { en: phrase },
    phrases: { en: [phrase] },
    risk: 'LOW',
    impactful: false,
    side_effecting: false,
    irreversible: false,
    access_action: id,
    steps: [{ simulation: 'hello.show' }, { simulation: 'hello.show' }],
    ...over,
  });
  for (const change of ['register', 'activate'] as const)
    await keyturn.simulations[change]({ id, reason: 'A test.', signer: ada });
}

describe('a template whose steps are harmless', () => {
  it('waits for a yes and for an approver when it says of itself that it is grave', async () => {
    const { keyturn } = place();
    await template('vault.open', 'unseal the granite vault', {
      risk: 'HIGH',
      irreversible: true,
      side_effecting: true,
    });
    const prompt = await askedFor(keyturn, 'unseal the granite vault');
    const answer = await yes(keyturn, prompt);
    expect(answer).toMatchObject({ kind: 'AWAITS_APPROVER', reason_code: 'ACCESS_AP_REQUIRED' });
    const state = await keyturn.conversations.status({ correlation_id: prompt.correlation_id });
    expect(state.plans[0]).toMatchObject({ template: { simulation: 'vault.open', version: 1 } });
  });

  it('is denied to whom the policies deny the template, though its steps are allowed', async () => {
    const p = place();
    await template('vault.peek', 'glance into the wooden crate', {});
    const utterance = 'glance into the wooden crate';
    expect(await p.keyturn.conversations.ask({ user_id: 'ada', utterance })).toMatchObject({
      kind: 'OUTCOME',
    });
    const no =
      'forbid (principal, action == Keyturn::Action::"access", resource == Keyturn::Simulation::"vault.peek");';
    await rules(p, PERMITS + policy('no-peek', 'intent', no));
    const answer = await p.keyturn.conversations.ask({ user_id: 'ada', utterance });
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' });
    expect(
      await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' }),
    ).toMatchObject({
      kind: 'OUTCOME',
    });
    await rules(p, PERMITS);
  });
});

describe('the next step of a chain', () => {
  it('is looked at before anybody is asked to say yes to it, like the first', async () => {
    const p = place();
    const steps = [{ simulation: 'hello.show' }, { simulation: 'note.add', fields: { text: 'chained' } }];
    await template('vault.note', 'inspect and annotate the vault', { steps });
    const ask = async () => yes(p.keyturn, await askedFor(p.keyturn, 'inspect and annotate the vault'));
    expect(await ask()).toMatchObject({ kind: 'OUTCOME', next: { kind: 'CONFIRM' } });
    const no =
      'forbid (principal, action == Keyturn::Action::"access", resource == Keyturn::Simulation::"note.add");';
    await rules(p, PERMITS + policy('no-notes', 'intent', no));
    const done = await ask();
    expect(done).toMatchObject({ kind: 'OUTCOME', plan_state: 'FAILED', next: null });
    const state = await p.keyturn.conversations.status({ correlation_id: done.correlation_id });
    expect(state.plans[0]!.steps.map((step) => [step.state, step.reason_code])).toEqual([
      ['SUCCEEDED', 'STEP_SUCCEEDED'],
      ['FAILED_TERMINAL', 'ACCESS_SCOPE_VIOLATION'],
    ]);
    await p.keyturn.conversations.replay({ correlation_id: done.correlation_id });
    await rules(p, PERMITS);
  });
});

describe('a yes', () => {
  it('is given under one registry of tools, and carries none that came later', async () => {
    const { root, keyturn, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "registry"');
    const tools = join(root, 'tools.yaml');
    const before = readFileSync(tools, 'utf8');
    const write = (text: string) => {
      chmodSync(tools, 0o644);
      writeFileSync(tools, text);
      chmodSync(tools, 0o444);
    };
    // Another tool than the one that would run: nothing of what was activated differs.
    write(before.replace('summary: Waits.', 'summary: Waits longer.'));
    expect(await yes(keyturn, prompt)).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'EFFECT_CHANGED',
      outcome: { simulation_outcome: null, reason_code: 'EFFECT_CHANGED' },
    });
    write(before);
    expect(written().some((line) => line.includes('registry'))).toBe(false);
    const again = prompted(
      await keyturn.conversations.ask({ user_id: 'ada', utterance: 'append a notebook line "later"' }),
    );
    expect(await yes(keyturn, again)).toMatchObject({ kind: 'OUTCOME' });
  });
});
