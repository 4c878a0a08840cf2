import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import {
  type Conditions,
  type ExecutorFacts,
  joinedConditions,
  narrowerConditions,
  parseConditions,
  unmetCondition,
} from '../../src/capability/conditions.ts';
import { expectRefusal } from '../support/refusal.ts';
import { anyConditions } from './arbitrary.ts';
import { NOW } from './sample.ts';

const FILES: Record<string, string> = { 'src/a': sha256('1'), '/etc/hosts': sha256('2') };
const FACTS: ExecutorFacts = {
  now: NOW,
  environment: 'staging',
  host: 'host-1',
  fileDigest: (path) => FILES[path] ?? null,
};

const at = (time: string): ExecutorFacts => ({ ...FACTS, now: new Date(time) });

describe('a condition', () => {
  it.each<[string, Conditions, ExecutorFacts?]>([
    ['nothing is asked', {}],
    ['the time has come', { not_before: '2030-05-06T10:00:00.000Z' }],
    ['it is the environment', { environment: 'staging' }],
    ['it is the host', { host: 'host-1' }],
    ['the hour is the first', { hours: { from: 10, to: 11 } }],
    ['the hour is the last', { hours: { from: 9, to: 11 } }, at('2030-05-06T10:59:59.999Z')],
    ['the hour is before midnight', { hours: { from: 22, to: 6 } }, at('2030-05-06T23:00:00.000Z')],
    ['the hour is after midnight', { hours: { from: 22, to: 6 } }, at('2030-05-06T05:59:59.999Z')],
    ['any hour will do', { hours: { from: 0, to: 24 } }],
    ['files are what they were', { files: { 'src/a': sha256('1'), '/etc/hosts': sha256('2') } }],
    ['a file is still not there', { files: { 'src/new': null } }],
  ])('is met when %s', (_, conditions, facts = FACTS) => {
    expect(parseConditions(conditions)).toEqual(conditions);
    expect(unmetCondition(conditions, facts)).toBeNull();
  });

  it.each<[string, Conditions, RegExp, ExecutorFacts?]>([
    ['the time is a moment away', { not_before: '2030-05-06T10:00:00.001Z' }, /not yet/],
    ['the clock gives no time', { not_before: '1990-01-01T00:00:00.000Z' }, /not yet/, at('never')],
    ['it is another environment', { environment: 'prod' }, /"prod".*"staging"/],
    ['the environment is written in capitals', { environment: 'STAGING' }, /environment/],
    ['it is another host', { host: 'host-10' }, /host/],
    ['the hour is over', { hours: { from: 9, to: 10 } }, /from 9 to 10/],
    ['the hour is to come', { hours: { from: 11, to: 24 } }, /hours/],
    ['it is day and the hours are at night', { hours: { from: 22, to: 6 } }, /hours/],
    ['a clock without a time is asked for an hour', { hours: { from: 22, to: 6 } }, /hours/, at('never')],
    ['a file changed', { files: { 'src/a': sha256('3') } }, /src\/a/],
    ['a file is gone', { files: { 'src/b': sha256('1') } }, /src\/b/],
    ['a file has come', { files: { 'src/a': null } }, /src\/a/],
  ])('is not met when %s', (_, conditions, words, facts = FACTS) => {
    expect(unmetCondition(conditions, facts)).toMatch(words);
  });

  it('says nothing in its words that a terminal would obey', () => {
    expect(unmetCondition({ environment: 'prod' }, { ...FACTS, environment: '\x1b[2J' })).not.toContain(
      '\x1b',
    );
  });

  it.each<[string, unknown]>([
    ['that nobody knows', { weather: 'fair' }],
    ['without a value', { environment: '' }],
    ['with a space in a name', { host: 'host 1' }],
    ['with a time in another zone', { not_before: '2030-05-06T10:00:00.000+02:00' }],
    ['with a time without its milliseconds', { not_before: '2030-05-06T10:00:00Z' }],
    ['with a day that does not exist', { not_before: '2030-02-30T10:00:00.000Z' }],
    ['with an hour 24 to begin', { hours: { from: 24, to: 1 } }],
    ['with an hour 0 to end', { hours: { from: 1, to: 0 } }],
    ['with hours that are none or all', { hours: { from: 5, to: 5 } }],
    ['with half an hour', { hours: { from: 5, to: 5.5 } }],
    ['on a file with a way up', { files: { '../a': null } }],
    ['on a whole disk', { files: { '/': null } }],
    ['on a file with half a digest', { files: { a: 'abc' } }],
    [
      'on too many files',
      { files: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`f${i}`, null])) },
    ],
  ])('is refused %s', async (_, conditions) => {
    await expectRefusal('CAPABILITY_MALFORMED', () => parseConditions(conditions));
  });
});

