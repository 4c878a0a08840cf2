import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { postgres } from '../store/postgres-place.ts';
import { elapsed, until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { racer } from '../support/racers.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, human, type Intent, kinds, proposeSay, yes } from './authority.ts';
import { anotherHost, shared } from './postgres-host.ts';

const WAIT = call('wait', { seconds: 30 });
const reason = 'It is the wrong one.';

/** A run that would take half a minute, once its claim is recorded. */
async function going(p: Project) {
  const intent = await granted(p, WAIT);
  let begun = (_: string) => {};
  const claimed = new Promise<string>((resolve) => {
    begun = resolve;
  });
  const ended = runSeen(p.keyturn, { ...intent, confirm: yes, onClaimed: begun });
  return { intent, ended, execution_id: await claimed };
}

async function lastRun({ keyturn }: Project, { intent_id }: Intent) {
  return (await keyturn.intents.get({ intent_id })).runs.at(-1);
}

describe('a human stops a run', () => {
  it('that goes on: it is killed, and the record says who, why and by which code', async () => {
    const p = await authority();
    const { intent, ended, execution_id } = await going(p);
    const about = await p.keyturn.runs.going();
    expect(about).toMatchObject({ execution_id, intent_id: intent.intent_id, tool: 'wait', state: 'alive' });
    const stopped = await p.keyturn.runs.stop({ execution_id, reason, signer: p.ada });
    expect(stopped).toEqual({ execution_id, intent_id: intent.intent_id, by: 'ada', reason });
    expect(await ended).toMatchObject({ result: 'partial', reason_code: 'RUN_STOPPED' });
    expect((await kinds(p, intent.intent_id)).slice(-3)).toEqual([
      'execution.stopped',
      'violation.detected',
      'execution.finished',
    ]);
    expect((await lastRun(p, intent))?.stopped).toMatchObject({ by: 'ada' });
    const { story: told } = await p.keyturn.intents.story({ intent_id: intent.intent_id });
    expect(told.map(({ words }) => words)).toContain(`ada stopped the execution ${execution_id}: ${reason}`);
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('in another process', async () => {
    const p = await authority();
    const { intent_id, hash } = await granted(p, WAIT);
    const other = racer(p.root, intent_id, hash);
    await other.ready;
    other.go();
    await until(async () => (await p.keyturn.intents.get({ intent_id })).status === 'claimed');
    const { execution_id } = await p.keyturn.runs.going({ run: intent_id.slice(0, 8) });
    await p.keyturn.runs.stop({ execution_id, reason, signer: p.ada });
    expect(await other.answer).toBe('partial');
    expect(await p.keyturn.intents.waitFor({ intent_id })).toMatchObject({ status: 'partial' });
  });

  it('whoever of the humans it is; no agent can, and no delegate', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { ended, execution_id } = await going(p);
    const bob = await human(p, 'bob');
    await p.keyturn.agents.delegate({
      delegate: 'scout',
      actions: ['tool:wait'],
      approves: true,
      ttl_s: 600,
      reason: 'for the night',
      signer: p.ada,
    });
    await expectRefusal('NOT_HUMAN', () => p.keyturn.runs.stop({ execution_id, reason, signer: scout }));
    await p.keyturn.runs.stop({ execution_id, reason, signer: bob });
    expect((await ended).reason_code).toBe('RUN_STOPPED');
  });

  it('once: the second is told who was first', async () => {
    const p = await authority();
    const { ended, execution_id } = await going(p);
    const bob = await human(p, 'bob');
    const stops = [p.ada, bob].map((signer) => p.keyturn.runs.stop({ execution_id, reason, signer }));
    const settled = await Promise.allSettled(stops);
    const refused = settled.filter((one) => one.status === 'rejected').map(({ reason }) => reason);
    expect(refused.map(({ code }) => code)).toEqual(['RUN_STOPPED']);
    expect(refused[0].message).toMatch(/^(ada|bob) stopped the run at \S+\.$/);
    await ended;
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.stop({ execution_id, reason, signer: p.ada }));
  });
});

describe('there is nothing to stop', () => {
  it('where nothing runs, where the intent waits, after the end, and where there is no such run', async () => {
    const p = await authority();
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going());
    const waits = await proposeSay(p);
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going({ run: waits.intent_id }));
    const intent = await granted(p);
    const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    for (const run of [intent.intent_id, execution_id])
      await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going({ run }));
    const stop = (id: string) => () => p.keyturn.runs.stop({ execution_id: id, reason, signer: p.ada });
    await expectRefusal('STOP_NOT_DUE', stop(execution_id));
    await expectRefusal('EXECUTION_NOT_FOUND', stop(randomUUID()));
    await expectRefusal('EXECUTION_NOT_FOUND', () => p.keyturn.runs.going({ run: randomUUID() }));
    await expectRefusal('ID_MALFORMED', () => p.keyturn.runs.going({ run: 'last' }));
    expect(await kinds(p, intent.intent_id)).not.toContain('execution.stopped');
  });

  it('where several go on, until one is named', async () => {
    const p = await authority();
    const runs = [await going(p), await going(p)];
    await expectRefusal('CLARIFICATION_NEEDED', () => p.keyturn.runs.going());
    for (const { execution_id } of runs) await p.keyturn.runs.stop({ execution_id, reason, signer: p.ada });
    for (const { ended } of runs) expect((await ended).reason_code).toBe('RUN_STOPPED');
  });

  it('where more intents begin like that than are read: the first run among them is not the one', async () => {
    const p = await authority();
    const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
    const first = await granted(p, { intent_id: id(0) });
    await runSeen(p.keyturn, { ...first, confirm: yes });
    for (const n of [1, 2, 3, 4, 5]) await proposeSay(p, { intent_id: id(n) });
    const meant = await granted(p, { intent_id: id(6) });
    const { execution_id } = await runSeen(p.keyturn, { ...meant, confirm: yes });
    expect(execution_id).toBe((await lastRun(p, meant))?.execution_id);
    await expectRefusal('ID_AMBIGUOUS', () => p.keyturn.runs.going({ run: '00000000' }));
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going({ run: id(6) }));
  });

  it('where its process died: a human settles it', async () => {
    const p = await authority();
    const { intent_id, hash } = await granted(p, WAIT);
    const victim = racer(p.root, intent_id, hash);
    await victim.ready;
    victim.go();
    await until(async () => (await p.keyturn.intents.get({ intent_id })).status === 'claimed');
    const { execution_id } = await p.keyturn.runs.going();
    victim.child.kill('SIGKILL');
    await victim.answer;
    const { advice } = await expectRefusal('RUN_IN_DOUBT', () =>
      p.keyturn.runs.stop({ execution_id, reason, signer: p.ada }),
    );
    expect(advice).toContain('keyturn resolve');
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going());
  });
});

