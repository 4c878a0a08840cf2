import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  expectProvable,
  planOf,
  planProjects,
  ran,
  remove,
  rename,
  replace,
  statusOf,
  undo,
  when,
} from '../journey/plan-story.ts';
import { picture, text } from '../plan/engine/story.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const project = planProjects();
const FILES = { a: 'one', b: 'bee', c: 'sea', m: 'move' };

type Done = Awaited<ReturnType<typeof ran>>;
const leaving = ({ keyturn, ada }: Project, { report }: Done, ...except: string[]) =>
  keyturn.plans.rollback({
    execution_id: report.execution_id,
    except,
    reason: 'theirs is right',
    signer: ada,
  } as never);

describe('P7: what a rollback leaves as it is', () => {
  it('a file that a half done run never came to does not block, whatever became of it', async () => {
    const p = await project(FILES);
    const before = picture(p.root);
    const plan = planOf(
      [replace('1', 'a', 'one', 'two'), replace('2', 'b', 'bee', 'bea'), replace('3', 'c', 'sea', 'see')],
      { stop_on_error: true, rollback_on_failure: false },
    );
    const { report, ...intent } = await ran(
      p,
      plan,
      when('2', () => rmSync(join(p.root, 'b'))),
    );
    expect(report.result).not.toBe('success');
    writeFileSync(join(p.root, 'c'), 'edited later');
    const outcome = await undo(p, report);
    expect(outcome.status).toBe('rolled_back');
    expect(text(p.root, 'c')).toBe('edited later');
    expect(picture(p.root).a).toBe(before.a);
    expect(['rolled_back', 'undone']).toContain(await statusOf(p, intent));
  });

  it('a file that a human says to leave stays, the others are restored, and the ledger has who and why', async () => {
    const p = await project(FILES);
    const before = picture(p.root);
    const done = await ran(p, planOf([replace('1', 'a', 'one', 'two'), remove('2', 'b')]));
    writeFileSync(join(p.root, 'a'), 'theirs');
    expect((await undo(p, done.report)).status).toBe('stuck');
    const outcome = await leaving(p, done, 'a');
    expect(outcome.status).toBe('rolled_back');
    expect(outcome.paths.find(({ path }) => path === 'a')).toMatchObject({ step: 'except', done: true });
    expect(text(p.root, 'a')).toBe('theirs');
    expect(picture(p.root).b).toBe(before.b);
    expect(await statusOf(p, done)).toBe('undone');
    const story = await entriesAbout(p.keyturn, done.intent_id);
    expect(story.findLast(({ kind }) => kind === 'rollback.claimed')!.body).toMatchObject({
      except: ['a'],
      by: 'ada',
      reason: 'theirs is right',
    });
    await expectProvable(p);
  });

  it('a path that is not in the plan, and half of a rename, cannot be left out', async () => {
    const p = await project(FILES);
    const done = await ran(p, planOf([replace('1', 'a', 'one', 'two'), rename('2', 'm', 'n')]));
    const after = picture(p.root);
    await expectRefusal('CHECKPOINT_UNKNOWN', () => leaving(p, done, 'c'));
    await expectRefusal('CHECKPOINT_UNKNOWN', () => leaving(p, done, '../a'));
    await expectRefusal('CHECKPOINT_CHAINED', () => leaving(p, done, 'm'));
    expect(picture(p.root)).toEqual(after);
    expect(await statusOf(p, done)).toBe('succeeded');
    expect((await leaving(p, done, 'm', 'n')).status).toBe('rolled_back');
    expect(text(p.root, 'n')).toBe('move');
  });
});
