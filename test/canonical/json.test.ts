import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalBytes,
  canonicalText,
  canonicalTextOfParsed,
  decodeUtf8,
  isSameJson,
  parseCanonical,
  parseJson,
} from '../../src/canonical/json.ts';
import { isSurelyCanonical } from '../../src/canonical/length.ts';
import { limits } from '../../src/limits.ts';
import { type ReasonCode, Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';

/** Plain JSON as the guard allows it. */
const plain = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 5 })
  .map((value) => JSON.parse(JSON.stringify(value)))
  .filter((value) => !JSON.stringify(value).includes('\\u0000'))
  .filter((value) => !JSON.stringify(value).match(/\\ud[89a-f]/))
  .filter((value) => !JSON.stringify(value).includes('"__proto__":'))
  .filter((value) => onlySafeNumbers(value));

function onlySafeNumbers(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(onlySafeNumbers);
}

/** The same value with the keys of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
}

/** Keys that JavaScript orders by itself, among keys that it does not. */
const indexed = fc.dictionary(
  fc.oneof(fc.nat(20).map(String), fc.constantFrom('a', '', '01', '-1', '4294967295', 'Z')),
  plain,
);

describe('canonical bytes', () => {
  it('are those of the library, whatever the keys look like', () => {
    fc.assert(fc.property(plain, (value) => canonicalText(value) === canonicalize(value)));
    fc.assert(fc.property(indexed, (value) => canonicalText({ value }) === canonicalize({ value })));
    expect(canonicalText({ b: 1, 10: 2, 9: 3, a: 4 })).toBe('{"10":2,"9":3,"a":4,"b":1}');
  });

  it('are those of RFC 8785 section 3.2.2', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalText(parseJson(sample))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sort keys by UTF-16 code units, as RFC 8785 section 3.2.3 does', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const text = canonicalText(Object.fromEntries(keys.map((key) => [key, 0])));
    const order = [...text.matchAll(/"((?:[^"\\]|\\.)+)":/g)].map(([, key]) => JSON.parse(`"${key}"`));
    expect(order).toEqual(['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  it('do not depend on the order of keys', () => {
    fc.assert(fc.property(plain, (value) => canonicalText(shuffled(value)) === canonicalText(value)));
  });

  it('mean the value they were made from, and are a fixed point', () => {
    fc.assert(
      fc.property(plain, (value) => {
        const bytes = canonicalBytes(value);
        const back = parseJson(bytes);
        expect(back).toEqual(value);
        expect(canonicalBytes(back)).toEqual(bytes);
      }),
    );
  });

  it('differ for values that differ', () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(canonicalText(a) === canonicalText(b)).toBe(isSame(a, b));
      }),
    );
  });

  it('write minus zero as zero', () => {
    expect(canonicalText([-0])).toBe('[0]');
  });

  it('are never made of a key called __proto__, however it is written', async () => {
    for (const text of ['{"__proto__":{"a":1}}', '[{"\\u005f_proto__":null}]', '{"a":{"__proto__":1}}'])
      await expectRefusal('JSON_NOT_PLAIN', () => parseJson(text));
    expect(canonicalText(parseJson('{"proto":{"constructor":1}}'))).toBe('{"proto":{"constructor":1}}');
  });
});

function isSame(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b);
    return true;
  } catch {
    return false;
  }
}

