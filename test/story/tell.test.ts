import { describe, expect, it } from 'vitest';
import { shownFromFile, storyLines, storyResult } from '../../src/cli/story.ts';
import { type Absence, type ReadObject, tellEntries, tellIntent } from '../../src/story/tell.ts';
import { authority, granted, yes } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

async function ran(p: Project) {
  const intent = await granted(p);
  await p.keyturn.run({ ...intent, confirm: yes });
  const state = await p.keyturn.intent(intent.intent_id);
  return { state, entries: await p.keyturn.story(intent.intent_id) };
}

/** The objects of the project, but for one, in whose place the caller has something else. */
function instead({ keyturn }: Project, digest: string, answer: unknown): ReadObject {
  const isAbsence = typeof answer === 'string' && ['erased', 'missing', 'left out'].includes(answer);
  return async (asked) => {
    if (asked !== digest) return keyturn.object(asked);
    return isAbsence ? (answer as Absence) : Buffer.from(JSON.stringify(answer));
  };
}

const VIEW = { now: new Date(), shown: null, alternates: [], printed: null, reports_missing: [] };

describe('the story of an intent', () => {
  it('says which of its parts are not there, and why, and goes on without them', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    for (const digest of [state.hash, state.effect_digest])
      for (const [answer, words] of [
        ['erased', 'What was asked for was erased.'],
        ['missing', 'What was asked for is gone, and no entry says that it was removed.'],
        ['left out', 'What was asked for is not in this file'],
      ] as const) {
        const story = await tellIntent(entries, instead(p, digest, answer));
        expect(story).toMatchObject({ asked: answer, intent: { status: 'succeeded' }, changes: [] });
        expect(storyLines(story, VIEW).join('\n')).toContain(words);
        expect(storyResult(story, VIEW)).toMatchObject({ envelope: null, effect: null });
      }
  });

  it('is the state that the store has', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    expect((await tellIntent(entries, p.keyturn.object)).intent).toEqual(state);
    await expectRefusal('INTENT_NOT_FOUND', () => tellIntent([], p.keyturn.object));
  });

  it('refuses an effect of any other shape, and an envelope that is not what its entry says', async () => {
    const p = await authority();
    const { state, entries } = await ran(p);
    for (const effect of [null, [], 1, {}, { effect: null }, { effect: {} }, { effect: { kind: 'shell' } }])
      await expectRefusal('SHAPE_INVALID', () =>
        tellIntent(entries, instead(p, state.effect_digest, effect)),
      );
    const hollow = instead(p, state.effect_digest, { effect: { kind: 'tool', argv: 'x' } });
    const story = await tellIntent(entries, hollow);
    await expectRefusal('SHAPE_INVALID', () => shownFromFile(story));
    const envelope = JSON.parse(Buffer.from(await p.keyturn.object(state.hash)).toString());
    const other = instead(p, state.hash, { ...envelope, issuer: 'eve' });
    await expectRefusal('EFFECT_CHANGED', () => tellIntent(entries, other));
  });

  it('tells a decision only where its object is one', async () => {
    const p = await authority();
    const { entries } = await ran(p);
    const approved = entries.find(({ kind }) => kind === 'approval.granted')!;
    const digest = approved.body.decision as string;
    expect((await tellEntries([approved], p.keyturn.object))[0]!.decision).toMatchObject({ allowed: true });
    expect((await tellEntries([approved], instead(p, digest, 'erased')))[0]!.decision).toBeNull();
    await expectRefusal('SHAPE_INVALID', () =>
      tellEntries([approved], instead(p, digest, { allowed: true })),
    );
  });
});
