import { describe, expect, it } from 'vitest';
import { storyLines } from '../../src/cli/story.ts';
import { storyInFile } from '../../src/journey/story.ts';
import { type Absence, type ReadObject, tellEntries, tellIntent } from '../../src/story/tell.ts';
import { entrySentence } from '../../src/story/words.ts';
import { authority, granted, yes } from '../journey/authority.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

async function ran(p: Project) {
  const intent = await granted(p);
  await runSeen(p.keyturn, { ...intent, confirm: yes });
  const { status_word: _, ...state } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
  return { state, entries: await entriesAbout(p.keyturn, intent.intent_id) };
}

/** The objects of the project, but for one, in whose place the caller has something else. */
function instead({ keyturn }: Project, digest: string, answer: unknown): ReadObject {
  const isAbsence = typeof answer === 'string' && ['erased', 'missing', 'left out'].includes(answer);
  return async (asked) => {
    if (asked !== digest) return objectOf(keyturn, asked);
    return isAbsence ? (answer as Absence) : Buffer.from(JSON.stringify(answer));
  };
}

const readerOf =
  ({ keyturn }: Project): ReadObject =>
  (digest) =>
    objectOf(keyturn, digest);

const now = new Date();

it('one capability that was revoked is counted as one', () => {
  const said = (revoked: readonly string[]) => {
    const body = { execution_id: 'x', reason_code: 'FROZEN', revoked };
    return entrySentence({ kind: 'violation.detected', body } as never);
  };
  expect(said(['a'])).toMatch(/ 1 outstanding capability was revoked$/);
  expect(said(['a', 'b'])).toMatch(/ 2 outstanding capabilities were revoked$/);
});

describe('the story of an intent', () => {
  it('says what became of each order and each run, as their lists do', async () => {
    const p = await authority();
    const { entries } = await ran(p);
    const read = readerOf(p);
    const words = async (upTo: string, at = now) => {
      const end = entries.findIndex(({ kind }) => kind === upTo) + 1;
      const story = await storyInFile({ entries: entries.slice(0, end), read, authorities: null, now: at });
      return [...story.capability_words, ...story.run_words].map(({ status_word }) => status_word);
    };
    const later = new Date(Date.parse(entries[0]!.at) + 3_700_000);
    expect(await words('order.given', new Date(entries[0]!.at))).toEqual(['ordered']);
    expect(await words('order.given', later)).toEqual(['lapsed']);
    expect(await words('execution.claimed', later)).toEqual(['spent', 'IN DOUBT']);
    expect(await words('execution.finished', later)).toEqual(['spent', 'succeeded']);
  });

  it('says which of its parts are not there, and why, and goes on without them', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    for (const digest of [state.hash, state.effect_digest])
      for (const [answer, words] of [
        ['erased', 'What was asked for was erased.'],
        ['missing', 'What was asked for is gone, and no entry says that it was removed.'],
        ['left out', 'What was asked for is not in this file'],
      ] as const) {
        const story = await storyInFile({
          entries,
          read: instead(p, digest, answer),
          authorities: null,
          now,
        });
        expect(story).toMatchObject({ absent: answer, intent: { status: 'succeeded' }, changes: [] });
        expect(storyLines(story, now).join('\n')).toContain(words);
        expect(story).toMatchObject({ envelope: null, effect: null, shown: null });
      }
  });

  it('is the state that the store has', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    // Whom the policies ask to look, whose approvals count, and until when an order can be used, is asked now, and no entry says it.
    const { reviewers, approvers, missing, ordered_until, ...told } = state;
    expect([reviewers, approvers, missing, ordered_until]).toEqual([null, [], 0, null]);
    expect((await tellIntent(entries, readerOf(p))).intent).toEqual(told);
    await expectRefusal('INTENT_NOT_FOUND', () => tellIntent([], readerOf(p)));
  });

  it('refuses an effect of any other shape, and an envelope that is not what its entry says', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    for (const effect of [null, [], 1, {}, { effect: null }, { effect: {} }, { effect: { kind: 'shell' } }])
      await expectRefusal('SHAPE_INVALID', () =>
        tellIntent(entries, instead(p, state.effect_digest, effect)),
      );
    const hollow = instead(p, state.effect_digest, { effect: { kind: 'tool', argv: 'x' } });
    await expectRefusal('SHAPE_INVALID', () =>
      storyInFile({ entries, read: hollow, authorities: null, now }),
    );
    const envelope = JSON.parse(Buffer.from(await objectOf(p.keyturn, state.hash)).toString());
    const other = instead(p, state.hash, { ...envelope, issuer: 'eve' });
    await expectRefusal('EFFECT_CHANGED', () => tellIntent(entries, other));
  });

  it('tells a decision only where its object is one', async () => {
    const p = await authority();
    const { entries } = await ran(p);
    const approved = entries.find(({ kind }) => kind === 'approval.granted')!;
    const digest = approved.body.decision as string;
    expect((await tellEntries([approved], readerOf(p)))[0]!.decision).toMatchObject({ allowed: true });
    expect((await tellEntries([approved], instead(p, digest, 'erased')))[0]!.decision).toBeNull();
    await expectRefusal('SHAPE_INVALID', () =>
      tellEntries([approved], instead(p, digest, { allowed: true })),
    );
  });
});
