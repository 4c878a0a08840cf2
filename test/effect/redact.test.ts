import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/effect/redact.ts';

const VALUE = 'p/4ss "wörd" <&> +x?';
const TOKEN = 'sk_live_51H8xT2eZv';
const SECRETS = [{ name: 'TOKEN', value: TOKEN }];

/** What comes out when the text comes in chunks of this many bytes. */
function passed(text: string | Uint8Array, size = Number.POSITIVE_INFINITY, secrets = SECRETS): string {
  const redactor = new Redactor(secrets);
  const bytes = Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size)
    parts.push(redactor.take(bytes.subarray(at, Math.min(bytes.length, at + size))));
  return Buffer.concat([...parts, redactor.end()]).toString('utf8');
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** How programs write a secret, none of them with a function of ours. */
const FORMS: readonly (readonly [string, string])[] = [
  ['as it is', VALUE],
  ['in JSON', 'p/4ss \\"wörd\\" <&> +x?'],
  ['in JSON of ASCII', 'p/4ss \\"w\\u00f6rd\\" <&> +x?'],
  ['in JSON of ASCII, in capitals', 'p/4ss \\"w\\u00F6rd\\" <&> +x?'],
  ['in JSON with slashes escaped', 'p\\/4ss \\"w\\u00f6rd\\" <&> +x?'],
  ['in JSON for HTML', 'p/4ss \\"wörd\\" \\u003c\\u0026\\u003e +x?'],
  ['in a URL', 'p%2F4ss%20%22w%C3%B6rd%22%20%3C%26%3E%20%2Bx%3F'],
  ['in a URL, in small letters', 'p%2f4ss%20%22w%c3%b6rd%22%20%3c%26%3e%20%2bx%3f'],
  ['in JSON, in a URL', encodeURIComponent(JSON.stringify(VALUE).slice(1, -1))],
  ['in JSON of ASCII, in a URL', 'p%2F4ss%20%5C%22w%5Cu00f6rd%5C%22%20%3C%26%3E%20%2Bx%3F'],
  ['in JSON, in a URL in a URL', encodeURIComponent(encodeURIComponent(JSON.stringify(VALUE).slice(1, -1)))],
  ['in a form', 'p%2F4ss+%22w%C3%B6rd%22+%3C%26%3E+%2Bx%3F'],
  ['in a path', 'p/4ss%20%22w%C3%B6rd%22%20%3C%26%3E%20%2Bx%3F'],
];

