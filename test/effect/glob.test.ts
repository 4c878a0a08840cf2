import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlobs, type GlobState } from '../../src/effect/glob.ts';

/** Walks down to a file as a folder walk does. */
function matches(pattern: string, path: string): boolean {
  const globs = compileGlobs([pattern]);
  const folders = path.split('/');
  const name = folders.pop()!;
  const at = folders.reduce<GlobState>((state, folder) => globs.below(state, folder), globs.start);
  return globs.files(at, name).length > 0;
}

/** The same by a regular expression. */
function byExpression(pattern: string, path: string): boolean {
  const names = pattern.split('/');
  const source = names.map((name, i) => {
    const last = i === names.length - 1;
    if (name === '**') return last ? '[^/]+(?:/[^/]+)*' : '(?:[^/]+/)*';
    const one = name.replace(/[.]/g, '\\.').replace(/\*+/g, '[^/]*').replace(/\?/g, '[^/]');
    return last ? one : `${one}/`;
  });
  return new RegExp(`^${source.join('')}$`).test(path);
}

describe('compileGlobs', () => {
  it.each([
    ['lib/a.py', 'lib/a.py', true],
    ['lib/a.py', 'lib/a_py', false],
    ['lib/*.py', 'lib/.hidden.py', true],
    ['lib/*.py', 'lib/deep/a.py', false],
    ['lib/**', 'lib/deep/er/a', true],
    ['lib/**', 'lib', false],
    ['**/a', 'a', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['?.sh', 'é.sh', true],
    ['[id].ts', '[id].ts', true],
    ['{a,b}', 'a', false],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it('means what a regular expression would', () => {
    const name = fc.stringMatching(/^[ab.]{1,4}$/);
    const step = fc.oneof(fc.stringMatching(/^[ab.*?]{1,5}$/), fc.constant('**'));
    const joined = (part: fc.Arbitrary<string>) =>
      fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(joined(step), joined(name), (pattern, path) => {
        expect(matches(pattern, path)).toBe(byExpression(pattern, path));
      }),
      { numRuns: 2000 },
    );
  });
});
