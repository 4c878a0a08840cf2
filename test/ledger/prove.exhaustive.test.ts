import { describe, expect, it } from 'vitest';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { openEntry, type SealedEntry } from '../../src/ledger/entry.ts';
import { keyFingerprint } from '../../src/ledger/head.ts';
import { formatVerifierKey, verifierKey } from '../../src/ledger/note.ts';
import { makeBundle, type ProofRequest, verifyBundle } from '../../src/ledger/prove.ts';
import { limits } from '../../src/limits.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  FINGERPRINT,
  headOf,
  inBatches,
  KEY,
  ORIGIN,
  OTHER_SEED,
  SEED,
  sampleLedger,
  signedHead,
} from './sample.ts';

const SUBJECT = 'the intent';
const LEDGER = sampleLedger(41, (entry) => (entry.seq % 10 === 3 ? { ...entry, subject: SUBJECT } : entry));
const ABOUT = LEDGER.filter(({ seq }) => seq % 10 === 3);
const KEPT = signedHead(LEDGER.slice(0, 29));

const request = (change: Partial<ProofRequest> = {}, ledger = LEDGER): ProofRequest => ({
  subject: SUBJECT,
  key: KEY,
  head: signedHead(ledger),
  entries: ABOUT,
  ledger: inBatches(ledger),
  seed: SEED,
  ...change,
});

// biome-ignore lint/suspicious/noExplicitAny: the tests below spoil a bundle at any place.
const spoil = (bytes: Uint8Array, change: (bundle: any) => void): Uint8Array => {
  const bundle = JSON.parse(Buffer.from(bytes).toString());
  change(bundle);
  return Buffer.concat([canonicalBytes(bundle), Buffer.from('\n')]);
};

const PLAIN = await makeBundle(request());
const WITH_KEPT = await makeBundle(request({ kept: KEPT }));

describe('a proof bundle', () => {
  it('proves its entries with nothing but the key that the auditor names', () => {
    const verified = verifyBundle(PLAIN, { key: FINGERPRINT });
    expect(verified).toEqual({
      subject: SUBJECT,
      tenant: 'main',
      head: headOf(LEDGER),
      kept: null,
      fingerprint: FINGERPRINT,
      entries: ABOUT.map(({ bytes }) => openEntry(bytes)),
      objects: null,
    });
    expect(verifyBundle(PLAIN, { key: formatVerifierKey(KEY) }).entries).toHaveLength(4);
  });

  it('is canonical JSON of the documented form', () => {
    const bundle = JSON.parse(Buffer.from(WITH_KEPT).toString());
    expect(Object.keys(bundle)).toEqual([
      'complete',
      'consistency',
      'entries',
      'format',
      'head',
      'key',
      'objects',
      'subject',
    ]);
    expect(bundle).toMatchObject({ format: 'keyturn-proof/1', consistency: { from: 29 }, subject: SUBJECT });
    expect(JSON.parse(Buffer.from(PLAIN).toString()).consistency).toBe(null);
  });

  it('is small: its size grows with the logarithm of the ledger', async () => {
    const large = sampleLedger(1000, (entry) => (entry.seq === 500 ? { ...entry, subject: SUBJECT } : entry));
    const bytes = await makeBundle(request({ entries: [large[500]!] }, large));
    const { entries } = JSON.parse(Buffer.from(bytes).toString());
    expect(entries[0].path).toHaveLength(10);
  });

  it('shows that the ledger only grew since the head that was kept', () => {
    expect(verifyBundle(WITH_KEPT, { key: FINGERPRINT, kept: KEPT }).kept?.size).toBe(29);
  });

  it('needs no further proof for a kept head of its own size', () => {
    expect(verifyBundle(PLAIN, { key: FINGERPRINT, kept: signedHead(LEDGER) }).kept?.size).toBe(41);
  });

  it('works from every size to every size', async () => {
    for (let size = 4; size <= 20; size++) {
      const ledger = LEDGER.slice(0, size);
      for (let from = 0; from <= size; from++) {
        const kept = signedHead(LEDGER.slice(0, from));
        const bytes = await makeBundle(request({ entries: [LEDGER[3]!], kept }, ledger));
        expect(verifyBundle(bytes, { key: FINGERPRINT, kept }).head.size).toBe(size);
      }
    }
  });
});

