import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { turned } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { type Heard, piped } from './piped.ts';
import { heardFrom, posted } from './posted.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };

const CALL = {
  name: 'odd__act',
  arguments: { how: 'steps' },
  _meta: { progressToken: 'mine' },
};

/** Runs the only call that waits, as an executor in another process does. */
async function runElsewhere(p: Project) {
  const keyturn = await Keyturn.open({ at: p.root });
  const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
  await expect.poll(waiting, SOON).toHaveLength(1);
  const { intent_id } = (await waiting())[0]!;
  const running = turned({ ...p, keyturn }, intent_id);
  onTestFinished(async () => {
    await running.catch(() => {});
    await keyturn.close();
  });
  return { running, intent_id };
}

const step = ({ files }: { readonly files: string }, n: number) =>
  writeFileSync(join(files, `log.step-${n}`), '');

const progressIn = (heard: readonly Heard[]) =>
  heard.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);

/** The words of the server stay in the process that runs it. */
const TOLD = [1, 2].map((progress) => ({ progressToken: 'mine', progress, total: 2 }));

describe('how far a call has come that runs in another process', () => {
  it('reaches the client that waits, over standard input', LONG, async () => {
    const { p, send, answer, answers } = await piped({}, { hold_ms: 60_000 });
    send(1, 'tools/call', CALL);
    await runElsewhere(p);
    await expect.poll(() => progressIn(answers), SOON).toEqual(TOLD.slice(0, 1));
    step(p, 1);
    await expect.poll(() => progressIn(answers), SOON).toEqual(TOLD);
    step(p, 2);
    expect((await answer(1)).result.content[0].text).toBe('did steps');
    expect(progressIn(answers)).toEqual(TOLD);
  });

  it('reaches the client that waits, over HTTP', LONG, async () => {
    const { p, send } = await posted({}, { most: 0 });
    const called = send({ id: 1, method: 'tools/call', params: CALL });
    await runElsewhere(p);
    const heard = heardFrom(await called);
    await expect.poll(() => progressIn(heard), SOON).toEqual(TOLD.slice(0, 1));
    for (const n of [1, 2]) step(p, n);
    await expect.poll(() => heard.at(-1)?.result, SOON).toBeDefined();
  });

  it('is told to its proposer, and to no other agent', LONG, async () => {
    const { p, send } = await piped({}, { hold_ms: 60_000 });
    await p.keyturn.people.enrol({ name: 'spy', principal: 'agent', public_key: null, signer: p.ada });
    send(1, 'tools/call', CALL);
    const { intent_id } = await runElsewhere(p);
    const runOf = async () => (await p.keyturn.intents.result({ intent_id })).run?.execution_id;
    await expect.poll(runOf, SOON).toBeDefined();
    const execution_id = (await runOf())!;
    const told = (name: string) => p.keyturn.as({ name }).runs.progress({ execution_id });
    const first = { state: 'going', progress: { progress: 1, total: 2 } };
    await expect.poll(() => told('bot'), SOON).toEqual(first);
    await expectRefusal('EXECUTION_NOT_FOUND', () => told('spy'));
    await expectRefusal('NOT_FOR_AGENTS', () => p.keyturn.as({ name: 'bot' }).runs.live({ execution_id }));
    for (const n of [1, 2]) step(p, n);
  });
});
