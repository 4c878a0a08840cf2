import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../src/agent/slo.ts';
import type { AgentLedgerRow } from '../../src/store/agent-tables.ts';
import { freshSigner } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace } from './agent-place.ts';

/** 003 section 14.2: what the ledger says about how fast and how well, and who may accept that it is not. */

let now = Date.parse('2026-03-02T12:00:00.000Z');
const place = agentPlace(() => new Date(now));
const HOUR_MS = 3_600_000;

describe('the figures of the agent core', () => {
  it('block while nothing was measured, hold while everything goes well, and block when something fails', async () => {
    const { keyturn } = place();
    expect((await keyturn.conversations.slo()).figures.map(({ value }) => value)).toEqual(
      Array(4).fill(null),
    );
    await expectRefusal('SLO_NOT_MEASURED', () => keyturn.conversations.requireSlo());
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    const good = await keyturn.conversations.slo();
    expect(good).toMatchObject({ dispatches: 1, is_blocked: false });
    expect(good.figures.map(({ figure }) => figure)).toEqual([
      'agent_dispatch_p95_ms',
      'agent_dispatch_p99_ms',
      'execution_error_rate',
      'idempotency_duplicate_side_effect_rate',
    ]);
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    const bad = await keyturn.conversations.slo();
    expect(bad.figures.find(({ figure }) => figure === 'execution_error_rate')).toMatchObject({
      value: 0.5,
      is_breached: true,
      waived_until: null,
    });
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
  });

  it('let a builder accept a breach for a bounded time, and nobody else', async () => {
    const { keyturn, ada } = place();
    const waiver = { figures: ['execution_error_rate' as const], reason: 'Known.', signer: ada };
    const until = new Date(now + HOUR_MS).toISOString();
    await expectRefusal('ROLE_REQUIRED', () => keyturn.conversations.waive({ ...waiver, until }));
    await keyturn.people.assign({ name: 'ada', roles: ['builder'], reason: 'Releases.', signer: ada });
    await expectRefusal('SLO_NOT_BREACHED', () =>
      keyturn.conversations.waive({ ...waiver, figures: ['idempotency_duplicate_side_effect_rate'], until }),
    );
    await expectRefusal('TIME_MALFORMED', () =>
      keyturn.conversations.waive({ ...waiver, until: new Date(now - 1).toISOString() }),
    );
    const far = new Date(now + 31 * 24 * HOUR_MS).toISOString();
    await expectRefusal('TIME_MALFORMED', () => keyturn.conversations.waive({ ...waiver, until: far }));
    await keyturn.people.enrol({ name: 'robot', principal: 'agent', public_key: null, signer: ada });
    const robot = { ...ada, name: 'robot' };
    await expectRefusal('NOT_HUMAN', () => keyturn.conversations.waive({ ...waiver, until, signer: robot }));
    await keyturn.conversations.waive({ ...waiver, until });
    expect(
      (await keyturn.conversations.requireSlo()).figures.some(({ waived_until }) => waived_until !== null),
    ).toBe(true);
    now += 2 * HOUR_MS;
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
  });

  it('stay breached however long nothing runs, until something newer is measured', async () => {
    const { keyturn } = place();
    now += 48 * HOUR_MS;
    const idle = await keyturn.conversations.slo();
    expect(idle).toMatchObject({ dispatches: 0, is_blocked: true });
    expect(idle.figures.find(({ figure }) => figure === 'execution_error_rate')).toMatchObject({
      value: 0.5,
      is_breached: true,
    });
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect(await keyturn.conversations.requireSlo()).toMatchObject({ dispatches: 1, is_blocked: false });
  });

  it('that were fine are not measured after a day without a run', async () => {
    now += 48 * HOUR_MS;
    const { figures } = await place().keyturn.conversations.slo();
    expect(figures.map(({ value }) => value)).toEqual(Array(4).fill(null));
    await expectRefusal('SLO_NOT_MEASURED', () => place().keyturn.conversations.requireSlo());
  });
});

describe('a waiver', () => {
  it('ends when the human who signed it is no builder any more', async () => {
    const { keyturn, ada } = place();
    const eve = freshSigner('eve');
    const person = { name: 'eve', principal: 'human' as const, public_key: eve.public_key };
    await keyturn.people.enrol({ ...person, roles: ['builder'], signer: ada });
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    const until = new Date(now + HOUR_MS).toISOString();
    const figures = ['execution_error_rate' as const];
    await keyturn.conversations.waive({ figures, reason: 'Known.', until, signer: eve });
    expect((await keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    await keyturn.people.assign({ name: 'eve', roles: [], reason: 'Moved on.', signer: ada });
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
  });

  it('ends when the key that signed it is revoked', async () => {
    const { keyturn, ada } = place();
    const bob = freshSigner('bob');
    const person = { name: 'bob', principal: 'human' as const, public_key: bob.public_key };
    await keyturn.people.enrol({ ...person, roles: ['builder'], signer: ada });
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
    const until = new Date(now + HOUR_MS).toISOString();
    const waiver = { figures: ['execution_error_rate' as const], reason: 'Known.', until };
    await keyturn.conversations.waive({ ...waiver, signer: bob });
    expect((await keyturn.conversations.requireSlo()).is_blocked).toBe(false);
    await keyturn.people.revoke({ name: 'bob', reason: 'Stolen.', signer: ada });
    await expectRefusal('SLO_BREACHED', () => keyturn.conversations.requireSlo());
    await keyturn.conversations.waive({ ...waiver, signer: ada });
    expect((await keyturn.conversations.requireSlo()).is_blocked).toBe(false);
  });
});

describe('figures from rows', () => {
  const at = new Date('2026-03-02T12:00:00.000Z');
  const row = (over: Partial<AgentLedgerRow>): AgentLedgerRow =>
    ({
      step_id: 's',
      from_state: '',
      to_state: '',
      execution_id: null,
      dispatch_ms: null,
      created_at: at.toISOString(),
      ...over,
    }) as AgentLedgerRow;
  const end = (i: number, over: Partial<AgentLedgerRow> = {}) =>
    row({
      from_state: 'EXECUTING',
      to_state: 'SUCCEEDED',
      idempotency_key: `k${i}`,
      execution_id: `e${i}`,
      dispatch_ms: i,
      ...over,
    });

  it('are nearest ranks of what was measured, and nothing where nothing was', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => end(i + 1));
    expect(figuresOf(hundred, at)).toMatchObject({
      agent_dispatch_p95_ms: 95,
      agent_dispatch_p99_ms: 99,
      execution_error_rate: 0,
    });
    expect(Object.values(figuresOf([], at))).toEqual([null, null, null, null]);
  });

  it('count a key with two executions as a duplicate side effect', () => {
    const twice = [end(1), end(1, { execution_id: 'other' })];
    expect(figuresOf(twice, at).idempotency_duplicate_side_effect_rate).toBe(0.5);
  });

  it('count a dispatch without an end as an error once it must have ended', () => {
    const started = (hours: number) =>
      row({
        to_state: 'EXECUTING',
        idempotency_key: `h${hours}`,
        created_at: new Date(at.getTime() - hours * HOUR_MS).toISOString(),
      });
    expect(figuresOf([end(1), started(0.5)], at).execution_error_rate).toBe(0);
    expect(figuresOf([end(1), started(2)], at).execution_error_rate).toBe(0.5);
  });
});
