import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathGlobs } from '../../../src/plan/input/glob.ts';

describe('patterns for paths', () => {
  it.each([
    ['a/*.ts', 'a/b.ts', true],
    ['a/*.ts', 'a/b/c.ts', false],
    ['a/**', 'a', true],
    ['a/**', 'a/b/c', true],
    ['a/**', 'ab', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**/z', 'a/b/c/y', false],
    ['x.txt', 'deep/down/x.txt', true],
    ['*.pem', 'deep/down/x.pem', true],
    ['a?c/d', 'abc/d', true],
    ['a?c/d', 'ac/d', false],
    ['a/*', 'a/', true],
    ['*a*b*/x', 'xaxbx/x', true],
    ['*a*b*/x', 'xbxax/x', false],
    ['A/B', 'a/b', true],
    ['straße/x', 'STRASSE/x', true],
    ['a/b', 'a/b/c', false],
    ['a.b/c', 'aXb/c', false],
    ['a/(b|c)', 'a/b', false],
  ])('%s against %s is %s', (pattern, path, expected) => {
    expect(pathGlobs([pattern]).matches(path)).toBe(expected);
  });

  it('a pattern of many stars ends quickly', () => {
    const stars = `${'**/'.repeat(60)}${'*a'.repeat(60)}`;
    expect(pathGlobs([stars]).matches(`${'a/'.repeat(60)}${'a'.repeat(50)}b`)).toBe(false);
  });

  it('agrees with a regular expression for every small pattern and path', () => {
    const name = fc.stringMatching(/^[ab]{1,3}$/);
    const part = fc.oneof(fc.constant('**'), fc.stringMatching(/^[ab*?]{1,3}$/));
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 2, maxLength: 4 }),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        (parts, names) => {
          expect(pathGlobs([parts.join('/')]).matches(names.join('/'))).toBe(
            expression(parts).test(`${names.join('/')}/`),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });
});

function expression(parts: readonly string[]): RegExp {
  const source = parts.map((part) =>
    part === '**' ? '(?:[^/]+/)*' : `${part.replace(/\*+/g, '[^/]*').replaceAll('?', '[^/]')}/`,
  );
  return new RegExp(`^${source.join('')}$`);
}
