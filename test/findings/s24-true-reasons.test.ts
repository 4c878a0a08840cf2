import { describe, expect, it } from 'vitest';
import { controllerLine } from '../../src/keyturn.ts';
import type { Refusal } from '../../src/refusal.ts';
import {
  AUTHORITY_TOOLS,
  authority,
  call,
  granted,
  type Intent,
  proposeSay,
  yes,
} from '../journey/authority.ts';
import { type Project, writeRegistry } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';

async function refusalOf(act: Promise<unknown>): Promise<Refusal | null> {
  return act.then(
    () => null,
    (error: Refusal) => error,
  );
}

/** What `check` prints: the controller's line for the state that the intent is in. */
async function lineOf(p: Project, { intent_id, hash }: Intent): Promise<string> {
  const verdict = await p.keyturn.intents.check({ intent_id, hash });
  return verdict.eligible ? 'eligible' : controllerLine(verdict.code, verdict.executed_at);
}

async function approved(p: Project): Promise<Intent> {
  const intent = await proposeSay(p);
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  return intent;
}

describe('S24: each reason is true', () => {
  it("S24: another intent's capability is not said to be of another ledger", async () => {
    const p = await authority();
    const [one, other] = [await granted(p), await granted(p)];
    const run = runSeen(p.keyturn, { ...one, confirm: yes, capability: other.token });
    expect((await refusalOf(run))?.code).toBe('CAPABILITY_INTENT_CHANGED');
  });

  it('S24: of a run that was recorded as partial it is not said that its end is not recorded', async () => {
    const p = await authority();
    writeRegistry(p.root, AUTHORITY_TOOLS.replace('summary: Waits.', 'summary: Waits.\n    timeout_s: 1'));
    const intent = await granted(p, call('wait', { seconds: 60 }));
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('partial');
    const verdict = await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash });
    expect(verdict).toMatchObject({ code: 'RUN_PARTIAL' });
  });

  it('S24: a missing capability is not a failed approval', async () => {
    const p = await authority();
    expect(await lineOf(p, await approved(p))).toBe('[ERROR] Not ordered to run');
  });

  it('S24: a freeze is not a failed approval', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'fire', signer: p.ada });
    expect(await lineOf(p, intent)).toBe('[ERROR] Frozen');
  });

  it('S24: an expired capability is not a failed approval', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const intent = await granted(p, {}, { ttl_s: 60 });
    now = new Date('2026-03-02T10:02:00.000Z');
    expect(await lineOf(p, intent)).toBe('[ERROR] Capability expired');
  });

  it('S24: a revoked capability is not a failed approval', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.runs.revokeCapability({
      capability_id: intent.capability_id,
      reason: 'x',
      signer: p.ada,
    });
    expect(await lineOf(p, intent)).toBe('[ERROR] Capability revoked');
  });

  it('S24: a run that failed is not said to be executed already', async () => {
    const p = await authority();
    const intent = await granted(p, call('fail'));
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('failure');
    expect(await lineOf(p, intent)).toMatch(/^\[ERROR\] Execution failed at 20/);
  });
});

describe('S24: grant refuses what can never run', () => {
  const refusedGrant = async (over: object) => {
    const p = await authority();
    const intent = await approved(p);
    return (await refusalOf(p.keyturn.intents.grant({ ...intent, signer: p.ada, ...over })))?.code;
  };

  it('S24: a category that the tool does not have', async () => {
    expect(await refusedGrant({ tool_category: 'files' })).toBe('CAPABILITY_WRONG_ACTION');
  });

  it('S24: a beginning after the end', async () => {
    const not_before = new Date(Date.now() + 3_600_000).toISOString();
    expect(await refusedGrant({ ttl_s: 60, conditions: { not_before } })).toBe('CAPABILITY_TOO_LONG');
  });

  it('S24: an action that the next attempt does not have', async () => {
    const p = await authority();
    const intent = await proposeSay(p, { requested_actions: ['tool:say', 'speak'] });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    const refused = await refusalOf(p.keyturn.intents.grant({ ...intent, signer: p.ada, action: 'speak' }));
    expect(refused?.code).toBe('CAPABILITY_WRONG_ACTION');
  });
});
