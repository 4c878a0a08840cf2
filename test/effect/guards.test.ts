import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardsOf } from '../../src/effect/guards.ts';
import { projectFinder } from '../../src/effect/projects.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const NONE = { hidden: [], protected: [], read: [], write: [] };

describe('guardsOf', () => {
  it('guards a path where it really is', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'real'));
    writeFileSync(join(folder, 'real/tools.yaml'), '');
    symlinkSync('./real/../real', join(folder, 'link'));
    symlinkSync(join(folder, 'link'), join(folder, 'far'));
    expect(guardsOf({ ...NONE, protected: [join(folder, 'far/tools.yaml')] }).protected).toEqual([
      { path: join(folder, 'real/tools.yaml'), folder: false },
    ]);
  });

  it('refuses a guard behind a link that the tool may turn, and a circle of links', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'real/.keyturn'), { recursive: true });
    mkdirSync(join(folder, 'links'));
    symlinkSync('../real', join(folder, 'links/project'));
    symlinkSync('circle', join(folder, 'circle'));
    const hidden = [join(folder, 'links/project/.keyturn')];
    const write = [join(folder, 'links')];
    await expectRefusal('FILE_IS_SYMLINK', () => guardsOf({ ...NONE, hidden, write }));
    await expectRefusal('FILE_IS_SYMLINK', () => guardsOf({ ...NONE, protected: hidden, write }));
    await expectRefusal('FILE_IS_SYMLINK', () => guardsOf({ ...NONE, hidden: [join(folder, 'circle')] }));
    expect(guardsOf({ ...NONE, hidden, read: write }).hidden).toEqual([
      { path: join(folder, 'real/.keyturn'), folder: true },
    ]);
  });

  it('guards the first part of a protected path that does not exist', () => {
    const folder = scratch();
    expect(guardsOf({ ...NONE, protected: [join(folder, 'conf/policies')] }).protected).toEqual([
      { path: join(folder, 'conf'), folder: true, absent: true },
    ]);
  });

  it('refuses when what must be hidden is gone: it may be there under another name', async () => {
    const hidden = [join(scratch(), '.keyturn')];
    await expectRefusal('FILE_NOT_FOUND', () => guardsOf({ ...NONE, hidden }));
  });

  it('hides the own folder of any project beneath a bind or around it', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'a/.keyturn/keys'), { recursive: true });
    const own = { path: join(folder, 'a/.keyturn'), folder: true };
    expect(guardsOf({ ...NONE, read: [join(folder, 'a')] }).hidden).toEqual([own]);
    expect(guardsOf({ ...NONE, write: [join(folder, 'a/.keyturn/keys')] }).hidden).toEqual([own]);
    expect(guardsOf({ ...NONE, read: [join(folder, 'a')], write: [folder] }).hidden).toEqual([own]);
  });

  it('hides a folder that holds a store and keys, whatever its name, and follows no link', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'deep/backup/keys'), { recursive: true });
    writeFileSync(join(folder, 'deep/backup/store.db'), '');
    symlinkSync(join(folder, 'deep'), join(folder, 'link'));
    const backup = { path: join(folder, 'deep/backup'), folder: true };
    expect(guardsOf({ ...NONE, read: [folder] }).hidden).toEqual([backup]);
    expect(guardsOf({ ...NONE, read: [join(folder, 'deep/backup')] }).hidden).toEqual([backup]);
    expect(guardsOf({ ...NONE, read: [join(folder, 'deep/backup/store.db')] }).hidden).toEqual([]);
  });

  it('searches a bounded number of folders, and sees a project that came after the last search', async () => {
    const folder = scratch();
    for (const name of ['a/b', 'c']) mkdirSync(join(folder, name), { recursive: true });
    await expectRefusal('SANDBOX_TOO_WIDE', () => projectFinder(3)([folder]));
    const find = projectFinder(5);
    expect(find([folder, join(folder, 'a')])).toEqual([]);
    mkdirSync(join(folder, 'a/b/.keyturn'));
    expect(find([folder])).toEqual([{ path: join(folder, 'a/b/.keyturn'), folder: true }]);
  });
});