describe('a proof bundle is refused', () => {
  it('under any other key', async () => {
    const other = keyPairFromSeed(OTHER_SEED).public_key;
    for (const key of ['', keyFingerprint(other), formatVerifierKey(verifierKey(ORIGIN, other))])
      await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifyBundle(PLAIN, { key }));
  });

  it('when a forger signed everything again with a key of his own', async () => {
    const key = verifierKey(ORIGIN, keyPairFromSeed(OTHER_SEED).public_key);
    const forged = await makeBundle(request({ key, head: signedHead(LEDGER, OTHER_SEED), seed: OTHER_SEED }));
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifyBundle(forged, { key: FINGERPRINT }));
  });

  it('when it does not reach the kept head, and says how to make one that does', async () => {
    for (const [bundle, size] of [
      [PLAIN, 29],
      [WITH_KEPT, 28],
      [WITH_KEPT, 30],
      [WITH_KEPT, 0],
    ] as const) {
      const kept = signedHead(LEDGER.slice(0, size));
      const { message } = await expectRefusal('PROOF_INVALID', () =>
        verifyBundle(bundle, { key: FINGERPRINT, kept }),
      );
      expect(message).toContain('keyturn ledger prove ID --head FILE');
    }
    const later = signedHead(sampleLedger(50));
    await expectRefusal('PROOF_INVALID', () => verifyBundle(WITH_KEPT, { key: FINGERPRINT, kept: later }));
  });

  it('when the kept head is of another history', async () => {
    const other = (size: number) =>
      signedHead(sampleLedger(size, (entry) => ({ ...entry, subject: 'other' })));
    await expectRefusal('PROOF_INVALID', () =>
      verifyBundle(WITH_KEPT, { key: FINGERPRINT, kept: other(29) }),
    );
    await expectRefusal('LEDGER_FORKED', () =>
      verifyBundle(WITH_KEPT, { key: FINGERPRINT, kept: other(41) }),
    );
  });

  it('when the kept head is not a head of this ledger', async () => {
    const foreign = signedHead(LEDGER, OTHER_SEED);
    await expectRefusal('HEAD_SIGNATURE_INVALID', () =>
      verifyBundle(PLAIN, { key: FINGERPRINT, kept: foreign }),
    );
    await expectRefusal('HEAD_MALFORMED', () => verifyBundle(PLAIN, { key: FINGERPRINT, kept: '' }));
  });

  const swap = (list: unknown[]) => list.splice(0, 2, list[1], list[0]);
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const cases: [string, ReasonCode, (bundle: any) => void][] = [
    ['a changed entry', 'PROOF_INVALID', (b) => (b.entries[0].entry.subject = 'x')],
    ['an entry at another place', 'PROOF_INVALID', (b) => (b.entries[0].entry.seq = 4)],
    ['an entry beyond the head', 'PROOF_INVALID', (b) => (b.entries[3].entry.seq = 41)],
    ['a path of another entry', 'PROOF_INVALID', (b) => (b.entries[0].path = b.entries[1].path)],
    ['a shorter path', 'PROOF_INVALID', (b) => b.entries[0].path.pop()],
    ['a longer path', 'PROOF_INVALID', (b) => b.entries[0].path.push('0'.repeat(64))],
    ['a swapped path', 'PROOF_INVALID', (b) => swap(b.entries[0].path)],
    ['a changed consistency proof', 'PROOF_INVALID', (b) => swap(b.consistency.path)],
    ['a shorter consistency proof', 'PROOF_INVALID', (b) => b.consistency.path.pop()],
    ['a longer consistency proof', 'PROOF_INVALID', (b) => b.consistency.path.push('0'.repeat(64))],
    ['no consistency proof', 'PROOF_INVALID', (b) => (b.consistency = null)],
    ['another head', 'HEAD_SIGNATURE_INVALID', (b) => (b.head = b.head.replace('\n41\n', '\n42\n'))],
    ['a head that is none', 'HEAD_MALFORMED', (b) => (b.head = '41')],
    ['a key that is none', 'BUNDLE_MALFORMED', (b) => (b.key = FINGERPRINT)],
    ['another format', 'BUNDLE_MALFORMED', (b) => (b.format = 'keyturn-proof/2')],
    ['a missing field', 'BUNDLE_MALFORMED', (b) => delete b.consistency],
    ['an unknown field', 'BUNDLE_MALFORMED', (b) => (b.more = 1)],
    ['an unknown field in an entry', 'BUNDLE_MALFORMED', (b) => (b.entries[0].entry.more = 1)],
    ['an unknown field beside an entry', 'BUNDLE_MALFORMED', (b) => (b.entries[0].more = 1)],
    ['no entries', 'BUNDLE_MALFORMED', (b) => (b.entries = [])],
    ['entries that are no list', 'BUNDLE_MALFORMED', (b) => (b.entries = {})],
    ['an upper-case path', 'BUNDLE_MALFORMED', (b) => (b.entries[0].path[0] = 'A'.repeat(64))],
    ['a path of other things', 'BUNDLE_MALFORMED', (b) => (b.entries[0].path[0] = 1)],
    ['a consistency proof of other things', 'BUNDLE_MALFORMED', (b) => (b.consistency.from = '29')],
    ['a subject that no entry is about', 'BUNDLE_MALFORMED', (b) => (b.subject = 'another')],
    ['a subject that is no text', 'BUNDLE_MALFORMED', (b) => (b.subject = 1)],
    ['entries out of order', 'BUNDLE_MALFORMED', (b) => swap(b.entries)],
    ['an entry twice', 'BUNDLE_MALFORMED', (b) => b.entries.push(b.entries[3])],
  ];
  it.each(cases)('with %s', async (_name, code, change) => {
    const spoilt = spoil(WITH_KEPT, change);
    await expectRefusal(code, () => verifyBundle(spoilt, { key: FINGERPRINT, kept: KEPT }));
  });

  it('when it is not canonical JSON', async () => {
    const text = Buffer.from(PLAIN).toString();
    for (const bad of [
      '',
      '[]',
      'null',
      '{',
      `${text}\n`,
      text.replace('{', '{ '),
      text.replace('{', '{"key":1,'),
    ])
      await expectRefusal('BUNDLE_MALFORMED', () => verifyBundle(Buffer.from(bad), { key: FINGERPRINT }));
    await expectRefusal('BUNDLE_MALFORMED', () => verifyBundle(Buffer.from([0xff]), { key: FINGERPRINT }));
  });

  it('with an entry that is larger than any ledger holds', async () => {
    const spoilt = spoil(PLAIN, (b) => (b.entries[0].entry.at = 'a'.repeat(limits.entry_bytes)));
    await expectRefusal('BUNDLE_MALFORMED', () => verifyBundle(spoilt, { key: FINGERPRINT }));
  });

  it('with any flipped bit', () => {
    const bytes = Buffer.from(WITH_KEPT);
    const missed: number[] = [];
    for (let bit = 0; bit < bytes.length * 8; bit += 3) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      try {
        verifyBundle(bytes, { key: FINGERPRINT, kept: KEPT });
        missed.push(bit);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
    expect(missed).toEqual([]);
  });
});

