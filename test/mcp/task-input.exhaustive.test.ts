import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turned } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

const meta = (capabilities: object) => ({
  ...TASKS_META,
  'io.modelcontextprotocol/clientCapabilities': {
    ...TASKS_META['io.modelcontextprotocol/clientCapabilities'],
    ...capabilities,
  },
});
const CAN_ANSWER = meta({ elicitation: {} });

/** The gate before a server that asks for input in its answers, for a client that follows tasks. */
async function asking(pass: readonly string[] = ['input']) {
  const script = resolve('test/mcp/conformance/fixture.mjs');
  const gate = await piped({ pass }, { script });
  const { p, send, answer } = gate;
  let last = 0;
  const ask = async (method: string, params: object, _meta: object = CAN_ANSWER) => {
    last += 1;
    send(last, method, { ...params, _meta });
    return answer(last);
  };
  const task = async (tool: string, _meta?: object) =>
    (await ask('tools/call', { name: `odd__${tool}`, arguments: {} }, _meta)).result.taskId as string;
  const get = async (taskId: string, _meta?: object) => (await ask('tasks/get', { taskId }, _meta)).result;
  const update = (taskId: string, inputResponses: object) => ask('tasks/update', { taskId, inputResponses });
  const waiting = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.map(({ intent_id }) => intent_id);
  const turn = (intent_id: string) => turned(p, intent_id);
  return { p, ask, task, get, update, waiting, turn };
}

const YES = { action: 'accept', content: { confirm: 'yes' } };
const NAMED = { action: 'accept', content: { name: 'Ada' } };
const RED = { action: 'accept', content: { color: 'red' } };

describe('a task whose server asks its client for input', () => {
  it('says so with the questions, and goes on with another call that a human approves', LONG, async () => {
    const { p, task, get, update, waiting, turn } = await asking();
    const taskId = await task('confirm_delete');
    expect(await get(taskId)).toMatchObject({ status: 'working' });
    await turn(taskId);
    const asked = await get(taskId);
    expect(asked).toMatchObject({ taskId, status: 'input_required' });
    expect(asked.inputRequests.confirm.params.message).toBe('The server odd asks: Delete it?');
    expect(asked).not.toHaveProperty('result');
    expect((await update(taskId, { confirm: YES })).result).toEqual({ resultType: 'complete' });
    // That a client answered approves nothing.
    const [second] = await waiting();
    expect(second).not.toBe(taskId);
    const working = await get(taskId);
    expect(working).toMatchObject({ taskId, status: 'working', createdAt: asked.createdAt });
    expect(working.statusMessage).toContain(second);
    const { shown, goal } = (await p.keyturn.intents.story({ intent_id: second! })) as never as {
      shown: unknown;
      goal: string;
    };
    expect(JSON.stringify([shown, goal])).toContain('Client answers');
    await turn(second!);
    const done = await get(taskId);
    expect(done).toMatchObject({ taskId, status: 'completed' });
    expect(textOf(done.result)).toBe('It is deleted.');
  });

  it('asks for what is still open, and takes each answer once', LONG, async () => {
    const { p, task, get, update, waiting, turn } = await asking();
    const taskId = await task('multi_input');
    await turn(taskId);
    expect(Object.keys((await get(taskId)).inputRequests)).toEqual(['user_name', 'color']);
    await update(taskId, { nobody: YES, user_name: 'no object' });
    expect(Object.keys((await get(taskId)).inputRequests)).toEqual(['user_name', 'color']);
    await update(taskId, { user_name: NAMED });
    expect(Object.keys((await get(taskId)).inputRequests)).toEqual(['color']);
    expect(await waiting()).toEqual([]);
    // What was answered is not answered again.
    await update(taskId, { user_name: { action: 'decline' }, color: RED });
    const [second] = await waiting();
    await update(taskId, { user_name: NAMED, color: { action: 'decline' } });
    expect(await waiting()).toEqual([second]);
    await turn(second!);
    expect(textOf((await get(taskId)).result)).toBe('Hello, Ada, in red!');
    expect((await p.keyturn.intents.list({})).intents).toHaveLength(2);
  });

  it('is taken back while the answer waits, and tells why a human rejected it', LONG, async () => {
    const { p, ask, task, get, update, waiting, turn } = await asking();
    const [one, two] = [await task('confirm_delete'), await task('multi_input')];
    for (const taskId of [one, two]) await turn(taskId);
    await update(one, { confirm: YES });
    await ask('tasks/cancel', { taskId: one });
    expect(await get(one)).toMatchObject({ status: 'cancelled' });
    await update(two, { user_name: NAMED, color: RED });
    const [second] = await waiting();
    const { hash } = await p.keyturn.intents.get({ intent_id: second! });
    await p.keyturn.intents.reject({ intent_id: second!, hash, reason: 'not red', signer: p.ada });
    expect(textOf((await get(two)).result)).toContain('not red');
  });

  it('is done where its client cannot answer, or no human accepted that it asks', LONG, async () => {
    const { task, get, turn } = await asking();
    const taskId = await task('confirm_delete', TASKS_META);
    await turn(taskId);
    const done = await get(taskId, TASKS_META);
    expect(done).toMatchObject({ status: 'completed' });
    expect(textOf(done.result)).toContain('asks for input first');
    const other = await asking(['prompts']);
    const second = await other.task('confirm_delete');
    await other.turn(second);
    expect(await other.get(second)).toMatchObject({ status: 'completed' });
    await other.update(second, { confirm: YES });
    expect(await other.waiting()).toEqual([]);
  });

  it('is the same to another process of the gate', LONG, async () => {
    const { p, task, get, update, waiting, turn } = await asking();
    const taskId = await task('confirm_delete');
    await turn(taskId);
    const bot = p.keyturn.as({ name: 'bot' });
    expect((await bot.mcp.question({ intent_id: taskId })).call).toMatchObject({ answered_by: null });
    await update(taskId, { confirm: YES });
    const [second] = await waiting();
    // Nothing of it is kept in a process: the ledger tells which intent brings the answer.
    expect((await bot.mcp.question({ intent_id: taskId })).call).toMatchObject({ answered_by: second });
    await p.keyturn.people.enrol({ name: 'spy', principal: 'agent', public_key: null, signer: p.ada });
    const spied = p.keyturn.as({ name: 'spy' }).mcp.question({ intent_id: taskId });
    await expect(spied).rejects.toMatchObject({ code: 'INTENT_NOT_FOUND' });
    await expect.poll(() => get(taskId), SOON).toMatchObject({ status: 'working' });
  });
});
