import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statAt } from '../../src/durable/beneath-write.ts';
import { OpenFolders } from '../../src/durable/open-folders.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

function opened(): { root: string; folders: OpenFolders } {
  const root = scratch();
  mkdirSync(join(root, 'in'));
  writeFileSync(join(root, 'in/a'), 'a');
  writeFileSync(join(root, 'in/b'), 'bb');
  writeFileSync(join(root, 'c'), 'ccc');
  const folders = new OpenFolders(root);
  onTestFinished(() => folders.close());
  return { root, folders };
}

describe('folders that stay open', () => {
  it('are walked to once, and each path in them has its own name', () => {
    const { folders } = opened();
    const [a, b, c] = [folders.at('in/a'), folders.at('in/b'), folders.at('c')];
    expect(b.folder_fd).toBe(a.folder_fd);
    expect(c.folder_fd).not.toBe(a.folder_fd);
    expect([a, b, c].map((place) => Number(statAt(place)?.size))).toEqual([1, 2, 3]);
    expect([b.name, b.path]).toEqual(['b', 'in/b']);
  });

  it('lead nowhere else when somebody puts a link in their place', () => {
    const { root, folders } = opened();
    const outside = scratch();
    writeFileSync(join(outside, 'b'), 'somebody else');
    folders.at('in/a');
    renameSync(join(root, 'in'), join(root, 'moved'));
    symlinkSync(outside, join(root, 'in'));
    expect(Number(statAt(folders.at('in/b'))?.size)).toBe(2);
  });

  it('refuse what a single walk refuses, also when the folder is open', async () => {
    const { root, folders } = opened();
    folders.at('in/a');
    for (const path of ['in/..', 'in/', 'in/.', '../in/a', 'in/\n'])
      await expectRefusal('PATH_ESCAPES', () => folders.at(path));
    symlinkSync(join(root, 'in'), join(root, 'link'));
    await expectRefusal('FILE_IS_SYMLINK', () => folders.at('link/a'));
  });

  it('do not remember a folder that was missing', async () => {
    const { root, folders } = opened();
    await expectRefusal('FILE_NOT_FOUND', () => folders.at('new/a'));
    mkdirSync(join(root, 'new'));
    expect(folders.at('new/a').name).toBe('a');
  });
});
