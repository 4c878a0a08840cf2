import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineCounter, parse, parseDocument, stringify } from 'yaml';
import type { Json } from '../../../src/canonical/json.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, shared } from './edit.ts';
import { at, json, jsonKey, jsonObject, pathTo, placesIn } from './written.ts';

const yaml = { format: 'yaml' } as const;

/** Random values as the library writes them, in several manners, with comments between the lines. */
const manner = fc.record({
  indent: fc.constantFrom(2, 3, 4),
  indentSeq: fc.boolean(),
  collectionStyle: fc.constantFrom('any', 'block', 'flow'),
  lineWidth: fc.constantFrom(0, 20, 80),
  crlf: fc.boolean(),
  header: fc.boolean(),
  unended: fc.boolean(),
});

const document = fc
  .tuple(jsonObject, manner)
  .filter(([value]) => !JSON.stringify(value).includes('\\r'))
  .map(([value, { crlf, header, unended, ...how }]) => {
    const body = (header ? '# head\n---\n' : '') + stringify(value, how);
    const text = unended ? body.replace(/\n$/, '') : body;
    return { value, text: crlf ? text.replaceAll('\n', '\r\n') : text };
  })
  // The library does not always write what it can read back, and folds a line within a surrogate pair, which no file can hold.
  .filter(({ value, text }) => isUnicode(text) && isReadable(text, value));

function isUnicode(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

function isReadable(text: string, value: Json): boolean {
  const read = parseDocument(text);
  return read.errors.length === 0 && canonical(read.toJS() as Json) === canonical(value);
}

function canonical(value: Json): string {
  return JSON.stringify(value);
}

describe('any YAML document', () => {
  it('an update changes the value at its place and nothing before or after it', () => {
    fc.assert(
      fc.property(document, fc.nat(), json, ({ value, text }, pick, wanted) => {
        const places = placesIn(value);
        const path = places[pick % places.length]!;
        fc.pre(canonical(at(value, path)) !== canonical(wanted));
        const after = edit(text, { type: 'yaml_update', path: pathTo(path), value: wanted }, yaml);
        expect(canonical(parse(after) as Json)).toBe(canonical(replaced(value, path, wanted)));
        const { prefix, suffix } = shared(text, after);
        const [first, last] = linesOf(text, path);
        expect(prefix).toBeGreaterThanOrEqual(first);
        expect(text.length - suffix).toBeLessThanOrEqual(last);
      }),
      { numRuns: 500 },
    );
  });

  it('a created key is the only change, and is refused the second time', async () => {
    await fc.assert(
      fc.asyncProperty(document, jsonKey, json, async ({ value, text }, key, wanted) => {
        fc.pre(Object.keys(value).length > 0 && !Object.hasOwn(value, key));
        const operation = { type: 'yaml_update', path: pathTo([key]), value: wanted, create: true };
        const after = edit(text, operation, yaml);
        expect(canonical(parse(after) as Json)).toBe(canonical(withKey(value, key, wanted)));
        expect(shared(text, after).prefix + shared(text, after).suffix).toBeGreaterThanOrEqual(
          text.length - 1,
        );
        await expectRefusal('EDIT_KEY_EXISTS', () => edit(after, operation, yaml));
      }),
      { numRuns: 500 },
    );
  });
});

/** From the start of the line of the key to the end of the last line of the value, by the library's own places. */
function linesOf(text: string, path: readonly (string | number)[]): [number, number] {
  const lines = new LineCounter();
  const root = parseDocument(text, { lineCounter: lines });
  const node = root.getIn(path, true) as { range: [number, number, number] } | undefined;
  const [start, , end] = node?.range ?? [0, 0, text.length];
  const key_line = Math.max(lines.linePos(start).line - 1, 1);
  const first = path.length === 0 ? 0 : (lines.lineStarts[key_line - 1] ?? 0);
  const next = text.indexOf('\n', end);
  return [first, next < 0 ? text.length : next + 1];
}

function withKey(object: Record<string, Json>, key: string, value: Json): Json {
  return Object.fromEntries([...Object.entries(object), [key, value]]);
}

function replaced(value: Json, [step, ...rest]: readonly (string | number)[], wanted: Json): Json {
  if (step === undefined) return wanted;
  if (Array.isArray(value)) return value.with(step as number, replaced(value[step as number], rest, wanted));
  const entries = Object.entries(value as object) as [string, Json][];
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === step ? replaced(item, rest, wanted) : item]),
  );
}