describe('a secret in the output of a tool', () => {
  it.each([
    ['by set -x of a shell', `'it'\\''s 4 secret'`],
    ['by shlex.quote of Python', `'it'"'"'s 4 secret'`],
  ])('with a quote has its name in its place: %s', (_, form) => {
    const secrets = [{ name: 'PASSWORD', value: `it's 4 secret` }];
    for (const size of [1, 2, 3, 100])
      expect(passed(`+ x ${form}\n`, size, secrets)).toBe(`+ x '[secret PASSWORD]'\n`);
  });

  it.each(FORMS)('has its name in its place: %s', (_, form) => {
    const secrets = [{ name: 'PASSWORD', value: VALUE }];
    expect(passed(`before ${form} after\n`, undefined, secrets)).toBe('before [secret PASSWORD] after\n');
  });

  it.each([
    ['as JSON writes line ends', 'one\ntwo\tthree', 'one\\ntwo\\tthree'],
    ['with what RFC 3986 also encodes', "it's(a)secret!*", 'it%27s%28a%29secret%21%2A'],
  ])('goes too %s', (_, value, form) => {
    expect(passed(`<${form}>`, undefined, [{ name: 'A', value }])).toBe('<[secret A]>');
  });

  it.each([0, 1, 2, 3, 4, 5])('is found in base64 after %i other bytes, whatever follows', (before) => {
    for (const after of ['', ':', ':x', ':xy']) {
      const whole = base64(`${'user:'.slice(0, before)}${TOKEN}${after}`);
      for (const text of [whole, whole.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')]) {
        const out = passed(`Authorization: Basic ${text}\n`);
        expect(out).toMatch(/^Authorization: Basic .{0,8}\[secret TOKEN\].{0,8}\n$/);
        expect(Buffer.from(out, 'base64').toString('latin1')).not.toContain(TOKEN.slice(2, -2));
      }
    }
  });

  it('is found in base64url, where that differs', () => {
    const value = '\u00ff\u00fe\u00fb>>>???~~~ÿÿ';
    const safe = Buffer.from(value).toString('base64url');
    expect(safe).toMatch(/[-_]/);
    expect(passed(safe, undefined, [{ name: 'A', value }])).toMatch(/^\[secret A\].?$/);
  });

  it('comes out the same in chunks of any size', () => {
    const text = `a${TOKEN}b sk_live_ ${TOKEN}${TOKEN} ${base64(`x${TOKEN}`)} sk_live_51H8x ${TOKEN.slice(0, 5)}`;
    const whole = passed(text);
    expect(whole).toMatch(/^a\[secret TOKEN\]b sk_live_ \[secret TOKEN\]\[secret TOKEN\] ..\[secret/);
    for (let size = 1; size <= text.length; size += 1) expect(passed(text, size), `${size}`).toBe(whole);
  });

  it('goes as one where two overlap, in chunks of any size', () => {
    const secrets = [
      { name: 'A', value: 'abcdefgh' },
      { name: 'B', value: 'efgh1234' },
      { name: 'C', value: 'abcdefghijklmnop' },
      { name: 'D', value: 'aaaaaaaa' },
    ];
    const cases = [
      ['<abcdefgh1234>', '<[secret A]>'],
      ['<abcdefghijklmnop>', '<[secret C]>'],
      ['<abcdefghijklm>', '<[secret A]ijklm>'],
      ['<aaaaaaaaaaaaaaaaa>', '<[secret D]>'],
      ['<abcdefghefgh1234>', '<[secret A][secret B]>'],
      ['<aaaaaaaabcdefghij>', '<[secret D]ij>'],
    ];
    for (const [text, out] of cases)
      for (let size = 1; size <= text!.length; size += 1)
        expect(passed(text!, size, secrets), `${text} by ${size}`).toBe(out);
  });

  it('that was cut off at the end goes too, if it is as long as the shortest secret', () => {
    expect(passed(`end ${TOKEN.slice(0, 10)}`)).toBe('end [secret TOKEN]');
    expect(passed(`end ${TOKEN.slice(0, 7)}`)).toBe(`end ${TOKEN.slice(0, 7)}`);
  });

  it('is found among any bytes', () => {
    const noise = Buffer.from(Array.from({ length: 2048 }, (_, i) => (i * 7) % 256));
    const out = passed(Buffer.concat([noise, Buffer.from(TOKEN), noise]), 100);
    expect(out).toBe(`${noise.toString('utf8')}[secret TOKEN]${noise.toString('utf8')}`);
  });
});

describe('output that holds no secret', () => {
  it('is passed on at once', () => {
    const redactor = new Redactor(SECRETS);
    for (const text of ['Progress: 10%\r', 'Password? ', 'done\n', 'x'])
      expect(Buffer.from(redactor.take(Buffer.from(text))).toString()).toBe(text);
    expect(redactor.end()).toHaveLength(0);
  });

  it('waits only while it can be the beginning of one', () => {
    const redactor = new Redactor(SECRETS);
    const take = (text: string) => Buffer.from(redactor.take(Buffer.from(text))).toString();
    expect(take('ask_l')).toBe('a');
    expect(take('ive_')).toBe('');
    expect(take('no')).toBe('sk_live_no');
  });

  it('is the same bytes where there is no secret to keep', () => {
    expect(passed('anything', 3, [])).toBe('anything');
  });
});
