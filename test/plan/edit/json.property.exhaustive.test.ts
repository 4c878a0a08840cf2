import fc from 'fast-check';
import { findNodeAtLocation, type Node, type ParseError, parseTree, visit } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/canonical/json.ts';
import { Refusal } from '../../../src/refusal.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { edit, shared } from './edit.ts';
import { at, json, jsonKey, jsonObject, manner, pathTo, placesIn, type Writing, written } from './written.ts';

/** An independent reader: its own parser, its own places. */
function read(text: string): Json {
  const errors: ParseError[] = [];
  const tree = parseTree(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return readNode(tree!);
}

/** The parser's own values lose the key `__proto__`. */
function readNode(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(readNode);
  if (node.type !== 'object') return node.value as Json;
  const members = (node.children ?? []).map(({ children }) => [children![0]!.value, readNode(children![1]!)]);
  return Object.fromEntries(members) as Json;
}

function rangeOf(text: string, path: readonly (string | number)[]): { start: number; end: number } {
  const mark = text.startsWith('\uFEFF') ? 1 : 0;
  const tree = parseTree(text.slice(mark), [], { allowTrailingComma: true })!;
  const node = findNodeAtLocation(tree, [...path])!;
  return { start: node.offset + mark, end: node.offset + node.length + mark };
}

const hintsOf = ({ comments }: Pick<Writing, 'comments'>) =>
  ({ format: comments ? 'jsonc' : 'json' }) as const;

function same(actual: Json, expected: Json): void {
  expect(canonical(actual)).toEqual(canonical(expected));
}

/** Equal as JSON text: `__proto__` counts, minus zero is zero, and the order of keys is part of it. */
function canonical(value: Json): string {
  return JSON.stringify(value);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whatever differs lies within this range of the text before. */
function changedOnlyWithin(
  before: string,
  after: string,
  { start, end }: { start: number; end: number },
): void {
  const { prefix, suffix } = shared(before, after);
  expect(prefix).toBeGreaterThanOrEqual(Math.min(start, before.length));
  expect(before.length - suffix).toBeLessThanOrEqual(end);
}

const document = fc.tuple(jsonObject, manner).map(([value, how]) => ({ value, ...written(value, how) }));
const RUNS = { numRuns: 500 };

describe('what is JSON and what is not', () => {
  const character = fc.constantFrom(...'{}[],:"\\/*\n\t -+.019eEtruefalsn\u00e9\u2028\x01');
  const broken = fc
    .tuple(
      document,
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('cut', 'put', 'swap'), character), { maxLength: 3 }),
    )
    .map(([{ text, comments }, steps]) => ({
      text: steps.reduce(damage, text.replace(/^\uFEFF/, '')),
      comments,
    }));

  it('the reader accepts what the parsers of others accept, and nothing else', () => {
    fc.assert(
      fc.property(broken, ({ text, comments }) => {
        const verdict = verdictOn(text, comments);
        fc.pre(verdict === 'read' || verdict === 'JSON_MALFORMED');
        expect(verdict === 'read').toBe(comments ? isCommentedJson(text) : isJson(text));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('any document, in any writing', () => {
  it('an update changes the value at its place and nothing else', () => {
    fc.assert(
      fc.property(document, fc.nat(), json, (doc, pick, value) => {
        const places = placesIn(doc.value);
        const path = places[pick % places.length]!;
        fc.pre(canonical(at(doc.value, path)) !== canonical(value));
        const operation = { type: 'json_update_value', path: pathTo(path), value };
        const after = edit(doc.text, operation, hintsOf(doc));
        same(read(after), replaced(doc.value, path, value));
        changedOnlyWithin(doc.text, after, rangeOf(doc.text, path));
        if (!doc.comments) same(JSON.parse(after.replace(/^\uFEFF/, '')), replaced(doc.value, path, value));
      }),
      RUNS,
    );
  });

  it('an added property comes last and is the only change', () => {
    fc.assert(
      fc.property(document, fc.nat(), jsonKey, json, (doc, pick, key, value) => {
        const objects = placesIn(doc.value).filter((path) => isObject(at(doc.value, path)));
        const path = objects[pick % objects.length]!;
        const object = at(doc.value, path) as Record<string, Json>;
        fc.pre(!Object.hasOwn(object, key));
        const operation = { type: 'json_add_property', path: pathTo(path), key, value };
        const after = edit(doc.text, operation, hintsOf(doc));
        same(read(after), replaced(doc.value, path, withKey(object, key, value)));
        changedOnlyWithin(doc.text, after, rangeOf(doc.text, path));
      }),
      RUNS,
    );
  });

  it('a removed property is the only change, and no comment outside its line is lost', () => {
    fc.assert(
      fc.property(document, fc.nat(), (doc, pick) => {
        const members = placesIn(doc.value).filter((path) => typeof path.at(-1) === 'string');
        fc.pre(members.length > 0);
        const path = members[pick % members.length]!;
        const object = at(doc.value, path.slice(0, -1)) as Record<string, Json>;
        const key = path.at(-1) as string;
        const operation = { type: 'json_remove_property', path: pathTo(path.slice(0, -1)), key };
        const after = edit(doc.text, operation, hintsOf(doc));
        same(read(after), replaced(doc.value, path.slice(0, -1), withoutKey(object, key)));
        changedOnlyWithin(doc.text, after, rangeOf(doc.text, path.slice(0, -1)));
        expect(commentsIn(after)).toEqual(commentsIn(doc.text, lineOf(doc.text, path)));
      }),
      RUNS,
    );
  });

  it('what is added can be removed, and either is refused the second time', async () => {
    await fc.assert(
      fc.asyncProperty(document, jsonKey, json, async (doc, key, value) => {
        fc.pre(!Object.hasOwn(doc.value, key));
        const add = { type: 'json_add_property', path: '$', key, value };
        const remove = { type: 'json_remove_property', path: '$', key };
        const added = edit(doc.text, add, hintsOf(doc));
        await expectRefusal('EDIT_KEY_EXISTS', () => edit(added, add, hintsOf(doc)));
        const removed = edit(added, remove, hintsOf(doc));
        same(read(removed), doc.value);
        await expectRefusal('EDIT_KEY_MISSING', () => edit(removed, remove, hintsOf(doc)));
      }),
      RUNS,
    );
  });

  it('line endings, the byte order mark and the final newline stay as they are', () => {
    fc.assert(
      fc.property(jsonObject, manner, json, (value, how, added) => {
        const { text, ending } = written(value, { ...how, comments: false });
        fc.pre(!Object.hasOwn(value, 'new'));
        const after = edit(text, { type: 'json_add_property', path: '$', key: 'new', value: added });
        expect(after.startsWith('\uFEFF')).toBe(how.mark);
        expect(after.endsWith('\n')).toBe(text.endsWith('\n'));
        const other = ending === '\n' ? /\r/ : /[^\r]\n/;
        if (text.includes('\n')) expect(after).not.toMatch(other);
      }),
      RUNS,
    );
  });
});

function damage(text: string, [at, how, character]: [number, string, string]): string {
  const place = at % (text.length + 1);
  const rest = text.slice(how === 'put' ? place : place + 1);
  return text.slice(0, place) + (how === 'cut' ? '' : character) + rest;
}

/** Double keys and lone surrogates have their own codes: others read those. */
function verdictOn(text: string, comments: boolean): string {
  try {
    edit(text, { type: 'json_update_value', path: '$', value: 'something else' }, hintsOf({ comments }));
    return 'read';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isCommentedJson(text: string): boolean {
  const errors: ParseError[] = [];
  parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: false });
  return errors.length === 0;
}

/** The comments of a text, without those that begin in this range. */
function commentsIn(text: string, without = { start: 0, end: 0 }): string[] {
  const found: string[] = [];
  visit(text.replace(/^\uFEFF/, ' '), {
    onComment: (start, length) => {
      if (start < without.start || start >= without.end) found.push(text.slice(start, start + length));
    },
  });
  return found;
}

/** From the key to the comma, and to the end of that line if the member shares its lines with no other. */
function lineOf(text: string, path: readonly (string | number)[]): { start: number; end: number } {
  const mark = text.startsWith('\uFEFF') ? 1 : 0;
  const tree = parseTree(text.slice(mark), [], { allowTrailingComma: true })!;
  const member = findNodeAtLocation(tree, [...path])!.parent!;
  const start = member.offset + mark;
  const value_end = start + member.length;
  const comma = /^(?:\s|\/\*(?:(?!\*\/)[\s\S])*\*\/|\/\/[^\n]*\n)*,/.exec(text.slice(value_end));
  const end = value_end + (comma?.[0].length ?? 0);
  const behind = /^(?:[ \t]|\/\*(?:(?!\*\/)[^\n])*\*\/)*(?:\/\/[^\n]*)?(?=\r?\n)/.exec(text.slice(end));
  const alone = text.slice(text.lastIndexOf('\n', start - 1) + 1, start).trim() === '';
  return { start, end: alone && behind !== null ? end + behind[0].length : end };
}

function withKey(object: Record<string, Json>, key: string, value: Json): Json {
  const copy = { ...object };
  Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
  return copy;
}

function withoutKey(object: Record<string, Json>, key: string): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function replaced(value: Json, [step, ...rest]: readonly (string | number)[], wanted: Json): Json {
  if (step === undefined) return wanted;
  if (Array.isArray(value)) return value.with(step as number, replaced(value[step as number], rest, wanted));
  const entries = Object.entries(value as object) as [string, Json][];
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === step ? replaced(item, rest, wanted) : item]),
  );
}
