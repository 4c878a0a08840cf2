import { RE2JS } from 're2js';
import { counted } from '../canonical/counted.ts';
import type { Json } from '../canonical/json.ts';
import { parseJson } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { didYouMean, Refusal, refuse } from '../refusal.ts';
import type { Parameter } from './schema.ts';
import type { Segment, TemplatePart } from './template.ts';

/** Values by the name of their parameter, as a proposal carries them. */
export type Arguments = { readonly [name: string]: Json };
type Value = string | number | boolean | readonly string[];
type Values = ReadonlyMap<string, Value>;
type Parameters = Readonly<Record<string, Parameter>>;

/** The part of a tool that arguments meet. */
export interface Callable {
  readonly parameters: Parameters;
  readonly template: readonly TemplatePart[];
}

/** A part of an element that is there because an argument was given. `start` and `end` count UTF-16 units. */
interface Range {
  readonly parameter: string;
  readonly start: number;
  readonly end: number;
}

/** One element of argv, and which parts of it the caller chose. */
export interface Element {
  readonly text: string;
  readonly chosen: readonly Range[];
}

/** Checks the arguments and makes the elements after argv[0]. The attacker chose the values. */
export function buildArguments(
  tool: Callable,
  given: Arguments,
  values = checkArguments(tool.parameters, given),
): Element[] {
  const building = { values, parameters: tool.parameters, given };
  const argv = tool.template.flatMap((part) => elementsOf(part, building));
  const bytes = argv.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
  if (bytes > limits.argv_bytes) refuse('ARGUMENT_INVALID', `The arguments have ${bytes} bytes together.`);
  return argv;
}

/** The values with their defaults. Refuses what no parameter takes, what is missing, and what breaks a constraint. */
export function checkArguments(parameters: Parameters, given: Arguments): Values {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(parameters, name)) {
      const meant = didYouMean(name, Object.keys(parameters));
      refuse('ARGUMENT_UNKNOWN', `There is no parameter ${JSON.stringify(name.slice(0, 80))}.${meant}`);
    }
  }
  const values = new Map<string, Value>();
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name] : parameter.default;
    if (value === undefined) {
      if (parameter.required)
        refuse('ARGUMENT_MISSING', `The argument "${name}" is missing.`, { parameter: name });
      continue;
    }
    values.set(name, checkValue(name, parameter, value));
  }
  return values;
}

/** Refuses a value that is not of the parameter's type, or breaks one of its constraints. */
export function checkValue(name: string, parameter: Parameter, value: Json): Value {
  switch (parameter.type) {
    case 'boolean':
      if (typeof value !== 'boolean') invalid(name, 'is not true or false');
      return value;
    case 'integer':
    case 'number':
      return checkNumber(name, parameter, value);
    case 'string':
    case 'path':
      return checkText(name, parameter, value);
    case 'list':
      if (!Array.isArray(value)) invalid(name, 'is not a list');
      requireAtMost(name, value.length, parameter.max_items ?? limits.argument_items_default, 'items');
      return value.map((item: Json) => checkText(name, parameter, item));
  }
}

function checkNumber(name: string, parameter: Parameter, value: Json): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) invalid(name, 'is not a number');
  if (parameter.type === 'integer' && !Number.isSafeInteger(value)) invalid(name, 'is not a whole number');
  if (parameter.min !== undefined && value < parameter.min) invalid(name, `is less than ${parameter.min}`);
  if (parameter.max !== undefined && value > parameter.max) invalid(name, `is more than ${parameter.max}`);
  requireOneOf(name, parameter, value);
  return value;
}

function requireOneOf(name: string, { enum: choices }: Parameter, value: string | number): void {
  if (choices && !choices.includes(value)) invalid(name, `is none of: ${choices.join(', ')}`);
}

function requireAtMost(name: string, length: number, most: number, of: string): void {
  if (length > most) invalid(name, `has more than ${most} ${of}`);
}

function checkText(name: string, parameter: Parameter, value: Json): string {
  if (typeof value !== 'string') invalid(name, 'is not text');
  // The length comes first: it bounds the work of everything after it, the pattern included.
  requireAtMost(name, value.length, parameter.max_length ?? limits.argument_chars_default, 'characters');
  const least = parameter.min_length ?? 0;
  if (value.length < least) invalid(name, `has fewer than ${counted(least, 'character')}`);
  refuseDeceptive(name, value, parameter.multiline);
  if (parameter.type === 'path') requirePlainPath(name, value);
  requireOneOf(name, parameter, value);
  if (parameter.pattern !== undefined && !wholeMatch(parameter.pattern)(value)) {
    invalid(name, `does not match the pattern ${parameter.pattern}`);
  }
  return value;
}

