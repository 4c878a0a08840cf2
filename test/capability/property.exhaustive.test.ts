import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attenuate, type Narrower } from '../../src/capability/attenuate.ts';
import { narrowerConditions } from '../../src/capability/conditions.ts';
import { canonicalScope, isScopeWithin } from '../../src/capability/scope.ts';
import { type CapabilityClaims, secondOf } from '../../src/capability/token.ts';
import { openCapability } from '../../src/capability/verify.ts';
import { Refusal } from '../../src/refusal.ts';
import { anyConditions, anyScope, looseScope } from './arbitrary.ts';
import { ann, authorizing, bob, bound, chained, cyd, keys, later, minted, NOW } from './sample.ts';

const HOLDERS = [ann, bob, cyd];

const anyEnd = fc.integer({ min: -10, max: 700 }).map((seconds) => secondOf(later(seconds)));

/** A change of a few things, so that what comes out is sometimes narrower and sometimes wider. */
const anyChange = fc.record({
  end: fc.option(anyEnd, { freq: 2 }),
  scope: looseScope,
  parts: fc.subarray(['unconfined', 'network', 'read', 'write', 'pipelines'] as const, { maxLength: 2 }),
  conditions: anyConditions,
  added: fc.subarray(['not_before', 'environment', 'host', 'hours', 'files'] as const, { maxLength: 2 }),
  dropped: fc.option(fc.constantFrom('not_before', 'environment', 'host', 'hours', 'files'), { freq: 2 }),
  holder: fc.option(fc.constantFrom(...HOLDERS.map(({ public_key }) => public_key))),
});
type Change = typeof anyChange extends fc.Arbitrary<infer T> ? T : never;

const only = <T extends object, K extends keyof T>(value: T, names: readonly K[]): Partial<T> =>
  Object.fromEntries(
    names.filter((name) => name in value).map((name) => [name, value[name]]),
  ) as unknown as Partial<T>;

const without = (value: object, dropped: string | null): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== dropped));

function changed(outer: CapabilityClaims, change: Change): Narrower {
  return {
    scope: { ...outer.scope, ...only(change.scope, change.parts) },
    conditions: only(change.conditions, change.added),
    ...(change.end === null ? {} : { expires_at: change.end }),
    ...(change.holder === null ? {} : { holder: change.holder }),
  };
}

/** The rule itself, in one place: whatever the inner allows, the outer allowed. */
function isNoWider(inner: CapabilityClaims, outer: CapabilityClaims): boolean {
  const { scope, conditions, expires_at, issued_at, holder, ...fixed } = inner;
  expect(outer).toMatchObject(fixed);
  return (
    isScopeWithin(scope, outer.scope) &&
    narrowerConditions(conditions, outer.conditions) &&
    Date.parse(expires_at) <= Date.parse(outer.expires_at) &&
    Date.parse(issued_at) >= Date.parse(outer.issued_at) &&
    (holder !== null || outer.holder === null)
  );
}

/** The result, or `null` when it was refused for being wider. Anything else is a fault. */
function unlessWidened<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'CAPABILITY_WIDENED') return null;
    throw error;
  }
}

const above = (least: number) => expect.toSatisfy((count: number) => count > least);

describe('no attenuation', () => {
  it('makes a capability wider, however many follow one another', async () => {
    let made = 0;
    let widened = 0;
    const steps = fc.array(anyChange, { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(anyScope, anyConditions, steps, (scope, conditions, all) => {
        let text = minted({ scope, conditions, holder: ann.public_key });
        let outer = openCapability(text, keys).claims;
        for (const step of all) {
          const holder = HOLDERS.find((one) => one.public_key === outer.holder)!;
          const next = unlessWidened(() => attenuate(text, holder, changed(outer, step), NOW));
          if (next === null) {
            widened += 1;
            continue;
          }
          const { claims, root } = openCapability(next, keys);
          expect(isNoWider(claims, outer) && isNoWider(claims, root)).toBe(true);
          [text, outer, made] = [next, claims, made + 1];
        }
      }),
      { numRuns: 300 },
    );
    // Otherwise the property says nothing.
    expect({ made, widened }).toEqual({ made: above(50), widened: above(50) });
  });

  it('opens as wider when its holder signs whatever it likes', async () => {
    let opened = 0;
    let widened = 0;
    fc.assert(
      fc.property(anyScope, anyConditions, anyChange, (scope, conditions, change) => {
        const root = minted({ scope, conditions, holder: ann.public_key });
        const { claims } = openCapability(root, keys);
        const text = signedBlindly(root, changed(claims, change), without(claims.conditions, change.dropped));
        const result = unlessWidened(() => openCapability(text, keys));
        if (result !== null) expect(isNoWider(result.claims, result.root)).toBe(true);
        if (result === null) widened += 1;
        else opened += 1;
      }),
      { numRuns: 1500 },
    );
    expect({ opened, widened }).toEqual({ opened: above(50), widened: above(50) });
  });
});

/** Some of the old conditions and the new ones: dropped, replaced and added, as it comes. */
function signedBlindly(root: string, { scope, conditions, expires_at }: Narrower, kept: object): string {
  return chained(root, (block) => ({
    ...authorizing(block, () => ({
      scope: canonicalScope(scope!),
      conditions: { ...kept, ...conditions },
    })),
    ...(expires_at === undefined ? {} : { exp: Date.parse(expires_at) / 1000 }),
    ...bound(bob.public_key),
  }));
}
