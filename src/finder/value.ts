import { RE2JS } from 're2js';
import { visible } from '../canonical/visible.ts';
import { simulationLimits } from '../limits.ts';
import type { Scalar } from './packet.ts';
import type { Field } from './simulation.ts';
import { namedDay } from './spoken-value.ts';

/** Patterns that are compiled already. A caller that reads many fields compiles each pattern once. */
export type Patterns = ReadonlyMap<string, RE2JS>;

const NO_PATTERNS: Patterns = new Map();

export function patternsIn(fields: Iterable<Field>): Patterns {
  const patterns = new Map<string, RE2JS>();
  for (const { pattern } of fields)
    if (pattern !== undefined && !patterns.has(pattern)) patterns.set(pattern, RE2JS.compile(pattern));
  return patterns;
}

/** The text as a value of the field, or null when the field does not take it. Whatever can be read in two ways is null. */
export function readValue(field: Field, text: string, patterns: Patterns = NO_PATTERNS): Scalar | null {
  switch (field.type) {
    case 'string':
      return textValue(field, text, patterns);
    case 'integer':
    case 'number':
      return numberValue(field, text);
    case 'date':
      return isoDate(text);
    case 'enum':
      return field.enum?.includes(text) ? text : null;
    case 'boolean':
      return null;
  }
}

function textValue({ pattern, max_length }: Field, text: string, patterns: Patterns): string | null {
  if (text === '' || text.length > (max_length ?? simulationLimits.value_chars)) return null;
  if (visible(text) !== text) return null;
  // RE2: an attacker may choose the text, and can make a backtracking engine hang.
  if (pattern === undefined) return text;
  return (patterns.get(pattern) ?? RE2JS.compile(pattern)).matches(text) ? text : null;
}

function numberValue({ type, min, max }: Field, text: string): number | null {
  const number = readNumber(text);
  if (number === null || (type === 'integer' && !Number.isSafeInteger(number))) return null;
  if (number < (min ?? number) || number > (max ?? number)) return null;
  return number;
}

const PLAIN = /^\d+$/;
/** One separator with one or two digits behind it starts the fraction in every language. */
const FRACTION = /^(\d+)[.,](\d{1,2})$/;
/** Two kinds of separators: the last one starts the fraction. */
const GROUPED = /^(\d{1,3}(?:([.,'’])\d{3})(?:\2\d{3})*)(?:(?!\2)[.,](\d{1,2}))?$/;

/** `1.200` is one thing in Madrid and another in Boston: null. */
function readNumber(text: string): number | null {
  if (PLAIN.test(text)) return text.length <= 15 ? Number(text) : null;
  const fraction = FRACTION.exec(text);
  if (fraction) return Number(`${fraction[1]}.${fraction[2]}`);
  const grouped = GROUPED.exec(text);
  if (!grouped) return null;
  const groups = grouped[1]!.split(grouped[2]!);
  if (groups.length === 2 && grouped[3] === undefined && grouped[2] !== "'" && grouped[2] !== '’')
    return null;
  return Number(`${groups.join('')}.${grouped[3] ?? '0'}`);
}

const YEAR_FIRST = /^(\d{4})-(\d{2})-(\d{2})$/;
const HAN = /^(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日$/;
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/;
const SLASHED = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/;

/** A day as YYYY-MM-DD. `05/03/2026` is May to some and March to others: null. */
function isoDate(text: string): string | null {
  const ordered = YEAR_FIRST.exec(text) ?? HAN.exec(text);
  if (ordered) return calendarDay(ordered[1]!, ordered[2]!, ordered[3]!);
  const dotted = DOTTED.exec(text);
  if (dotted) return calendarDay(dotted[3]!, dotted[2]!, dotted[1]!);
  const slashed = SLASHED.exec(text);
  if (!slashed) {
    const named = namedDay(text);
    return named === null ? null : calendarDay(named.year, named.month, named.day);
  }
  const [first, second] = [Number(slashed[1]), Number(slashed[2])];
  if (first <= 12 && second <= 12 && first !== second) return null;
  return first > 12
    ? calendarDay(slashed[3]!, slashed[2]!, slashed[1]!)
    : calendarDay(slashed[3]!, slashed[1]!, slashed[2]!);
}

function calendarDay(year: string, month: string, day: string): string | null {
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const date = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : null;
}