describe('the guard refuses what is not plain JSON:', () => {
  const hidden = (key: string, value: unknown) => Object.defineProperty([1], key, { value });
  const cases: [string, ReasonCode, () => unknown][] = [
    ['undefined', 'JSON_NOT_PLAIN', () => undefined],
    ['an undefined field', 'JSON_NOT_PLAIN', () => ({ a: undefined })],
    ['a function', 'JSON_NOT_PLAIN', () => ({ a: () => 1 })],
    ['a symbol', 'JSON_NOT_PLAIN', () => [Symbol('a')]],
    ['a symbol as a key', 'JSON_NOT_PLAIN', () => ({ [Symbol('a')]: 1 })],
    ['a bigint', 'JSON_NOT_PLAIN', () => 1n],
    ['a date', 'JSON_NOT_PLAIN', () => new Date(0)],
    ['a map', 'JSON_NOT_PLAIN', () => new Map()],
    ['bytes', 'JSON_NOT_PLAIN', () => Buffer.from('a')],
    ['an inherited toJSON', 'JSON_NOT_PLAIN', () => Object.create({ toJSON: () => 'other' })],
    ['an own toJSON', 'JSON_NOT_PLAIN', () => ({ toJSON: () => 'other' })],
    ['a hidden toJSON of an array', 'JSON_NOT_PLAIN', () => hidden('toJSON', () => 'other')],
    ['a hidden map of an array', 'JSON_NOT_PLAIN', () => hidden('map', () => ['other'])],
    ['a key that would set the prototype', 'JSON_NOT_PLAIN', () => [JSON.parse('{"__proto__":{"a":1}}')]],
    ['a hidden key', 'JSON_NOT_PLAIN', () => Object.defineProperty({}, 'a', { value: 1, enumerable: false })],
    [
      'a getter',
      'JSON_NOT_PLAIN',
      () => ({
        get a() {
          return 1;
        },
      }),
    ],
    [
      'a getter in an array',
      'JSON_NOT_PLAIN',
      () => Object.defineProperty([1], 0, { get: () => 1, enumerable: true }),
    ],
    ['a proxy', 'JSON_NOT_PLAIN', () => new Proxy({}, {})],
    ['a proxy of an array', 'JSON_NOT_PLAIN', () => new Proxy([], {})],
    ['an array with a hole', 'JSON_NOT_PLAIN', () => new Array(1)],
    ['an array with a hole and a name', 'JSON_NOT_PLAIN', () => Object.assign(new Array(1), { a: 1 })],
    ['an array with a name', 'JSON_NOT_PLAIN', () => Object.assign([1], { a: 1 })],
    ['a subclass of Array', 'JSON_NOT_PLAIN', () => new (class Own extends Array {})()],
    ['NaN', 'JSON_BAD_NUMBER', () => [Number.NaN]],
    ['infinity', 'JSON_BAD_NUMBER', () => [Number.POSITIVE_INFINITY]],
    ['an unsafe integer', 'JSON_BAD_NUMBER', () => [2 ** 53]],
    ['a lone surrogate', 'JSON_BAD_STRING', () => ['\ud800']],
    ['a lone surrogate in a key', 'JSON_BAD_STRING', () => ({ '\udc00': 1 })],
    ['a NUL', 'JSON_BAD_STRING', () => ['a\0b']],
    ['a string that is too long', 'INPUT_TOO_LARGE', () => 'a'.repeat(limits.json_string_chars + 1)],
    ['nesting that is too deep', 'JSON_TOO_DEEP', () => nested(limits.json_depth + 1)],
    ['a cycle', 'JSON_TOO_DEEP', cycle],
  ];
  it.each(cases)('%s', async (_name, code, make) => {
    await expectRefusal(code, () => canonicalText(make()));
  });

  it('and accepts the deepest and the longest that it may', () => {
    expect(canonicalText(nested(limits.json_depth))).toHaveLength(2 * limits.json_depth);
    expect(canonicalText('a'.repeat(limits.json_string_chars))).toHaveLength(limits.json_string_chars + 2);
  });
});

function nested(depth: number): unknown {
  let value: unknown[] = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}

function cycle(): unknown {
  const loop: unknown[] = [];
  loop.push(loop);
  return loop;
}

