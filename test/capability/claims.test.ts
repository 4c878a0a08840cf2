import { describe, it } from 'vitest';
import { openCapability } from '../../src/capability/verify.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ann, bound, forged, HEADER, keys, minted, payloadIn, SCOPE } from './sample.ts';

/** Signed by the control plane itself: even its own key cannot say what has no meaning. */
const payload = payloadIn(minted());
const [details] = payload.authorization_details as [Record<string, unknown>];
const { x } = bound(ann.public_key).cnf.jwk;

const refused = (claims: unknown) =>
  expectRefusal('CAPABILITY_MALFORMED', () => openCapability(forged(HEADER, claims), keys));

describe('claims', () => {
  it('open as they are, so that each change below is the one that matters', async () => {
    openCapability(forged(HEADER, payload), keys);
    openCapability(forged(HEADER, { ...payload, ...bound(ann.public_key) }), keys);
  });

  it('that nobody knows are refused', async () => {
    for (const extra of [{ admin: true }, { scope: '*' }, { cnf2: {} }, { toString: 1 }, { constructor: {} }])
      await refused({ ...payload, ...extra });
    await refused(JSON.stringify(payload).replace('{', '{"__proto__":{},'));
  });

  it.each(Object.keys(payload))('without %s are refused', async (name) => {
    const { [name]: _, ...rest } = payload;
    await refused(rest);
  });

  it('that say something twice are refused', async () => {
    const text = JSON.stringify(payload);
    await refused(text.replace('"attempt":1', '"attempt":2,"attempt":1'));
    await refused(text.replace('"attempt":1', '"attempt":1,"\\u0061ttempt":2'));
    await refused(text.replace('"network":true', '"network":false,"network":true'));
  });

  it.each<[string, unknown]>([
    ['text', '1904292300'],
    ['a fraction', 1904292300.5],
    ['huge', 1e300],
    ['beyond what a number holds', 2 ** 53],
    ['after the year 9999', 253_402_300_800],
    ['in milliseconds', 1_904_292_300_000],
    ['negative', -1],
    ['null', null],
    ['a list', [1904292300]],
    ['true', true],
    ['before the beginning', 1904291999],
    ['the beginning', 1904292000],
  ])('whose end is %s are refused', async (_, exp) => {
    await refused({ ...payload, exp });
  });

  it('whose end is a number that JSON reads as infinite are refused', async () => {
    await refused(JSON.stringify(payload).replace('"exp":1904292300', '"exp":1e999'));
    await refused(JSON.stringify(payload).replace('"exp":1904292300', '"exp":01904292300'));
  });

  it.each<[string, object]>([
    ['a beginning as text', { iat: '1904292000' }],
    ['a beginning that contradicts itself', { nbf: 1904292001 }],
    ['a beginning before it was issued', { nbf: 0 }],
    ['two audiences', { aud: ['a', 'b'] }],
    ['no audience', { aud: '' }],
    ['an audience with a control character', { aud: 'a\x1b[0m' }],
    ['an upper-case id', { jti: '7D0C1B1E-6A43-4D53-9F0E-3C1F5A2B4C6D' }],
    ['an id that is none', { jti: 'none' }],
    ['a subject that is no intent', { sub: 'root' }],
    ['an upper-case hash', { intent_hash: 'A'.repeat(64) }],
    ['an attempt as text', { attempt: '1' }],
    ['no details', { authorization_details: [] }],
    ['two details', { authorization_details: [details, details] }],
    ['details that are no list', { authorization_details: details }],
    ['details of another type', { authorization_details: [{ ...details, type: 'payment' }] }],
    ['details that say more', { authorization_details: [{ ...details, locations: ['/'] }] }],
    ['no tool category at all', { authorization_details: [{ ...details, tool_category: undefined }] }],
    ['a way up', { authorization_details: [{ ...details, scope: { ...SCOPE, write: ['/srv/../etc'] } }] }],
    ['a path twice', { authorization_details: [{ ...details, scope: { ...SCOPE, read: ['/a', '/a'] } }] }],
    ['an unknown condition', { authorization_details: [{ ...details, conditions: { moon: 'full' } }] }],
    ['a condition of null', { authorization_details: [{ ...details, conditions: { host: null } }] }],
    ['a holder of null', { cnf: null }],
    ['a holder by name', { cnf: { kid: ann.kid } }],
    ['a holder by address', { cnf: { jku: 'https://attacker.example' } }],
    ['a holder with a private key', { cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x, d: x } } }],
    ['a holder on another curve', { cnf: { jwk: { kty: 'OKP', crv: 'X25519', x } } }],
    ['a short holder key', { cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: x.slice(2) } } }],
    ['a padded holder key', { cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: `${x}=` } } }],
  ])('with %s are refused', async (_, change) => {
    await refused({ ...payload, ...change });
  });

  it.each(['null', '[]', '"x"', '1', 'true', '{', '', ' ', '[[[[', '{"a":'.repeat(2000)])(
    'that are %j are refused',
    async (odd) => {
      await refused(odd === '' ? '""' : odd);
    },
  );
});
