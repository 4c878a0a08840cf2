import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENT } from '../../src/cli/commands/agent.ts';
import { ADA, agentScene } from './agent-scene.ts';
import { answerOf } from './project.ts';

/** What each command about goals and simulations says with --json, checked against schemas/cli.json. */

const { run, talk, place } = agentScene();
const answered = new Set<string>();
const why = ['--reason', 'for a test'];

type Words = readonly string[];
interface Said {
  ok: boolean;
  command: string;
  code?: string;
  result?: Record<string, never>;
  facts?: object;
}

async function say(words: Words, ...turns: (typeof ADA)[]): Promise<Said> {
  const all = [...words, '--json'];
  const finished = await (turns.length === 0 ? run(...all) : talk(all, ...turns));
  expect(finished.stderr).toBe('');
  return answerOf(finished) as never;
}

async function ok(words: Words, ...turns: (typeof ADA)[]): Promise<Record<string, never>> {
  const { result, command, ok: is_ok } = await say(words, ...turns);
  expect({ command, is_ok }).toEqual({ command: words.slice(0, 2).join(' '), is_ok: true });
  answered.add(command);
  return result!;
}

describe('--json of the commands about goals', () => {
  it('a conversation, turn by turn', async () => {
    const of = ['--correlation', 'json-1', '--thread', 'thread-1'];
    expect(await ok(['agent', 'ask', 'append a notebook line', ...of])).toMatchObject({
      kind: 'CLARIFY',
      question: 'Which words?',
      packet: { kind: 'CLARIFY' },
      turn_id: 'turn-1',
    });
    const prompt = await ok(['agent', 'answer', 'json-1', '--turn', 'turn-1', '"milk"']);
    const plan = ['--plan', String(prompt.plan_id)];
    expect(prompt).toMatchObject({ kind: 'CONFIRM', affirmative: 'yes', negative: 'no', language: 'en' });
    expect(await say(['agent', 'confirm', 'json-1', 'yes'])).toMatchObject({
      ok: false,
      code: 'CLARIFICATION_NEEDED',
      result: { kind: 'CONFIRM', plan_id: prompt.plan_id },
    });
    const unclear = await say(['agent', 'confirm', 'json-1', ...plan, 'okay']);
    expect(unclear).toMatchObject({
      ok: false,
      code: 'CONFIRMATION_AMBIGUOUS',
      result: { kind: 'CONFIRM', step_id: prompt.step_id },
    });
    const done = await ok(['agent', 'confirm', 'json-1', ...plan, 'yes']);
    expect(done).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'COMPLETED',
      outcome: { simulation_outcome: { result: 'success' } },
      is_duplicate: false,
      next: null,
    });
    const again = await ok(['agent', 'confirm', 'json-1', ...plan, 'yes']);
    expect(again).toMatchObject({ is_duplicate: true, outcome_ref: done.outcome_ref });
    expect(await ok(['agent', 'resume', 'json-1'])).toMatchObject({ is_duplicate: true });
    const back = await ok(['agent', 'undo', 'json-1']);
    expect(back).toMatchObject({ kind: 'CONFIRM' });
    const undo = ['--plan', String(back.plan_id).slice(0, 8)];
    expect(await say(['agent', 'confirm', 'json-1', ...undo, 'no'])).toMatchObject({
      ok: false,
      code: 'CONFIRMATION_DECLINED',
      result: { kind: 'CANCELLED' },
    });
  });

  it('a plan of several steps, an approver, a refusal and a wish', async () => {
    const first = await ok(['agent', 'ask', 'fill the weekly diary "w"', '--correlation', 'json-2']);
    const plan = ['--plan', String(first.plan_id)];
    const yes = ['agent', 'confirm', 'json-2', ...plan, 'yes', '--step', String(first.step_id)];
    expect(await ok(yes)).toMatchObject({ plan_state: 'PAUSED', next: { kind: 'PAUSED' } });
    expect(await ok(yes)).toMatchObject({ kind: 'PAUSED', plan_id: first.plan_id });
    expect(await ok(['agent', 'resume', 'json-2'])).toMatchObject({ next: { kind: 'CONFIRM' } });
    const wipe = await ok(['agent', 'ask', 'wipe the whole archive "a"', '--correlation', 'json-3']);
    const named = ['--plan', String(wipe.plan_id)];
    expect(await ok(['agent', 'confirm', 'json-3', ...named, 'yes'])).toMatchObject({
      kind: 'AWAITS_APPROVER',
      reason_code: 'ACCESS_AP_REQUIRED',
      intent_id: expect.any(String),
    });
    const stranger = await say(['agent', 'ask', 'greet everybody kindly', '--user', 'stranger']);
    expect(stranger).toMatchObject({ ok: false, code: 'ACCESS_SCOPE_VIOLATION' });
    const wish = await say(['agent', 'ask', 'calibrate the northern telescope mirrors']);
    expect(wish).toMatchObject({ ok: false, result: { kind: 'MISSING_SIMULATION', intake: 'RECORDED' } });
    expect(await ok(['intake', 'list'])).toMatchObject({ wishes: [{ status: 'open', users: 1, count: 1 }] });
  });

  it('what was done, what it costs, and that it can be made again', async () => {
    const told = await ok(['agent', 'status', 'json-1']);
    expect(told).toMatchObject({
      correlation_id: 'json-1',
      user_id: 'ada',
      status: 'CANCELLED',
      next: null,
      plans: [{ simulation: 'note.add' }, { simulation: 'note.add' }],
    });
    const { talk } = told as never as { talk: { kind: string; read_as: string | null }[] };
    expect(talk.map(({ kind, read_as }) => read_as ?? kind)).toEqual([
      'GOAL',
      'QUESTION',
      'ANSWER',
      'AMBIGUOUS',
      'YES',
      'NO',
    ]);
    const all = await ok(['agent', 'list', '--user', 'ada']);
    expect(
      (all.conversations as never as { correlation_id: string }[]).map((one) => one.correlation_id),
    ).toEqual(expect.arrayContaining(['json-1', 'json-2', 'json-3']));
    const none = await ok(['agent', 'list', '--text', 'no such text']);
    expect(none).toMatchObject({ conversations: [], next: null });
    expect(await ok(['agent', 'replay', 'json-1'])).toMatchObject({
      correlation_id: 'json-1',
      decisions: expect.arrayContaining([expect.objectContaining({ decision: 'DISPATCH' })]),
    });
    const { keyturn, ada } = place();
    await keyturn.people.assign({ name: 'ada', roles: ['builder'], reason: 'A test.', signer: ada });
    await say(['agent', 'ask', 'break the old engine']);
    expect(await say(['agent', 'slo'])).toMatchObject({ ok: false, code: 'SLO_BREACHED' });
    // How fast the machine is that runs the tests is not asked here.
    const { figures } = await keyturn.conversations.slo();
    const breached = figures.filter(({ is_breached }) => is_breached).map(({ figure }) => figure);
    expect(breached).toContain('execution_error_rate');
    const waive = ['agent', 'waive', ...breached.flatMap((one) => ['--figure', one]), '--ttl', '1d', ...why];
    expect(await ok(waive, ADA)).toMatchObject({ figures: breached, by: 'ada' });
    expect(await ok(['agent', 'slo'])).toMatchObject({ is_blocked: false });
    expect(await say(['agent', 'status', 'nobody-asked'])).toMatchObject({ ok: false });
  });

  it('the statuses of a simulation, and now every command has answered', async () => {
    const change = (verb: string) => ok(['simulation', verb, 'lamp.dim', ...why], ADA);
    expect(await ok(['simulation', 'check', 'lamp.dim'])).toMatchObject({ id: 'lamp.dim', faults: [] });
    expect(await change('register')).toMatchObject({ status: 'Draft', own_delegation: null });
    expect(await change('activate')).toMatchObject({ status: 'Active', by: 'ada', reason: 'for a test' });
    expect(await change('deprecate')).toMatchObject({ status: 'Deprecated', expires_at: null });
    expect(await change('disable')).toMatchObject({ status: 'Disabled' });
    expect(await ok(['simulation', 'show', 'lamp.dim'])).toMatchObject({
      status: 'Disabled',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      definition: { id: 'lamp.dim', effect: { tool: 'say', arguments: { word: 'dim' } } },
    });
    const { simulations } = await ok(['simulation', 'list']);
    expect(simulations).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: 'lamp.dim', status: 'Disabled', version: 1 })]),
    );
    await ok(['simulation', 'try', 'dim the lamp']);
    const { id } = await ok(['simulation', 'new', 'say', '--id', 'say.again']);
    expect(id).toBe('say.again');
    const file = join(place().root, 'simulations', 'say.again.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('tool: "say"', 'tool: "gone"'));
    const faulty = await say(['simulation', 'check', 'say.again']);
    expect(faulty).toMatchObject({ ok: false, result: { id: 'say.again', faults: expect.any(Array) } });
    const outside = await say(['simulation', 'new', 'say', '--id', '../../x']);
    expect(outside).toMatchObject({ ok: false, code: 'SIMULATION_INVALID' });
    expect(AGENT.map(({ name }) => name).filter((name) => !answered.has(name))).toEqual([]);
  });
});
