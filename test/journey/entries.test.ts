import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Request } from '../../src/keyturn.ts';
import { sealedCursor } from '../support/cursor.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, granted, human, proposeSay, yes } from './authority.ts';

type Filter = NonNullable<Request<'ledger.entries'>>;

/** Two people, an agent, a run, and a rejection. */
async function lived() {
  const p = await authority();
  const ran = await granted(p);
  await runSeen(p.keyturn, { ...ran, confirm: yes });
  const bob = await human(p, 'bob');
  const scout = await agent(p, 'scout');
  await p.keyturn.people.enrol({ name: 'eve', principal: 'agent', public_key: null, signer: p.ada });
  const signed = await proposeSay(p, { declared_goal: 'Ask.' }, scout);
  const claimed = await proposeSay(p, { issuer: 'eve' });
  await p.keyturn.intents.reject({ ...claimed, reason: 'No.', signer: bob });
  const list = (filter: Filter = {}) => p.keyturn.ledger.entries(filter);
  return { ...p, ran, signed, claimed, list };
}

describe('a list of entries', () => {
  it('holds what fits every filter, newest first', async () => {
    const { list, ran, signed, claimed } = await lived();
    const all = (await list({ limit: 1000 })).entries;
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => all.length - 1 - i));
    const found = async (filter: Filter) => (await list({ ...filter, limit: 1000 })).entries;
    const subjects = async (filter: Filter) => (await found(filter)).map(({ subject }) => subject);
    expect(await subjects({ kind: 'intent.proposed' })).toEqual([
      claimed.intent_id,
      signed.intent_id,
      ran.intent_id,
    ]);
    expect(await found({ subject: ran.intent_id })).toEqual(
      all.filter(({ subject }) => subject === ran.intent_id),
    );
    expect(await subjects({ signer: 'scout' })).toEqual([signed.intent_id]);
    // In the name of a human who did not sign.
    expect(await found({ signer: 'eve' })).toEqual([]);
    expect((await found({ signer: 'bob' })).map(({ kind }) => kind)).toEqual(['approval.denied']);
    expect((await found({ signer: 'ada', subject: ran.intent_id })).map(({ kind }) => kind)).toEqual([
      'order.given',
      'approval.granted',
      'intent.proposed',
    ]);
    expect(await subjects({ signer: 'ada', kind: 'intent.proposed' })).toEqual([ran.intent_id]);
    expect(await found({ kind: 'intent.unheard' })).toEqual([]);
    expect(await found({ kind: 'approval.denied', subject: ran.intent_id })).toEqual([]);
  });

  it('tells each in words, and on request what the policies said', async () => {
    const { list, ran } = await lived();
    const asked = { subject: ran.intent_id, kind: 'approval.granted' };
    const [plain] = (await list(asked)).entries;
    expect(plain!.words).toMatch(/^ada approved it until/);
    expect(plain).not.toHaveProperty('decision');
    const [full] = (await list({ ...asked, with_decisions: true })).entries;
    expect(full!.decision).toMatchObject({ allowed: true });
  });

  it('can begin and end at a time', async () => {
    const { list } = await lived();
    const all = (await list({ limit: 1000 })).entries;
    const [until, since] = [all[2]!.at, all.at(-3)!.at];
    const between = (await list({ since, until, limit: 1000 })).entries;
    expect(between).toEqual(all.filter(({ at }) => at >= since && at < until));
    expect(between.length).toBeGreaterThan(0);
    expect((await list({ until: '2001-01-01T00:00:00.000Z' })).entries).toEqual([]);
    expect(await list({ since: '2999-01-01T00:00:00.000Z' })).toEqual({ entries: [], next: null, looked: 0 });
  });

  it('comes in pages that miss nothing and repeat nothing', async () => {
    const { list, ran } = await lived();
    const filters: Filter[] = [
      {},
      { kind: 'intent.proposed' },
      { signer: 'ada' },
      { subject: ran.intent_id },
    ];
    for (const filter of [...filters, { signer: 'ada', kind: 'key.enrolled' }])
      for (const limit of [1, 2, 5]) {
        const seqs: number[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await list({ ...filter, limit, ...(cursor && { cursor }) });
          expect(page.entries.length).toBeLessThanOrEqual(limit);
          seqs.push(...page.entries.map(({ seq }) => seq));
          cursor = page.next;
        }
        expect(seqs).toEqual((await list({ ...filter, limit: 1000 })).entries.map(({ seq }) => seq));
      }
  });

  it('goes on where it was while others write', async () => {
    const p = await lived();
    const { entries, next } = await p.list({ limit: 3 });
    await proposeSay(p);
    const [following] = (await p.list({ limit: 1, cursor: next! })).entries;
    expect(following!.seq).toBe(entries.at(-1)!.seq - 1);
  });

  it('refuses a cursor of another list, a changed one and one from the future', async () => {
    const { list, keyturn } = await lived();
    const next = (await list({ limit: 2 })).next!;
    const [place, seal] = next.split('-') as [string, string];
    for (const cursor of [
      '',
      'x',
      `${place}-${'0'.repeat(16)}`,
      `1${place}-${seal}`,
      `${next}0`,
      randomUUID(),
    ])
      await expectRefusal('CURSOR_INVALID', () => list({ cursor }));
    const { origin } = await keyturn.system.get();
    expect(sealedCursor('entries', origin, Number.parseInt(place, 36))).toBe(next);
    await expectRefusal('CURSOR_INVALID', () => list({ cursor: sealedCursor('entries', origin, 1_000_000) }));
    for (const filter of [{ kind: 'intent.proposed' }, { signer: 'ada' }, { subject: 'ada' }])
      await expectRefusal('CURSOR_INVALID', () => list({ ...filter, cursor: next }));
    const intents = (await keyturn.intents.list({ limit: 1 })).next!;
    await expectRefusal('CURSOR_INVALID', () => list({ cursor: intents }));
    await expectRefusal('CURSOR_INVALID', () => keyturn.intents.list({ cursor: next }));
    for (const bad of [{ limit: 0 }, { limit: 1001 }, { since: 'yesterday' }, { by: 'ada' }])
      await expectRefusal('SHAPE_INVALID', () => list(bad as never));
  });
});
