import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Draft, Keyturn, type Proof, Rehearsal, rehearseAct } from '../../src/keyturn.ts';
import { SIMULATIONS, writeSimulation } from '../agent/agent-place.ts';
import { freshSigner } from '../support/keys.ts';
import { sizeOf } from '../support/ledger.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, human, PERMITS, policy, proposeSay, rules } from './authority.ts';

type Acting = Parameters<Keyturn['draft']>[1];

/** The proofs of a draft, made where the key is. */
async function proved({ ada }: Project, { statements }: Draft): Promise<readonly Proof[]> {
  return ada.sign(statements.map((one) => Buffer.from(one)));
}

/** Draws an act up, signs it elsewhere and ends it in another instance, which has only what the draft says. */
async function elsewhereSigned<T>(p: Project, act: (keyturn: Keyturn) => Acting): Promise<T> {
  const before = await sizeOf(p.keyturn);
  const draft: Draft = JSON.parse(JSON.stringify(await p.keyturn.draft(p.ada, act(p.keyturn))));
  expect(await sizeOf(p.keyturn)).toBe(before);
  const other = await Keyturn.open({ at: p.root });
  try {
    return (await other.finish(draft, await proved(p, draft), act(other))) as T;
  } finally {
    await other.close();
  }
}

describe('an act whose proof comes from elsewhere', () => {
  it('is drawn up without a trace, signed, and ended by another process', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const acts: Record<string, (keyturn: Keyturn) => Acting> = {
      approve: (keyturn) => (signer) => keyturn.intents.approve({ ...intent, signer }),
      enrol: (keyturn) => (signer) =>
        keyturn.people.enrol({ name: 'bo', principal: 'human', public_key: bo.public_key, signer }),
      assign: (keyturn) => (signer) =>
        keyturn.people.assign({ name: 'bo', roles: ['ops'], reason: 'joined', signer }),
      freeze: (keyturn) => (signer) => keyturn.system.freeze({ scope: 'system', reason: 'a look', signer }),
      unfreeze: (keyturn) => (signer) =>
        keyturn.system.unfreeze({ scope: 'system', reason: 'looked', signer }),
      delegate: (keyturn) => (signer) =>
        keyturn.agents.delegate({ delegate: 'bo', actions: ['tool:say'], ttl_s: 60, reason: 'away', signer }),
      activate: (keyturn) => (signer) => keyturn.policies.activate({ reason: 'again', signer }),
      revoke: (keyturn) => (signer) => keyturn.people.revoke({ name: 'bo', reason: 'left', signer }),
      reject: (keyturn) => (signer) => keyturn.intents.reject({ ...intent, reason: 'no longer', signer }),
    };
    const bo = freshSigner('bo');
    for (const [name, act] of Object.entries(acts)) {
      const size = await sizeOf(p.keyturn);
      await elsewhereSigned(p, act);
      expect(await sizeOf(p.keyturn), name).toBeGreaterThan(size);
    }
  });

  it('goes by the acts that are drawn up before it for the same touch', async () => {
    const p = await authority();
    const { public_key } = freshSigner('scout');
    const earlier = new Rehearsal();
    const drawn = (act: Acting) => p.keyturn.draft({ ...p.ada, earlier }, act);
    const agent = { name: 'scout', principal: 'agent', public_key } as const;
    const token = { name: 'scout', digest: 'ab'.repeat(32), reason: 'a test' };
    await expectRefusal('PRINCIPAL_UNKNOWN', () =>
      drawn((signer) => p.keyturn.agents.addToken({ ...token, signer })),
    );
    await drawn((signer) => p.keyturn.people.enrol({ ...agent, signer }));
    await drawn((signer) => p.keyturn.agents.addToken({ ...token, signer }));
    await drawn((signer) => p.keyturn.people.revoke({ name: 'scout', reason: 'a test', signer }));
    await expectRefusal('KEY_REVOKED', () =>
      drawn((signer) => p.keyturn.people.revoke({ name: 'scout', reason: 'again', signer })),
    );
    await expectRefusal('KEY_REVOKED', () =>
      drawn((signer) => p.keyturn.agents.addToken({ ...token, digest: 'cd'.repeat(32), signer })),
    );
  });

  it('makes no key of this host while it is drawn up or rehearsed', async () => {
    const p = await authority();
    const keys = join(p.root, '.keyturn', 'keys');
    rmSync(join(keys, 'executor.seed'));
    writeSimulation(p.root, SIMULATIONS.find((one) => (one as { id: string }).id === 'hello.show')!);
    const acts: Acting[] = [
      (signer) => p.keyturn.system.addExecutor({ name: 'other', reason: 'a test', signer }),
      (signer) => p.keyturn.simulations.activate({ id: 'hello.show', reason: 'a test', signer }),
    ];
    const before = readdirSync(keys);
    for (const act of acts) {
      await rehearseAct(p.ada, act);
      await expectRefusal('HOST_ONLY', () => p.keyturn.draft(p.ada, act));
      expect(readdirSync(keys)).toEqual(before);
    }
    for (const act of acts) await act(p.ada);
    expect(readdirSync(keys)).toEqual([...before, 'agent-core.seed', 'executor.seed'].sort());
    // With its key, each is drawn up: the executor is one already, and the simulation can be activated again.
    await expectRefusal('KEY_ENROLLED_TWICE', () => p.keyturn.draft(p.ada, acts[0]!));
    await p.keyturn.draft(p.ada, acts[1]!);
  });

  it('that activates a simulation counts from when it was drawn up', async () => {
    let now = Date.now();
    const p = await authority(() => new Date(now));
    writeSimulation(p.root, SIMULATIONS.find((one) => (one as { id: string }).id === 'hello.show')!);
    const act: Acting = (signer) =>
      p.keyturn.simulations.activate({ id: 'hello.show', reason: 'a test', signer });
    await act(p.ada);
    const draft = await p.keyturn.draft(p.ada, act);
    now += 60_000;
    await p.keyturn.finish(draft, await proved(p, draft), act);
    expect((await p.keyturn.simulations.get({ id: 'hello.show' })).status).toBe('Active');
  });

  it('refuses while it is drawn up what the act itself would refuse', async () => {
    const p = await authority();
    const { intent_id } = await proposeSay(p);
    await expectRefusal('HASH_MISMATCH', () =>
      p.keyturn.draft(p.ada, (signer) =>
        p.keyturn.intents.approve({ intent_id, hash: 'ab'.repeat(32), signer }),
      ),
    );
  });

  it('says what its human saw, and nothing that is decided later', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { statements } = await p.keyturn.draft(p.ada, (signer) =>
      p.keyturn.intents.approve({ ...intent, signer }),
    );
    const { body, ...statement } = JSON.parse(statements[0]!);
    const { origin } = await p.keyturn.ledger.head();
    expect(statement).toEqual({
      format: 'keyturn-act/1',
      origin,
      kind: 'approval.granted',
      subject: intent.intent_id,
    });
    expect(Object.keys(body).sort()).toEqual(
      ['by', 'deadline', 'effect_digest', 'expires_at', 'hash', 'key', 'signed_at'].sort(),
    );
    expect(Date.parse(body.deadline) - Date.parse(body.signed_at)).toBe(120_000);
  });

  it('is ended by one of two instances that finish it', async () => {
    const p = await authority();
    const act = (keyturn: Keyturn) => (signer: Parameters<Acting>[0]) =>
      keyturn.system.freeze({ scope: 'tool', name: 'say', reason: 'a look', signer });
    const draft = await p.keyturn.draft(p.ada, act(p.keyturn));
    const proofs = await proved(p, draft);
    const others = await Promise.all([Keyturn.open({ at: p.root }), Keyturn.open({ at: p.root })]);
    const ends = await Promise.allSettled(others.map((one) => one.finish(draft, proofs, act(one))));
    await Promise.all(others.map((one) => one.close()));
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('a draft that waits', () => {
  const approval = async (p: Project) => {
    const intent = await proposeSay(p);
    const act = (signer: Parameters<Acting>[0]) => p.keyturn.intents.approve({ ...intent, signer });
    const draft = await p.keyturn.draft(p.ada, act);
    const finish = async () => p.keyturn.finish(draft, await proved(p, draft), act);
    return { intent, act, draft, finish };
  };

  it('past its deadline is refused', async () => {
    let now = Date.now();
    const p = await project(TOOLS, () => new Date(now));
    const { intent, finish } = await approval(p);
    now += 121_000;
    await expectRefusal('ACT_LATE', finish);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toEqual([]);
  });

  it('over a change of its request is refused', async () => {
    const p = await authority();
    const { intent, draft } = await approval(p);
    const proofs = await proved(p, draft);
    await expectRefusal('ACT_CHANGED', () =>
      p.keyturn.finish(draft, proofs, (signer) =>
        p.keyturn.intents.approve({ ...intent, signer, ttl_s: 60 }),
      ),
    );
    const other = await proposeSay(p);
    await expectRefusal('ACT_CHANGED', () =>
      p.keyturn.finish(draft, proofs, (signer) => p.keyturn.intents.approve({ ...other, signer })),
    );
  });

  it('with a proof of something else, of another key, or with too few of them is refused', async () => {
    const p = await authority();
    const { act, draft } = await approval(p);
    const other = await approval(p);
    const eve = freshSigner('ada');
    const wrong = [
      await proved(p, other.draft),
      await eve.sign(draft.statements.map((one) => Buffer.from(one))),
      [],
    ];
    for (const proofs of wrong)
      await expectRefusal('SIGNATURE_INVALID', () => p.keyturn.finish(draft, proofs, act));
  });

  it('over the revocation of its human is refused', async () => {
    const p = await authority();
    const bo = await human(p, 'bo');
    const intent = await proposeSay(p, {}, bo);
    const act = (signer: Parameters<Acting>[0]) => p.keyturn.intents.approve({ ...intent, signer });
    const draft = await p.keyturn.draft(p.ada, act);
    const proofs = await proved(p, draft);
    await p.keyturn.people.revoke({ name: 'ada', reason: 'lost', signer: bo });
    await expectRefusal('KEY_REVOKED', () => p.keyturn.finish(draft, proofs, act));
  });

  it('over a second approval and foreign entries counts without another look', async () => {
    const p = await authority();
    const { intent, finish } = await approval(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await proposeSay(p);
    await finish();
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toHaveLength(2);
  });

  it('over a freeze: an approval counts, and nothing is ordered', async () => {
    const p = await authority();
    const { intent, finish } = await approval(p);
    const other = await proposeSay(p);
    const turn = (signer: Parameters<Acting>[0]) => p.keyturn.intents.turn({ ...other, signer });
    const draft = await p.keyturn.draft(p.ada, turn);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'a look', signer: p.ada });
    await finish();
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('approved');
    await expectRefusal('FROZEN', async () => p.keyturn.finish(draft, await proved(p, draft), turn));
    expect(await p.keyturn.intents.get({ intent_id: other.intent_id })).toMatchObject({
      status: 'proposed',
      approvals: [],
      capabilities: [],
    });
  });

  it('over other policies is decided by those, and counts where they permit it', async () => {
    const p = await authority();
    const [first, second] = [await approval(p), await approval(p)];
    await rules(p, PERMITS);
    await first.finish();
    expect((await p.keyturn.intents.get({ intent_id: first.intent.intent_id })).status).toBe('approved');
    await p.keyturn.ledger.verify({ deep: true });
    await rules(p, PERMITS + policy('never', 'intent', 'forbid (principal, action, resource);'));
    await expectRefusal('POLICY_DENIED', second.finish);
    expect((await p.keyturn.intents.get({ intent_id: second.intent.intent_id })).approvals).toEqual([]);
  });

  it('over a rejection is refused', async () => {
    const p = await authority();
    const { intent, finish } = await approval(p);
    await p.keyturn.intents.reject({ ...intent, reason: 'no', signer: p.ada });
    await expectRefusal('INTENT_REJECTED', finish);
  });
});
