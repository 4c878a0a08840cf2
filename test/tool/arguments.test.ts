import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/canonical/json.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { type Arguments, buildArguments, type Element, parseArgument } from '../../src/tool/arguments.ts';
import { toolNamed } from '../../src/tool/select.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { ENTRY, registryOf } from './fixture.ts';

const toolWith = (args: unknown[], parameters: object) =>
  toolNamed(registryOf(scratch(), { ...ENTRY, args, parameters }), 'say');
const build = (args: unknown[], parameters: object, given: Arguments) =>
  textsOf(buildArguments(toolWith(args, parameters), given));
const textsOf = (elements: readonly Element[]) => elements.map(({ text }) => text);
/** One parameter `v` that becomes one element. */
const one = (parameter: object, value: Json) =>
  build(
    ['type' in parameter && parameter.type === 'list' ? '{v...}' : '{v}'],
    { v: parameter },
    { v: value },
  );

describe('argv', () => {
  it('is made from text, placeholders, spreads and conditions, each value in one element', () => {
    const argv = build(
      ['-n', '--name={name}', '{{x}}', { when: 'loud', args: ['--loud', '{name}!'] }, '--', '{rest...}'],
      {
        name: { type: 'string' },
        loud: { type: 'boolean', required: false },
        rest: { type: 'list', required: false },
      },
      { name: 'a b $(id)', loud: true, rest: ['c d', ''] },
    );
    expect(argv).toEqual(['-n', '--name=a b $(id)', '{x}', '--loud', 'a b $(id)!', '--', 'c d', '']);
  });

  it('leaves out what is not given, and uses defaults', () => {
    const parameters = {
      loud: { type: 'boolean', required: false },
      level: { type: 'integer', default: 3 },
      tag: { type: 'string', required: false },
      rest: { type: 'list', required: false },
    };
    const args = [{ when: 'loud', args: ['-l'] }, '{level}', { when: 'tag', args: ['{tag}'] }, '{rest...}'];
    expect(build(args, parameters, {})).toEqual(['3']);
    expect(build(args, parameters, { loud: false, level: 4, tag: '' })).toEqual(['4', '']);
  });

  it('has no placeholder in a value', () => {
    expect(
      build(['{a}', '{b}'], { a: { type: 'string' }, b: { type: 'string' } }, { a: '{b}', b: 'x' }),
    ).toEqual(['{b}', 'x']);
  });

  it('is bounded as a whole', async () => {
    const items = Array.from({ length: 100 }, () => 'x'.repeat(8000));
    await expectRefusal('ARGUMENT_INVALID', () => one({ type: 'list', max_length: 8000 }, items));
  });
});

