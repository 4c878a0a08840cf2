import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../src/reason/similar.ts';
import { checkArguments } from '../../src/tool/arguments.ts';
import type { Registry } from '../../src/tool/registry.ts';
import { toolNamed } from '../../src/tool/select.ts';

const TOOLS = ['greet', 'deploy', 'deplay', 'send-mail', 'rm'];

describe('a name that is nearly a known one', () => {
  it.each([
    ['gret', ' Did you mean "greet"?'],
    ['Greet', ' Did you mean "greet"?'],
    ['rgeet', ' Did you mean "greet"?'],
    ['send_mial', ' Did you mean "send-mail"?'],
    ['deploi', ' Did you mean "deploy"?'],
    ['deply', ' Did you mean "deploy" or "deplay"?'],
  ])('%s', (given, words) => {
    expect(didYouMean(given, TOOLS)).toBe(words);
  });

  it.each(['', 'x', 'mr', 'paint', 'greeting-card', `${'greet'.repeat(2_000_000)}`])(
    'is not found for another word',
    (given) => {
      expect(didYouMean(given, TOOLS)).toBe('');
    },
  );

  it('is told where a tool or an argument of that name is asked for', () => {
    const registry = { tools: new Map([['greet', {}]]) } as unknown as Registry;
    expect(() => toolNamed(registry, 'gret')).toThrow('There is no tool "gret". Did you mean "greet"?');
    expect(() => checkArguments({ name: { type: 'string' } as never }, { nmae: 'Ada' })).toThrow(
      'There is no parameter "nmae". Did you mean "name"?',
    );
  });
});
