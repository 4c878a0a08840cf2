import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type CodeCache,
  isWorthKeeping,
  readCodeCache,
  type ScriptFile,
  writeCodeCache,
} from '../../src/cli/code-cache.ts';
import { limits } from '../../src/limits.ts';
import { freshFolder } from '../support/scratch.ts';

describe('a cache of code', () => {
  const folder = freshFolder('keyturn-code-');
  const path = join(folder, 'script.js');
  const beside = `${path}.cache`;
  const cache: CodeCache = { data: Buffer.from('code of V8'), parts: new Set(['./main.js', './list.js']) };
  const script = (): ScriptFile => ({ path, stats: statSync(path) });
  /** The same script, owned by another user. */
  const foreign = (): ScriptFile => {
    const stats: Stats = statSync(path);
    stats.uid += 1;
    return { path, stats };
  };

  beforeEach(() => {
    rmSync(beside, { force: true });
    writeFileSync(path, '1');
    writeCodeCache(script(), () => cache);
    expect(readCodeCache(script())).toEqual(cache);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is a file that only its owner may write', () => {
    expect((statSync(beside).mode & 0o777).toString(8)).toBe('644');
    expect(readdirSync(folder)).toEqual(['script.js', 'script.js.cache']);
  });

  it('is not read with any bit changed, and with no byte less or more', () => {
    const whole = readFileSync(beside);
    for (let bit = 0; bit < whole.length * 8; bit += 1) {
      const changed = Buffer.from(whole);
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
      writeFileSync(beside, changed);
      expect(readCodeCache(script())).toBeNull();
    }
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(beside, whole.subarray(0, length));
      expect(readCodeCache(script())).toBeNull();
    }
    writeFileSync(beside, Buffer.concat([whole, Buffer.from([0])]));
    expect(readCodeCache(script())).toBeNull();
  });

  it('of another owner than its script is not read', () => {
    expect(readCodeCache(foreign())).toBeNull();
  });

  it.each(['664', '646', '666'])('that others may write (%s) is not read', (mode) => {
    chmodSync(beside, Number.parseInt(mode, 8));
    expect(readCodeCache(script())).toBeNull();
  });

  it('that is a symbolic link, a folder or too large is not read', () => {
    const bytes = readFileSync(beside);
    rmSync(beside);
    writeFileSync(join(folder, 'elsewhere'), bytes);
    symlinkSync('elsewhere', beside);
    expect(readCodeCache(script())).toBeNull();
    rmSync(beside);
    symlinkSync('.', beside);
    expect(readCodeCache(script())).toBeNull();
    rmSync(beside);
    writeFileSync(beside, Buffer.alloc(limits.code_cache_bytes + 1));
    expect(readCodeCache(script())).toBeNull();
    rmSync(join(folder, 'elsewhere'));
  });

  it('of a script that was changed since is not read', () => {
    writeFileSync(path, '2');
    utimesSync(path, new Date(), new Date(Date.now() - 60_000));
    expect(readCodeCache(script())).toBeNull();
  });

  it('grows by what it does not know, until it is full', () => {
    const full: CodeCache = { ...cache, data: Buffer.alloc(limits.code_cache_full_bytes) };
    expect(isWorthKeeping(['./main.js'], null)).toBe(true);
    expect(isWorthKeeping(['./main.js', './show.js'], cache)).toBe(true);
    expect(isWorthKeeping(['./main.js'], cache)).toBe(false);
    expect(isWorthKeeping(['./main.js', './show.js'], full)).toBe(false);
  });

  it('is not written beside a script of another owner', () => {
    rmSync(beside);
    writeCodeCache(foreign(), () => cache);
    expect(readdirSync(folder)).toEqual(['script.js']);
  });

  it('that cannot be made, or has no place, is no error and leaves nothing', () => {
    const before = readFileSync(beside);
    writeCodeCache(script(), () => {
      throw new Error('V8 has none');
    });
    expect(readFileSync(beside)).toEqual(before);
    writeCodeCache({ ...script(), path: join(folder, 'absent', 'script.js') }, () => cache);
    expect(readdirSync(folder)).toEqual(['script.js', 'script.js.cache']);
  });
});
