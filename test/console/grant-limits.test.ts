import { execFileSync } from 'node:child_process';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import {
  type ArgumentLimits,
  grantCommand,
  isUnsaid,
  limitKinds,
  schemaOf,
} from '../../src/console/grant-limits.ts';

const tool = {
  name: 'files__write_file',
  action: 'mcp:files:write_file',
  pin: 'sha256:x',
  arguments: { path: { type: 'string' }, content: { type: 'string' }, size: { type: 'integer' } },
};

const limitsOf = (limits: ArgumentLimits) => schemaOf(tool, limits);
const beneath = (text: string) =>
  limitsOf({ path: { kind: 'beneath', text } }).properties.path!.pattern as string;

/** What a shell makes of the words of a command. */
const wordsOf = (command: string): string[] =>
  execFileSync('/bin/sh', ['-c', `for word in ${command}; do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);

describe('the limits of a grant', () => {
  it('name every argument, and ask for those that are limited', () => {
    expect(limitsOf({})).toEqual({ type: 'object', properties: tool.arguments });
    const limits: ArgumentLimits = { content: { kind: 'is', text: 'x' }, size: { kind: 'to', text: '5' } };
    expect(limitsOf(limits)).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string' },
        content: { const: 'x' },
        size: { type: 'integer', maximum: 5 },
      },
      required: ['content', 'size'],
    });
  });

  it('can be a folder where an argument is a text, and nowhere else', () => {
    const kinds = (type: string) => limitKinds({ type }).map(([kind]) => kind);
    expect(kinds('string')).toEqual(['any', 'is', 'beneath']);
    expect(kinds('integer')).toEqual(['any', 'is', 'to']);
    expect(kinds('boolean')).toEqual(['any']);
    const is_unsaid = (text: string) => isUnsaid({ type: 'string' }, { kind: 'beneath', text });
    for (const folder of ['/srv/notes', '/srv/notes/', 'docs', 'docs/a.b'])
      expect(is_unsaid(folder)).toBe(false);
    for (const none of [
      '',
      '/',
      '.',
      '..',
      '/srv/..',
      '/srv/../x',
      '//srv',
      '/srv//x',
      '/srv/%2e',
      'a\\b',
      './x',
    ])
      expect(is_unsaid(none)).toBe(true);
    expect(isUnsaid({ type: 'integer' }, { kind: 'to', text: ' ' })).toBe(true);
  });
});

describe('a path beneath a folder', () => {
  const pattern = beneath('/srv/no.tes/');
  const engines = [
    (text: string) => RE2JS.compile(pattern).matcher(text).find(),
    (text: string) => new RegExp(pattern, 'u').test(text),
  ];

  it.each([
    '/srv/no.tes',
    '/srv/no.tes/',
    '/srv/no.tes/a',
    '/srv/no.tes/a/b c/ü.md',
    '/srv/no.tes/.env',
    '/srv/no.tes/..a',
    '/srv/no.tes/...',
    '/srv/no.tes/a..b/c.',
  ])('is within the limit: %s', (path) => {
    expect(engines.map((fits) => fits(path))).toEqual([true, true]);
  });

  it.each([
    '',
    '/',
    '/srv',
    '/srv/nortes/a',
    '/srv/no.tes2',
    '/srv/no.tesx/a',
    'srv/no.tes/a',
    'x/srv/no.tes/a',
    '/srv/no.tes/..',
    '/srv/no.tes/../',
    '/srv/no.tes/../x',
    '/srv/no.tes/a/../../x',
    '/srv/no.tes/.',
    '/srv/no.tes/./../x',
    '/srv/no.tes//x',
    '/srv/no.tes/%2e%2e/x',
    '/srv/no.tes/..\\x',
    '/srv/no.tes/a\\..\\..\\x',
    '/srv/no.tes/a\0',
    '/srv/no.tes/a\n',
    '/srv/no.tes\n/../x',
    '/etc/passwd\n/srv/no.tes/a',
    'file:///srv/no.tes/a',
  ])('falls outside: %j', (path) => {
    expect(engines.map((fits) => fits(path))).toEqual([false, false]);
  });

  it('takes no longer on a text that nearly fits', () => {
    const text = `/srv/no.tes${'/.a..b'.repeat(100_000)}/..`;
    for (const fits of engines) expect(fits(text)).toBe(false);
  });
});

describe('what a tool says of its arguments and no grant holds', () => {
  it('is left out, and an argument may be called like it', () => {
    const email = { type: 'string', format: 'email', maxLength: 9 };
    const of = {
      type: 'array',
      items: { type: 'object', properties: { format: email, a: { anyOf: [email] } } },
    };
    const held = { type: 'string', maxLength: 9 };
    expect(schemaOf({ arguments: { format: email, of } }, {}).properties).toEqual({
      format: held,
      of: { type: 'array', items: { type: 'object', properties: { format: held, a: { anyOf: [held] } } } },
    });
  });
});

describe('the same grant at a terminal', () => {
  const command = (limits: ArgumentLimits) =>
    grantCommand({ agent: 'scout', tool, limits, uses: 20, minutes: 30 });

  it('has every limit of the form, as one word of a shell', () => {
    const limits: ArgumentLimits = {
      path: { kind: 'beneath', text: "/srv/it's $HOME" },
      content: { kind: 'is', text: "a'; rm -rf \u202e\n`x`" },
    };
    const words = wordsOf(command(limits));
    expect(words.slice(0, -3)).toEqual(
      'keyturn delegation add scout --action mcp:files:write_file --ttl 30m --approves --uses 20 --schema'.split(
        ' ',
      ),
    );
    expect(JSON.parse(words.at(-3)!)).toEqual(schemaOf(tool, limits));
    expect(command(limits)).toMatch(/^[\x20-\x7e…]*$/);
  });

  it('has no schema where nothing is limited', () => {
    expect(command({})).not.toContain('--schema');
  });
});
