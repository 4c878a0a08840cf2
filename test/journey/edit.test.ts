import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { auditProof, type Request } from '../../src/keyturn.ts';
import { postgres } from '../store/postgres-place.ts';
import { type Project, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, human, kinds, proposeSay, yes } from './authority.ts';
import { planOf, planProjects, proposed, replace } from './plan-story.ts';
import { shared } from './postgres-host.ts';

const word = (text: string) => ({ arguments: { word: text } });

/** What scout proposed. */
async function drafted(p: Project, over: object = {}) {
  await agent(p, 'scout');
  return proposeSay(p, { issuer: 'scout', ...over });
}

type Edit = Omit<Request<'intents.edit'>, 'signer'>;
const edit = ({ keyturn, ada }: Project, request: Edit, signer = ada) =>
  keyturn.intents.edit({ ...request, signer });

describe('a human edits a proposal', () => {
  it('by one in their own name, and the first one can no longer be approved, run, withdrawn or edited', async () => {
    const p = await authority();
    const first = await drafted(p);
    const { intent_id } = first;
    const made = await edit(p, { intent_id, ...word('bye') });
    expect(made).toMatchObject({ replaces: intent_id, proposer: 'ada', signed: true, receipt: null });
    const [before, after] = [
      await p.keyturn.intents.get({ intent_id }),
      await p.keyturn.intents.get({ intent_id: made.intent_id }),
    ];
    expect(before).toMatchObject({
      status: 'replaced',
      status_word: 'replaced',
      replaced_by: made.intent_id,
    });
    expect(after).toMatchObject({ status: 'proposed', proposer: 'ada', expires_at: before.expires_at });
    const about = { ...first, signer: p.ada };
    await expectRefusal('INTENT_REPLACED', () => p.keyturn.intents.approve(about));
    await expectRefusal('INTENT_REPLACED', () => p.keyturn.intents.turn(about));
    await expectRefusal('INTENT_REPLACED', () => p.keyturn.intents.reject({ ...about, reason: 'x' }));
    await expectRefusal('INTENT_REPLACED', () => runSeen(p.keyturn, { ...first, confirm: yes }));
    const { message } = await expectRefusal('INTENT_REPLACED', () => edit(p, { intent_id, ...word('x') }));
    expect(message).toContain(made.intent_id);
    expect(await p.keyturn.intents.check({ intent_id, hash: first.hash })).toMatchObject({
      code: 'INTENT_REPLACED',
    });
    expect((await kinds(p, intent_id)).slice(0, 2)).toEqual(['intent.proposed', 'intent.replaced']);
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('and the proof of the first one shows what was proposed in its place', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const made = await edit(p, { intent_id, ...word('bye') });
    const { bundle } = await p.keyturn.ledger.prove({ intent_id, with_objects: true });
    const { key } = await p.keyturn.ledger.head();
    const { entries } = auditProof(Buffer.from(bundle), { key });
    const about = entries.filter(({ subject }) => subject === made.intent_id).map(({ kind }) => kind);
    expect(about).toEqual(['intent.proposed']);
  });

  it('and who waits for the first one is told of the other', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const waiting = p.keyturn.intents.waitFor({ intent_id });
    const made = await edit(p, { intent_id, declared_goal: 'Say it once.' });
    expect(await waiting).toMatchObject({ is_over: true, status: 'replaced', replaced_by: made.intent_id });
    const { story: told } = await p.keyturn.intents.story({ intent_id: intent_id });
    expect(told.at(-1)?.words).toBe(`ada replaced it by ${made.intent_id}`);
  });

  it('alone among humans they approve it themselves; where there is another, only that one does', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const { intent_id: second, hash } = await edit(p, { intent_id, ...word('bye') });
    const bob = await human(p, 'bob');
    await expectRefusal('SELF_APPROVAL', () =>
      p.keyturn.intents.approve({ intent_id: second, hash, signer: p.ada }),
    );
    await p.keyturn.intents.approve({ intent_id: second, hash, signer: bob });
    const lone = await authority();
    const mine = await drafted(lone);
    const own = await edit(lone, { intent_id: mine.intent_id, ...word('bye') });
    const about = { intent_id: own.intent_id, hash: own.hash, signer: lone.ada };
    await lone.keyturn.intents.approve(about);
    await lone.keyturn.intents.grant(about);
    const { result, stdout } = await runSeen(lone.keyturn, { ...about, confirm: yes });
    expect([result, stdout]).toEqual(['success', 'bye\n']);
  });

  it('that is another human’s edit, whom they ask to approve in turn', async () => {
    const p = await authority();
    const bob = await human(p, 'bob');
    const { intent_id } = await drafted(p);
    const second = await edit(p, { intent_id, ...word('bye') });
    const third = await edit(p, { intent_id: second.intent_id, ...word('later') }, bob);
    expect(third).toMatchObject({ proposer: 'bob', replaces: second.intent_id });
    const { hash } = third;
    const approve = (signer: typeof bob) => () =>
      p.keyturn.intents.approve({ intent_id: third.intent_id, hash, signer });
    await expectRefusal('SELF_APPROVAL', approve(bob));
    await approve(p.ada as typeof bob)();
  });

  it('and the approver sees what is another one', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const made = await edit(p, { intent_id, declared_goal: 'Part.', ...word('bye') });
    expect(await p.keyturn.intents.changes({ intent_id: made.intent_id })).toEqual({
      intent_id,
      differences: [
        { what: 'asked by', before: '"scout"', now: '"ada"' },
        { what: 'goal', before: '"Say hello."', now: '"Part."' },
        { what: 'word', before: '"hello"', now: '"bye"' },
      ],
    });
    expect(await p.keyturn.intents.changes({ intent_id })).toBeNull();
    await p.keyturn.ledger.erase({
      digest: (await p.keyturn.intents.get({ intent_id })).hash,
      reason: 'x',
      signer: p.ada,
    });
    expect(await p.keyturn.intents.changes({ intent_id: made.intent_id })).toEqual({
      intent_id,
      differences: null,
    });
  });

  it('with one proof for both, which can come from elsewhere', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const request = { intent_id, ...word('bye'), nonce: randomBytes(16).toString('base64') };
    const act = (signer: typeof p.ada) => p.keyturn.intents.edit({ ...request, signer });
    const draft = await p.keyturn.draft(p.ada, act);
    expect(draft.statements).toHaveLength(2);
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
    const proofs = await p.ada.sign(draft.statements.map((text) => Buffer.from(text)));
    const made = await p.keyturn.finish(draft, proofs, act);
    // What its caller wrote into the draft is not the id: it would be one that the caller chose.
    expect(made.intent_id).not.toBe(draft.id);
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('an edit is refused', () => {
  it('of what is approved, runs, ran, was rejected, withdrawn, expired, or is not known', async () => {
    const p = await authority();
    const change = (intent_id: string) => () => edit(p, { intent_id, ...word('bye') });
    const approved = await proposeSay(p);
    await p.keyturn.intents.approve({ ...approved, signer: p.ada });
    await expectRefusal('EDIT_NOT_DUE', change(approved.intent_id));
    const ran = await granted(p);
    const onClaimed = () => void claimed.push(expectRefusal('EDIT_NOT_DUE', change(ran.intent_id)));
    const claimed: Promise<unknown>[] = [];
    await runSeen(p.keyturn, { ...ran, confirm: yes, onClaimed });
    await Promise.all(claimed);
    expect(claimed).toHaveLength(1);
    await expectRefusal('EDIT_NOT_DUE', change(ran.intent_id));
    const rejected = await proposeSay(p);
    await p.keyturn.intents.reject({ ...rejected, reason: 'no', signer: p.ada });
    await expectRefusal('INTENT_REJECTED', change(rejected.intent_id));
    const withdrawn = await proposeSay(p);
    const { intent_id } = withdrawn;
    await p.keyturn.intents.withdraw({ intent_id, reason: 'late', signer: p.ada });
    await expectRefusal('INTENT_WITHDRAWN', change(intent_id));
    await expectRefusal('INTENT_NOT_FOUND', change(randomUUID()));
    const late = await proposeSay(p, { expiry: new Date(Date.now() + 60_000).toISOString() });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    try {
      await expectRefusal('INTENT_EXPIRED', change(late.intent_id));
    } finally {
      vi.useRealTimers();
    }
  });

  it('that changes nothing, gives a plan to a call, or arguments that the tool does not take', async () => {
    const p = await authority();
    const { intent_id } = await drafted(p);
    const expiry = new Date(Date.now() + 3_600_000).toISOString();
    for (const same of [{}, word('hello'), { declared_goal: 'Say hello.' }, { expiry }])
      await expectRefusal('EDIT_EMPTY', () => edit(p, { intent_id, ...same }));
    const plan = { plan: {}, config: null, task_id: 'x' };
    await expectRefusal('SHAPE_INVALID', () => edit(p, { intent_id, plan }));
    await expectRefusal('ARGUMENT_UNKNOWN', () =>
      edit(p, { intent_id, arguments: { word: 'a', loud: true } }),
    );
    await expectRefusal('ARGUMENT_MISSING', () => edit(p, { intent_id, arguments: {} }));
    expect(await kinds(p, intent_id)).toEqual(['intent.proposed']);
  });

  it('by an agent, and where the tool is gone', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { intent_id } = await proposeSay(p, {}, scout);
    await expectRefusal('NOT_HUMAN', () => edit(p, { intent_id, ...word('bye') }, scout));
    writeRegistry(p.root, 'version: 1\ntools: []\n');
    await expectRefusal('TOOL_UNKNOWN', () => edit(p, { intent_id, ...word('bye') }));
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
  });

  it('for one of two at the same moment, and for an edit beside an approval: one of them counts', async () => {
    const p = await authority();
    const [one, other] = [await drafted(p), await proposeSay(p, call('say', { word: 'two' }))];
    const { intent_id } = one;
    const edits = ['a', 'b'].map((text) => edit(p, { intent_id, ...word(text) }));
    const codes = (await Promise.allSettled(edits)).map((end) =>
      end.status === 'rejected' ? end.reason.code : 'ok',
    );
    expect(codes.sort()).toEqual(['INTENT_REPLACED', 'ok']);
    const acts = [
      edit(p, { intent_id: other.intent_id, ...word('x') }),
      p.keyturn.intents.approve({ ...other, signer: p.ada }),
    ];
    const ends = await Promise.allSettled(acts);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('an edit of a plan', () => {
  const make = planProjects();

  it('gives another plan, and the paths that differ are named', async () => {
    const p = await make({ 'a.txt': 'old\n', 'b.txt': 'old\n' });
    const { intent_id } = await proposed(p, planOf([replace('a1', 'a.txt', 'old', 'new')]));
    const read = await p.keyturn.plans.read({ plan: planOf([replace('a1', 'b.txt', 'old', 'new')]) });
    const { spec } = read as Extract<typeof read, { spec: unknown }>;
    await expectRefusal('SHAPE_INVALID', () => edit(p, { intent_id, ...word('x') }));
    const made = await edit(p, { intent_id, plan: spec as never });
    const changes = await p.keyturn.intents.changes({ intent_id: made.intent_id });
    expect(changes?.differences?.map(({ what }) => what)).toEqual(expect.arrayContaining(['a.txt', 'b.txt']));
  });
});

describe('an edit on a shared ledger', () => {
  const server = postgres();

  it('ends the first one in the same commit', async () => {
    const p = await shared(server(), 'edit');
    const { intent_id } = await proposeSay(p);
    const made = await edit(p, { intent_id, ...word('bye') });
    expect(await p.keyturn.intents.get({ intent_id })).toMatchObject({
      status: 'replaced',
      replaced_by: made.intent_id,
    });
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});
