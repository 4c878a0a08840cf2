import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinLedger, restoreProject } from '../../src/keyturn.ts';
import { findProject, requireProject } from '../../src/project/layout.ts';
import { createFile, openReadOnly, openToWrite } from '../../src/store/sqlite/open.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** A link lets an attacker say where Keyturn's own files are, past every guard on their names. */

function project(): string {
  const root = scratch();
  mkdirSync(join(root, '.keyturn/keys'), { recursive: true });
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  writeFileSync(join(root, '.keyturn/store.db'), '');
  writeFileSync(join(root, '.keyturn/keys/ledger.seed'), '');
  return root;
}

function turnIntoLink(path: string): void {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
}

describe('a project', () => {
  it('is found from any folder inside it, also when a link leads there', () => {
    const root = project();
    const link = join(scratch(), 'link');
    symlinkSync(root, link);
    expect(findProject(join(root, 'src/deep'))).toBe(root);
    expect(requireProject(root).own).toBe(join(root, '.keyturn'));
    expect(requireProject(join(link, 'src')).root).toBe(link);
  });

  it('is refused when its own folder is a link, also a dangling one', async () => {
    const root = project();
    turnIntoLink(join(root, '.keyturn'));
    await expectRefusal('FILE_IS_SYMLINK', () => findProject(join(root, 'src')));
    await expectRefusal('FILE_IS_SYMLINK', () => requireProject(root));
    const dangling = join(scratch(), 'sub');
    mkdirSync(dangling);
    symlinkSync('nowhere', join(dangling, '.keyturn'));
    await expectRefusal('FILE_IS_SYMLINK', () => findProject(dangling));
  });

  it.each(['store.db', 'keys', 'keys/ledger.seed'])('is refused when its %s is a link', async (name) => {
    const root = project();
    turnIntoLink(join(root, '.keyturn', name));
    await expectRefusal('FILE_IS_SYMLINK', () => requireProject(root));
  });

  it('is missing where there is no such folder', async () => {
    await expectRefusal('PROJECT_MISSING', () => requireProject(scratch()));
  });

  it('that has no files is joined and restored by nobody: what is under version control comes first', async () => {
    const at = scratch();
    const confirm = async () => true;
    await expectRefusal('PROJECT_FILES_MISSING', () => joinLedger({ at, confirm }));
    await expectRefusal('PROJECT_FILES_MISSING', () => restoreProject({ at, from: at, confirm }));
    expect(readdirSync(at)).toEqual([]);
  });
});

describe('a store', () => {
  it.each(['', '-wal', '-shm', '-journal'])('is refused when its file%s is a link', async (suffix) => {
    const path = join(scratch(), 'store.db');
    await createFile(path);
    if (suffix === '') turnIntoLink(path);
    else {
      rmSync(path + suffix, { force: true });
      symlinkSync('elsewhere', path + suffix);
    }
    await expectRefusal('FILE_IS_SYMLINK', () => openToWrite(path));
    await expectRefusal('FILE_IS_SYMLINK', () => openReadOnly(path));
  });
});