describe('a stop beside the end of the run', () => {
  it('is one or the other: recorded before the end, or refused after it', async () => {
    const p = await authority();
    const other = await Keyturn.open({ at: p.root });
    const seen = new Set<string>();
    try {
      for (let i = 0; i < 8; i++) {
        const intent = await granted(p);
        let stop: Promise<unknown> = Promise.resolve();
        // At a later moment of a short life each time.
        const onClaimed = (execution_id: string) => {
          stop = elapsed(i * 4, 'the stop comes at a later moment of a run each time')
            .then(() => other.runs.stop({ execution_id, reason, signer: p.ada }))
            .then(
              () => 'stopped',
              ({ code }) => code,
            );
        };
        const { result } = await runSeen(p.keyturn, { ...intent, confirm: yes, onClaimed });
        const said = (await stop) as string;
        seen.add(said);
        expect(['stopped', 'STOP_NOT_DUE']).toContain(said);
        expect((await kinds(p, intent.intent_id)).includes('execution.stopped')).toBe(said === 'stopped');
        if (said === 'STOP_NOT_DUE') expect(result).toBe('success');
      }
    } finally {
      await other.close();
    }
    expect(seen.size).toBeGreaterThan(0);
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('a stop on a shared ledger', () => {
  const server = postgres();

  it('ends the run of another host', async () => {
    const p = await shared(server(), 'stop-run');
    const host = await anotherHost(p);
    const intent = await proposeSay(p, WAIT);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...intent, signer: p.ada, is_issued: true });
    const ended = runSeen(host.keyturn, { ...intent, confirm: yes });
    await until(async () => (await lastRun(p, intent)) !== undefined);
    const { execution_id } = await p.keyturn.runs.going();
    await p.keyturn.runs.stop({ execution_id, reason, signer: p.ada });
    expect(await ended).toMatchObject({ result: 'partial', reason_code: 'RUN_STOPPED' });
    await expectRefusal('STOP_NOT_DUE', () => p.keyturn.runs.going());
  });
});