describe('parsed values', () => {
  it('have the canonical text that they have as any value', () => {
    fc.assert(fc.property(plain, (value) => canonicalTextOfParsed(value) === canonicalText(value)));
  });

  it('have it for keys that only together look like one that is refused or escaped', () => {
    for (const value of [
      { a__pro: 1, to__b: 2 },
      { 'x"': 1, y: 2 },
      { 'b\\': 1, n: 2 },
      { '\u{1f511}': 1, a: 2 },
    ])
      expect(canonicalTextOfParsed(value)).toBe(canonicalText(value));
  });

  it.each([
    ['a lone surrogate', 'JSON_BAD_STRING', { a: '\ud800' }],
    ['a NUL', 'JSON_BAD_STRING', ['a\0b']],
    ['nothing at a key', 'JSON_NOT_PLAIN', { a: undefined }],
    ['a key called __proto__', 'JSON_NOT_PLAIN', JSON.parse('{"a":1,"__proto__":1}')],
    ['a lone surrogate in a key', 'JSON_BAD_STRING', { '\ud83d': 1, '\udd11': 2 }],
  ] as const)('have none with %s', async (_name, code, value) => {
    await expectRefusal(code, () => canonicalTextOfParsed(value));
  });

  it('are the same where their canonical texts are', () => {
    const near = fc
      .tuple(plain, plain)
      .chain(([a, b]) => fc.constantFrom([a, shuffled(a)], [a, b], [[a], [b]]));
    fc.assert(fc.property(near, ([a, b]) => isSameJson(a, b) === (canonicalText(a) === canonicalText(b))));
    for (const [a, b] of [
      [[], {}],
      [{ a: 1 }, { b: 1 }],
      [{ a: null }, {}],
      [[1], [1, 2]],
      [null, {}],
      [{ toString: 1 }, { valueOf: 1 }],
    ])
      expect([isSameJson(a, b), isSameJson(b, a)]).toEqual([false, false]);
  });
});

