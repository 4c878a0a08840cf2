import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type Project, project, TOOLS, writeMark } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, type Intent, proposeSay } from './authority.ts';
import { executorOf } from './executing.ts';

const turned = async (p: Project, over: object = {}): Promise<Intent> => {
  const intent = await proposeSay(p, over as never);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  return intent;
};
const ended = ({ keyturn }: Project, { intent_id }: Intent) => keyturn.intents.waitFor({ intent_id });
const waits = (seconds: number) => ({
  effect: { kind: 'tool' as const, tool: 'wait', arguments: { seconds } },
});

describe('an executor', () => {
  it('runs what is ordered while it waits, and what was ordered before it came', async () => {
    const p = await authority();
    const before = await turned(p);
    const { told } = await executorOf(p);
    const after = await turned(p);
    for (const intent of [before, after])
      expect(await ended(p, intent)).toMatchObject({
        status: 'succeeded',
        run: { output: { stdout: 'hello\n' } },
      });
    await until(() => told.length === 4);
    expect(told.map(({ outcome }) => outcome).sort()).toEqual(['claimed', 'claimed', 'success', 'success']);
  });

  it('begins soon after the key was turned', async () => {
    const p = await authority();
    await executorOf(p);
    await ended(p, await turned(p));
    const intent = await turned(p);
    await ended(p, intent);
    const story = await entriesAbout(p.keyturn, intent.intent_id);
    const at = (wanted: string) => Date.parse(story.find(({ kind }) => kind === wanted)!.at);
    expect(at('execution.claimed') - at('order.given')).toBeLessThan(1_000);
  });

  it('runs each order once, however many executors and programs try', async () => {
    const p = await project(TOOLS);
    writeMark(p.root);
    const file = 'marks';
    await executorOf(p);
    const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file } };
    const { intent_id, hash } = await p.keyturn.intents.propose({
      declared_goal: 'Mark.',
      effect,
      signer: p.ada,
    });
    const { seen } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    await p.keyturn.runs.run({ intent_id, hash, seen }).catch(() => {});
    expect((await ended(p, { intent_id, hash })).status).toBe('succeeded');
    expect(readFileSync(join(p.root, file), 'utf8')).toBe('ran\n');
  });

  it('that comes second records no refused run', async () => {
    const p = await authority();
    const { told } = await executorOf(p, 1);
    await turned(p, waits(1));
    await until(() => told.length === 1);
    // The executor has no place for it yet, and this process is faster.
    const second = await proposeSay(p);
    const { seen } = await p.keyturn.intents.turn({ ...second, signer: p.ada });
    await p.keyturn.runs.run({ ...second, seen, or_elsewhere: true });
    await ended(p, await turned(p));
    const kinds = (await entriesAbout(p.keyturn, second.intent_id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('execution.'))).toEqual([
      'execution.claimed',
      'execution.finished',
    ]);
  });

  it('leaves what is for another executor, for a holder, or issued already', async () => {
    const p = await authority();
    const orders = [{ audience: 'keyturn/elsewhere' }, { is_issued: true }];
    const left: Intent[] = [];
    for (const order of orders) {
      const intent = await proposeSay(p);
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      await p.keyturn.intents.grant({ ...intent, signer: p.ada, ...order });
      left.push(intent);
    }
    await executorOf(p);
    await ended(p, await turned(p));
    for (const { intent_id } of left)
      expect((await p.keyturn.intents.get({ intent_id })).status).toBe('approved');
  });

  it('goes on with others when one order is refused, and the refusal is recorded', async () => {
    const p = await authority();
    const { told } = await executorOf(p);
    const intent = await proposeSay(p);
    await p.keyturn.system.freeze({ scope: 'tool', name: 'say', reason: 'a look', signer: p.ada });
    await expectRefusal('FROZEN', () => p.keyturn.intents.turn({ ...intent, signer: p.ada }));
    await p.keyturn.system.unfreeze({ scope: 'tool', name: 'say', reason: 'looked', signer: p.ada });
    const [slow, quick] = [await turned(p, waits(1)), await turned(p)];
    await ended(p, quick);
    expect((await p.keyturn.intents.get({ intent_id: slow.intent_id })).status).toBe('claimed');
    await ended(p, slow);
    expect(told.every(({ code }) => code === null)).toBe(true);
  });

  it('that is told to stop begins nothing more, stops what runs, and records that', async () => {
    const p = await authority();
    const { told, end } = await executorOf(p);
    const intent = await turned(p, waits(60));
    while (told.length === 0) await new Promise(setImmediate);
    await end();
    const late = await turned(p);
    expect((await p.keyturn.intents.get({ intent_id: late.intent_id })).status).toBe('approved');
    const { status, run } = await ended(p, intent);
    // It may not have begun when it is stopped.
    expect(['partial', 'failed']).toContain(status);
    expect(told.map(({ outcome }) => outcome)).toEqual(['claimed', run?.result]);
  });

  it('is alone on its host', async () => {
    const p = await authority();
    const { end } = await executorOf(p);
    await expectRefusal('SERVICE_RUNNING', () => executorOf(p));
    await end();
    await executorOf(p);
  });
});
