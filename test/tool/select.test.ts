import { describe, expect, it } from 'vitest';
import { loadRegistry } from '../../src/tool/registry.ts';
import { requireBindingAgrees, toolNamed, toolOfIntent } from '../../src/tool/select.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, writeRegistry } from './fixture.ts';

const id = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;
const ONE = id('1');
const EMPTY = id('2');
const SEVERAL = id('3');
const TWICE = id('4');
const LOST = id('5');

const load = () =>
  loadRegistry(
    writeRegistry(scratch(), {
      version: 1,
      tools: [ENTRY, { ...ENTRY, name: 'other' }],
      bindings: [
        { intent: ONE, tool: ['say'], arguments: { words: 'hello' } },
        { intent: EMPTY, tool: [] },
        { intent: SEVERAL, tool: ['say', 'other'] },
        { intent: TWICE, tool: 'say', arguments: { words: 'a' } },
        { intent: TWICE, tool: 'say', arguments: { words: 'a' } },
        { intent: LOST, tool: 'lost' },
      ],
    }),
  );

describe('a tool is chosen', () => {
  it('by its name, and by no other', async () => {
    expect(toolNamed(load(), 'say').executable).toBe('/bin/echo');
    await expectRefusal('TOOL_UNKNOWN', () => toolNamed(load(), 'sa'));
    await expectRefusal('TOOL_UNKNOWN', () => toolNamed(load(), 'constructor'));
  });

  it('by the one binding of an intent, with its arguments', () => {
    const { tool, arguments: given } = toolOfIntent(load(), ONE);
    expect([tool.name, given]).toEqual(['say', { words: 'hello' }]);
  });

  it('never where the binding is missing, empty, ambiguous or lost', async () => {
    await expectRefusal('BINDING_MISSING', () => toolOfIntent(load(), id('9')));
    await expectRefusal('BINDING_EMPTY', () => toolOfIntent(load(), EMPTY));
    await expectRefusal('BINDING_AMBIGUOUS', () => toolOfIntent(load(), SEVERAL));
    await expectRefusal('BINDING_AMBIGUOUS', () => toolOfIntent(load(), TWICE));
    await expectRefusal('TOOL_UNKNOWN', () => toolOfIntent(load(), LOST));
  });
});

describe('what is proposed for a bound intent', () => {
  it('must be what the binding says', async () => {
    requireBindingAgrees(load(), ONE, 'say', { words: 'hello' });
    await expectRefusal('BINDING_MISMATCH', () =>
      requireBindingAgrees(load(), ONE, 'other', { words: 'hello' }),
    );
    await expectRefusal('BINDING_MISMATCH', () =>
      requireBindingAgrees(load(), ONE, 'say', { words: 'hullo' }),
    );
    await expectRefusal('BINDING_MISMATCH', () => requireBindingAgrees(load(), ONE, 'say', {}));
    await expectRefusal('BINDING_AMBIGUOUS', () =>
      requireBindingAgrees(load(), TWICE, 'say', { words: 'a' }),
    );
  });

  it('is free where there is no binding', () => {
    requireBindingAgrees(load(), id('9'), 'anything', {});
  });
});