describe('a proof bundle is not made', () => {
  it('from a ledger that is shorter than its head or than the kept head', async () => {
    const ledger = inBatches(LEDGER.slice(0, 40));
    await expectRefusal('LEDGER_TRUNCATED', () => makeBundle(request({ ledger })));
    const kept = signedHead(sampleLedger(50));
    await expectRefusal('LEDGER_TRUNCATED', () => makeBundle(request({ kept })));
  });

  it('from a ledger that is not the one its head signs', async () => {
    const damaged: SealedEntry[] = LEDGER.with(7, { ...LEDGER[7]!, hash: '0'.repeat(64) });
    await expectRefusal('PROOF_INVALID', () => makeBundle(request({ ledger: inBatches(damaged) })));
  });

  it('for nothing, or for an entry that is not covered', async () => {
    await expectRefusal('BUNDLE_MALFORMED', () => makeBundle(request({ entries: [] })));
    const head = signedHead(LEDGER.slice(0, 33));
    await expectRefusal('PROOF_INVALID', () => makeBundle(request({ head })));
  });

  it('when it would mix tenants', async () => {
    const mixed = sampleLedger(2, (e) => ({ ...e, subject: SUBJECT, tenant: `t${e.seq}` }));
    await expectRefusal('BUNDLE_MALFORMED', () => makeBundle(request({ entries: mixed }, mixed)));
  });

  it('when it would be too large to read', async () => {
    const wide = sampleLedger(20, (e) => ({ ...e, subject: SUBJECT, at: 'a'.repeat(60_000) }));
    await expectRefusal('INPUT_TOO_LARGE', () => makeBundle(request({ entries: wide }, wide)));
  });
});
