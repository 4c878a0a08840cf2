import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rememberedFile } from '../../src/effect/file-key.ts';
import { scratch } from '../support/scratch.ts';

/** A minute from now, every change of a moment ago has settled. */
const LATER_ms = 60_000;

function watched(ahead_ms = LATER_ms) {
  const path = join(scratch(), 'file');
  writeFileSync(path, 'one');
  let reads = 0;
  const value = rememberedFile(
    path,
    () => {
      reads += 1;
      return readFileSync(path, 'utf8');
    },
    () => Date.now() + ahead_ms,
  );
  return { path, value, reads: () => reads };
}

describe('what was read from a file', () => {
  it('is read once while the file stays as it is', () => {
    const { value, reads } = watched();
    expect([value(), value(), value()]).toEqual(['one', 'one', 'one']);
    expect(reads()).toBe(1);
  });

  it.each<[string, (path: string) => void]>([
    ['was written to', (path) => writeFileSync(path, 'two')],
    [
      'has another in its place',
      (path) => {
        writeFileSync(`${path}.new`, 'two');
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'is a link to another one',
      (path) => {
        writeFileSync(`${path}.new`, 'two');
        rmSync(path);
        symlinkSync(`${path}.new`, path);
      },
    ],
  ])('is read again when the file %s', (_, change) => {
    const { path, value } = watched();
    expect(value()).toBe('one');
    change(path);
    expect(value()).toBe('two');
  });

  it('is read again when only the mode changed: a reader may refuse it for that', () => {
    const { path, value, reads } = watched();
    value();
    chmodSync(path, 0o666);
    value();
    expect(reads()).toBe(2);
  });

  it('is not told once the file is gone', () => {
    const { path, value } = watched();
    value();
    rmSync(path);
    expect(value).toThrow('ENOENT');
    writeFileSync(path, 'two');
    expect(value()).toBe('two');
  });

  it('is read each time while the file is so new that a change might not show', () => {
    const { value, reads } = watched(0);
    value();
    value();
    expect(reads()).toBe(2);
  });
});
