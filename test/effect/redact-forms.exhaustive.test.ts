import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/effect/redact.ts';

const hexOf = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${hexOf(byte, 2)}`).join('');
const units = (text: string) =>
  Array.from({ length: text.length }, (_, at) => `\\u${hexOf(text.charCodeAt(at), 4)}`).join('');

/** How one character may be written. None of them is made by code of ours. */
const WRITTEN: readonly ((one: string) => string)[] = [
  (one) => one,
  percent,
  (one) => percent(one).toUpperCase(),
  (one) => percent(one).replaceAll('%', '%25'),
  units,
  (one) => units(one).toUpperCase().replaceAll('U', 'u'),
  (one) => units(one).replaceAll('\\', '\\\\'),
  (one) => JSON.stringify(one).slice(1, -1),
  (one) => JSON.stringify(JSON.stringify(one)).slice(3, -3),
  (one) => JSON.stringify(JSON.stringify(JSON.stringify(one))).slice(7, -7),
  (one) => encodeURIComponent(JSON.stringify(one).slice(1, -1)),
  (one) => encodeURIComponent(encodeURIComponent(JSON.stringify(one).slice(1, -1))),
  (one) => encodeURIComponent(JSON.stringify(JSON.stringify(one)).slice(3, -3)),
  (one) => encodeURIComponent(units(one)),
  (one) => (one === "'" ? `'\\''` : one),
  (one) => (one === "'" ? `'"'"'` : one),
  (one) => (one === ' ' ? '+' : one),
  (one) => (one === '/' ? '\\/' : one),
];

const BASE64 = /[A-Za-z0-9+/_-]/g;
const LINES = ['\n', '\r\n', '\n  ', '\\n', '\\r\\n', '\\\\n', '%0A', '%0D%0A', '\\u000a'];

/** Secrets with much that is escaped, and some that look like escapes themselves. */
const character = fc.oneof(
  fc.constantFrom(...'abcdefXYZ0123456789'),
  fc.constantFrom(...'%\\"/+=&<> @:?u\'{}'),
  fc.constantFrom('é', 'ß', '€', '😀', '\n', '\t', '\u007f'),
);
const secret = fc.array(character, { minLength: 8, maxLength: 40 }).map((all) => all.join(''));
const around = fc
  .array(fc.oneof(character, fc.constantFrom('%', '\\', '\\\\', '%2', '\\u00', '\n', 'c2VjcmV0')), {
    maxLength: 20,
  })
  .map((all) => all.join(''));
const borders = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

function passed(value: string, text: string, sizes: readonly number[]): string {
  const redactor = new Redactor([{ name: 'S', value }]);
  const bytes = Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    parts.push(redactor.take(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...parts, redactor.end()]).toString();
}

const MARK = '[secret S]';

/** What is left is a beginning of what stood before the secret, its mark, and an end of what stood behind it. */
function expectGone(value: string, [before, form, after]: readonly string[], sizes: number[]): void {
  const out = passed(value, `${before}${form}${after}`, sizes);
  expect(out).toContain(MARK);
  expect(before!.startsWith(out.slice(0, out.indexOf(MARK))), out).toBe(true);
  expect(after!.endsWith(out.slice(out.lastIndexOf(MARK) + MARK.length)), out).toBe(true);
  expect(out, 'in chunks of any size').toBe(passed(value, `${before}${form}${after}`, [1 << 20]));
}

