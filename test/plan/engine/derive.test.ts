import { chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../../../src/canonical/json.ts';
import { derivePlan } from '../../../src/plan/derive.ts';
import type { Action } from '../../../src/plan/model.ts';
import type { ReasonCode } from '../../../src/refusal.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import { action, create, derive, lay, modify, picture, plan, remove, rename } from './story.ts';

describe('deriving what a plan would do', () => {
  it('touches nothing, gives the same bytes each time, and chains states', async () => {
    const root = scratch();
    lay(root, { a: 'one', b: 'bee' });
    const before = picture(root);
    const made = plan([
      modify('1', 'a', 'one', 'two'),
      rename('2', 'a', 'x/c'),
      modify('3', 'x/c', 'two', 'three'),
    ]);
    const effect = await derive(root, made);
    expect(canonicalText(await derive(root, made))).toBe(canonicalText(effect));
    expect(picture(root)).toEqual(before);
    expect(effect.folders).toEqual(['x']);
    const [first, second, third] = effect.actions.map(({ changes }) => changes);
    expect(second![0]!.before).toEqual(first![0]!.after);
    expect(third![0]!.before).toEqual(second![1]!.after);
  });

  it('shows each change with its contents to a visitor', async () => {
    const root = scratch();
    lay(root, { a: 'one' });
    const seen: string[][] = [];
    const shown = (bytes: Uint8Array | null) => (bytes === null ? '-' : Buffer.from(bytes).toString());
    await derivePlan({
      plan: plan([
        modify('1', 'a', 'one', 'two'),
        rename('2', 'a', 'b'),
        remove('3', 'b'),
        create('4', 'n', 'new'),
      ]),
      root,
      config_digest: null,
      visit: async ({ change, before, after }) => {
        seen.push([change.path, shown(await before()), shown(await after())]);
      },
    });
    expect(seen).toEqual([
      ['a', 'one', 'two'],
      ['a', 'two', '-'],
      ['b', '-', 'two'],
      ['b', 'two', '-'],
      ['n', '-', 'new'],
    ]);
  });

  it('lists protected paths, and opens what is forbidden for nobody', async () => {
    const root = scratch();
    const made = plan([create('1', 'setup.py'), create('2', 'free')]);
    const protection = (path: string) => (path === 'setup.py' ? ('elevated' as const) : ('free' as const));
    const effect = await derivePlan({ plan: made, root, config_digest: null, protection });
    expect(effect.elevated).toEqual(['setup.py']);
    for (const [access, code] of [
      ['own', 'PLAN_PATH_OWN'],
      ['forbidden', 'PLAN_PATH_FORBIDDEN'],
    ] as const) {
      await expectRefusal(code, () =>
        derivePlan({ plan: made, root, config_digest: null, protection: () => access }),
      );
    }
  });

  it('no action changes a file that the plan does not list', async () => {
    // By what it says it works in memory and changes no file; by its type it would write one.
    const honest = create('1', 'n', 'x');
    const shifty = { ...honest, operation: { ...honest.operation, connection: 'memory' } } as Action;
    await expectRefusal('PLAN_PATH_UNLISTED', () => derive(scratch(), plan([shifty])));
  });

  it.each<[string, ReasonCode, Action[]]>([
    ['a missing file to modify', 'FILE_NOT_FOUND', [modify('1', 'nowhere', 'x', 'y')]],
    ['a missing file to delete', 'FILE_NOT_FOUND', [remove('1', 'nowhere/at/all')]],
    ['a missing file to rename', 'FILE_NOT_FOUND', [rename('1', 'nowhere', 'b')]],
    ['a file that is deleted twice', 'FILE_NOT_FOUND', [remove('1', 'a'), remove('2', 'a')]],
    ['a file to create that exists', 'FILE_EXISTS', [create('1', 'a')]],
    ['a destination that exists', 'FILE_EXISTS', [rename('1', 'a', 'b')]],
    ['a file that is created twice', 'FILE_EXISTS', [create('1', 'n'), create('2', 'n')]],
    ['a pattern that is not there', 'EDIT_NO_MATCH', [modify('1', 'a', 'zzz', 'y')]],
    ['a symbolic link', 'FILE_IS_SYMLINK', [modify('1', 'link', 'one', 'y')]],
    ['a folder that is a link', 'FILE_IS_SYMLINK', [create('1', 'linked/n')]],
    ['a hard link', 'FILE_HARD_LINKED', [modify('1', 'twin', 'one', 'y')]],
    ['a folder as a file', 'FILE_NOT_REGULAR', [remove('1', 'folder')]],
    ['a file as a folder', 'FILE_NOT_REGULAR', [create('1', 'a/n')]],
    ['a read-only file', 'PERMISSION_DENIED', [modify('1', 'locked', 'x', 'y')]],
    ['a way out', 'PATH_ESCAPES', [create('1', '../n')]],
    ['a file too large', 'PLAN_LIMIT_EXCEEDED', [remove('1', 'huge')]],
    ['a file that becomes a folder', 'PLAN_PATHS_NESTED', [create('1', 'p'), create('2', 'p/q')]],
    ['a circle', 'PLAN_DEPENDENCIES_CYCLIC', [create('1', 'n', 'x', { depends_on: ['1'] })]],
    ['too many files', 'PLAN_LIMIT_EXCEEDED', Array.from({ length: 101 }, (_, i) => create(`${i}`, `n${i}`))],
    ['too long an action', 'PLAN_LIMIT_EXCEEDED', [create('1', 'n', 'x', { timeout_ms: 120_001 })]],
    [
      'an edit of what only the run can tell',
      'PLAN_RESULT_UNKNOWN',
      [
        action('1', 'SQL_EXECUTE', 'd.duckdb', { query: 'CREATE TABLE t (i INTEGER)' }),
        modify('2', 'd.duckdb', 'a', 'b'),
      ],
    ],
  ])('refuses %s', async (_what, code, actions) => {
    const root = scratch();
    lay(root, { a: 'one', b: 'bee', twin: 'one', locked: 'x' });
    symlinkSync('a', join(root, 'link'));
    symlinkSync('/tmp', join(root, 'linked'));
    linkSync(join(root, 'twin'), join(root, 'twin2'));
    chmodSync(join(root, 'locked'), 0o444);
    mkdirSync(join(root, 'folder'));
    writeFileSync(join(root, 'huge'), '');
    truncateSync(join(root, 'huge'), 50 * 1024 * 1024 + 1);
    await expectRefusal(code, () => derive(root, plan(actions)));
  });

  it('refuses more backups than a task may hold', async () => {
    const root = scratch();
    const actions = Array.from({ length: 11 }, (_, i) => {
      writeFileSync(join(root, `f${i}`), '');
      truncateSync(join(root, `f${i}`), 48 * 1024 * 1024);
      return remove(`${i}`, `f${i}`);
    });
    await expectRefusal('PLAN_LIMIT_EXCEEDED', () => derive(root, plan(actions)));
  });
});
