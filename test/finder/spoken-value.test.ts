import { expect, it } from 'vitest';
import { spokenNumber } from '../../src/finder/spoken-value.ts';

it.each([
  ['en', 'eleven', 11],
  ['de', 'zwölf', 12],
  ['fr', 'onze', 11],
  ['ja', '十二', 12],
  ['ar', 'أحد عشر', 11],
  ['ar', 'اثنا عشر', 12],
  ['ar', 'واحد', 1],
  // "somebody", or the beginning of "Sunday": no number by itself.
  ['ar', 'أحد', null],
  ['hi', 'ग्यारह', 11],
  ['en', 'ten eleven', null],
])('in %s, "%s" is the number %s', (language, text, number) => {
  expect(spokenNumber(text, language)).toBe(number);
});
