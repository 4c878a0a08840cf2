import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalScope, isScopeWithin, parseScope, type ResourceScope } from '../../src/capability/scope.ts';
import { expectRefusal } from '../support/refusal.ts';
import { anyScope, EVERY_PATH, looseScope } from './arbitrary.ts';
import { NOTHING } from './sample.ts';

const reading = (...read: string[]): ResourceScope => ({ ...NOTHING, read });
const writing = (...write: string[]): ResourceScope => ({ ...NOTHING, write });
const UNCONFINED: ResourceScope = { ...NOTHING, unconfined: true, network: true };

describe('a path of a scope', () => {
  it.each([
    ['/srv/data', '/srv/data', true],
    ['/srv/data/deep/er', '/srv/data', true],
    ['/srv/database', '/srv/data', false],
    ['/srv/data2/x', '/srv/data', false],
    ['/srv', '/srv/data', false],
    ['/srv/data', '/', true],
    ['/', '/srv', false],
    ['/', '/', true],
    ['src/a.ts', 'src', true],
    ['src', '.', true],
    ['.', 'src', false],
    ['.', '.', true],
    ['srcs', 'src', false],
    ['src/a.ts', '/', false],
    ['/src', '.', false],
    ['/srv/Data', '/srv/data', false],
    ['/srv/é', '/srv/e\u0301', false],
    ['/srv/\uff0e\uff0e/etc', '/etc', false],
    ['/srv/..data', '/srv', true],
    ['/srv/…', '/srv', true],
  ])('"%s" is within "%s": %s', (narrow, wide, expected) => {
    expect(isScopeWithin(reading(narrow), reading(wide))).toBe(expected);
    expect(isScopeWithin(writing(narrow), writing(wide))).toBe(expected);
  });

  it.each([
    '',
    '..',
    '/..',
    '/srv/../etc',
    '/srv/..',
    '../etc',
    'src/../../etc',
    '/srv/./data',
    './src',
    'src/.',
    '/srv//data',
    '//srv',
    '/srv/',
    'src/',
    '/srv/\0/etc',
    '/srv/a\nb',
    '/srv/\x7f',
    '/srv/\ud800',
    `/${'x'.repeat(5000)}`,
  ])('is refused when it is %j', async (path) => {
    await expectRefusal('CAPABILITY_MALFORMED', () => parseScope(reading(path)));
    await expectRefusal('CAPABILITY_MALFORMED', () => canonicalScope(writing(path)));
  });
});

