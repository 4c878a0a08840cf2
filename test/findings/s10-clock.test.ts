import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor } from '../../src/cli/command/doctor.ts';
import { status } from '../../src/cli/command/status.ts';
import { signAct } from '../../src/identity/act.ts';
import { copyStore, Keyturn, rehearseAct } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { authority, granted, proposeSay, yes } from '../journey/authority.ts';
import { openSqliteStore } from '../store/open.ts';
import { newestOf, sizeOf } from '../support/ledger.ts';
import { type Project, steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

const DAY_MS = 86_400_000;
const off = (ms: number) => () => new Date(Date.now() + ms);
const storeOf = (root: string) => join(root, '.keyturn', 'store.db');

/** The same project in a process whose clock is wrong. The time since boot is the real one. */
async function withClock<T>(p: Project, clock: () => Date, act: (p: Project) => Promise<T>): Promise<T> {
  const keyturn = await Keyturn.open({ at: p.root, clock });
  try {
    return await act({ ...p, keyturn });
  } finally {
    await keyturn.close();
  }
}

/** A ledger that a clock which was ahead has written to, as after a boot with a wrong clock: nothing could have known it. */
async function wedged(
  ahead_ms: number,
  act: (p: Project) => Promise<unknown> = proposeSay,
): Promise<Project> {
  const p = await authority();
  const keyturn = await Keyturn.open({ at: p.root, ...steady(off(ahead_ms)) });
  await act({ ...p, keyturn });
  await keyturn.close();
  return p;
}

const accept = (p: Project) =>
  p.keyturn.system.acceptClock({ reason: 'the clock was a day ahead', signer: p.ada });

describe('S10: a clock that is ahead does not write the future, and a human sets it right', () => {
  it('a clock that was set ahead since the last commit writes nothing that begins or expires', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.close();
    await withClock(p, off(DAY_MS), async (late) => {
      await expectRefusal('CLOCK_AHEAD', () => proposeSay(late));
      await expectRefusal('CLOCK_AHEAD', () =>
        late.keyturn.intents.approve({ intent_id: intent.intent_id, hash: intent.hash, signer: p.ada }),
      );
    });
    await withClock(p, off(0), (now) => runSeen(now.keyturn, { ...intent, confirm: yes }));
  });

  it('a clock that is set ahead while the project is open is seen, too', async () => {
    let ahead_ms = 0;
    const p = await authority();
    await withClock(
      p,
      () => new Date(Date.now() + ahead_ms),
      async (open) => {
        await proposeSay(open);
        ahead_ms = limits.clock_step_ms + 60_000;
        await expectRefusal('CLOCK_AHEAD', () => proposeSay(open));
        ahead_ms = limits.clock_step_ms - 60_000;
        await proposeSay(open);
      },
    );
  });

  it('a freeze does not wait for the clock, and has the time that must have come', async () => {
    const p = await authority();
    await proposeSay(p);
    await p.keyturn.close();
    await withClock(p, off(DAY_MS), async ({ keyturn, ada }) => {
      await keyturn.system.freeze({ scope: 'system', reason: 'a test', signer: ada });
      const [freeze] = (await keyturn.system.get()).freezes;
      expect(Math.abs(Date.parse(freeze!.at) - Date.now())).toBeLessThan(limits.clock_step_ms);
    });
  });

  it('time that passed while nothing was written is no step', async () => {
    let now_ms = Date.now();
    const p = await authority();
    const keyturn = await Keyturn.open({ at: p.root, ...steady(() => new Date(now_ms)) });
    await proposeSay({ ...p, keyturn });
    now_ms += 40 * DAY_MS;
    await proposeSay({ ...p, keyturn });
    await keyturn.close();
  });

  it('doctor and status name a ledger whose newest entry is in the future', async () => {
    const p = await wedged(DAY_MS);
    await p.keyturn.close();
    const call = { operands: [], options: { project: p.root } };
    const told = await status({ ...call, command: 'status' });
    expect(told.result).toMatchObject({ clock: { code: 'CLOCK_BEHIND' } });
    expect(told.lines?.slice(0, 2).join('\n')).toMatch(
      /THE CLOCK IS WRONG \(CLOCK_BEHIND\).*keyturn clock accept/s,
    );
    const answer = await doctor({ ...call, command: 'doctor' });
    const { checks } = answer.result as { checks: { name: string; ok: boolean; code: string }[] };
    expect(checks.find(({ name }) => name === 'clock')).toMatchObject({ ok: false, code: 'CLOCK_BEHIND' });
  });

  it('a human accepts the clock: entries carry the right time, and what expires is judged by it', async () => {
    const p = await wedged(DAY_MS);
    const stuck = await proposeSay(p);
    await expectRefusal('CLOCK_BEHIND', () => p.keyturn.intents.approve({ ...stuck, signer: p.ada }));
    const { now } = await accept(p);
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(60_000);
    const intent = await granted(p);
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(report.result).toBe('success');
    const [newest] = await newestOf(p.keyturn, 1);
    expect(Date.parse(newest!.at)).toBeLessThan(Date.now() + 60_000);
    (await p.keyturn.system.checkClock()).newest;
  });

  it('the act can be rehearsed, however much time goes by until it would be written', async () => {
    const p = await wedged(DAY_MS);
    let ticks = 0;
    await withClock(
      p,
      () => new Date(Date.now() + 5 * ticks++),
      async ({ keyturn }) => {
        const { name, public_key } = p.ada;
        await rehearseAct({ name, public_key }, (signer) =>
          keyturn.system.acceptClock({ reason: 'rehearsed', signer }),
        );
      },
    );
  });

  it('deep verification, a rebuild and a copy accept the step back at that entry', async () => {
    const p = await wedged(DAY_MS);
    await accept(p);
    await granted(p);
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    const to = join(scratch(), 'copy.db');
    const copied = await copyStore({ at: p.root, from: storeOf(p.root), to });
    expect(copied.tip.size).toBe(await sizeOf(p.keyturn));
  });

  it('an intent, an approval and a capability of the future are not good for longer than their life', async () => {
    const made: { intent?: Awaited<ReturnType<typeof granted>> } = {};
    const p = await wedged(DAY_MS, async (late) => {
      made.intent = await granted(late);
    });
    await accept(p);
    const { intent_id, hash } = made.intent!;
    expect(await p.keyturn.intents.check({ intent_id, hash })).toMatchObject({
      eligible: false,
      code: 'MADE_IN_FUTURE',
    });
    await expectRefusal('MADE_IN_FUTURE', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await expectRefusal('MADE_IN_FUTURE', () => p.keyturn.intents.grant({ intent_id, hash, signer: p.ada }));
  });

  it('an approval of the future on an older intent is replaced by one of now', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const keyturn = await Keyturn.open({ at: p.root, ...steady(off(3600_000)) });
    await keyturn.intents.approve({ ...intent, signer: p.ada });
    await keyturn.close();
    await accept(p);
    expect(await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash })).toMatchObject({
      code: 'MADE_IN_FUTURE',
    });
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.grant({ ...intent, signer: p.ada });
    await runSeen(p.keyturn, { ...intent, confirm: yes });
  });

  it('a clock that was set ahead and is right is accepted, and then goes on', async () => {
    const p = await authority();
    await proposeSay(p);
    await p.keyturn.close();
    await withClock(p, off(DAY_MS), async (late) => {
      await expectRefusal('CLOCK_AHEAD', () => proposeSay(late));
      await accept(late);
      await proposeSay(late);
    });
    await withClock(p, off(DAY_MS), proposeSay);
  });

  it('the signed act counts at its place and at its time only', async () => {
    const p = await wedged(DAY_MS);
    const origin = (await p.keyturn.ledger.head()).origin;
    const seq = await sizeOf(p.keyturn);
    const act = (over: object) =>
      signAct(
        origin,
        'clock.accepted',
        'system',
        { seq, now: new Date().toISOString(), reason: 'a test', ...over },
        p.ada,
        new Date(),
      );
    const options = { path: storeOf(p.root), tenant: 'default', clock: off(0), mode: 'write' } as const;
    const store = await openSqliteStore(options);
    for (const over of [{ seq: seq - 1 }, { seq: seq + 1 }, { now: off(-DAY_MS)().toISOString() }])
      await expectRefusal('DECISION_STALE', async () => store.commit({ events: [await act(over)] }));
    const good = await act({});
    await store.commit({ events: [good] });
    await expectRefusal('DECISION_STALE', () => store.commit({ events: [good] }));
    await store.close();
  });

  it('somebody without a key of a human accepts nothing', async () => {
    const p = await wedged(DAY_MS);
    const stranger = Keyturn.agentSigner('ada', keyFile(p.root));
    await expectRefusal('KEY_FILE_INVALID', () =>
      p.keyturn.system.acceptClock({ reason: 'mine', signer: stranger }),
    );
  });
});

function keyFile(root: string): string {
  const path = join(root, 'stranger.seed');
  Keyturn.createAgentKey(path);
  return path;
}
