import { describe, expect, it } from 'vitest';
import { compareChanges } from '../../../src/plan/report/compare.ts';
import { EditDiffs } from '../../../src/plan/report/edit-diffs.ts';
import { scratch } from '../../support/scratch.ts';
import { create, derive, execute, lay, modify, plan, remove } from '../engine/story.ts';

const hides = (path: string) => path === 'hidden';

async function both() {
  const root = scratch();
  lay(root, {
    a: 'one\ntwo\nthree\n',
    twice: 'one\n',
    hidden: 'secret one\n',
    gone: 'x\n',
    binary: '\0one',
  });
  const actions = [
    modify('1', 'a', 'two', '2\n2'),
    modify('2', 'twice', 'one', 'two'),
    modify('3', 'twice', 'two', 'three\nfour'),
    modify('4', 'hidden', 'one', 'two'),
    remove('5', 'gone'),
    create('6', 'n'),
  ];
  const edits = new EditDiffs(hides);
  const effect = await derive(root, plan(actions));
  const outcome = await execute(root, effect, { onEdit: edits.see });
  expect(outcome.status).toBe('SUCCESS');
  return {
    edits,
    outcome,
    told: await compareChanges(outcome, { root, hides, edits }),
    read: await compareChanges(outcome, { root, hides }),
  };
}

describe('the differences that a run tells of its own edits', () => {
  it('are those that its files and backups show', async () => {
    const { told, read } = await both();
    expect(told).toEqual(read);
    expect(told.get('a')).toMatchObject({ lines_added: 2, lines_removed: 1 });
    expect(told.get('twice')?.preview).toContain('-one\n+three\n+four');
  });

  it('stand only for an edit that led from the first content to the last', async () => {
    const { edits, outcome } = await both();
    const last = (path: string) => outcome.changes.findLast((change) => change.path === path)!.after;
    const first = (path: string) => outcome.changes.find((change) => change.path === path)!.before!.sha256;
    expect(edits.between('a', first('a'), last('a'))).not.toBeNull();
    expect(edits.between('a', first('a'), last('twice'))).toBeNull();
    expect(edits.between('twice', first('twice'), last('twice'))).toBeNull();
    expect(edits.between('hidden', first('hidden'), last('hidden'))).toBeNull();
    expect(edits.between('gone', first('gone'), null)).toBeNull();
  });
});
