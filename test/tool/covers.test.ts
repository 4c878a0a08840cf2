import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { coveredFiles } from '../../src/effect/covered.ts';
import { createDigests } from '../../src/effect/program.ts';
import { limits } from '../../src/limits.ts';
import { compareEffects, effectBytes, openToolEffect } from '../../src/tool/effect.ts';
import { lintRegistry } from '../../src/tool/registry.ts';
import { prepareRun } from '../../src/tool/run.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, effectOf, registryOf, script, writeRegistry } from './fixture.ts';

const covered = (root: string, ...patterns: string[]) => coveredFiles(root, patterns, createDigests());

/** A folder with these files, each holding its own name. */
function tree(...paths: string[]): string {
  const root = scratch();
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), path);
  }
  return root;
}

describe('covers', () => {
  it('names each file once, sorted, with the digest of its bytes', () => {
    const root = tree('lib/b.py', 'lib/a.py', 'lib/.c.py', 'other/d.py');
    expect(covered(root, 'lib/**', 'lib/*.py')).toEqual([
      ['lib/.c.py', sha256('lib/.c.py')],
      ['lib/a.py', sha256('lib/a.py')],
      ['lib/b.py', sha256('lib/b.py')],
    ]);
  });

  it('follows a link that stays in the project, and refuses one that leads out of it or nowhere', async () => {
    const root = tree('lib/a.py', 'real/b.py');
    symlinkSync('../real/b.py', join(root, 'lib/link.py'));
    symlinkSync('../real', join(root, 'lib/folder'));
    expect(covered(root, 'lib/**').map(([path]) => path)).toEqual([
      'lib/a.py',
      'lib/folder/b.py',
      'lib/link.py',
    ]);
    symlinkSync('/etc/passwd', join(root, 'lib/out'));
    await expectRefusal('FILE_IS_SYMLINK', () => covered(root, 'lib/**'));
    rmSync(join(root, 'lib/out'));
    symlinkSync('/etc', join(root, 'lib/out'));
    await expectRefusal('FILE_IS_SYMLINK', () => covered(root, 'lib/**'));
    rmSync(join(root, 'lib/out'));
    symlinkSync('nowhere', join(root, 'lib/out'));
    await expectRefusal('FILE_NOT_FOUND', () => covered(root, 'lib/**'));
  });

  it('refuses a pattern that matches nothing, also beside one that matches, and one that names a folder', async () => {
    const root = tree('lib/a.py');
    for (const pattern of ['lib/*.rb', 'none/**', 'lib', 'lib/a.py/x', '!lib/a.py'])
      await expectRefusal('COVERS_NOTHING', () => covered(root, 'lib/*.py', pattern));
  });

  it('refuses more files, names or bytes than the limits, without looking at them all', async () => {
    const many = tree(...Array.from({ length: 100 }, (_, i) => `real/${i}`));
    for (let i = 0; i < limits.covered_files / 100; i++) symlinkSync('real', join(many, `link-${i}`));
    await expectRefusal('INPUT_TOO_LARGE', () => covered(many, '*/*'));
    const endless = tree('a');
    for (const name of ['x', 'y']) symlinkSync('.', join(endless, name));
    await expectRefusal('FILE_IS_SYMLINK', () => covered(endless, '**/nothing'));
    const wide = scratch();
    for (let i = 0; i < 17; i++) {
      mkdirSync(join(wide, String(i)));
      for (const name of ['x', 'y']) symlinkSync(`../${i + 1}`, join(wide, String(i), name));
    }
    mkdirSync(join(wide, '17'));
    await expectRefusal('INPUT_TOO_LARGE', () => covered(wide, '0/**/nothing'));
    const large = scratch();
    execFileSync('truncate', ['-s', String(limits.covered_bytes + 1), join(large, 'huge')]);
    await expectRefusal('INPUT_TOO_LARGE', () => covered(large, '*'));
  });

  it('refuses what is not a regular file', async () => {
    const root = tree('lib/a.py');
    execFileSync('mkfifo', [join(root, 'lib/fifo')]);
    await expectRefusal('FILE_NOT_REGULAR', () => covered(root, 'lib/*'));
    symlinkSync('fifo', join(root, 'lib/link'));
    await expectRefusal('FILE_NOT_REGULAR', () => covered(root, 'lib/link'));
  });

  it('refuses a file that changes while it is read', async () => {
    const root = tree('a');
    writeFileSync(join(root, 'a'), 'a'.repeat(100_000));
    const digests = createDigests();
    const of = (fd: number) => digests.of(fd, () => appendFileSync(join(root, 'a'), 'more'));
    await expectRefusal('EFFECT_CHANGED', () => coveredFiles(root, ['a'], { ...digests, of }));
  });

  it("refuses Keyturn's own folder, by name, by pattern and through a link", async () => {
    const root = tree('.keyturn/store.db', 'lib/a');
    symlinkSync('../.keyturn', join(root, 'lib/own'));
    for (const pattern of ['.keyturn/**', '**', '.keyturn/store.db', 'lib/**'])
      await expectRefusal('COVERED_WRITABLE', () => covered(root, pattern));
  });

  it('refuses a pattern that is not a plain path beneath the project', async () => {
    for (const pattern of ['/etc/passwd', '../x', 'a/../b', './a', 'a//b', ''])
      await expectRefusal('REGISTRY_MALFORMED', () => registryOf(scratch(), { ...ENTRY, covers: [pattern] }));
  });

  it('refuses a file that the sandbox lets the tool write', async () => {
    const folder = tree('lib/a.sh', 'out/b');
    const entry = { covers: ['lib/*'], sandbox: { read: ['lib'], write: ['out'] } };
    expect(effectOf(folder, entry).covers?.files).toHaveLength(1);
    rmSync(join(folder, 'tools.yaml'));
    await expectRefusal('COVERED_WRITABLE', () => effectOf(folder, { ...entry, sandbox: { write: ['.'] } }));
  });

  it('survives being stored, and a difference names the files', async () => {
    const folder = tree('lib/a', 'lib/b', 'lib/c');
    const now = () => {
      rmSync(join(folder, 'tools.yaml'), { force: true });
      return effectOf(folder, { covers: ['lib/*'] });
    };
    const approved = openToolEffect(effectBytes(now()));
    compareEffects(approved, now());
    writeFileSync(join(folder, 'lib/a'), 'other');
    writeFileSync(join(folder, 'lib/d'), 'new');
    rmSync(join(folder, 'lib/b'));
    const { message } = await expectRefusal('EFFECT_CHANGED', () => compareEffects(approved, now()));
    expect(message).toContain('changed: lib/a; added: lib/d; gone: lib/b');
  });

  it('is looked at once more just before the tool starts', async () => {
    const folder = tree('lib/a');
    const executable = script(folder, `touch "${folder}/ran"`);
    const prepared = prepareRun(effectOf(folder, { executable, covers: ['lib/*'] }), {
      hidden: [],
      protected: [],
    });
    writeFileSync(join(folder, 'lib/a'), 'other');
    const outcome = await prepared.run();
    prepared.close();
    expect(outcome).toMatchObject({ started: false, error: 'lib/a is not what it was' });
  });

  it('may be said to be nothing, and then lint is silent', () => {
    const folder = scratch();
    script(folder, 'echo hi');
    const tools = [
      { ...ENTRY, name: 'said', executable: './tool.sh', covers: [] },
      { ...ENTRY, name: 'unsaid', executable: '/bin/sh' },
      { ...ENTRY, name: 'through', executable: '/usr/bin/env', args: ['bash', 'run'], parameters: {} },
      { ...ENTRY, name: 'none', executable: '/usr/bin/env', args: ['true'], parameters: {} },
    ];
    expect(lintRegistry(writeRegistry(folder, { version: 1, tools }))).toMatchObject([
      { code: 'COVERS_MISSING', message: expect.stringContaining('"unsaid"') },
      { code: 'COVERS_MISSING', message: expect.stringContaining('"through"') },
    ]);
  });
});
