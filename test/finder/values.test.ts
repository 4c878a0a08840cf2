import { describe, expect, it } from 'vitest';
import { answeredValue } from '../../src/finder/clarify.ts';
import type { Field } from '../../src/finder/simulation.ts';

const base = { question: { en: 'Which?' }, formats: ['one', 'two'] };
const id = { ...base, type: 'string', pattern: 'A-[0-9]{4}', extract: 'token' } as unknown as Field;
const day = { ...base, type: 'date', extract: 'date' } as unknown as Field;
const count = { ...base, type: 'integer', min: 0, max: 60, extract: 'number' } as unknown as Field;

describe('the answer to a question for a value', () => {
  it.each([
    [id, 'a-1042', 'en', 'A-1042'],
    [id, 'any but A-1042', 'en', null],
    [id, 'not A-1042', 'en', null],
    [day, '14 March 2027', 'en', '2027-03-14'],
    [day, 'March 14, 2027', 'en', '2027-03-14'],
    [day, '14. März 2027', 'de', '2027-03-14'],
    [day, '14 de marzo de 2027', 'es', '2027-03-14'],
    [day, '31 February 2027', 'en', null],
    [count, 'seven', 'en', 7],
    [count, 'sieben', 'de', 7],
    [count, '七', 'zh', 7],
    [count, 'sieben', 'en', null],
  ] as const)('reads %j %j in %s as %j', (field, text, language, value) => {
    expect(answeredValue(field, text, language)?.value ?? null).toBe(value);
  });
});