describe('a scope', () => {
  it('lets what may be written be read, and not the other way', () => {
    expect(isScopeWithin(reading('/srv/x'), writing('/srv'))).toBe(true);
    expect(isScopeWithin(writing('/srv/x'), reading('/srv'))).toBe(false);
  });

  it('keeps what is only to be read inside of what may be written', () => {
    const carved = { ...NOTHING, read: ['/srv/conf'], write: ['/srv'] };
    expect(parseScope(carved)).toEqual(carved);
    expect(isScopeWithin(writing('/srv'), carved)).toBe(false);
    expect(isScopeWithin(writing('/srv/conf/x'), carved)).toBe(false);
    expect(isScopeWithin(writing('/srv/data'), carved)).toBe(true);
    expect(isScopeWithin(carved, writing('/srv'))).toBe(true);
  });

  it('without a network is within one with it, and not the other way', () => {
    const online = { ...NOTHING, network: true };
    expect(isScopeWithin(NOTHING, online)).toBe(true);
    expect(isScopeWithin(online, NOTHING)).toBe(false);
  });

  it('without a sandbox covers every path and the network but no pipeline', () => {
    expect(isScopeWithin({ ...writing('/', '.'), network: true }, UNCONFINED)).toBe(true);
    expect(isScopeWithin(UNCONFINED, { ...writing('/', '.'), network: true })).toBe(false);
    expect(isScopeWithin({ ...NOTHING, pipelines: ['ship'] }, UNCONFINED)).toBe(false);
    expect(
      isScopeWithin({ ...UNCONFINED, pipelines: ['ship'] }, { ...UNCONFINED, pipelines: ['test'] }),
    ).toBe(false);
  });

  it('covers the pipelines that it names, by their whole name', () => {
    const both = { ...NOTHING, pipelines: ['ship', 'test'] };
    expect(isScopeWithin({ ...NOTHING, pipelines: ['ship'] }, both)).toBe(true);
    expect(isScopeWithin(both, { ...NOTHING, pipelines: ['ship'] })).toBe(false);
    expect(isScopeWithin({ ...NOTHING, pipelines: ['shipping'] }, both)).toBe(false);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['an unknown key', { ...NOTHING, sudo: true }],
    ['a missing key', { ...NOTHING, write: undefined }],
    ['a word for a boolean', { ...NOTHING, network: 'no' }],
    ['one path for a list', { ...NOTHING, read: '/srv' }],
    ['a double path', reading('/a', '/a')],
    ['paths in another order', reading('/b', '/a')],
    ['a path inside another', reading('/a', '/a/b')],
    ['reading what may be written', { ...NOTHING, read: ['/a'], write: ['/a'] }],
    ['paths beside no sandbox', { ...UNCONFINED, write: ['/srv'] }],
    ['no sandbox without the network', { ...UNCONFINED, network: false }],
    ['a pipeline that is no name', { ...NOTHING, pipelines: ['../ship'] }],
    ['too many paths', reading(...Array.from({ length: 257 }, (_, i) => `/${1000 + i}`))],
  ])('is refused when it is %s', async (_, scope) => {
    await expectRefusal('CAPABILITY_MALFORMED', () => parseScope(scope));
  });

  it('has one form, which says the same', () => {
    fc.assert(
      fc.property(looseScope, (scope) => {
        const form = canonicalScope(scope);
        expect(parseScope(form)).toEqual(form);
        expect(canonicalScope(form)).toEqual(form);
        expect(isScopeWithin(form, scope) && isScopeWithin(scope, form)).toBe(true);
      }),
    );
  });
});

describe('being within is a partial order', () => {
  it('each scope is within itself', () => {
    fc.assert(fc.property(anyScope, (a) => isScopeWithin(a, a)));
  });

  it('two scopes within each other are one', () => {
    fc.assert(
      fc.property(anyScope, anyScope, (a, b) => {
        if (isScopeWithin(a, b) && isScopeWithin(b, a)) expect(a).toEqual(b);
      }),
      { numRuns: 2000 },
    );
  });

  it('what is within something within a third is within the third', () => {
    fc.assert(
      fc.property(
        anyScope,
        anyScope,
        anyScope,
        (a, b, c) => !(isScopeWithin(a, b) && isScopeWithin(b, c)) || isScopeWithin(a, c),
      ),
      { numRuns: 5000 },
    );
  });

  it('agrees with asking at every path there is', () => {
    fc.assert(
      fc.property(anyScope, anyScope, (a, b) => {
        expect(isScopeWithin(a, b)).toBe(isWithinEverywhere(a, b));
      }),
      { numRuns: 1000 },
    );
  });
});

/** The same question, asked slowly and without the code under test. */
function isWithinEverywhere(a: ResourceScope, b: ResourceScope): boolean {
  if (a.pipelines.some((name) => !b.pipelines.includes(name))) return false;
  if (!b.unconfined && (a.unconfined || (a.network && !b.network))) return false;
  return EVERY_PATH.every((path) => allowed(a, path) <= allowed(b, path));
}

function allowed(scope: ResourceScope, path: string): number {
  if (scope.unconfined) return 2;
  const above = [...scope.read, ...scope.write].filter((entry) => covers(entry, path));
  const deepest = above.sort((a, b) => depth(b) - depth(a))[0];
  if (deepest === undefined) return 0;
  return scope.write.includes(deepest) ? 2 : 1;
}

const depth = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.').length;

function covers(entry: string, path: string): boolean {
  if (entry === '/') return path.startsWith('/');
  if (entry === '.') return !path.startsWith('/');
  return `${path}/`.startsWith(`${entry}/`);
}