describe('arguments are refused', () => {
  it('when one is missing', async () => {
    await expectRefusal('ARGUMENT_MISSING', () => build(['{v}'], { v: { type: 'string' } }, {}));
  });

  it.each<[string, object, Json]>([
    ['the pattern [a-z]{2,4}', { type: 'string', pattern: '[a-z]{2,4}' }, 'A'],
    ['fewer than 3 characters', { type: 'string', min_length: 3 }, 'a'],
    ['none of: red, green', { type: 'string', enum: ['red', 'green'] }, 'blue'],
    ['none of: 1, 2', { type: 'integer', enum: [1, 2] }, 3],
  ])('with the constraint in the message: %s', async (words, parameter, value) => {
    const refusal = await expectRefusal('ARGUMENT_INVALID', () =>
      build(['{v}'], { v: parameter }, { v: value }),
    );
    expect(refusal.message).toContain(words);
  });

  it.each(['w', '__proto__', 'constructor', 'V'])('when there is no parameter %s', async (name) => {
    const given = JSON.parse(`{"v":"x","${name}":"y"}`);
    await expectRefusal('ARGUMENT_UNKNOWN', () => build(['{v}'], { v: { type: 'string' } }, given));
  });

  it.each<[string, object, Json]>([
    ['a number for text', { type: 'string' }, 7],
    ['null for text', { type: 'string' }, null],
    ['an object for text', { type: 'string' }, { a: 1 }],
    ['text for an integer', { type: 'integer' }, '7'],
    ['a fraction for an integer', { type: 'integer' }, 1.5],
    ['text for a boolean', { type: 'boolean' }, 'true'],
    ['text for a list', { type: 'list' }, 'a'],
    ['a number in a list', { type: 'list' }, ['a', 1]],
    ['too many items', { type: 'list', max_items: 1 }, ['a', 'b']],
    ['too small a number', { type: 'number', min: 1 }, 0.5],
    ['too large a number', { type: 'integer', max: 3 }, 4],
    ['a number out of its enumeration', { type: 'integer', enum: [1, 2] }, 3],
    ['text out of its enumeration', { type: 'string', enum: ['a'] }, 'b'],
    ['text that is too short', { type: 'string', min_length: 2 }, 'a'],
    ['text that is too long', { type: 'string', max_length: 2 }, 'abc'],
    ['text too long for the default', { type: 'string' }, 'x'.repeat(5000)],
    ['text that matches its pattern only in part', { type: 'string', pattern: 'a+' }, 'aab'],
    ['text that matches one branch of its pattern only in part', { type: 'string', pattern: 'a|b' }, 'ac'],
    ['text that matches but for a line break', { type: 'string', pattern: 'a', multiline: true }, 'a\n'],
    ['a list item that does not match', { type: 'list', pattern: '[a-z]+' }, ['ok', 'NO']],
    ['NUL', { type: 'string' }, 'a\0b'],
    ['a line break', { type: 'string' }, 'a\nb'],
    ['a carriage return', { type: 'string', multiline: true }, 'a\rb'],
    ['an escape sequence', { type: 'string', multiline: true }, '\u001b[2J'],
    ['DEL', { type: 'string' }, '\u007f'],
    ['a C1 control', { type: 'string' }, '\u009b'],
    ['a line separator', { type: 'string' }, 'a\u2028b'],
    ['a lone surrogate', { type: 'string' }, 'a\ud800'],
    ['text that reads backwards', { type: 'string' }, 'a\u202etxt.exe'],
    ['an isolate', { type: 'list' }, ['\u2066']],
    ['text that nobody sees', { type: 'string' }, 'a\u{e0041}'],
    ['an absolute path', { type: 'path' }, '/etc/passwd'],
    ['a path that leads out', { type: 'path' }, '../x'],
    ['a path that leads out on the way', { type: 'path' }, 'a/../../x'],
    ['a path that ends above', { type: 'path' }, 'a/..'],
    ['a path with a backslash', { type: 'path' }, '..\\x'],
    ['a path in a second spelling', { type: 'path' }, 'a//b'],
    ['a path with a dot in it', { type: 'path' }, './a'],
    ['an empty path', { type: 'path' }, ''],
    ['a folder path in a second spelling', { type: 'path' }, 'a/'],
  ])('for %s', async (_, parameter, value) => {
    await expectRefusal('ARGUMENT_INVALID', () => one(parameter, value));
  });
});

describe('a value that would be an option', () => {
  const text = { type: 'string' };

  it.each<[string, unknown[], object, Arguments]>([
    ['alone', ['{v}'], { v: text }, { v: '--output=/etc/passwd' }],
    ['as a single dash', ['{v}'], { v: text }, { v: '-' }],
    ['in a list', ['{v...}'], { v: { type: 'list' } }, { v: ['a', '-rf'] }],
    ['as a path', ['{v}'], { v: { type: 'path' } }, { v: '-x' }],
    ['as a number', ['{v}'], { v: { type: 'integer' } }, { v: -1 }],
    ['behind an empty value', ['{v}{w}'], { v: text, w: text }, { v: '', w: '-x' }],
    ['under a condition', [{ when: 'v', args: ['{v}'] }], { v: { ...text, required: false } }, { v: '-x' }],
  ])('is refused %s', async (_, args, parameters, given) => {
    await expectRefusal('ARGUMENT_LOOKS_LIKE_OPTION', () => build(args, parameters, given));
  });

  it('may pass where the registry allows it, or where it is not the start of an element', () => {
    expect(one({ type: 'integer', allow_leading_dash: true }, -1)).toEqual(['-1']);
    expect(build(['--level={v}'], { v: text }, { v: '-x' })).toEqual(['--level=-x']);
  });
});

