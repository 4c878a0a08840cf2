import { describe, expect, it } from 'vitest';
import { canonicalText } from '../../src/canonical/json.ts';
import {
  type Entry,
  GENESIS,
  leafHash,
  openEntry,
  type SealedEntry,
  sealEntry,
} from '../../src/ledger/entry.ts';
import { EMPTY_ROOT, rootOf } from '../../src/ledger/merkle.ts';
import { type ChainVerifyOptions, LedgerVerifier, type VerifiedLedger } from '../../src/ledger/verify.ts';
import { limits } from '../../src/limits.ts';
import { refuse } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { entryAt, headOf, inBatches, sampleLedger } from './sample.ts';

const LEDGER = sampleLedger(20);

async function verify(
  ledger: readonly SealedEntry[],
  options?: ChainVerifyOptions,
  batch?: number,
): Promise<VerifiedLedger> {
  const verifier = new LedgerVerifier(options);
  for await (const entries of inBatches(ledger, batch)) verifier.feed(entries);
  return verifier.finish();
}

async function expectBroken(
  seq: number,
  problem: RegExp,
  ledger: readonly SealedEntry[],
  options?: ChainVerifyOptions,
) {
  const { facts } = await expectRefusal('LEDGER_BROKEN', () => verify(ledger, options));
  expect(facts.seq).toBe(seq);
  expect(facts.problem).toMatch(problem);
}

/** An entry of any text whose stored hash is right. */
const sealText = (seq: number, text: string | Uint8Array): SealedEntry => {
  const bytes = Buffer.from(text);
  return { seq, bytes, hash: leafHash(bytes) };
};

describe('a ledger that is whole', () => {
  it('verifies, and tells where it ends', async () => {
    const verified = await verify(LEDGER, { tenant: 'main', deep: true });
    const { root, size } = headOf(LEDGER);
    expect(verified).toMatchObject({ size, root, last: LEDGER.at(-1)!.hash, tenant: 'main' });
    expect(verified.at).toBe('2026-01-15T00:00:19.000Z');
    expect(rootOf(verified)).toBe(root);
  });

  it('verifies when it is empty', async () => {
    expect(await verify([])).toEqual({
      size: 0,
      frontier: [],
      root: EMPTY_ROOT,
      last: GENESIS,
      at: null,
      tenant: null,
    });
  });

  it('verifies whatever the batches are', async () => {
    for (const batch of [1, 3, 20, 100]) expect((await verify(LEDGER, {}, batch)).size).toBe(LEDGER.length);
  });

  it('can be fed piece by piece', () => {
    const verifier = new LedgerVerifier();
    verifier.feed([]);
    verifier.feed(LEDGER);
    expect(verifier.finish().size).toBe(verifier.size);
  });
});

describe('the first bad entry is named', () => {
  const at = 5;
  const sealed = LEDGER[at]!;
  const entry = openEntry(sealed.bytes);

  it('when its bytes were changed', async () => {
    const bytes = Buffer.from(sealed.bytes);
    bytes[20]! ^= 1;
    await expectBroken(at, /stored hash/, LEDGER.with(at, { ...sealed, bytes }));
  });

  it('when its stored hash was changed, or is in upper case', async () => {
    await expectBroken(at, /stored hash/, LEDGER.with(at, { ...sealed, hash: GENESIS }));
    await expectBroken(at, /stored hash/, LEDGER.with(at, { ...sealed, hash: sealed.hash.toUpperCase() }));
  });

  it('when it was rewritten with a new hash, and the next no longer follows', async () => {
    await expectBroken(at + 1, /follow/, LEDGER.with(at, sealEntry({ ...entry, subject: 'other' })));
  });

  it('when it was removed', async () => {
    await expectBroken(at, /missing/, LEDGER.toSpliced(at, 1));
  });

  it('when it was removed and the rest was numbered again', async () => {
    const rest = LEDGER.toSpliced(at, 1).map((other, seq) => ({ ...other, seq }));
    await expectBroken(at, /says that it is entry 6/, rest);
  });

  it('when two were swapped or one came twice', async () => {
    await expectBroken(at, /missing/, LEDGER.with(at, LEDGER[at + 1]!).with(at + 1, sealed));
    await expectBroken(at + 1, /missing/, LEDGER.toSpliced(at, 0, sealed));
  });

  it('when the first does not begin at the beginning', async () => {
    await expectBroken(0, /missing/, LEDGER.slice(1));
    await expectBroken(0, /follow/, [sealEntry(entryAt(0, 'f'.repeat(64)))]);
  });

  it('when it belongs to another tenant', async () => {
    const mixed = sampleLedger(20, (e) => (e.seq === at ? { ...e, tenant: 'other' } : e));
    await expectBroken(at, /tenant/, mixed);
    await expectBroken(0, /tenant/, LEDGER, { tenant: 'other' });
  });

  it('when it is no entry at all', async () => {
    for (const text of ['', 'null', '[]', '{}', '{"seq":0}', '"text"', '{'])
      await expectBroken(0, /not an entry/, [sealText(0, text)]);
    const { body: _, ...without_body } = entryAt(0, GENESIS);
    await expectBroken(0, /not an entry/, [sealText(0, canonicalText(without_body))]);
    await expectBroken(0, /not an entry/, [sealText(0, canonicalText({ ...entryAt(0, GENESIS), more: 1 }))]);
    const wrong_types = {
      seq: -1,
      tenant: 1,
      at: 1,
      kind: null,
      subject: [],
      prev: {},
      claims: [1],
      body: [],
    };
    for (const [field, value] of Object.entries(wrong_types)) {
      const bad = { ...entryAt(0, GENESIS), [field]: value };
      await expectBroken(0, /not an entry/, [sealText(0, canonicalText(bad))]);
    }
    const huge = canonicalText(entryAt(0, GENESIS, { subject: 'a'.repeat(limits.entry_bytes) }));
    await expectBroken(0, /not an entry/, [sealText(0, huge)]);
  });
});

