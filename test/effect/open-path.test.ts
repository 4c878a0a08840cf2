import { chmodSync, closeSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isStillNamed, openPath, requireApart } from '../../src/effect/open-path.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const MISSING = 'SANDBOX_PATH_MISSING';

function open(path: string) {
  const opened = openPath(path, MISSING);
  onTestFinished(() => closeSync(opened.fd));
  return opened;
}

describe('openPath', () => {
  it('opens a folder, and a file that nobody may read', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'file'), '');
    chmodSync(join(folder, 'file'), 0);
    expect(open(folder)).toMatchObject({ path: folder, folder: true });
    expect(open(join(folder, 'file')).folder).toBe(false);
    expect(open(folder).steps.map(({ path }) => path)).toContain('/');
  });

  it('refuses a link at the end and on the way', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'real/sub'), { recursive: true });
    symlinkSync('real', join(folder, 'link'));
    await expectRefusal('FILE_IS_SYMLINK', () => open(join(folder, 'link')));
    await expectRefusal('FILE_IS_SYMLINK', () => open(join(folder, 'link/sub')));
  });

  it('says what is missing', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'file'), '');
    await expectRefusal(MISSING, () => open(join(folder, 'none')));
    await expectRefusal(MISSING, () => open(join(folder, 'file/none')));
    await expectRefusal('FILE_UNREADABLE', () => open(join(folder, 'x'.repeat(300))));
  });

  it('tells whether the name still leads to it', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'data'));
    const data = open(join(folder, 'data'));
    expect(isStillNamed(data)).toBe(true);
    renameSync(join(folder, 'data'), join(folder, 'moved'));
    expect(isStillNamed(data)).toBe(false);
    mkdirSync(join(folder, 'data'));
    expect(isStillNamed(data)).toBe(false);
  });
});

describe('requireApart', () => {
  it('knows what is hidden under another name, and what lies in it', async () => {
    const folder = scratch();
    mkdirSync(join(folder, '.keyturn/keys'), { recursive: true });
    const hidden = open(join(folder, '.keyturn'));
    renameSync(join(folder, '.keyturn'), join(folder, 'data'));
    await expectRefusal('EFFECT_CHANGED', () => requireApart([open(join(folder, 'data'))], [hidden]));
    await expectRefusal('EFFECT_CHANGED', () => requireApart([open(join(folder, 'data/keys'))], [hidden]));
  });

  it('knows a folder that holds it under another name than the masked one', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'p/.keyturn'), { recursive: true });
    const hidden = open(join(folder, 'p/.keyturn'));
    requireApart([open(join(folder, 'p')), open(folder)], [hidden]);
    renameSync(join(folder, 'p'), join(folder, 'data'));
    await expectRefusal('EFFECT_CHANGED', () => requireApart([open(join(folder, 'data'))], [hidden]));
  });
});
