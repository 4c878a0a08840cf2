import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentAnswer, AwaitsApprover } from '../../src/agent/answer-shape.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { freshSigner } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agentPlace, askedFor, prompted, words, writeSimulation, yes } from './agent-place.ts';

/** The intent of a step does not outlive the conversation, and a row of the database is not enough to run anything. */

const place = agentPlace();

async function awaited(utterance: string): Promise<AwaitsApprover> {
  const { keyturn } = place();
  return waiting(await yes(keyturn, await askedFor(keyturn, utterance)));
}

function waiting(answer: AgentAnswer): AwaitsApprover {
  if (answer.kind !== 'AWAITS_APPROVER') throw new Error(`expected to wait, got ${JSON.stringify(answer)}`);
  return answer;
}

/** What the approver can give: a signature, and a capability. */
async function allowed({ intent_id, hash }: AwaitsApprover): Promise<void> {
  const { keyturn, ada } = place();
  await keyturn.intents.approve({ intent_id, hash, signer: ada });
  await keyturn.intents.grant({ intent_id, hash, signer: ada, action: 'tool:note' });
}

const run = (keyturn: Keyturn, { intent_id, hash }: { intent_id: string; hash: string }) =>
  runSeen(keyturn, { intent_id, hash, confirm: async () => true });

async function activated(one: { readonly id: string }): Promise<void> {
  const { root, keyturn, ada } = place();
  writeSimulation(root, one);
  const act = { id: one.id, reason: 'A test.', signer: ada };
  await keyturn.simulations.register(act);
  await keyturn.simulations.activate(act);
}

const file = () => join(place().root, '.keyturn', 'store.db');

function stored(name: string, key: string): object {
  const select = 'SELECT state FROM projection WHERE name = ? AND key = ?';
  const found = sqlite(file(), (db) => db.prepare(select).get(name, key));
  return JSON.parse((found as { state: string }).state);
}

/** An attacker who can write the database file writes a row, and opens the project anew. */
async function forged(name: string, key: string, change: (state: object) => void): Promise<Keyturn> {
  const state = stored(name, key);
  change(state);
  const update = 'UPDATE projection SET state = ? WHERE name = ? AND key = ?';
  sqlite(file(), (db) => db.prepare(update).run(JSON.stringify(state), name, key));
  return place().again();
}

/** So that the next test finds the rows as they were. */
async function mended(): Promise<void> {
  const { keyturn } = place();
  expect((await keyturn.ledger.rebuild({ write: true })).differences).not.toEqual([]);
}

describe('an intent that the agent core proposed', () => {
  it('is not run by the approver before the conversation goes on', async () => {
    const { keyturn, written } = place();
    const wait = await awaited('wipe the whole archive "early"');
    await allowed(wait);
    expect(await keyturn.intents.check({ intent_id: wait.intent_id, hash: wait.hash })).toMatchObject({
      eligible: false,
      code: 'AGENT_TRANSITION_ILLEGAL',
    });
    const { message } = await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(keyturn, wait));
    expect(message).toContain('keyturn agent resume');
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.runs.preview({ intent_id: wait.intent_id, hash: wait.hash }),
    );
    expect(written()).not.toContain('! early');
    expect(await keyturn.conversations.resume({ correlation_id: wait.correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'COMPLETED',
    });
    expect(written().filter((line) => line === '! early')).toHaveLength(1);
  });

  it('does not run after the no of the user, though the approver allowed it', async () => {
    const { keyturn, written } = place();
    const wait = await awaited('wipe the whole archive "declined"');
    await allowed(wait);
    expect((await words(keyturn, wait, 'no')).kind).toBe('CANCELLED');
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(keyturn, wait));
    expect(written()).not.toContain('! declined');
  });

  it('does not run after the user was told that nothing is done', async () => {
    const { keyturn, written } = place();
    await activated({
      id: 'clock.wind',
      version: 1,
      family: 'notes',
      summary: { en: 'Wind the tower clock' },
      phrases: { en: ['wind the tower clock'] },
      risk: 'LOW',
      access_action: 'clock.wind',
      impactful: false,
      side_effecting: true,
      irreversible: false,
      effect: { tool: 'note', arguments: { text: 'wound' } },
      // Over before the tool can start.
      timeout_ms: 1,
    } as { id: string });
    const late = await yes(keyturn, await askedFor(keyturn, 'wind the tower clock'));
    expect(late).toMatchObject({ kind: 'REFUSED', reason_code: 'STEP_TIMED_OUT' });
    const state = await keyturn.conversations.status({ correlation_id: late.correlation_id });
    const { intent_id } = state.plans[0]!.steps[0]!;
    const intent = await keyturn.intents.get({ intent_id: intent_id! });
    expect(intent).toMatchObject({ status: 'approved', capabilities: [{ status: 'ordered' }] });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(keyturn, intent));
    expect(written()).not.toContain('wound');
  });

  it('is not run because a row says that it was dispatched', async () => {
    const { written } = place();
    const other = await awaited('wipe the whole archive "other"');
    await allowed(other);
    await place().keyturn.conversations.resume({ correlation_id: other.correlation_id });
    const wait = await awaited('wipe the whole archive "row"');
    await allowed(wait);
    sqlite(file(), (db) => {
      // The row of a dispatch that is over, under the name of the one that waits.
      const state = JSON.stringify({ ...wait, is_over: false });
      db.prepare("UPDATE projection SET key = ?, state = ? WHERE name = 'dispatched' AND key = ?").run(
        wait.intent_id,
        state,
        other.intent_id,
      );
      db.prepare("UPDATE lookup SET near = ? WHERE kind = 'dispatched' AND near = ?").run(
        wait.intent_id,
        other.intent_id,
      );
    });
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', async () => run(await place().again(), wait));
    expect(written()).not.toContain('! row');
    await mended();
  });
});

