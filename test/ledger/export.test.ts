import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { readChunks } from '../../src/journey/audit-file.ts';
import { type Entry, openEntry } from '../../src/ledger/entry.ts';
import { verifyExport, writeExport } from '../../src/ledger/export.ts';
import { keyFingerprint } from '../../src/ledger/head.ts';
import { formatVerifierKey, verifierKey } from '../../src/ledger/note.ts';
import { limits } from '../../src/limits.ts';
import { type ReasonCode, refuse } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import {
  chunksOf,
  exportOf,
  FINGERPRINT,
  headOf,
  inBatches,
  KEY,
  ORIGIN,
  OTHER_SEED,
  sampleLedger,
  signedHead,
} from './sample.ts';

const LEDGER = sampleLedger(20);
const HEAD = signedHead(LEDGER);
const GOOD = (await exportOf(LEDGER)).toString();
const LINES = GOOD.trimEnd().split('\n');

const verifyText = (text: string | Uint8Array, options = {}) =>
  verifyExport(chunksOf(Buffer.from(text)), options);
const joined = (lines: readonly string[]) => `${lines.join('\n')}\n`;

describe('an export', () => {
  it('is JSON Lines: a header, the exact entries, the signed head', () => {
    const values = LINES.map((line) => JSON.parse(line));
    expect(values[0]).toEqual({
      format: 'keyturn-ledger/1',
      key: formatVerifierKey(KEY),
      objects: false,
      origin: ORIGIN,
      tenant: 'main',
    });
    expect(values.slice(1, -1)).toEqual(
      LEDGER.map(({ bytes, hash }) => ({ entry: JSON.parse(Buffer.from(bytes).toString()), hash })),
    );
    expect(values.at(-1)).toEqual({ head: HEAD });
    expect(LINES[3]).toBe(`{"entry":${Buffer.from(LEDGER[2]!.bytes)},"hash":"${LEDGER[2]!.hash}"}`);
  });

  it('verifies from its file, with no database', async () => {
    const path = join(scratch(), 'ledger.jsonl');
    const source = { tenant: 'main', key: KEY, head: HEAD, entries: inBatches(LEDGER) };
    await pipeline(writeExport(source), createWriteStream(path));
    expect(readFileSync(path, 'utf8')).toBe(GOOD);
    const verified = await verifyExport(readChunks(path), { key: FINGERPRINT, kept: [HEAD], deep: true });
    expect(verified).toMatchObject({
      size: 20,
      head: headOf(LEDGER),
      root: headOf(LEDGER).root,
      tenant: 'main',
      fingerprint: FINGERPRINT,
      key_confirmed: true,
    });
  });

  it('verifies however its bytes arrive', async () => {
    for (const chunk of [1, 2, 63, 64, 500, 4096])
      expect((await verifyExport(chunksOf(Buffer.from(GOOD), chunk))).size).toBe(20);
  });

  it('verifies when the ledger is empty', async () => {
    expect((await verifyText(await exportOf([]))).size).toBe(0);
  });

  it('holds an entry of the largest size', async () => {
    const room = limits.entry_bytes - LEDGER[0]!.bytes.length;
    const subject = `${'a'.repeat(room)}${'b'.repeat(36)}`;
    const large = sampleLedger(1, (entry) => ({ ...entry, subject }));
    expect(large[0]!.bytes).toHaveLength(limits.entry_bytes);
    expect((await verifyText(await exportOf(large))).size).toBe(1);
  });

  it('says when nobody but itself vouches for its key', async () => {
    expect((await verifyText(GOOD)).key_confirmed).toBe(false);
    expect((await verifyText(GOOD, { key: formatVerifierKey(KEY) })).key_confirmed).toBe(true);
  });

  it('ends at its head when the ledger grew meanwhile', async () => {
    const text = await exportOf(sampleLedger(25), HEAD);
    expect(text.toString()).toBe(GOOD);
  });

  it('is not written when the ledger is shorter than its head', async () => {
    await expectRefusal('LEDGER_TRUNCATED', () => exportOf(LEDGER.slice(0, 19), HEAD));
  });

  it('is not written under a head of another key', async () => {
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => exportOf(LEDGER, signedHead(LEDGER, OTHER_SEED)));
  });

  it('shows each entry to the inspector of a deep verification', async () => {
    const seen: Entry[] = [];
    await verifyText(GOOD, { deep: true, inspect: (entry: Entry) => seen.push(entry) });
    expect(seen).toEqual(LEDGER.map(({ bytes }) => openEntry(bytes)));
    const inspect = () => refuse('SIGNATURE_INVALID');
    await expectRefusal('LEDGER_BROKEN', () => verifyText(GOOD, { deep: true, inspect }));
  });
});

