import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { proveHolder, requireHolder } from '../../src/capability/proof.ts';
import { openCapability } from '../../src/capability/verify.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  ann,
  bob,
  CLAIMS,
  control,
  forged,
  HERE,
  held,
  keys,
  later,
  minted,
  NOW,
  stranger,
} from './sample.ts';

const text = await held(ann);
const opened = openCapability(text, keys);
const proof = proveHolder(text, ann, HERE);

const HEADER = { alg: 'EdDSA', typ: 'keyturn-proof+jwt', kid: ann.kid };
const PROOF = { aud: CLAIMS.audience, iat: NOW.getTime() / 1000, chain: sha256(text) };

const refused = (given: string | null, here = HERE) =>
  expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => requireHolder(opened, given, here));

describe('a holder', () => {
  it('proves that it presents this capability, here and now', async () => {
    const presented = requireHolder(opened, proof, HERE);
    expect(presented).toEqual({ ...opened, presented_by_holder: true });
    requireHolder(opened, forged(HEADER, PROOF, ann), HERE);
  });

  it('has a minute from proof to use, and a clock that may be a little ahead', async () => {
    requireHolder(opened, proof, { ...HERE, now: later(60) });
    requireHolder(opened, proof, { ...HERE, now: later(-5) });
  });

  it('need not prove what is bound to nobody', async () => {
    const bearer = openCapability(minted(), keys);
    expect(requireHolder(bearer, null, HERE)).toEqual({ ...bearer, presented_by_holder: true });
  });
});

describe('a proof is refused', () => {
  it('that is not there', async () => {
    await refused(null);
    await refused('');
  });

  it('for another capability', async () => {
    const other = minted({ holder: ann.public_key, attempt: 2 });
    await refused(proveHolder(other, ann, HERE));
  });

  it('for another executor', async () => {
    await refused(proveHolder(text, ann, { ...HERE, audience: 'keyturn/executor/host-2' }));
    await refused(proof, { ...HERE, audience: 'keyturn/executor/host-2' });
  });

  it('that is too old, or from the future', async () => {
    await refused(proof, { ...HERE, now: later(61) });
    await refused(proof, { ...HERE, now: later(-6) });
    await refused(proof, { ...HERE, now: new Date('2040-05-06T10:00:00.000Z') });
    await refused(proof, { ...HERE, now: new Date('2020-05-06T10:00:00.000Z') });
    await refused(proof, { ...HERE, now: new Date(Number.NaN) });
  });

  it('by anybody else', async () => {
    for (const by of [bob, stranger, control]) {
      await refused(proveHolder(text, by, HERE));
      await refused(forged(HEADER, PROOF, by));
    }
  });

  it.each<[string, object, unknown]>([
    ['another type', { typ: 'keyturn-attenuation+jwt' }, PROOF],
    ['no algorithm', { alg: 'none' }, PROOF],
    ['the name of another key', { kid: bob.kid }, PROOF],
    ['a key of its own', { jwk: ann.public.export({ format: 'jwk' }) }, PROOF],
    ['an unknown claim', {}, { ...PROOF, jti: CLAIMS.jti }],
    ['no time', {}, { ...PROOF, iat: undefined }],
    ['a time as text', {}, { ...PROOF, iat: String(PROOF.iat) }],
    ['a claim twice', {}, JSON.stringify(PROOF).replace('"aud"', '"aud":"x","aud"')],
    ['no object in it', {}, 'null'],
  ])('with %s', async (_, header, payload) => {
    await refused(forged({ ...HEADER, ...header }, payload, ann));
  });

  it('that is the capability itself, or a chain', async () => {
    await refused(text);
    await refused(`${proof}~${proof}`);
    await expectRefusal('CAPABILITY_MALFORMED', () => openCapability(proof, keys));
  });
});
