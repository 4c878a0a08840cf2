import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { guardsOf } from '../../src/effect/guards.ts';
import { hiddenFinder } from '../../src/effect/hidden.ts';
import { limits } from '../../src/limits.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

async function listen(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const server = createServer().listen(path);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }
}

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

  it('hides a socket in a folder to read, and not one in a folder to write or one that is named', async () => {
    const folder = scratch();
    for (const name of ['a/b', 'a/c']) mkdirSync(join(folder, name), { recursive: true });
    const [b, c] = ['a/b/socket', 'a/c/socket'].map((name) => join(folder, name)) as [string, string];
    await listen([b, c]);
    const hidden = (read: string[], write: string[]) => {
      const at = (names: string[]) => names.map((name) => join(folder, name));
      return guardsOf({ ...NONE, read: at(read), write: at(write) }).hidden.map(({ path }) => path);
    };
    expect(hidden(['a'], [])).toEqual([b, c]);
    expect(hidden(['a'], ['a/b'])).toEqual([c]);
    expect(hidden(['a/b'], ['a'])).toEqual([b]);
    expect(hidden(['a', 'a/b/socket'], [])).toEqual([c]);
    expect(hidden([], ['a'])).toEqual([]);
    expect(guardsOf({ ...NONE, read: [folder] }).hidden).toContainEqual({ path: b, folder: false });
  });

  it('refuses more sockets than it covers', async () => {
    const folder = scratch();
    await listen(Array.from({ length: limits.sandbox_sockets + 1 }, (_, i) => join(folder, String(i))));
    await expectRefusal('SANDBOX_TOO_WIDE', () => guardsOf({ ...NONE, read: [folder] }));
    expect(guardsOf({ ...NONE, write: [folder] }).hidden).toEqual([]);
  });

  it('searches a bounded number of folders, and sees a project that came after the last search', async () => {
    const folder = scratch();
    for (const name of ['a/b', 'c']) mkdirSync(join(folder, name), { recursive: true });
    await expectRefusal('SANDBOX_TOO_WIDE', () => hiddenFinder(3)([folder]));
    const find = hiddenFinder(5);
    expect(find([folder, join(folder, 'a')])).toEqual([]);
    mkdirSync(join(folder, 'a/b/.keyturn'));
    expect(find([folder])).toEqual([{ path: join(folder, 'a/b/.keyturn'), folder: true }]);
  });
});
