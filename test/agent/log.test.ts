import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { logged, logIn, readLog, registered } from '../support/telemetry.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';

/** What an operator sees of the agent core: the same operations as for every other run, and no word of its users. */

const place = agentPlace();
const LOG = 'agent.log';

describe('the agent core', () => {
  it('logs each dispatch with the run inside it, and no word that was said', async () => {
    const p = place();
    logIn(p.root, `{ level: debug, file: ${LOG} }`);
    const keyturn = await p.again();
    const prompt = await askedFor(keyturn, 'append a notebook line "xyzzy"');
    const done = await yes(keyturn, prompt);
    if (done.kind !== 'OUTCOME') throw new Error(done.kind);
    const { intent_id, execution_id, capability_id } = done.outcome.simulation_outcome!;
    await keyturn.conversations.ask({ user_id: 'xyzzyuser', utterance: 'xyzzyword and nothing else' });
    const digest = 'a'.repeat(64);
    const forged = {
      ...{ correlation_id: 'xyzzy-id', tenant_id: 'default', user_id: 'ada', step_id: digest },
      ...{ simulation_id: 'note.add', required_fields: [], confirmation_proof_ref: null },
      ...{ access_action: 'note.add', idempotency_key: digest, policy_snapshot_ref: digest },
      ...{ artifact_fingerprint_bundle_ref: digest, rollback_plan_ref: null },
    };
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => keyturn.conversations.dispatch(forged));

    const told = logged(p.root, LOG)
      .filter(({ operation }) => ['dispatch', 'grant', 'run'].includes(operation as string))
      .map(({ operation, msg, code }) => [operation, msg, code]);
    expect(told).toEqual([
      ['dispatch', 'begins', undefined],
      ['run', 'begins', undefined],
      ['run', 'ends', 'OK'],
      ['dispatch', 'ends', 'OK'],
      ['dispatch', 'begins', undefined],
      ['dispatch', 'ends', 'AGENT_TRANSITION_ILLEGAL'],
    ]);
    expect(logged(p.root, LOG)).toContainEqual(
      expect.objectContaining({
        operation: 'dispatch',
        intent_id,
        execution_id,
        capability_id,
        result: 'success',
      }),
    );
    const text = readLog(p.root, LOG);
    for (const secret of ['xyzzy', 'notebook', 'note.add', 'agent-core', p.root])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/\bada\b/); // as a word: an id in hexadecimal may hold these letters
  });

  it('a step that fails is a warning, with the reason', async () => {
    const p = place();
    logIn(p.root, '{ level: warn, file: fails.log }');
    const keyturn = await p.again();
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    expect(logged(p.root, 'fails.log')).toMatchObject([
      { level: 'warn', operation: 'run', result: 'failure', code: 'TOOL_EXIT_NONZERO' },
      { level: 'warn', operation: 'dispatch', result: 'failure', code: 'TOOL_EXIT_NONZERO' },
    ]);
  });

  it('its runs have the spans that every run has', async () => {
    const p = place();
    logIn(p.root, '{ level: silent }');
    const seen = registered();
    const keyturn = await p.again();
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    const ended = { 'keyturn.code': 'OK', 'keyturn.result': 'success' };
    const named = (name: string) => seen.filter((one) => one.name === name).map(({ facts }) => facts);
    // The run is ordered with the dispatch, in the same commit.
    expect(named('keyturn.grant')).toEqual([]);
    expect(named('keyturn.run')).toEqual([ended]);
    expect(named('keyturn.dispatch')).toEqual([ended]);
  });
});