describe('an export by somebody else', () => {
  it('is refused when the auditor names the key', async () => {
    const other = keyFingerprint(Buffer.alloc(32).toString('base64'));
    for (const key of [other, '', formatVerifierKey(verifierKey('other', KEY.public_key))])
      await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifyText(GOOD, { key }));
  });

  it('is refused when its head is signed by another key than it names', async () => {
    const forged = joined(LINES.with(-1, JSON.stringify({ head: signedHead(LEDGER, OTHER_SEED) })));
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifyText(forged));
  });
});

describe('a head that was kept', () => {
  it('shows that an export was cut or rewritten, although it is signed', async () => {
    const cut = await exportOf(LEDGER.slice(0, 10));
    await expectRefusal('LEDGER_TRUNCATED', () => verifyText(cut, { kept: [HEAD] }));
    const rewritten = await exportOf(sampleLedger(30, (e) => ({ ...e, subject: 'other' })));
    await expectRefusal('LEDGER_FORKED', () => verifyText(rewritten, { kept: [HEAD] }));
    expect((await verifyText(await exportOf(sampleLedger(30)), { kept: [HEAD] })).size).toBe(30);
  });

  it('must be a head of the same ledger', async () => {
    const foreign = signedHead(LEDGER, OTHER_SEED);
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifyText(GOOD, { kept: [foreign] }));
    await expectRefusal('HEAD_MALFORMED', () => verifyText(GOOD, { kept: ['20'] }));
  });
});

