import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { agent, authority, human, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import { type Project, project, steady, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const EFFECT = { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } };
const DRAFT = { declared_goal: 'x', effect: EFFECT };
const LIMITED = 'PROPOSALS_LIMITED' as never;

/** How many of so many proposals at once were taken. */
async function flood(keyturn: Keyturn, many: number, over: object = {}): Promise<number> {
  const all = Array.from({ length: many }, () => keyturn.intents.propose({ ...DRAFT, ...over } as never));
  const ended = await Promise.allSettled(all);
  for (const one of ended)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'PROPOSALS_LIMITED' });
  return ended.filter(({ status }) => status === 'fulfilled').length;
}

/** The limits of the project from now on. */
async function limited(p: Project, pending: number, minute: number): Promise<Project> {
  const path = join(p.root, 'keyturn.yaml');
  const text = readFileSync(path, 'utf8').replace(/^proposals:\n {2}.*\n {2}.*\n/m, '');
  chmodSync(path, 0o644);
  writeFileSync(path, `${text}proposals: { pending: ${pending}, minute: ${minute} }\n`);
  const keyturn = await Keyturn.open({ at: p.root });
  onTestFinished(() => keyturn.close());
  return { ...p, keyturn };
}

describe('S22: a proposer has a quota', () => {
  it('by default 100 may wait, however many are proposed at once', async () => {
    const p = await authority();
    expect(await flood(p.keyturn, 130, { issuer: 'ada' })).toBe(100);
    const waiting = await p.keyturn.intents.list({ status_word: 'waiting', limit: 500 });
    expect(waiting.intents).toHaveLength(100);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('another name without a key is not another quota', async () => {
    const p = await limited(await authority(), 3, 100);
    await human(p, 'bob');
    await p.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key: null, signer: p.ada });
    for (const issuer of ['ada', 'bob', 'scout']) await p.keyturn.intents.propose({ ...DRAFT, issuer });
    for (const issuer of ['ada', 'bob', 'scout'])
      await expectRefusal(LIMITED, () => p.keyturn.intents.propose({ ...DRAFT, issuer }));
  });

  it('a key has its own: who floods keeps nobody else from proposing', async () => {
    const p = await limited(await authority(), 3, 100);
    const scout = await agent(p, 'scout');
    expect(await flood(p.keyturn, 5, { issuer: 'scout' })).toBe(3);
    for (let i = 0; i < 3; i += 1)
      await p.keyturn.intents.propose({ ...DRAFT, issuer: 'scout', signer: scout });
    await expectRefusal(LIMITED, () =>
      p.keyturn.intents.propose({ ...DRAFT, issuer: 'scout', signer: scout }),
    );
    await p.keyturn.intents.propose({ ...DRAFT, issuer: 'ada', signer: p.ada });
  });

  it('has room again when a human decides, and when what waits expires', async () => {
    const p = await limited(await authority(), 2, 100);
    const first = await proposeSay(p);
    const second = await proposeSay(p);
    await expectRefusal(LIMITED, () => proposeSay(p));
    await p.keyturn.intents.approve({ ...first, signer: p.ada });
    await proposeSay(p);
    await expectRefusal(LIMITED, () => proposeSay(p));
    await p.keyturn.intents.reject({ ...second, reason: 'no', signer: p.ada });
    await proposeSay(p);
    const refusal = await expectRefusal(LIMITED, () => proposeSay(p));
    expect(Date.parse(String(refusal.facts.try_again_at))).toBeGreaterThan(Date.now());
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('what has expired takes no room', async () => {
    let now = new Date('2026-03-01T10:00:00.000Z');
    const { keyturn } = await project(TOOLS, () => now);
    expect(await flood(keyturn, 110)).toBe(100);
    now = new Date('2026-03-03T10:00:00.000Z');
    expect(await flood(keyturn, 1)).toBe(1);
  });

  it('and a rate, which passes', async () => {
    let now = new Date('2026-03-01T10:00:30.000Z');
    const clock = () => now;
    const p = await limited(await project(TOOLS, clock), 100, 3);
    await p.keyturn.close();
    const slow = await Keyturn.open({ at: p.root, ...steady(clock) });
    onTestFinished(() => slow.close());
    expect(await flood(slow, 5)).toBe(3);
    const refusal = await expectRefusal(LIMITED, () => slow.intents.propose(DRAFT as never));
    now = new Date(String(refusal.facts.try_again_at));
    expect(await flood(slow, 5)).toBe(3);
  });

  it('policies see how many wait, and how fast they came', async () => {
    const p = await authority();
    const many = 'forbid (principal, action == Keyturn::Action::"submit", resource)';
    await rules(
      p,
      PERMITS + policy('few', 'intent', `${many} when { context.pending > 2 && context.proposed_hour > 2 };`),
    );
    const [first] = [await proposeSay(p), await proposeSay(p)];
    await p.keyturn.intents.approve({ ...first, signer: p.ada });
    const [third] = [await proposeSay(p), await proposeSay(p)];
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.approve({ ...third, signer: p.ada }));
  });

  it.each(['{ pending: 0, minute: 1 }', '{ pending: 10001, minute: 1 }', '{ pending: lots }', '{ odd: 1 }'])(
    'a limit that is none is refused: %s',
    async (value) => {
      const p = await authority();
      const path = join(p.root, 'keyturn.yaml');
      const text = readFileSync(path, 'utf8').replace(/^proposals:\n {2}.*\n {2}.*\n/m, '');
      chmodSync(path, 0o644);
      writeFileSync(path, `${text}proposals: ${value}\n`);
      await expectRefusal('SHAPE_INVALID', () => Keyturn.open({ at: p.root }));
    },
  );
});
