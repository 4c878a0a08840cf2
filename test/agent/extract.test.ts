import { describe, expect, it } from 'vitest';
import { extractFields, readingOf } from '../../src/finder/extract.ts';
import type { Field } from '../../src/finder/simulation.ts';
import { patternsIn } from '../../src/finder/value.ts';
import { field, simulation } from './examples.ts';

const fields = (given: Record<string, Record<string, unknown>>): Record<string, Field> =>
  simulation('a', {
    fields: Object.fromEntries(Object.entries(given).map(([name, each]) => [name, field(each)])),
  }).fields;

const one = (given: Record<string, unknown>, text: string) =>
  extractFields(fields({ f: given }), text).get('f')?.value ?? null;

const DATE = { type: 'date', extract: 'date' };
const NUMBER = { type: 'number', extract: 'number', min: 0, max: 100_000 };
const INTEGER = { type: 'integer', extract: 'number' };
const TOKEN = { pattern: 'INV-[0-9]{4}', extract: 'token' };
const ENUM = { type: 'enum', enum: ['production', 'staging'], words: { production: ['生产', 'Produktion'] } };
const AFTER = { extract: { after: ['printer', '打印机'] }, pattern: 'P[0-9]+' };

describe('a value in an utterance', () => {
  it.each([
    [DATE, 'on 2026-03-10 please', '2026-03-10'],
    [DATE, 'am 10.03.2026', '2026-03-10'],
    [DATE, '2026年3月5日の会議', '2026-03-05'],
    [DATE, '25/12/2026', '2026-12-25'],
    [DATE, '12/25/2026', '2026-12-25'],
    [DATE, '٢٠٢٦-٠٣-١٠', '2026-03-10'],
    [NUMBER, 'an expense of 42.50', 42.5],
    [NUMBER, '89,90 Euro', 89.9],
    [NUMBER, '1,200.50', 1200.5],
    [NUMBER, "1'200", 1200],
    [NUMBER, '请假3天', 3],
    [NUMBER, '１２', 12],
    [INTEGER, '५ दिन', 5],
    [NUMBER, '৫০০', 500],
    [NUMBER, '๕๐๐ บาท', 500],
    [NUMBER, '5٫5', 5.5],
    [NUMBER, '٥٫٥', 5.5],
    [NUMBER, '$500', 500],
    [NUMBER, 'amount=500!', 500],
    [TOKEN, '把发票INV-3005作废', 'INV-3005'],
    [TOKEN, 'send INV-3005.', 'INV-3005'],
    [{ extract: 'email' }, 'to anna.b@example.co.uk, please', 'anna.b@example.co.uk'],
    [{ extract: 'path' }, 'share docs/plan.pdf with', 'docs/plan.pdf'],
    [{ extract: 'quoted' }, 'called “Budget review”', 'Budget review'],
    [{ extract: 'quoted' }, '主题「预算」', '预算'],
    [{ ...ENUM, extract: 'enum' }, 'to Staging!', 'staging'],
    [{ ...ENUM, extract: 'enum' }, '部署到生产环境', 'production'],
    [{ ...ENUM, extract: 'enum' }, 'in PRODUKTION', 'production'],
    [AFTER, 'toner for printer P12 now', 'P12'],
    [AFTER, '打印机P12没墨了', 'P12'],
  ])('is found: %o in %s', (given, text, value) => {
    expect(one(given, text)).toBe(value);
  });

  it.each([
    ['a date that is two dates', DATE, '05/03/2026'],
    ['a day that does not exist', DATE, '2026-02-30'],
    ['a number that is two numbers', NUMBER, '1.200'],
    ['a negative number', NUMBER, '-5'],
    ['a number above its maximum', NUMBER, '100001'],
    ['a fraction for a whole number', INTEGER, '2.5'],
    ['digits inside a name', NUMBER, 'SKU-4410'],
    ['a time of day', NUMBER, '10:30'],
    ['two different amounts', NUMBER, 'refund 25, no, 9999'],
    ['two different values of an enum', { ...ENUM, extract: 'enum' }, 'staging and production'],
    ['a path that climbs', { extract: 'path' }, '../secret.txt'],
    ['an absolute path', { extract: 'path' }, '/etc/passwd.txt'],
    ['a token of another form', TOKEN, 'INV-30055'],
    ['the word after, of another form', AFTER, 'the printer is out of ink'],
    ['a text that is too long', { extract: 'quoted', max_length: 3 }, '"abcd"'],
    ['a boolean', { type: 'boolean' }, 'yes'],
  ])('is not guessed: %s', (_, given, text) => {
    expect(one(given, text)).toBeNull();
  });

  it.each([
    '৫00',
    '𝟓00',
    '𝟓𝟎𝟎',
    '๕00',
    '−500',
    '− 500',
    '-$500',
    'minus 500',
    'not 500',
    '5。5',
    '5½',
    '5 ½',
    '10²',
    'Ⅴ00',
    '5\u0336',
    '5 million',
    '5 Millionen',
    '5 लाख',
    '5万',
    '5k',
    '5 k',
    '1e3',
    '0x10',
    '5-10',
    '5–10',
    '5 - 5',
    '6 x 6',
    '5..10',
    '5·000',
    '1٬500',
    '5 005',
    '5\u2009005',
  ])('a number that a person reads as another one is left to be asked for: %s', (text) => {
    expect(one({ type: 'number', extract: 'number' }, `move ${text}`)).toBeNull();
    expect(one({ type: 'number', extract: 'number' }, text)).toBeNull();
  });

  it('a token does not begin or end inside of another word or number', () => {
    const digits = { pattern: '[0-9]{5}', extract: 'token' };
    for (const text of ['𝟓48213', 'é48213', '48213²', '½48213']) expect(one(digits, text)).toBeNull();
    expect(one(digits, '订单48213退款')).toBe('48213');
  });

  it('one text is read for many fields as each of them would read it alone', () => {
    const all = fields({ amount: NUMBER, whole: INTEGER, invoice: TOKEN, day: DATE });
    const text = 'INV-3005 of 2026-03-10 over 42.50';
    const reading = readingOf(text, patternsIn(Object.values(all)));
    for (const [name, each] of Object.entries(all))
      expect(extractFields({ [name]: each }, reading)).toEqual(extractFields({ [name]: each }, text));
  });

  it('that is said twice is one value', () => {
    expect(one(TOKEN, 'send INV-3005, yes INV-3005')).toBe('INV-3005');
  });

  it('belongs to one field only, and the most exact way of finding it goes first', () => {
    const found = extractFields(
      fields({ amount: NUMBER, order: { pattern: '[0-9]{5}', extract: 'token' }, day: DATE }),
      'refund 25 for order 48213 of 2026-03-10',
    );
    expect([...found].map(([name, { value }]) => [name, value])).toEqual([
      ['amount', 25],
      ['order', '48213'],
      ['day', '2026-03-10'],
    ]);
  });

  it('has its place in the text as it came in', () => {
    const text = 'für «Straße» am १०.०३.2026';
    const found = extractFields(fields({ title: { extract: 'quoted' }, day: DATE }), text);
    for (const { start, end, text: shown } of found.values()) expect(text.slice(start, end)).toBe(shown);
    expect(found.get('day')?.value).toBe('2026-03-10');
  });
});
