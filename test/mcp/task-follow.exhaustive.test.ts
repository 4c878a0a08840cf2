import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { turned } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { piped } from './piped.ts';
import { heardFrom, posted } from './posted.ts';
import { TASKS_META } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

/** Runs an intent as an executor in another process does. */
async function runElsewhere(p: Project, intent_id: string) {
  const keyturn = await Keyturn.open({ at: p.root });
  const running = turned({ ...p, keyturn }, intent_id);
  onTestFinished(async () => {
    await running.catch(() => {});
    await keyturn.close();
  });
}

const step = ({ files }: { readonly files: string }, n: number) =>
  writeFileSync(join(files, `log.step-${n}`), '');
const STEPS = { name: 'odd__act', arguments: { how: 'steps' } };
const PROGRESS = [1, 2].map((progress) => ({ progressToken: 'mine', progress, total: 2 }));

describe('a task over standard input', () => {
  it.each([
    ['with a handshake', { ...STEPS, task: {}, _meta: { progressToken: 'mine' } }],
    ['without one', { ...STEPS, _meta: { ...TASKS_META, progressToken: 'mine' } }],
  ] as const)('%s tells how far its run has come after it was given', LONG, async (era, params) => {
    const { p, send, answer, told } = await piped();
    const is_legacy = era === 'with a handshake';
    send(1, 'tools/call', params);
    const { result } = await answer(1);
    const { taskId } = is_legacy ? result.task : result;
    await runElsewhere(p, taskId);
    const progress = () => told('notifications/progress');
    await expect.poll(progress, SOON).toEqual(PROGRESS.slice(0, 1));
    send(2, 'tasks/get', { taskId, ...(!is_legacy && { _meta: TASKS_META }) });
    expect((await answer(2)).result).toMatchObject({ status: 'working', statusMessage: 'It runs: 1 of 2.' });
    for (const n of [1, 2]) {
      step(p, n);
      await expect.poll(progress, SOON).toEqual(PROGRESS);
    }
    const statuses = () => told('notifications/tasks/status').map(({ status }) => status);
    if (is_legacy) await expect.poll(() => statuses().at(-1), SOON).toBe('completed');
    else expect(statuses()).toEqual([]);
  });

  it('with a handshake says that a human rejected it, or that it was taken back', LONG, async () => {
    const { p, send, answer, told } = await piped();
    const task = async (id: number, how: string) => {
      send(id, 'tools/call', { name: 'odd__act', arguments: { how }, task: {} });
      return (await answer(id)).result.task.taskId as string;
    };
    const [one, two] = [await task(1, 'a'), await task(2, 'b')];
    const { hash } = await p.keyturn.intents.get({ intent_id: one });
    await p.keyturn.intents.reject({ intent_id: one, hash, reason: 'no', signer: p.ada });
    send(3, 'tasks/cancel', { taskId: two });
    const statuses = (taskId: string) =>
      told('notifications/tasks/status').flatMap((one) => (one.taskId === taskId ? [one.status] : []));
    await expect.poll(() => statuses(one), SOON).toEqual(['completed']);
    await expect.poll(() => statuses(two), SOON).toEqual(['cancelled']);
  });
});

describe('a client without a handshake that listens for its tasks', () => {
  it('is told of each until it is over, with its result, and of none of another agent', LONG, async () => {
    const { post, send, spy, turn } = await posted();
    const task = async (how: string, token?: string) => {
      const params = { name: 'odd__act', arguments: { how }, _meta: TASKS_META };
      const { body } = await post({ id: 1, method: 'tools/call', params }, token ? { token } : {});
      return body.result.taskId as string;
    };
    const [mine, other] = [await task('mine'), await task('other', spy.token)];
    const notifications = { taskIds: [mine, other, 'none', 7] };
    const params = { notifications, _meta: TASKS_META };
    const heard = heardFrom(await send({ id: 2, method: 'subscriptions/listen', params }));
    await expect.poll(() => heard[0]?.method, SOON).toBe('notifications/subscriptions/acknowledged');
    expect(heard[0]!.params.notifications).toEqual({ taskIds: [mine] });
    for (const intent_id of [mine, other]) await turn(intent_id);
    const tasks = () => heard.filter(({ method }) => method === 'notifications/tasks');
    await expect.poll(() => tasks().at(-1)?.params.status, SOON).toBe('completed');
    expect(tasks().at(-1)!.params.result.content[0].text).toBe('did mine');
    expect(new Set(tasks().map(({ params }) => params.taskId))).toEqual(new Set([mine]));
  });
});