describe('values that pass', () => {
  it('are left as they are', () => {
    expect(one({ type: 'string', multiline: true }, 'a\n\tb')).toEqual(['a\n\tb']);
    expect(one({ type: 'string' }, 'größe 👩‍💻 日本')).toEqual(['größe 👩‍💻 日本']);
    expect(one({ type: 'path' }, 'a/.b/c..d')).toEqual(['a/.b/c..d']);
    expect(one({ type: 'path' }, '.')).toEqual(['.']);
    expect(one({ type: 'number' }, 0.5)).toEqual(['0.5']);
    expect(one({ type: 'string', pattern: 'a|bc' }, 'bc')).toEqual(['bc']);
    expect(one({ type: 'string', pattern: 'a|ab' }, 'ab')).toEqual(['ab']);
  });

  it('whatever text is given, it stays one element, or is refused for a reason', () => {
    const tool = toolWith(['first', '{v}', 'last'], { v: { type: 'string' } });
    const reasons: ReasonCode[] = ['ARGUMENT_INVALID', 'ARGUMENT_LOOKS_LIKE_OPTION'];
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (v) => {
        try {
          expect(textsOf(buildArguments(tool, { v }))).toEqual(['first', v, 'last']);
          expect(v.startsWith('-')).toBe(false);
        } catch (error) {
          if (!('code' in (error as object))) throw error;
          expect(reasons).toContain((error as { code: ReasonCode }).code);
        }
      }),
    );
  });
});

describe('parseArgument', () => {
  const parameter = (type: string) => toolWith(['{v}'], { v: { type, required: true } }).parameters.v!;
  const list = () => toolWith(['{v...}'], { v: { type: 'list' } }).parameters.v!;

  it('turns text into a value of the right type', () => {
    expect(parseArgument(parameter('string'), '7')).toBe('7');
    expect(parseArgument(parameter('integer'), '-7')).toBe(-7);
    expect(parseArgument(parameter('number'), '1.5e3')).toBe(1500);
    expect(parseArgument(parameter('boolean'), 'false')).toBe(false);
    expect(parseArgument(parameter('path'), 'a/b')).toBe('a/b');
    expect(parseArgument(list(), '["a","b c"]')).toEqual(['a', 'b c']);
  });

  it.each([
    ['integer', ''],
    ['integer', '0x10'],
    ['integer', ' 7'],
    ['integer', '07'],
    ['number', 'Infinity'],
    ['number', 'NaN'],
    ['boolean', 'yes'],
    ['boolean', 'TRUE'],
  ])('refuses for %s the text %j', async (type, text) => {
    await expectRefusal('ARGUMENT_INVALID', () => parseArgument(parameter(type), text));
  });

  it('refuses a list that is no JSON list', async () => {
    for (const text of ['a,b', '{"a":1}', '["a"', '']) {
      await expectRefusal('ARGUMENT_INVALID', () => parseArgument(list(), text));
    }
  });
});

describe('what the caller chose of the arguments', () => {
  const parameters = {
    name: { type: 'string' },
    level: { type: 'string', default: 'low' },
    force: { type: 'boolean', default: false },
    files: { type: 'list', required: false },
  };
  const args = ['--name={name}!', '--level={level}', { when: 'force', args: ['--force'] }, '{files...}'];
  const chosen = (given: Arguments) => buildArguments(toolWith(args, parameters), given);

  it('is marked in each element, and what the registry says is not', () => {
    expect(chosen({ name: 'Ada', files: ['a', 'b'] })).toEqual([
      { text: '--name=Ada!', chosen: [{ parameter: 'name', start: 7, end: 10 }] },
      { text: '--level=low', chosen: [] },
      { text: 'a', chosen: [{ parameter: 'files', start: 0, end: 1 }] },
      { text: 'b', chosen: [{ parameter: 'files', start: 0, end: 1 }] },
    ]);
  });

  it('includes what is there only because it was asked for, and an empty value', () => {
    expect(chosen({ name: '', level: 'low', force: true })).toEqual([
      { text: '--name=!', chosen: [{ parameter: 'name', start: 7, end: 7 }] },
      { text: '--level=low', chosen: [{ parameter: 'level', start: 8, end: 11 }] },
      { text: '--force', chosen: [{ parameter: 'force', start: 0, end: 7 }] },
    ]);
  });
});
