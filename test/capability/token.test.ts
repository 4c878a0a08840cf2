import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { kidOf } from '../../src/capability/key.ts';
import { type CapabilityClaims, mint, secondOf } from '../../src/capability/token.ts';
import { openCapability } from '../../src/capability/verify.ts';
import { expectRefusal } from '../support/refusal.ts';
import { anyConditions, anyScope } from './arbitrary.ts';
import { ann, CLAIMS, control, keys, minted, NOW, partsOf, payloadIn, retired } from './sample.ts';

describe('a capability', () => {
  it('says after it was opened what it said when it was minted', async () => {
    const opened = openCapability(minted({ holder: ann.public_key }), keys);
    const claims = { ...CLAIMS, holder: ann.public_key };
    expect(opened).toEqual({
      claims,
      root: claims,
      depth: 0,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('opens as what was minted, whatever its scope and conditions', async () => {
    await fc.assert(
      fc.asyncProperty(anyScope, anyConditions, async (scope, conditions) => {
        const { claims } = openCapability(minted({ scope, conditions }), keys);
        expect(claims).toEqual({ ...CLAIMS, scope, conditions });
      }),
      { numRuns: 100 },
    );
  });

  it('that was verified once is judged by the key that is asked for now', () => {
    const text = minted({ holder: ann.public_key });
    const known = openCapability(text, keys).root;
    expect(openCapability(text, keys).root).toBe(known);
    expect(Object.isFrozen(known.scope)).toBe(true);
    expectRefusal('CAPABILITY_KEY_UNKNOWN', () => openCapability(text, () => null));
    expectRefusal('CAPABILITY_FORGED', () => openCapability(text, () => retired.public));
  });

  it('has exactly the header and the claims that are published', async () => {
    const text = minted({ holder: ann.public_key, conditions: {} });
    expect(JSON.parse(Buffer.from(partsOf(text)[0], 'base64url').toString())).toEqual({
      alg: 'EdDSA',
      typ: 'keyturn-capability+jwt',
      kid: control.kid,
    });
    expect(payloadIn(text)).toEqual({
      iss: CLAIMS.issuer,
      aud: CLAIMS.audience,
      sub: CLAIMS.intent_id,
      jti: CLAIMS.jti,
      iat: 1904292000,
      nbf: 1904292000,
      exp: 1904292300,
      intent_hash: CLAIMS.intent_hash,
      effect_digest: CLAIMS.effect_digest,
      attempt: 1,
      policy: CLAIMS.policy,
      authorization_details: [
        {
          type: 'keyturn',
          action: 'tool:deploy',
          tool_category: 'deployment',
          scope: CLAIMS.scope,
          conditions: {},
        },
      ],
      cnf: {
        jwk: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(ann.public_key, 'base64').toString('base64url') },
      },
    });
  });

  it('is an ordinary JWT to any other library', async () => {
    const options = { currentDate: NOW, audience: CLAIMS.audience, issuer: CLAIMS.issuer };
    const { payload } = await jwtVerify(minted(), control.public, options);
    expect(payload.sub).toBe(CLAIMS.intent_id);
  });

  it('has the same text for the same claims and key', async () => {
    expect(minted()).toBe(minted());
  });

  it('tells other readers of JWTs when it begins', async () => {
    const text = minted({ conditions: { not_before: '2030-05-06T10:01:00.500Z' } });
    expect(payloadIn(text).nbf).toBe(1904292060);
    const { claims } = openCapability(text, keys);
    expect(claims.conditions.not_before).toBe('2030-05-06T10:01:00.500Z');
  });

  it('still verifies under an older key that the ledger knows', async () => {
    const opened = openCapability(mint(CLAIMS, retired), keys);
    expect(opened.claims).toEqual(CLAIMS);
  });
});

describe('the name of a key', () => {
  it('is the thumbprint of RFC 8037, appendix A.3', () => {
    const x = Buffer.from('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', 'base64url').toString('base64');
    expect(kidOf(x)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});

describe('minting', () => {
  const MANY = Array.from({ length: 256 }, (_, i) => `/srv/${String(i).padStart(3, '0')}/${'x'.repeat(60)}`);

  it.each<[string, Partial<CapabilityClaims>]>([
    ['an id that is not a UUID', { jti: 'CAPABILITY' }],
    ['an upper-case intent id', { intent_id: CLAIMS.intent_id.toUpperCase().replace('1', 'A') }],
    ['a digest of another length', { effect_digest: 'ab' }],
    ['attempt zero', { attempt: 0 }],
    ['an attempt between two', { attempt: 1.5 }],
    ['no action', { action: '' }],
    ['an action with a line break', { action: 'tool:deploy\nplan' }],
    ['a time that is not a whole second', { issued_at: '2030-05-06T10:00:00.001Z' }],
    ['a time that is no time', { expires_at: 'tomorrow' }],
    ['an end before the beginning', { expires_at: '2030-05-06T09:59:59.000Z' }],
    ['an end at the beginning', { expires_at: CLAIMS.issued_at }],
    ['a year of five digits', { issued_at: '+010000-01-01T00:00:00.000Z' }],
    ['a holder that is no key', { holder: 'AAAA' }],
    ['a holder key in a second spelling', { holder: `${ann.public_key.slice(0, -1)}` }],
    ['a scope that is not sorted', { scope: { ...CLAIMS.scope, read: ['/b', '/a'] } }],
    ['a condition that nobody knows', { conditions: { weather: 'fair' } as object }],
    ['a file named __proto__', { conditions: { files: JSON.parse('{"__proto__": null}') } }],
    ['a scope that fills more than a block', { scope: { ...CLAIMS.scope, read: MANY } }],
  ])('refuses %s', async (_, change) => {
    await expectRefusal('CAPABILITY_MALFORMED', () => minted(change));
  });

  it('refuses what would live longer than an hour', async () => {
    await expectRefusal('CAPABILITY_TOO_LONG', () => minted({ expires_at: '2030-05-06T11:00:01.000Z' }));
    minted({ expires_at: '2030-05-06T11:00:00.000Z' });
  });

  it('takes the second in which a moment lies', () => {
    expect(secondOf(new Date('2030-05-06T10:00:00.999Z'))).toBe('2030-05-06T10:00:00.000Z');
  });

  it('refuses a holder key under which anybody can sign anything', async () => {
    // The OpenSSL of Node 20 takes a signature of zeros under the first of these; that of Node 24 does not.
    const small = [
      Buffer.from([1, ...Array(31).fill(0)]),
      Buffer.alloc(32),
      Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex'),
      Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85', 'hex'),
      Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex'),
      ...['ec', 'ed', 'ee'].map((low) => Buffer.from(`${low}${'ff'.repeat(30)}7f`, 'hex')),
    ];
    for (const raw of small)
      await expectRefusal('CAPABILITY_MALFORMED', () => minted({ holder: raw.toString('base64') }));
  });
});