describe('an undo', () => {
  it('that was called off while it waited for an approver is not done behind the back of the next one', async () => {
    const { keyturn, written } = place();
    await activated({
      id: 'rent.back',
      version: 1,
      family: 'notes',
      summary: { en: 'Take the rent back' },
      phrases: { en: ['take the rent back again'] },
      risk: 'HIGH',
      access_action: 'rent.back',
      impactful: false,
      side_effecting: true,
      irreversible: true,
      effect: { tool: 'note', arguments: { text: 'refund' } },
    } as { id: string });
    await activated({
      id: 'rent.pay',
      version: 1,
      family: 'notes',
      summary: { en: 'Pay the monthly rent' },
      phrases: { en: ['pay the monthly rent'] },
      risk: 'LOW',
      access_action: 'rent.pay',
      impactful: true,
      side_effecting: true,
      irreversible: false,
      effect: { tool: 'note', arguments: { text: 'rent' } },
      rollback_plan_ref: 'rent.back',
    } as { id: string });
    const { correlation_id } = await yes(keyturn, await askedFor(keyturn, 'pay the monthly rent'));
    const undo = async () => prompted(await keyturn.conversations.undo({ correlation_id, user_id: 'ada' }));
    const first = waiting(await yes(keyturn, await undo()));
    expect((await words(keyturn, first, 'no')).kind).toBe('CANCELLED');
    await allowed(first);
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(keyturn, first));
    const second = waiting(await yes(keyturn, await undo()));
    await allowed(second);
    expect((await keyturn.conversations.resume({ correlation_id: second.correlation_id })).kind).toBe(
      'OUTCOME',
    );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(keyturn, first));
    await expectRefusal('ROLLBACK_NOT_DUE', undo);
    expect(written().filter((line) => line === 'refund')).toHaveLength(1);
  });

  it('sees what a human retried with success after the step had failed', async () => {
    const { keyturn, ada, root, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "retried"');
    const { correlation_id } = prompt;
    const undo = () => keyturn.conversations.undo({ correlation_id, user_id: 'ada' });
    // The tool cannot write where a folder is.
    const [lines, aside] = [join(root, 'box', 'lines'), join(root, 'aside')];
    renameSync(lines, aside);
    mkdirSync(lines);
    const failed = await yes(keyturn, prompt);
    expect(failed).toMatchObject({ kind: 'OUTCOME', plan_state: 'FAILED' });
    rmdirSync(lines);
    renameSync(aside, lines);
    await expectRefusal('ROLLBACK_NOT_DUE', undo);

    const state = await keyturn.conversations.status({ correlation_id });
    const { intent_id, hash } = await keyturn.intents.get({
      intent_id: state.plans[0]!.steps[0]!.intent_id!,
    });
    await keyturn.runs.retry({ intent_id, reason: 'Fixed.', signer: ada });
    await keyturn.intents.grant({ intent_id, hash, signer: ada, action: 'tool:note' });
    expect((await run(keyturn, { intent_id, hash })).result).toBe('success');
    const undone = await yes(keyturn, prompted(await undo()));
    expect(undone).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(written().filter((line) => line.includes('retried'))).toEqual(['+ retried', '~ retried']);
    await expectRefusal('ROLLBACK_NOT_DUE', undo);
    expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });
});

describe('a row that somebody wrote into the database', () => {
  it('is no yes', async () => {
    const { written } = place();
    const { correlation_id } = await askedFor(place().keyturn, 'append a notebook line "unasked"');
    const opened = await forged('agent', correlation_id, (state) => {
      const [plan] = (state as { plans: unknown }).plans as [
        { state: string; steps: [Record<string, unknown>] },
      ];
      const [step] = plan.steps;
      const { decision, at } = step.access as { decision: string; at: string };
      step.state = plan.state = 'READY';
      step.confirmation = { answer: 'YES', proof: decision, at };
    });
    await expectRefusal('PROJECTION_DRIFT', () => opened.conversations.resume({ correlation_id }));
    expect(written()).not.toContain('+ unasked');
    await mended();
  });

  it('does not activate a simulation', async () => {
    const { keyturn, ada, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "inactive"');
    const active = stored('simulation', 'note.add');
    await keyturn.simulations.deprecate({ id: 'note.add', reason: 'A test.', signer: ada });
    const opened = await forged('simulation', 'note.add', (state) => {
      Object.assign(state, active);
    });
    await expectRefusal('PROJECTION_DRIFT', () => yes(opened, prompt));
    expect(written()).not.toContain('+ inactive');
    await mended();
    await keyturn.simulations.activate({ id: 'note.add', reason: 'A test.', signer: ada });
  });

  it('does not bring a revoked user back', async () => {
    const { keyturn, ada, written } = place();
    const { public_key } = freshSigner('bo');
    await keyturn.people.enrol({ name: 'bo', principal: 'human', public_key, signer: ada });
    const prompt = await askedFor(keyturn, 'append a notebook line "bo"', 'bo');
    await keyturn.people.revoke({ name: 'bo', reason: 'Left.', signer: ada });
    const opened = await forged('principal', 'bo', (state) => {
      Object.assign(state, { status: 'active' });
    });
    await expectRefusal('PROJECTION_DRIFT', () => yes(opened, prompt, 'bo'));
    const ask = { user_id: 'bo', utterance: 'append a notebook line "bo again"' };
    await expectRefusal('PROJECTION_DRIFT', () => opened.conversations.ask(ask));
    expect(written().filter((line) => line.includes('bo'))).toEqual([]);
    await mended();
  });
});