/**
 * A pattern always means the whole value. It is RE2: an agent chooses the value, and a backtracking engine can be made to
 * hang with one. Throws what is no such pattern.
 */
export function wholeMatch(pattern: string): (value: string) => boolean {
  const expression = RE2JS.compile(pattern);
  return (value) => expression.matches(value);
}

// Control characters can rewrite what a terminal shows; NUL ends the argument early.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_BUT_LINES = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/;
// Bidirectional controls make text read in another order; tag characters are invisible text.
const UNSEEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** Refuses text that a person would read differently from the program that receives it. */
function refuseDeceptive(name: string, text: string, multiline: boolean): void {
  if (!text.isWellFormed()) invalid(name, 'has a lone surrogate');
  if ((multiline ? CONTROL_BUT_LINES : CONTROL).test(text)) invalid(name, 'has a control character');
  if (UNSEEN.test(text)) invalid(name, 'has characters that change or hide what is shown');
}

/** One path has one spelling, and it leads downwards. */
function requirePlainPath(name: string, path: string): void {
  if (path === '.') return;
  if (path.startsWith('/')) invalid(name, 'is not a relative path');
  if (path.includes('\\')) invalid(name, 'has a backslash');
  for (const component of path.split('/')) {
    if (component === '..') invalid(name, 'leads out of its folder');
    if (component === '' || component === '.') invalid(name, 'is not a plain relative path');
  }
}

interface Building {
  readonly values: Values;
  readonly parameters: Parameters;
  /** What is not in here has its default, which the registry chose. */
  readonly given: Arguments;
}

function elementsOf(part: TemplatePart, building: Building): Element[] {
  const { values, given } = building;
  switch (part.kind) {
    case 'spread':
      return ((values.get(part.parameter) ?? []) as readonly string[]).map((item) =>
        renderElement([{ parameter: part.parameter }], {
          ...building,
          values: new Map([[part.parameter, item]]),
        }),
      );
    case 'when': {
      const value = values.get(part.parameter);
      if (value === undefined || value === false) return [];
      const elements = part.parts.flatMap((inner) => elementsOf(inner, building));
      return Object.hasOwn(given, part.parameter)
        ? elements.map((element) => chosenWhole(part.parameter, element))
        : elements;
    }
    case 'element':
      return [renderElement(part.segments, building)];
  }
}

/** The text may be the registry's; that it is there at all was chosen. */
function chosenWhole(parameter: string, { text }: Element): Element {
  return { text, chosen: [{ parameter, start: 0, end: text.length }] };
}

/** The dash counts where the tool will see it: at the start of the whole element, whether it comes from the template or from a value. */
function renderElement(segments: readonly Segment[], { values, parameters, given }: Building): Element {
  let text = '';
  const chosen: Range[] = [];
  for (const segment of segments) {
    const piece = 'text' in segment ? segment.text : String(values.get(segment.parameter));
    if ('parameter' in segment) {
      const { parameter } = segment;
      if (text === '' && piece.startsWith('-')) requireDashAllowed(parameter, parameters[parameter]!);
      if (Object.hasOwn(given, parameter))
        chosen.push({ parameter, start: text.length, end: text.length + piece.length });
    }
    text += piece;
  }
  return { text, chosen };
}

function requireDashAllowed(name: string, parameter: Parameter): void {
  if (parameter.allow_leading_dash) return;
  refuse('ARGUMENT_LOOKS_LIKE_OPTION', `The argument "${name}" would reach the tool as an option.`, {
    parameter: name,
  });
}

/** Turns the text of `--arg name=text` into a value of the parameter's type. It is checked later, with the others. */
export function parseArgument(parameter: Parameter, text: string, name = 'value'): Json {
  switch (parameter.type) {
    case 'string':
    case 'path':
      return text;
    case 'boolean':
      if (text !== 'true' && text !== 'false') invalid(name, 'is not true or false');
      return text === 'true';
    case 'integer':
    case 'number':
      if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) invalid(name, 'is not a number');
      return Number(text);
    case 'list':
      return parseList(name, text);
  }
}

function parseList(name: string, text: string): Json {
  try {
    const value = parseJson(text);
    if (Array.isArray(value)) return value as Json;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return invalid(name, 'is not a list; write it as ["one", "two"]');
}

function invalid(name: string, why: string): never {
  return refuse('ARGUMENT_INVALID', `The argument "${name}" ${why}.`, { parameter: name });
}