describe('a secret with each character written in any way', () => {
  it('never comes out, wherever the chunks end and whatever stands around it', () => {
    const ways = fc.array(fc.nat(WRITTEN.length - 1), { minLength: 40, maxLength: 40 });
    const property = fc.property(
      secret,
      ways,
      around,
      around,
      borders,
      (value, how, before, after, sizes) => {
        const form = [...value].map((one, at) => WRITTEN[how[at]!]!(one)).join('');
        expectGone(value, [before, form, after], sizes);
      },
    );
    fc.assert(property, { numRuns: 20_000 });
  }, 300_000);

  it('never comes out in base64 that is broken into lines and escaped', () => {
    const breaks = fc.array(fc.option(fc.constantFrom(...LINES), { freq: 8 }), {
      minLength: 20,
      maxLength: 20,
    });
    const escaped = fc.constantFrom<(one: string) => string>(
      (one) => one,
      percent,
      units,
      (one) => one.replace('/', '\\/'),
    );
    const all = [secret, fc.nat(80), breaks, escaped, fc.boolean(), borders] as const;
    const property = fc.property(...all, (value, indent, gaps, escaping, is_url, sizes) => {
      const text = Buffer.from('-'.repeat(indent) + value).toString(is_url ? 'base64url' : 'base64');
      const form = [...text.replaceAll('=', '')]
        .map((one, at) => (/[A-Za-z0-9]/.test(one) ? one : escaping(one)) + (gaps[at % gaps.length] ?? ''))
        .join('');
      const out = passed(value, `"${form}"`, sizes);
      expect(out).toContain('[secret S]');
      const left = out.slice(out.indexOf('[secret S]') + '[secret S]'.length);
      // What is left behind the mark is the last bits, a line end and the quote.
      for (const gap of [...LINES].sort((a, b) => b.length - a.length))
        expect(
          left
            .replaceAll(gap, '')
            .replace(/%..|\\u..../g, 'x')
            .match(BASE64)?.length ?? 0,
          left,
        ).toBeLessThanOrEqual(10);
    });
    fc.assert(property, { numRuns: 5000 });
  }, 300_000);

  it('takes nothing from text that has only beginnings of it', () => {
    const value = 'correct horse/battery=é';
    const forms = [
      value,
      percent(value),
      units(value),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('hex'),
    ];
    const beginnings = forms.flatMap((form) => [3, 5, 7].map((many) => form.slice(0, many)));
    const piece = fc.oneof(fc.constantFrom(...beginnings, ...LINES), around);
    const property = fc.property(fc.array(piece, { maxLength: 30 }), borders, (pieces, sizes) => {
      const text = pieces.join('|');
      expect(passed(value, text, sizes)).toBe(text);
    });
    fc.assert(property, { numRuns: 10_000 });
  }, 300_000);
});

describe('what programs print of a secret', () => {
  const KEY = 'Eby8vdM02xNOcqFlq+UwPLl/mEtl6IfsuFq2UVErCz4I6tq/K1SZFPTOtr==';
  const json = JSON.stringify({ key: KEY });
  const url = new URL('https://host/');
  url.username = 'user';
  url.password = KEY;
  const openssl = Buffer.from(`user:${KEY}\n`)
    .toString('base64')
    .replace(/(.{64})/g, '$1\n');
  const base64 = execFileSync('base64', { input: `user:${KEY}` }).toString();
  it.each([
    ['base64 of GNU', base64],
    ['base64 in lines, in JSON', JSON.stringify(base64)],
    [
      'base64 in lines of MIME, in JSON in JSON',
      JSON.stringify(JSON.stringify(openssl.replaceAll('\n', '\r\n'))),
    ],
    ['base64 in lines of 64', openssl],
    ['JSON of Gson', json.replaceAll('=', '\\u003d')],
    ['JSON of .NET', json.replaceAll('+', '\\u002B')],
    ['the password of a URL', url.href],
    ['encodeURI', encodeURI(KEY)],
    [
      'quote of Python',
      execFileSync('python3', [
        '-c',
        `import urllib.parse as u; print(u.quote("${KEY}", safe="/+"))`,
      ]).toString(),
    ],
    [
      'xxd -p',
      execFileSync('python3', [
        '-c',
        `import textwrap; print(textwrap.fill(b"${KEY}".hex(), 60))`,
      ]).toString(),
    ],
    ['od', Buffer.from(KEY).toString('hex').replace(/(..)/g, '$1 ')],
    ['a URL in a URL', encodeURIComponent(encodeURIComponent(KEY))],
  ])('has none of it: %s', (_, text) => {
    const out = passed(KEY, text, [7]);
    expect(out).toContain('[secret S]');
    for (let at = 0; at + 12 <= text.length; at += 1) {
      const piece = text.slice(at, at + 12);
      if (text.indexOf(piece) >= text.length * 0.3 && text.indexOf(piece) < text.length * 0.7)
        expect(out).not.toContain(piece);
    }
  });
});
