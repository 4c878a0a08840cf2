import fc from 'fast-check';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Conditions } from '../../src/capability/conditions.ts';
import { canonicalScope, type ResourceScope } from '../../src/capability/scope.ts';

/** Few names, so that paths meet, contain one another and differ by a prefix only. */
const NAMES = ['a', 'b', 'ab', 'a b', 'ä', '..a'];
const below = (walks: readonly string[]) => walks.flatMap((walk) => NAMES.map((name) => `${walk}/${name}`));
const [one, two, three] = [below(['']), below(below([''])), below(below(below([''])))];
const absolute = ['/', ...one, ...two, ...three];

/** All paths of up to three of these names. */
export const EVERY_PATH: readonly string[] = [...absolute, ...absolute.map((path) => path.slice(1) || '.')];

/** Short ones more often, since they cover others. */
const anyPath = fc.oneof(
  fc.constantFrom('/', '.', ...one, ...one.map((path) => path.slice(1))),
  fc.constantFrom(...EVERY_PATH),
);

const anyPaths = fc.array(anyPath, { maxLength: 4 });

/** As an issuer may write it: unsorted, with doubles and entries that others make void. */
export const looseScope: fc.Arbitrary<ResourceScope> = fc.record({
  unconfined: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  network: fc.boolean(),
  read: anyPaths,
  write: anyPaths,
  pipelines: fc.array(fc.constantFrom('build', 'ship', 'test'), { maxLength: 3 }),
});

export const anyScope = looseScope.map(canonicalScope);

const anyHours = fc
  .record({ from: fc.integer({ min: 0, max: 23 }), to: fc.integer({ min: 1, max: 24 }) })
  .filter(({ from, to }) => from !== to);

const times = ['2030-05-06T09:00:00.000Z', '2030-05-06T10:00:00.000Z', '2030-05-06T10:01:00.250Z'];

export const anyConditions: fc.Arbitrary<Conditions> = fc.record(
  {
    not_before: fc.constantFrom(...times),
    environment: fc.constantFrom('prod', 'staging'),
    host: fc.constantFrom('host-1', 'host-2'),
    hours: anyHours,
    files: fc
      .dictionary(
        fc.constantFrom('src/a', 'src/b', '/etc/hosts'),
        fc.constantFrom(sha256('1'), sha256('2'), null),
      )
      .map((files) => ({ ...files })),
  },
  { requiredKeys: [] },
);