describe('a damaged export is refused', () => {
  const [header, first, second] = LINES as [string, string, string];
  const head = LINES.at(-1)!;
  const withHeader = (change: object) =>
    joined(LINES.with(0, JSON.stringify({ ...JSON.parse(header), ...change })));
  const cases: [string, ReasonCode, string | Uint8Array][] = [
    ['when it is empty', 'EXPORT_MALFORMED', ''],
    ['when it is one blank line', 'EXPORT_MALFORMED', '\n'],
    ['with a header only', 'EXPORT_MALFORMED', joined([header])],
    ['without its header', 'EXPORT_MALFORMED', joined(LINES.slice(1))],
    ['with two headers', 'EXPORT_MALFORMED', joined([header, ...LINES])],
    ['without its head', 'EXPORT_MALFORMED', joined(LINES.slice(0, -1))],
    ['without its last newline', 'EXPORT_MALFORMED', GOOD.slice(0, -1)],
    ['when it is cut in the middle of a line', 'EXPORT_MALFORMED', GOOD.slice(0, 5000)],
    ['with a blank line at its end', 'EXPORT_MALFORMED', `${GOOD}\n`],
    ['with a byte after its end', 'EXPORT_MALFORMED', `${GOOD}x`],
    ['with a second head', 'EXPORT_MALFORMED', joined([...LINES, head])],
    ['with an entry after its head', 'EXPORT_MALFORMED', joined([...LINES, first])],
    ['with a blank line inside', 'EXPORT_MALFORMED', joined(LINES.toSpliced(4, 0, ''))],
    ['with carriage returns', 'EXPORT_MALFORMED', GOOD.replaceAll('\n', '\r\n')],
    ['with a byte order mark', 'EXPORT_MALFORMED', `\ufeff${GOOD}`],
    ['with invalid UTF-8', 'EXPORT_MALFORMED', withByte(0xff)],
    ['with a line without end', 'EXPORT_MALFORMED', `${header}\n${'x'.repeat(limits.entry_bytes * 2)}`],
    ['with a header that is not canonical', 'EXPORT_MALFORMED', GOOD.replace('{', '{ ')],
    ['with another format', 'EXPORT_MALFORMED', withHeader({ format: 'keyturn-ledger/2' })],
    ['with another origin', 'EXPORT_MALFORMED', withHeader({ origin: 'other' })],
    ['with a key that is none', 'EXPORT_MALFORMED', withHeader({ key: 'none' })],
    ['with a header of wrong types', 'EXPORT_MALFORMED', withHeader({ tenant: 1 })],
    ['with more in its header', 'EXPORT_MALFORMED', withHeader({ zebra: 1 })],
    ['with another tenant', 'LEDGER_BROKEN', withHeader({ tenant: 'other' })],
    ['with an entry that has no hash', 'EXPORT_MALFORMED', joined(LINES.with(1, '{"entry":{}}'))],
    [
      'with an entry that is too short',
      'EXPORT_MALFORMED',
      joined(LINES.with(1, `{"entry":${first.slice(-70)}`)),
    ],
    [
      'with a space before a hash',
      'EXPORT_MALFORMED',
      joined(LINES.with(1, first.replace(/"([0-9a-f]+"})$/, ' "$1'))),
    ],
    ['with an upper-case hash', 'EXPORT_MALFORMED', upperHash(GOOD)],
    ['with two entries swapped', 'LEDGER_BROKEN', joined(LINES.with(1, second).with(2, first))],
    ['with an entry twice', 'LEDGER_BROKEN', joined(LINES.toSpliced(1, 0, first))],
    ['without an entry', 'LEDGER_BROKEN', joined(LINES.toSpliced(5, 1))],
    ['without its last entry', 'LEDGER_TRUNCATED', joined(LINES.toSpliced(-2, 1))],
    ['with a head that is no text', 'EXPORT_MALFORMED', joined(LINES.with(-1, '{"head":1}'))],
    ['with a head that is no note', 'HEAD_MALFORMED', joined(LINES.with(-1, '{"head":"x"}'))],
    ['with an earlier head', 'EXPORT_MALFORMED', withHead(signedHead(LEDGER.slice(0, 19)))],
    ['with a head of another history', 'LEDGER_FORKED', withHead(signedHead(otherLedger()))],
  ];
  it.each(cases)('%s', async (_name, code, text) => {
    await expectRefusal(code, () => verifyText(text));
  });
});

it('a line without end is refused before it is read to its end', async () => {
  let chunks = 0;
  async function* endless() {
    for (;;) {
      chunks += 1;
      if (chunks > 1000) throw new Error('the reader does not stop');
      yield Buffer.alloc(1024, 'x');
    }
  }
  await expectRefusal('EXPORT_MALFORMED', () => verifyExport(endless()));
  expect(chunks * 1024).toBeLessThan(limits.entry_bytes + 4096);
});

function withByte(byte: number): Buffer {
  const bytes = Buffer.from(GOOD);
  bytes[bytes.indexOf('execution')] = byte;
  return bytes;
}

function upperHash(text: string): string {
  return text.replace(/"hash":"([0-9a-f]{64})"}/, (found) => found.toUpperCase().replace('HASH', 'hash'));
}

function withHead(head: string): string {
  return joined(LINES.with(-1, JSON.stringify({ head })));
}

function otherLedger() {
  return sampleLedger(20, (entry) => ({ ...entry, subject: 'other' }));
}

describe('a file that is not there', () => {
  it('is refused, and so is a folder', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'sub'));
    await expectRefusal('FILE_NOT_FOUND', () => verifyExport(readChunks(join(folder, 'none.jsonl'))));
    await expectRefusal('FILE_NOT_REGULAR', () => verifyExport(readChunks(join(folder, 'sub'))));
    writeFileSync(join(folder, 'file'), GOOD);
    await expectRefusal('FILE_UNREADABLE', () => verifyExport(readChunks(join(folder, 'file', 'below'))));
  });
});