describe('a canonical text', () => {
  const answerOf = (text: string) => {
    try {
      return parseCanonical(Buffer.from(text)) !== undefined;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };

  const written = fc
    .tuple(
      plain,
      fc.constantFrom(canonicalText, JSON.stringify, (value: unknown) => JSON.stringify(value, null, 1)),
    )
    .map(([value, write]) => write(shuffled(value)));

  it('is told from every other text of the same value', () => {
    fc.assert(
      fc.property(written, (text) => {
        const value = parseJson(text);
        const expected = canonicalText(value) === text ? value : undefined;
        expect(parseCanonical(Buffer.from(text))).toEqual(expected);
      }),
    );
  });

  /** Texts of numbers and strings in all their spellings, with spaces that could make up for a shorter one. */
  const scalar = fc.constantFrom(
    ...['0', '-0', '100', '1e2', '1E2', '1e+2', '10000', '1e4', '0.5', '5e-1', '86400', '864e2', '1.0'],
    ...[
      '"\\""',
      '"\\u0022"',
      '"\\n"',
      '"\\u000a"',
      '"\\u0001"',
      '"/"',
      '"\\/"',
      '"a1e2"',
      '":1e2"',
      '"é"',
      '"\\u00e9"',
    ],
    ...['"😀"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\u0000"', 'true', 'null'],
  );
  const space = fc.constantFrom('', '', '', ' ', '\n', '  ');
  const spelled = fc
    .array(fc.tuple(space, fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\n"', '"1"'), space, scalar), {
      maxLength: 4,
    })
    .map(
      (members) =>
        `{${members.map(([one, key, other, value]) => `${one}${key}:${other}${value}`).join(',')}}`,
    );

  it('is told from every other spelling', () => {
    const isCanonical = (text: string) => {
      try {
        return canonicalText(parseJson(text)) === text;
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
    };
    fc.assert(
      fc.property(spelled, (text) => answerOf(text) === isCanonical(text)),
      { numRuns: 3_000 },
    );
  });

  it.each(['{"a":"\\"b\\"","c":86400}', '["\\n\\u0001",300,"1e2"]'])('is seen at once: %s', (text) => {
    expect(isSurelyCanonical(text, JSON.parse(text))).toBe(true);
  });

  it.each([
    ['{"1":0,"a":0}', true],
    ['{"10":0,"9":0}', true],
    ['{"9":0,"10":0}', false],
    ['{"b":0,"a":0}', false],
    ['[{"b":{"d":0,"c":0}}]', false],
    ['{"a": 0}', false],
    ['["\\u0061"]', false],
    ['{"a":0,"1":0}', false],
    ['{"a":0,"a":0}', false],
    ['{"a":0,"b":1e2}', false],
    ['{"a":0,"b":1000000000,"c":0}', true],
    ['{"a":0,"a":1e9}', false],
    ['{"a":0,"a":0,"b":1e9}', false],
    ['[-0]', false],
    ['[0.5,1e-7]', true],
    ['1.0', false],
    ['null', true],
  ])('%s: %s', (text, is_canonical) => {
    expect(answerOf(text)).toBe(is_canonical);
  });
});

describe('parsing refuses', () => {
  const cases: [string, ReasonCode, string | Uint8Array][] = [
    ['nothing', 'JSON_MALFORMED', ''],
    ['half a document', 'JSON_MALFORMED', '{"a":'],
    ['two documents', 'JSON_MALFORMED', '{}{}'],
    ['a byte order mark', 'JSON_MALFORMED', Buffer.from('\ufeff{}')],
    ['invalid UTF-8', 'INPUT_NOT_UTF8', Buffer.from([0x22, 0xff, 0x22])],
    ['an overlong UTF-8 form', 'INPUT_NOT_UTF8', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['nesting 10,000 deep', 'JSON_TOO_DEEP', '['.repeat(10_000)],
    ['nesting one too deep', 'JSON_TOO_DEEP', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['nesting 10,000 deep that ends', 'JSON_TOO_DEEP', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['an escaped lone surrogate', 'JSON_BAD_STRING', '["\\ud800"]'],
    ['a lone surrogate in a text', 'JSON_BAD_STRING', '["\ud800"]'],
    ['an escaped lone surrogate in a key', 'JSON_BAD_STRING', '{"\\udc00":1}'],
    ['the key of the prototype', 'JSON_NOT_PLAIN', '{"__proto__":1}'],
    ['an escaped NUL', 'JSON_BAD_STRING', '["\\u0000"]'],
    ['a number that overflows', 'JSON_BAD_NUMBER', '[1e400]'],
    ['an integer that is not exact', 'JSON_BAD_NUMBER', '[9007199254740993]'],
    ['a duplicate key', 'JSON_DUPLICATE_KEY', '{"a":1,"a":1}'],
    ['a duplicate key behind an escape', 'JSON_DUPLICATE_KEY', '{"a":1,"\\u0061":2}'],
    ['a duplicate key deep inside', 'JSON_DUPLICATE_KEY', '[{"b":{"a":[{}],"c":1 , "a" : 2}}]'],
    ['a document that is too large', 'INPUT_TOO_LARGE', Buffer.alloc(limits.json_bytes + 1, 0x20)],
    ['a text that is too large', 'INPUT_TOO_LARGE', ' '.repeat(limits.json_bytes + 1)],
  ];
  it.each(cases)('%s', async (_name, code, input) => {
    await expectRefusal(code, () => parseJson(input));
  });

  it('a duplicate key wherever it stands and however it is written', async () => {
    const key = fc.string({
      minLength: 1,
      maxLength: 3,
      unit: fc.constantFrom('a', '"', '\\', ':', '{', ','),
    });
    const member = fc.tuple(key, fc.boolean(), plain);
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 5 }), async (members) => {
        const text = `{${members.map(([k, escaped, v]) => `${written(k, escaped)}:${JSON.stringify(v)}`).join(' ,')}}`;
        const keys = members.map(([k]) => k);
        if (new Set(keys).size < keys.length)
          await expectRefusal('JSON_DUPLICATE_KEY', () => parseJson(text));
        else expect(parseJson(text)).toEqual(Object.fromEntries(members.map(([k, , v]) => [k, v])));
      }),
    );
  });

  it('no text that only looks as if it had duplicate keys', () => {
    expect(parseJson('{"a":{"a":["a","a",":"]},"b":"\\",\\"a\\":1"}')).toEqual({
      a: { a: ['a', 'a', ':'] },
      b: '","a":1',
    });
  });
});

function written(key: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(key);
  return `"${[...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('decodeUtf8', () => {
  it('reads a view of a larger buffer at its own place', () => {
    expect(decodeUtf8(Buffer.from('xxäöyy').subarray(2, 6), 10)).toBe('äö');
  });
});
