import fc from 'fast-check';
import type { Json } from '../../../src/canonical/json.ts';

/** Random JSON documents in random writing, for the properties of the edits. */

/** Not `__proto__`: a value with that key is refused before it reaches an edit. */
const key = fc.oneof(
  fc.string({ maxLength: 4, unit: 'grapheme' }),
  fc.constantFrom('a', 'b', 'id', 'toString', '0', '1', 'a.b', '"', '\\', 'é', '😀', '// no', '/* no */'),
);
const scalar = fc.oneof(
  fc.string({ maxLength: 8, unit: 'grapheme' }),
  fc.constantFrom('{', '}', ',', '// x', '/* y */', 'a\nb', '\u2028', '"q"', ':'),
  fc.integer(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
  fc.boolean(),
  fc.constant(null),
);

export const json: fc.Arbitrary<Json> = fc
  .letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(objectOf),
    ),
  }))
  .value.filter((value) => noNul(JSON.stringify(value)));

export const jsonKey = key.filter((name) => noNul(JSON.stringify(name)));

export const jsonObject: fc.Arbitrary<Record<string, Json>> = fc
  .array(fc.tuple(jsonKey, json), { maxLength: 5 })
  .map(objectOf);

function noNul(text: string): boolean {
  return !text.includes('\\u0000');
}

/** Keys as in a file, whatever they are called. */
function objectOf(entries: readonly (readonly [string, Json])[]): Record<string, Json> {
  const object: Record<string, Json> = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

export interface Writing {
  readonly text: string;
  readonly ending: string;
  readonly comments: boolean;
}

interface Manner {
  readonly unit: string;
  readonly ending: string;
  readonly colon: string;
  readonly layout: 'broken' | 'inline' | 'wild';
  readonly comments: boolean;
  readonly mark: boolean;
  readonly final_newline: boolean;
  /** Answers, used in turn, for the choices of a wild writer. */
  readonly choices: readonly number[];
}

export const manner: fc.Arbitrary<Manner> = fc.record({
  unit: fc.constantFrom('  ', '    ', '\t', ' ', '            '),
  ending: fc.constantFrom('\n', '\r\n'),
  colon: fc.constantFrom(':', ': ', ' : ', ':\t'),
  layout: fc.constantFrom('broken', 'inline', 'wild'),
  comments: fc.boolean(),
  mark: fc.boolean(),
  final_newline: fc.boolean(),
  choices: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 40 }),
});

/** Writes a value in this manner. */
export function written(value: Json, how: Manner): Writing {
  const writer = new Writer(how);
  const body = writer.trivia() + writer.value(value, '') + writer.trivia();
  const text = `${how.mark ? '\uFEFF' : ''}${body}${how.final_newline ? how.ending : ''}`;
  return { text, ending: how.ending, comments: how.comments };
}

class Writer {
  private next = 0;
  private readonly how: Manner;

  constructor(how: Manner) {
    this.how = how;
  }

  value(value: Json, indent: string): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const inner = indent + this.how.unit;
    const list = Array.isArray(value);
    const parts = list
      ? value.map((item) => this.value(item, inner))
      : Object.entries(value).map(([name, item]) => this.member(name, item, inner));
    return (list ? '[' : '{') + this.elements(parts, indent) + (list ? ']' : '}');
  }

  /** Blanks and, where they are allowed, comments. */
  trivia(): string {
    const { comments, ending, layout } = this.how;
    const choice = layout === 'wild' ? this.choose() : 0;
    const plain = ['', ' ', ending, `${ending}  `, '\t', '   ', `${ending}${ending}`][choice % 7] ?? '';
    if (!comments || this.choose() % 5 !== 0) return plain;
    const comment =
      [`/* ${choice} */`, `// "x": {${ending}`, `/*${ending}*/`, ` // ,]${ending}  `][choice % 4] ?? '';
    return plain + comment;
  }

  private member(name: string, item: Json, indent: string): string {
    const colon = this.how.layout === 'wild' ? `${this.trivia()}:${this.trivia()}` : this.how.colon;
    return JSON.stringify(name) + colon + this.value(item, indent);
  }

  private elements(parts: readonly string[], indent: string): string {
    const { layout, ending, unit, comments } = this.how;
    const trailing = comments && parts.length > 0 && this.choose() % 4 === 0 ? ',' : '';
    if (layout === 'wild') {
      return (
        this.trivia() +
        parts.join(`${this.trivia()},${this.trivia()}`) +
        this.trivia() +
        trailing +
        this.trivia()
      );
    }
    if (layout === 'inline' || parts.length === 0) return parts.join(', ') + trailing;
    const lines = parts.map((part, i) => {
      const comma = i < parts.length - 1 ? ',' : trailing;
      const comment = comments && this.choose() % 3 === 0 ? ` // note ${i}` : '';
      return `${ending}${indent}${unit}${part}${comma}${comment}`;
    });
    return `${lines.join('')}${ending}${indent}`;
  }

  private choose(): number {
    this.next += 1;
    return this.how.choices[this.next % this.how.choices.length] ?? 0;
  }
}

/** Every place in a value, the whole first. */
export function placesIn(
  value: Json,
  path: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value)
    ? value.flatMap((item, i) => placesIn(item, [...path, i]))
    : Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name]));
  return [path, ...inner];
}

export function at(value: Json, path: readonly (string | number)[]): Json {
  return path.reduce<Json>((inner, step) => (inner as Record<string | number, Json>)[step]!, value);
}

/** The normalised RFC 9535 path of a place. */
export function pathTo(path: readonly (string | number)[]): string {
  return `$${path.map((step) => (typeof step === 'number' ? `[${step}]` : `['${escaped(step)}']`)).join('')}`;
}

function escaped(name: string): string {
  return JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
}
