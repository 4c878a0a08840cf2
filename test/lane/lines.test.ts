import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../src/canonical/json.ts';
import { executedForm, type Form, intentForm } from '../../src/lane/form.ts';
import { readLines } from '../../src/lane/lines.ts';
import { limits } from '../../src/limits.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { approval, execution, HASH, ID, OTHER_ID } from './lane.ts';

const { constantFrom, oneof, record, nat, string, array, tuple, boolean } = fc;

const ids = constantFrom(ID, OTHER_ID);
const times = constantFrom('2026-01-15T12:00:00Z', '2026-12-31 23:59:59.123456+01:00', '2026-01-15T12:00:00');
const intents = record({ id: ids, timestamp: times, hash: constantFrom(HASH) });
const executions = record({
  id: ids,
  timestamp: times,
  tool: oneof(string({ minLength: 1 }), constantFrom(ID, 'a', '{"id":', 'é')),
  exit_code: oneof(constantFrom(null, 0, -1), nat()),
  outcome: constantFrom('started', 'success', 'failure'),
});
const objects = oneof(intents, executions, record({ id: ids, timestamp: times }));

/** JSON with one space after each colon and comma, as another language writes it. */
const spaced = (value: object) =>
  `{${Object.entries(value)
    .map(([key, field]) => `"${key}": ${JSON.stringify(field)}`)
    .join(', ')}}`;

const blank = constantFrom('', ' ', '\t', '\r', '\v', '\u00a0');
const written = tuple(objects, boolean()).map(([value, wide]) =>
  wide ? spaced(value) : JSON.stringify(value),
);

const PIECES = [
  '"',
  '\\',
  '\\"',
  ',',
  ':',
  '{',
  '}',
  ' ',
  '\t',
  '\r',
  '0',
  'A',
  'é',
  '\0',
  `,"id":"${ID}"`,
  ',"x":1',
  '\\u0069',
  '\n',
];

/** A line, and now and then something wrong with it. */
const damaged = tuple(written, nat(), nat(3), constantFrom(...PIECES)).map(([line, at, cut, piece]) => {
  const from = at % (line.length + 1);
  return line.slice(0, from) + piece + line.slice(from + cut);
});

const files = array(
  oneof(
    { weight: 4, arbitrary: written },
    { weight: 1, arbitrary: damaged },
    { weight: 1, arbitrary: blank },
  ),
  {
    maxLength: 6,
  },
);

/** What the strict parser alone says about a file; `null` when it refuses a line. */
function strictly<T extends { id: string }>(text: string, form: Form<T>): T[] | null {
  if (text !== '' && !text.endsWith('\n')) return null;
  try {
    return text
      .split('\n')
      .slice(0, -1)
      .filter((line) => !/^[ \t\r]*$/.test(line))
      .map((line) => form.parse(objectOf(line)));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function objectOf(line: string): JsonObject {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal('SHAPE_INVALID');
  return value as JsonObject;
}

async function quickly<T extends { id: string }>(path: string, form: Form<T>, only?: string) {
  try {
    return await readLines(path, form, only);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'QUEUE_MALFORMED') return null;
    throw error;
  }
}

describe('the quick reader', () => {
  for (const [name, form] of [
    ['intents', intentForm],
    ['executions', executedForm],
  ] as const) {
    it(`says about ${name} what the strict parser says, whatever is in the file`, async () => {
      const path = join(scratch(), 'lines.jsonl');
      await fc.assert(
        fc.asyncProperty(files, async (lines) => {
          const text = lines.map((line) => `${line}\n`).join('');
          writeFileSync(path, text);
          const expected = strictly<{ id: string }>(text, form);
          expect(await quickly(path, form as Form<{ id: string }>)).toEqual(expected);
          const mine = expected?.filter(({ id }) => id === ID) ?? null;
          expect(await quickly(path, form as Form<{ id: string }>, ID)).toEqual(mine);
        }),
        { numRuns: 1000 },
      );
    });
  }

  it('takes the common forms without the strict parser', () => {
    const exact = (form: Form<unknown>, line: string) => new RegExp(`^${form.exact}$`).test(line);
    expect(exact(intentForm, JSON.stringify(approval()))).toBe(true);
    expect(exact(intentForm, spaced(approval()))).toBe(true);
    expect(exact(executedForm, JSON.stringify(approval()))).toBe(true);
    for (const outcome of ['started', 'success', 'failure']) {
      expect(exact(executedForm, JSON.stringify(execution(ID, outcome, null)))).toBe(true);
      expect(exact(executedForm, spaced(execution(ID, outcome, 127)))).toBe(true);
    }
  });

  it('reads lines and blocks of any length up to the limit, and names the line that is wrong', async () => {
    const path = join(scratch(), 'lines.jsonl');
    const long = (bytes: number) => {
      const bare = JSON.stringify({ ...approval(), note: '' });
      return JSON.stringify({ ...approval(), note: 'x'.repeat(bytes - bare.length) });
    };
    const lines = Array.from({ length: 40 }, (_, i) => long(limits.queue_line_bytes - i * 777));
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    expect(await readLines(path, intentForm)).toHaveLength(40);
    writeFileSync(path, `${lines.join('\n')}\n${long(limits.queue_line_bytes + 1)}\n`);
    const refusal = await expectRefusal('QUEUE_MALFORMED', () => readLines(path, intentForm));
    expect(refusal.facts).toMatchObject({ place: 'lines.jsonl line 41', cause: 'INPUT_TOO_LARGE' });
    writeFileSync(path, 'x'.repeat(3 * limits.queue_line_bytes));
    await expectRefusal('QUEUE_MALFORMED', () => readLines(path, intentForm));
  });

  it('an empty file has no lines, and a missing one is not an empty one', async () => {
    const path = join(scratch(), 'lines.jsonl');
    expect(await readLines(path, intentForm)).toBeNull();
    writeFileSync(path, '');
    expect(await readLines(path, intentForm)).toEqual([]);
  });
});
