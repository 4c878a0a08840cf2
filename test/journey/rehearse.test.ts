import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { REHEARSED } from '../../src/identity/draft.ts';
import type { Context } from '../../src/journey/context.ts';
import { rehearsing } from '../../src/journey/rehearse.ts';
import { limits } from '../../src/limits.ts';
import { Rehearsal } from '../../src/store/rehearsal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Commit, Store } from '../../src/store/store.ts';
import { controlled, DIGEST, enrolledAgent, erased, granted, proposed } from '../store/facts.ts';
import { NOON } from '../store/place.ts';
import { made } from '../store/sqlite-file.ts';
import { expectRefusal } from '../support/refusal.ts';

/** What a store is asked for while acts are rehearsed one after the other, as those of one touch. */
async function touched() {
  const clock = () => new Date(NOON);
  const store = await openSqliteStore({ path: await made(), tenant: 'default', clock, mode: 'write' });
  const asked: string[] = [];
  const look: Store['look'] = (wanted) => {
    asked.push(...wanted.rows.keys());
    return store.look(wanted);
  };
  const context = { store: { ...store, look }, clock } as Context;
  const earlier = new Rehearsal();
  const rehearse = (commit: Commit) =>
    rehearsing(context, earlier)
      .store.commit(commit)
      .catch((error) => {
        if (error !== REHEARSED) throw error;
      });
  const enrol = (...names: string[]) => rehearse({ events: names.map((name) => enrolledAgent(name, 'ada')) });
  return { store, asked, rehearse, enrol };
}

describe('acts of one touch', () => {
  it('are decided once each: what one looks at does not grow with those before it', async () => {
    const { store, asked, enrol } = await touched();
    const looked = [];
    for (let i = 0; i < limits.touch_acts; i += 1) {
      asked.length = 0;
      await enrol(`bo${i}`);
      looked.push(asked.length);
    }
    expect(looked.at(-1)).toBe(looked[1]);
    await expectRefusal('PRINCIPAL_EXISTS', () => enrol('bo3'));
    await store.close();
  });

  it('leave nothing behind of one that is refused at its second event', async () => {
    const { store, enrol } = await touched();
    await enrol('bo');
    await expectRefusal('PRINCIPAL_EXISTS', () => enrol('cy', 'bo'));
    await enrol('cy');
    await store.close();
  });

  it('are decided again on what another process wrote meanwhile', async () => {
    const { store, enrol } = await touched();
    await enrol('bo');
    await store.commit({ events: [enrolledAgent('cy', 'ada'), proposed()] });
    await expectRefusal('PRINCIPAL_EXISTS', () => enrol('cy'));
    await enrol('di');
    await expectRefusal('PRINCIPAL_EXISTS', () => enrol('bo'));
    await store.close();
  });

  it('are not refused for one before them that can no longer be done', async () => {
    const { store, enrol } = await touched();
    await enrol('bo');
    await enrol('cy');
    await store.commit({ events: [enrolledAgent('bo', 'ada')] });
    await enrol('di');
    for (const name of ['bo', 'cy', 'di']) await expectRefusal('PRINCIPAL_EXISTS', () => enrol(name));
    await store.close();
  });
});

describe('an act that is rehearsed', () => {
  it('is refused for all that its commit would be refused for, and not only by the fold', async () => {
    const { store, rehearse } = await touched();
    const intent = proposed();
    await store.commit({ events: [controlled('control', 'ada'), intent], claims: ['taken'] });
    const bytes = Buffer.from('kept');
    const before = await store.tip();
    const wanted: readonly (readonly [string, Commit])[] = [
      ['SHAPE_INVALID', { events: [] }],
      ['SHAPE_INVALID', { events: [erased(DIGEST, 'ada')] }],
      ['OBJECT_MISSING', { events: [erased(sha256(bytes), 'ada')], erase: [sha256(bytes)] }],
      ['CLAIM_TAKEN', { events: [enrolledAgent('bo', 'ada')], claims: ['taken'] }],
      ['DECISION_MISSING', { events: [granted(intent.subject, 'ada')] }],
      ['PROPOSALS_LIMITED', { events: [proposed()], quota: { pending: 1, minute: 1 } }],
    ];
    for (const [code, commit] of wanted) {
      await expectRefusal(code as never, () => rehearse(commit));
      await expectRefusal(code as never, () => store.commit(commit));
    }
    expect(await store.tip()).toEqual(before);
    await store.close();
  });

  it('takes the claims that the next one must not take', async () => {
    const { store, rehearse } = await touched();
    await rehearse({ events: [enrolledAgent('bo', 'ada')], claims: ['mine'] });
    await expectRefusal('CLAIM_TAKEN', () =>
      rehearse({ events: [enrolledAgent('cy', 'ada')], claims: ['mine'] }),
    );
    await store.close();
  });
});