describe('conditions are narrower', () => {
  it.each<[string, Conditions, Conditions, boolean]>([
    ['the same', { environment: 'a' }, { environment: 'a' }, true],
    ['one more', { environment: 'a', host: 'h' }, { environment: 'a' }, true],
    ['one dropped', { host: 'h' }, { host: 'h', environment: 'a' }, false],
    ['another environment', { environment: 'b' }, { environment: 'a' }, false],
    ['another host', { host: 'b' }, { host: 'a' }, false],
    [
      'a later beginning',
      { not_before: '2030-01-02T00:00:00.000Z' },
      { not_before: '2030-01-01T00:00:00.000Z' },
      true,
    ],
    [
      'an earlier one',
      { not_before: '2030-01-01T00:00:00.000Z' },
      { not_before: '2030-01-02T00:00:00.000Z' },
      false,
    ],
    ['no beginning any more', {}, { not_before: '2030-01-02T00:00:00.000Z' }, false],
    ['fewer hours', { hours: { from: 9, to: 10 } }, { hours: { from: 8, to: 12 } }, true],
    ['more hours', { hours: { from: 8, to: 12 } }, { hours: { from: 9, to: 10 } }, false],
    ['hours of the night in a night', { hours: { from: 1, to: 3 } }, { hours: { from: 22, to: 6 } }, true],
    [
      'a night in the hours after midnight',
      { hours: { from: 22, to: 6 } },
      { hours: { from: 0, to: 6 } },
      false,
    ],
    ['all hours by not naming them', {}, { hours: { from: 0, to: 24 } }, false],
    ['one more file', { files: { a: null, b: null } }, { files: { a: null } }, true],
    ['one file less', { files: { b: null } }, { files: { a: null } }, false],
    ['a file with another digest', { files: { a: sha256('x') } }, { files: { a: null } }, false],
    ['no files any more', {}, { files: { a: null } }, false],
    ['a file that every object seems to have', {}, { files: { constructor: null } }, false],
  ])('%s: from %j within %j is %s', (_, inner, outer, expected) => {
    expect(narrowerConditions(inner, outer)).toBe(expected);
  });

  it('than themselves, and than what is narrower than a third only with the third', () => {
    fc.assert(fc.property(anyConditions, (a) => narrowerConditions(a, a)));
    fc.assert(
      fc.property(anyConditions, anyConditions, anyConditions, (a, b, c) => {
        return !(narrowerConditions(a, b) && narrowerConditions(b, c)) || narrowerConditions(a, c);
      }),
      { numRuns: 3000 },
    );
  });

  it('whatever meets the narrower ones meets the wider ones', () => {
    const facts = fc.record({
      now: fc.date({ min: new Date('2030-05-05'), max: new Date('2030-05-08'), noInvalidDate: true }),
      environment: fc.constantFrom('prod', 'staging'),
      host: fc.constantFrom('host-1', 'host-2'),
      digest: fc.constantFrom(sha256('1'), sha256('2'), null),
    });
    fc.assert(
      fc.property(anyConditions, anyConditions, facts, (added, outer, { digest, ...rest }) => {
        const inner = joinedConditions(outer, added);
        const here = { ...rest, fileDigest: () => digest };
        if (!narrowerConditions(inner, outer) || unmetCondition(inner, here) !== null) return;
        expect(unmetCondition(outer, here)).toBeNull();
      }),
      { numRuns: 5000 },
    );
  });
});
