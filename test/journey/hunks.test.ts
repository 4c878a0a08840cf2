import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../src/keyturn.ts';
import { expectRefusal } from '../support/refusal.ts';
import { create, planOf, planProjects, proposed, replace } from './plan-story.ts';

/** Long diffs, of which a reader takes the lines part by part. */

const planProject = planProjects();
const LONG = Array.from({ length: 2_000 }, (_, i) => `line ${i}\n`).join('');
const PLAN = planOf([
  create('1', 'made', LONG),
  replace('2', 'kept', 'line 7\n', 'line seven\n'),
  create('3', 'odd name', `\u202e${LONG}`),
]);

type Shown = Result<'intents.review'>['shown'];
const blocksOf = (shown: Shown) => shown.parts.flatMap(({ blocks }) => blocks);

async function scene() {
  const p = await planProject({ kept: LONG });
  const intent = await proposed(p, PLAN);
  const hunksOf = (over: object) =>
    p.keyturn.intents.hunks({ ...intent, action_id: '1', path: 'made', from: 0, count: 240, ...over });
  return { ...p, intent, hunksOf };
}

describe('a long diff', () => {
  it('comes without most of its lines where few are wanted, and those that are read apart are all of it', async () => {
    const { keyturn, intent, hunksOf } = await scene();
    const { intent_id } = intent;
    const whole = blocksOf((await keyturn.intents.review({ intent_id })).shown);
    const some = blocksOf((await keyturn.intents.review({ intent_id, diff_lines: 300 })).shown);
    expect(some.map(({ title }) => title)).toEqual(whole.map(({ title }) => title));
    const here = some.flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines));
    expect(here.length).toBeGreaterThanOrEqual(300);
    expect(here.length).toBeLessThan(600);
    for (const [i, [action_id, path]] of [
      ['1', 'made'],
      ['2', 'kept'],
      ['3', 'odd name'],
    ].entries()) {
      const { hunks } = await hunksOf({ action_id, path });
      expect(hunks.flatMap(({ lines }) => lines)).toEqual(whole[i]!.hunks.flatMap(({ lines }) => lines));
      expect(hunks).toHaveLength(some[i]!.hunks.length);
      for (const [at, { apart, lines }] of some[i]!.hunks.entries())
        if (apart === undefined) expect(lines).toEqual(hunks[at]!.lines);
        else expect(hunks[at]!.lines).toHaveLength(apart);
    }
    expect((await hunksOf({ from: 2, count: 1 })).hunks).toEqual((await hunksOf({})).hunks.slice(2, 3));
  });

  it('is not told for another hash, for a path that the plan does not change, or once a file is another one', async () => {
    const { root, hunksOf } = await scene();
    writeFileSync(join(root, 'kept'), 'another\n');
    await expectRefusal('PLAN_DRIFT', () => hunksOf({}));
    writeFileSync(join(root, 'kept'), LONG);
    expect((await hunksOf({})).hunks).not.toHaveLength(0);
    await expectRefusal('PLAN_DRIFT', () => hunksOf({ path: 'kept' }));
    await expectRefusal('HASH_MISMATCH', () => hunksOf({ hash: '0'.repeat(64) }));
  });
});