describe('a head that was kept', () => {
  it('is found again at its size, whatever came after', async () => {
    const kept = [0, 1, 7, 16, 20].map((size) => headOf(LEDGER.slice(0, size)));
    expect((await verify(LEDGER, { kept })).size).toBe(20);
  });

  it('shows that entries were removed from the end', async () => {
    const { facts } = await expectRefusal('LEDGER_TRUNCATED', () =>
      verify(LEDGER.slice(0, 12), { kept: [headOf(LEDGER)] }),
    );
    expect(facts).toEqual({ entries: 12, kept: 20 });
    await expectRefusal('LEDGER_TRUNCATED', () => verify([], { kept: [headOf(LEDGER)] }));
  });

  it('shows that history was rewritten, with all its hashes made new', async () => {
    const rewritten = sampleLedger(30, (e) => (e.seq === 3 ? { ...e, subject: 'other' } : e));
    expect((await verify(rewritten, { kept: [headOf(LEDGER.slice(0, 3))] })).size).toBe(30);
    const { facts } = await expectRefusal('LEDGER_FORKED', () =>
      verify(rewritten, { kept: [headOf(LEDGER.slice(0, 4)), headOf(LEDGER)] }),
    );
    expect(facts.size).toBe(4);
  });

  it('shows a fork by itself when another of the same size was kept', async () => {
    const other = sampleLedger(20, (e) => ({ ...e, subject: 'other' }));
    const kept = [headOf(other), headOf(LEDGER)];
    await expectRefusal('LEDGER_FORKED', () => verify(LEDGER, { kept }));
    await expectRefusal('LEDGER_FORKED', () => verify(LEDGER, { kept: kept.toReversed() }));
  });
});

describe('a deep verification', () => {
  /** The same facts in bytes that are not canonical, with hashes that are right. */
  const spaced = () => [sealText(0, ` ${canonicalText(entryAt(0, GENESIS))}`)];

  it('finds bytes that are not in canonical form', async () => {
    expect((await verify(spaced())).size).toBe(1);
    await expectBroken(0, /canonical/, spaced(), { deep: true });
  });

  it('finds a key that is there twice', async () => {
    const text = canonicalText(entryAt(0, GENESIS)).replace('{', '{"at":"never",');
    expect((await verify([sealText(0, text)])).size).toBe(1);
    await expectBroken(0, /twice/, [sealText(0, text)], { deep: true });
  });

  it('finds invalid UTF-8', async () => {
    const text = Buffer.from(canonicalText(entryAt(0, GENESIS, { subject: 'X' })));
    text[text.indexOf('"X"') + 1] = 0xff;
    await expectBroken(0, /UTF-8/, [sealText(0, text)], { deep: true });
  });

  it('shows every entry to the inspector, and names the one that it refuses', async () => {
    const seen: Entry[] = [];
    await verify(LEDGER, { deep: true, inspect: (entry) => seen.push(entry) });
    expect(seen).toEqual(LEDGER.map(({ bytes }) => openEntry(bytes)));
    const inspect = ({ seq }: Entry) => {
      if (seq === 4) refuse('SIGNATURE_INVALID', 'forged');
    };
    const { facts } = await expectRefusal('LEDGER_BROKEN', () => verify(LEDGER, { deep: true, inspect }));
    expect(facts).toEqual({ seq: 4, problem: 'forged', reason_code: 'SIGNATURE_INVALID' });
  });

  it('does not hide an error of the inspector', async () => {
    const inspect = () => {
      throw new RangeError('a mistake in the inspector');
    };
    await expect(verify(LEDGER, { deep: true, inspect })).rejects.toThrow(RangeError);
  });
});

describe('an entry', () => {
  it('is read back from its bytes', () => {
    const entry = entryAt(0, GENESIS);
    expect(openEntry(sealEntry(entry).bytes)).toEqual(entry);
  });

  it('is not sealed when it is too large', async () => {
    const subject = 'a'.repeat(limits.entry_bytes);
    await expectRefusal('INPUT_TOO_LARGE', () => sealEntry(entryAt(0, GENESIS, { subject })));
  });

  it('is not read from JSON that is something else', async () => {
    await expectRefusal('SHAPE_INVALID', () => openEntry(Buffer.from('{}')));
    await expectRefusal('JSON_MALFORMED', () => openEntry(Buffer.from('{')));
  });
});
