import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import { postgres } from '../store/postgres-place.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { call, kinds } from './authority.ts';
import { shared } from './postgres-host.ts';

const server = postgres();
const ROUNDS = 8;
const HELLO = { declared_goal: 'Say hello.', ...call('say', { word: 'hello' }) };

/** What another process withdraws while a run is about to claim it. */
async function raced(p: Project): Promise<void> {
  const other = await Keyturn.open({ at: p.root });
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const { intent_id, hash, receipt } = await p.keyturn.intents.propose(HELLO as never);
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
      let withdrawn: Promise<unknown> = Promise.reject(new Error('not asked'));
      withdrawn.catch(() => {});
      const withdraw = () => {
        withdrawn = other.intents.withdraw({ intent_id, reason: 'enough', receipt });
        withdrawn.catch(() => {});
      };
      const confirm = async () => {
        withdraw();
        // What the withdrawal has done by then decides who is first.
        for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
        return true;
      };
      const run = runSeen(p.keyturn, { intent_id, hash, confirm });
      const [ran] = await Promise.allSettled([run]);
      const [taken] = await Promise.allSettled([withdrawn]);
      const won = [ran, taken].filter(({ status }) => status === 'fulfilled');
      expect(won, `round ${round}`).toHaveLength(1);
      const lost = (ran.status === 'rejected' ? ran : (taken as PromiseRejectedResult)).reason;
      expect(lost).toBeInstanceOf(Refusal);
      const { status } = await p.keyturn.intents.get({ intent_id });
      expect(status).toBe(ran.status === 'fulfilled' ? 'succeeded' : 'withdrawn');
      const told = await kinds(p, intent_id);
      const claims = told.filter((kind) => kind === 'execution.claimed').length;
      expect(claims).toBe(ran.status === 'fulfilled' ? 1 : 0);
      expect(told.includes('intent.withdrawn')).toBe(ran.status !== 'fulfilled');
    }
  } finally {
    await other.close();
  }
}

describe('a withdrawal and a claim at the same moment', () => {
  it('are decided by SQLite: exactly one of them is recorded', async () => raced(await project(TOOLS)));

  it('are decided by PostgreSQL: exactly one of them is recorded', async () =>
    raced(await shared(server(), 'withdraw-race')));
});

describe('who waits for an intent', () => {
  it('is refused when PostgreSQL goes away, and does not wait on', { timeout: 120_000 }, async () => {
    const p = await shared(server(), 'wait-away');
    const { intent_id } = await p.keyturn.intents.propose(HELLO as never);
    const waiting = p.keyturn.intents.waitFor({ intent_id }).then(
      () => null,
      (error: unknown) => error,
    );
    // It waits: its news come from the follower.
    expect(await p.keyturn.intents.result({ intent_id })).toMatchObject({ status_word: 'waiting' });
    await server().server.kill();
    const error = await waiting;
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).code).toMatch(/^STORE_/);
    await server().server.start();
  });
});
