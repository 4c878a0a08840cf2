import { describe, expect, it } from 'vitest';
import { editLimits } from '../../../src/limits.ts';
import { editOperationSchema, schemaOperationSchema } from '../../../src/plan/edit/operation.ts';

describe('an edit operation', () => {
  it('the operation of 004 section 12.1 is read as it is printed', () => {
    const operation = {
      type: 'json_add_property',
      path: '$.properties',
      key: 'new_field',
      value: { type: 'string' },
    };
    expect(editOperationSchema.parse(operation)).toEqual(operation);
    expect(schemaOperationSchema.parse(operation)).toEqual(operation);
  });

  it('a replacement is literal and bounded unless it says otherwise', () => {
    expect(editOperationSchema.parse({ type: 'text_replace', pattern: 'a', replacement: 'b' })).toEqual({
      type: 'text_replace',
      pattern: 'a',
      replacement: 'b',
      regex: false,
      max_matches: editLimits.matches_default,
    });
  });

  const replace = { type: 'text_replace', pattern: 'a', replacement: 'b' };
  const update = { type: 'json_update_value', path: '$', value: 1 };

  it.each([
    ['an unknown type', { type: 'shell', command: 'true' }],
    ['no type', { pattern: 'a', replacement: 'b' }],
    ['an unknown field', { ...replace, global: true }],
    ['a missing field', { type: 'text_replace', pattern: 'a' }],
    ['an empty pattern', { ...replace, pattern: '' }],
    ['a lone surrogate', { ...replace, pattern: '\ud800' }],
    ['a NUL character', { ...replace, replacement: 'a\0' }],
    ['flags of a literal pattern', { ...replace, flags: 'i' }],
    ['an unknown flag', { ...replace, regex: true, flags: 'g' }],
    ['a flag twice', { ...replace, regex: true, flags: 'ii' }],
    ['an expression that is too long', { ...replace, regex: true, pattern: 'a'.repeat(1025) }],
    ['no match expected', { ...replace, expected_matches: 0 }],
    ['too many matches', { ...replace, max_matches: editLimits.matches + 1 }],
    ['line 0', { type: 'line_insert', line_number: 0, content: '' }],
    ['half a line', { type: 'line_insert', line_number: 1.5, content: '' }],
    ['lines in the wrong order', { type: 'line_delete', start_line: 3, end_line: 2 }],
    ['no value', { type: 'json_update_value', path: '$' }],
    ['a value that is a function', { ...update, value: () => 1 }],
    ['a value that is not finite', { ...update, value: Number.NaN }],
    ['a value that cannot be held exactly', { ...update, value: 2 ** 60 }],
    ['a value with a lone surrogate', { ...update, value: ['\udc00'] }],
    ['a path that is too long', { ...update, path: `$${'.a'.repeat(1000)}` }],
  ])('refuses %s', (_, operation) => {
    expect(editOperationSchema.safeParse(operation).success).toBe(false);
  });

  it('a schema is not edited as text', () => {
    expect(schemaOperationSchema.safeParse(replace).success).toBe(false);
  });

  it('a value with a key called __proto__ is refused: no two readers agree on it', () => {
    const value = JSON.parse('{"__proto__": {"a": 1}}');
    const update = { type: 'json_update_value', path: '$', value };
    expect(editOperationSchema.safeParse(update).success).toBe(false);
  });
});
