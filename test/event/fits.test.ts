import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../../src/canonical/json.ts';
import { type Event, eventIn, parseEvent } from '../../src/event/event.ts';
import { Refusal } from '../../src/refusal.ts';
import { lived } from '../fold/lived.ts';

/** A value of JSON with one member of it changed, added or taken out. */
function changed(value: unknown, pick: number, other: unknown): unknown {
  if (typeof value !== 'object' || value === null) return other;
  const keys = Object.keys(value);
  const key = keys[pick % (keys.length + 1)] ?? 'added';
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  if (pick % 7 === 0) delete copy[key];
  else copy[key] = pick % 3 === 0 ? changed(copy[key], pick >> 3, other) : other;
  return copy;
}

function answerOf(act: () => Event): string {
  try {
    return canonicalText(act());
  } catch (error) {
    if (error instanceof Refusal) return `${error.code} ${error.message}`;
    throw error;
  }
}

describe('an event that is read back', () => {
  const good = lived();
  const others = fc.constantFrom(
    null,
    '',
    'x',
    'a'.repeat(64),
    0,
    -1,
    1.5,
    2 ** 53,
    true,
    [],
    {},
    [null],
    ['x'],
  );

  it('is what its schema makes of it, or refused as by its schema', () => {
    for (const event of good) expect(answerOf(() => eventIn(event))).toBe(answerOf(() => parseEvent(event)));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(), others, (i, pick, other) => {
        const { kind, subject, body } = good[i]!;
        const event = JSON.parse(JSON.stringify({ kind, subject, body: changed(body, pick, other) }));
        expect(answerOf(() => eventIn(event))).toBe(answerOf(() => parseEvent(event)));
      }),
      { numRuns: 3000 },
    );
  });

  it('of no kind that exists is refused', () => {
    for (const kind of ['no.such', 'toString', '__proto__'])
      expect(answerOf(() => eventIn({ kind, subject: 'x', body: {} }))).toMatch(/^SHAPE_INVALID/);
  });
});
