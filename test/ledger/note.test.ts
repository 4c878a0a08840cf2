import { describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import {
  formatNote,
  formatVerifierKey,
  openNote,
  parseNote,
  parseVerifierKey,
  signNote,
  verifierKey,
} from '../../src/ledger/note.ts';
import { expectRefusal } from '../support/refusal.ts';

// The example of Go's golang.org/x/mod/sumdb/note, which C2SP signed notes come from.
const SEED = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1);
const VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const SIGNATURE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
const NOTE = `${TEXT}\n${SIGNATURE}`;
const KEY = parseVerifierKey(VKEY);

// The example of https://c2sp.org/tlog-checkpoint. Its key is not published, so it can only be parsed.
const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;

describe('a signed note', () => {
  it('is the one that other implementations write', () => {
    expect(signNote(TEXT, 'PeterNeumann', SEED)).toBe(NOTE);
    expect(openNote(NOTE, KEY)).toBe(TEXT);
  });

  it('is written back as it was read', () => {
    for (const note of [NOTE, CHECKPOINT, `a\n\nb\n\n${SIGNATURE}${SIGNATURE}`])
      expect(formatNote(parseNote(note))).toBe(note);
    expect(parseNote(CHECKPOINT).signatures).toMatchObject([{ id: '033de0ae' }]);
    expect(parseNote(`a\n\nb\n\n${SIGNATURE}`).text).toBe('a\n\nb\n');
  });

  it('may carry signatures of witnesses, which are passed over', () => {
    const { seed } = generateKeyPair();
    const witness = signNote(TEXT, 'witness.example', seed).slice(TEXT.length + 1);
    expect(openNote(`${TEXT}\n${witness}${SIGNATURE}`, KEY)).toBe(TEXT);
  });

  it('is refused when no signature is by the key', async () => {
    const { seed, public_key } = generateKeyPair();
    const by_other = signNote(TEXT, 'PeterNeumann', seed);
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openNote(by_other, KEY));
    await expectRefusal('HEAD_SIGNATURE_INVALID', () =>
      openNote(NOTE, verifierKey('PeterNeumann', public_key)),
    );
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openNote(NOTE, verifierKey('Peter', KEY.public_key)));
  });

  it('is refused when one of two signatures by the key is wrong', async () => {
    const forged = formatNote({
      text: TEXT,
      signatures: [
        ...parseNote(NOTE).signatures,
        { name: KEY.name, id: KEY.id, signature: Buffer.alloc(64).toString('base64') },
      ],
    });
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openNote(forged, KEY));
  });

  it('is refused when its text was changed', async () => {
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openNote(NOTE.replace('answer', 'Answer'), KEY));
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => openNote(`\n${NOTE}`, KEY));
  });

  const blob = SIGNATURE.trim().split(' ')[2]!;
  it.each([
    ['nothing', ''],
    ['no signature', `${TEXT}\n`],
    ['no text', `\n${SIGNATURE}`],
    ['no blank line', `${TEXT}${SIGNATURE}`],
    ['no last newline', NOTE.slice(0, -1)],
    ['a blank line at the end', `${NOTE}\n`],
    ['a carriage return', NOTE.replaceAll('\n', '\r\n')],
    ['a tab', NOTE.replace('If', '\tIf')],
    ['a lone surrogate', NOTE.replace('If', '\ud800')],
    ['a hyphen for the dash', NOTE.replace('—', '-')],
    ['two spaces', NOTE.replace('— ', '—  ')],
    ['a space at the end', NOTE.replace(/=\n$/, '= \n')],
    ['a plus in the name', NOTE.replace('— Peter', '— Peter+')],
    ['an odd space in the name', NOTE.replace('— Peter', '— Peter\u0085')],
    ['base64 without padding', NOTE.replace(blob, blob.slice(0, -1))],
    ['base64 with other spare bits', NOTE.replace(blob, `${blob.slice(0, -2)}N=`)],
    ['base64 for URLs', NOTE.replaceAll('/', '_')],
    ['a signature of no bytes', `${TEXT}\n— PeterNeumann x08gow==\n`],
    ['too many signatures', `${TEXT}\n${SIGNATURE.repeat(17)}`],
    ['a text without end', `${'a'.repeat(128 * 1024)}\n\n${SIGNATURE}`],
  ])('is refused with %s', async (_name, note) => {
    await expectRefusal('HEAD_MALFORMED', () => openNote(note, KEY));
  });

  it('is not signed when nobody could read it', async () => {
    for (const text of ['', 'no newline', 'tab\t\n', '\ud800\n'])
      await expectRefusal('HEAD_MALFORMED', () => signNote(text, 'PeterNeumann', SEED));
  });
});

describe('a verifier key', () => {
  it('is written back as it was read', () => {
    expect(formatVerifierKey(KEY)).toBe(VKEY);
    expect(KEY).toMatchObject({ name: 'PeterNeumann', id: 'c74f20a3' });
  });

  it.each([
    ['nothing', ''],
    ['another id', VKEY.replace('c74f20a3', 'c74f20a4')],
    ['an upper-case id', VKEY.replace('c74f20a3', 'C74F20A3')],
    ['another name', VKEY.replace('Peter', 'Paul')],
    ['another algorithm', VKEY.replace('+ARpc', '+Ahpc')],
    ['another key', VKEY.replace('ARpc', 'ARpd')],
    ['a short key', VKEY.slice(0, -4)],
    ['a space', `${VKEY} `],
    ['a newline', `${VKEY}\n`],
    ['a name with spaces', `Peter ${VKEY}`],
  ])('is refused with %s', async (_name, text) => {
    await expectRefusal('HEAD_MALFORMED', () => parseVerifierKey(text));
  });

  it('is refused for a name or a key that cannot be written', async () => {
    for (const name of ['', 'a b', 'a+b', 'a\u2028b', 'a\0b', '\ud800', 'a'.repeat(256)])
      await expectRefusal('HEAD_MALFORMED', () => verifierKey(name, KEY.public_key));
    for (const key of ['', KEY.public_key.slice(0, -1), `${KEY.public_key}\n`])
      await expectRefusal('HEAD_MALFORMED', () => verifierKey('name', key));
  });
});
