import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { derivePlan } from '../../../src/plan/derive.ts';
import { StatCache } from '../../../src/plan/state/stat-cache.ts';
import { scratch } from '../../support/scratch.ts';
import { create, lay, modify, plan, remove, rename } from '../engine/story.ts';

/** What a simulation of every kind of file action saw. */
async function looked(): Promise<{ root: string; stat_cache: StatCache }> {
  const root = scratch();
  lay(root, { a: 'one', 'sub/b': 'bee', 'sub/gone': 'gone', bystander: 'x' });
  const stat_cache = new StatCache(root);
  const actions = [
    modify('1', 'a', 'one', 'two'),
    create('2', 'new/deep/n'),
    rename('3', 'sub/b', 'c'),
    remove('4', 'sub/gone'),
  ];
  await derivePlan({ plan: plan(actions), root, config_digest: null, stat_cache });
  return { root, stat_cache };
}

describe('what a simulation saw', () => {
  it('is unchanged while nothing that it looked at changes', async () => {
    const { root, stat_cache } = await looked();
    expect(stat_cache.isUnchanged()).toBe(true);
    writeFileSync(join(root, 'bystander'), 'y');
    writeFileSync(join(root, 'sub/other'), 'y');
    expect(stat_cache.isUnchanged()).toBe(true);
  });

  const changes: [string, (root: string) => void][] = [
    ['a file has another content', (root) => writeFileSync(join(root, 'a'), 'three')],
    [
      'a file has another content of the same size and time',
      (root) => {
        writeFileSync(join(root, 'a'), 'ONE');
        utimesSync(join(root, 'a'), 1_600_000_000.25, 1_600_000_001.5);
      },
    ],
    ['a file has another mode', (root) => chmodSync(join(root, 'a'), 0o600)],
    ['a file has a second name', (root) => linkSync(join(root, 'a'), join(root, 'a2'))],
    ['a file is gone', (root) => rmSync(join(root, 'sub/gone'))],
    ['a folder is gone', (root) => rmSync(join(root, 'sub'), { recursive: true })],
    ['something is where a file is to be made', (root) => lay(root, { 'new/deep/n': 'mine' })],
    ['something is where a file is to be moved', (root) => symlinkSync('a', join(root, 'c'))],
    ['a folder that was missing is there', (root) => mkdirSync(join(root, 'new'))],
    ['a file is where a folder is to be made', (root) => writeFileSync(join(root, 'new'), '')],
    [
      'a folder is a link to itself',
      (root) => {
        renameSync(join(root, 'sub'), join(root, 'real'));
        symlinkSync('real', join(root, 'sub'));
      },
    ],
  ];

  it.each(changes)('is changed when %s', async (_, change) => {
    const { root, stat_cache } = await looked();
    change(root);
    expect(stat_cache.isUnchanged()).toBe(false);
  });
});
