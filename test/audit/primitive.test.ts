import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Buffer as BrowserBuffer } from '../../src/audit/browser/buffer.ts';
import * as browser from '../../src/audit/browser/primitive.ts';
import * as node from '../../src/canonical/primitive.ts';
import { answerTo } from './in-page.ts';
import { CASES } from './signatures.ts';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('the primitives of a browser and those of Node', () => {
  it.each(CASES.map((one) => [one.name, one] as const))('give one answer to %s', (_, one) => {
    expect(answerTo(browser, one)).toBe(answerTo(node, one));
  });

  it('take the good ones of that table and not the others', () => {
    const taken = CASES.filter((one) => answerTo(node, one) === true).map(({ name }) => name);
    expect(taken.filter((name) => name.includes('changed'))).toEqual([]);
    expect(taken.slice(0, 9)).toEqual([
      'EdDSA: a good signature',
      'EdDSA: a key of small order',
      'EdDSA: a key of small order in a second form',
      'EdDSA: a key of small order with the sign of zero',
      'EdDSA: all zero',
      'ES256: a good signature',
      'ES256: the other s',
      'RS256: a good signature',
      'RS256: the same, padded here',
    ]);
  });

  it('find the same digest of any bytes and of any text', () => {
    fc.assert(fc.property(bytes, (one) => void expect(browser.sha256(one)).toBe(node.sha256(one))));
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(text, (one) => void expect(browser.sha256(one)).toBe(node.sha256(one))));
  });

  it('agree on what is UTF-8', () => {
    fc.assert(fc.property(bytes, (one) => void expect(browser.isUtf8(one)).toBe(node.isUtf8(one))));
    for (const text of ['\ufeffa', 'größe', '\u{1f511}']) {
      const good = Buffer.from(text);
      expect(browser.isUtf8(good)).toBe(true);
      expect(browser.isUtf8(good.subarray(0, -1))).toBe(node.isUtf8(good.subarray(0, -1)));
    }
  });

  it('agree on Ed25519 signatures with any byte changed', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
    const keys = [browser.importKey('EdDSA', jwk), node.importKey('EdDSA', jwk)] as const;
    const change = fc.tuple(bytes, fc.nat(63), fc.nat(255));
    fc.assert(
      fc.property(change, ([message, at, by]) => {
        const signature = sign(null, message, privateKey);
        signature[at]! ^= by;
        const found = browser.isSignedBy('EdDSA', keys[0], message, signature);
        expect(found).toBe(node.isSignedBy('EdDSA', keys[1], message, signature));
        expect(found).toBe(by === 0);
      }),
      { numRuns: 50 },
    );
  });
});

const ENCODINGS = ['utf8', 'latin1', 'hex', 'base64', 'base64url'] as const;

describe('the bytes of a browser and those of Node', () => {
  it('are written as the same text, from any place to any place', () => {
    fc.assert(
      fc.property(bytes, fc.constantFrom(...ENCODINGS), fc.nat(310), fc.nat(310), (one, how, from, to) => {
        const [here, there] = [BrowserBuffer.from(one), Buffer.from(one)];
        expect(here.toString(how)).toBe(there.toString(how));
        expect(here.toString(how, from, to)).toBe(there.toString(how, from, to));
      }),
    );
  });

  it('are read from the same text', () => {
    fc.assert(
      fc.property(bytes, fc.constantFrom('hex', 'base64', 'base64url' as const), (one, how) => {
        const text = Buffer.from(one).toString(how);
        expect([...BrowserBuffer.from(text, how)]).toEqual([...one]);
      }),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (text) => void expect([...BrowserBuffer.from(text)]).toEqual([...Buffer.from(text)]),
      ),
    );
  });

  it('agree on whether a text is the one form of its bytes', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aZ09+/-_= \n!é') });
    fc.assert(
      fc.property(letters, fc.constantFrom('hex', 'base64', 'base64url' as const), (text, how) => {
        const back = BrowserBuffer.from(text, how).toString(how) === text;
        expect(back).toBe(Buffer.from(text, how).toString(how) === text);
      }),
      { numRuns: 2000 },
    );
  });

  it('are compared, joined and counted alike', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(BrowserBuffer.compare(a, b)).toBe(Buffer.compare(a, b));
        expect(BrowserBuffer.from(a).equals(b)).toBe(Buffer.from(a).equals(b));
        const [here, there] = [BrowserBuffer.concat([a, b]), Buffer.concat([a, b])];
        expect([...here]).toEqual([...there]);
        if (here.length < 6) return;
        expect(here.subarray(1).readUInt32BE(1)).toBe(there.subarray(1).readUInt32BE(1));
        expect(here.readUInt16BE(3)).toBe(there.readUInt16BE(3));
        const { buffer, byteOffset } = there;
        expect([...BrowserBuffer.from(buffer, byteOffset + 1, 3)]).toEqual([...there.subarray(1, 4)]);
      }),
    );
    expect([...BrowserBuffer.alloc(2), ...BrowserBuffer.of(0, 7)]).toEqual([0, 0, 0, 7]);
  });
});
