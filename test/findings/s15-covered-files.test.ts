import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../src/refusal.ts';
import { deriveEffect, effectDigest } from '../../src/tool/effect.ts';
import { lintRegistry, loadRegistry } from '../../src/tool/registry.ts';
import { toolNamed } from '../../src/tool/select.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, script, writeRegistry } from '../tool/fixture.ts';

/** A script that loads a file, and the digest of what calling it would do. */
function interpreted(entry: object): { folder: string; digest: () => string } {
  const folder = scratch();
  mkdirSync(join(folder, 'lib'));
  writeFileSync(join(folder, 'lib/names.sh'), 'NAME=Ada\n');
  script(folder, '. ./lib/names.sh; echo "$NAME"');
  const tool = { ...ENTRY, executable: './tool.sh', args: [], parameters: {}, ...entry };
  const path = writeRegistry(folder, { version: 1, tools: [tool] });
  const digest = () => {
    try {
      const registry = loadRegistry(path);
      return effectDigest(
        deriveEffect({ registry, tool: toolNamed(registry, 'say'), arguments: {}, root: folder }),
      );
    } catch (error) {
      return (error as Refusal).code;
    }
  };
  return { folder, digest };
}

describe('S15: files that a script loads can be part of what is approved', () => {
  it.each([
    ['changed', (folder: string) => writeFileSync(join(folder, 'lib/names.sh'), 'NAME=Eve\n')],
    ['added', (folder: string) => writeFileSync(join(folder, 'lib/more.sh'), '')],
    [
      'renamed',
      (folder: string) => {
        rmSync(join(folder, 'lib/names.sh'));
        writeFileSync(join(folder, 'lib/other.sh'), 'NAME=Ada\n');
      },
    ],
  ])('the digest is another one when a covered file is %s', (_, change) => {
    const { folder, digest } = interpreted({ covers: ['lib/*.sh'] });
    const before = digest();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(digest()).toBe(before);
    change(folder);
    expect(digest()).toMatch(/^[0-9a-f]{64}$/);
    expect(digest()).not.toBe(before);
  });

  it.each([
    ['a file', 'lib/more.sh', '../out/more.sh'],
    ['a folder', 'lib/more', '../out'],
    ['a folder around it', 'lib/more', '..'],
  ])('a link to %s that the tool may write covers nothing', (_, link, target) => {
    const { folder, digest } = interpreted({ covers: ['lib/**'], sandbox: { write: ['out'] } });
    mkdirSync(join(folder, 'out'));
    writeFileSync(join(folder, 'out/more.sh'), '');
    expect(digest()).toMatch(/^[0-9a-f]{64}$/);
    symlinkSync(target, join(folder, link));
    expect(digest()).toBe('COVERED_WRITABLE');
  });

  it('lint warns about an interpreted tool that does not say what it loads', () => {
    const folder = scratch();
    script(folder, 'echo hi');
    const tools = [
      { ...ENTRY, name: 'script', executable: './tool.sh' },
      { ...ENTRY, name: 'binary', executable: '/bin/echo' },
    ];
    const found = lintRegistry(writeRegistry(folder, { version: 1, tools }));
    expect(found.map(({ code }) => code as string)).toEqual(['COVERS_MISSING']);
    expect(found[0]!.message).toContain('"script"');
    chmodSync(join(folder, 'tools.yaml'), 0o644);
  });
});
