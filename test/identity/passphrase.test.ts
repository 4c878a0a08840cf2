import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Passphrase, requirePassphrase, withBytes } from '../../src/identity/passphrase.ts';
import { Refusal } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';

const CHOOSER = { name: 'ada-lovelace', project: 'Payroll-EU' };
const judge = (passphrase: Passphrase) => requirePassphrase(passphrase, CHOOSER);

describe('a passphrase is refused', () => {
  it.each([
    ['', 'without a character'],
    ['password', 'as the first that everybody tries'],
    ['12345678', 'as a row of digits'],
    ['x7#Qp!mR2w-', 'as one character too short'],
    ['ääääääääää', 'as ten characters, however many bytes they are'],
    ['password1234', 'as a common one with digits'],
    ['Password2024!', 'as a common one with a capital, a year and a sign'],
    ['P@ssw0rdP@ssw0rd', 'as a common one in other signs, twice'],
    ['trustno1trustno1', 'as a common one twice'],
    ['iloveyouforever', 'as two common ones'],
    ['qwertyuiopasdfghjklzxcvbnm', 'as the rows of a keyboard'],
    ['1qaz2wsx3edc4rfv', 'as the columns of a keyboard'],
    ['poiuytrewqlkjhgfdsa', 'as rows backwards'],
    ['aaaaaaaaaaaaaaaaaaaaaaaa', 'as one letter'],
    ['abcabcabcabcabcabc', 'as a repetition'],
    ['xq!xq!xq!xq!xq!', 'as a repetition of signs'],
    ['abcdefghijklmnopqrstuvwxyz', 'as the alphabet'],
    ['98765432109876543210', 'as digits backwards'],
    ['ДимаДимаДимаДима', 'as a repetition in another script'],
    ['Ada-Lovelace-1815', 'as the name of the person'],
    ['lovelace ada lovelace', 'as parts of the name'],
    ['payroll-eu ada 2024', 'as the names of the project and of the person'],
    ['keyturn keyturn keyturn', 'as the name of this program'],
    ['correct horse battery staple', 'as the example that everybody knows'],
  ])('%j: %s', async (passphrase) => {
    await expectRefusal('PASSPHRASE_WEAK', () => judge(passphrase));
    await expectRefusal('PASSPHRASE_WEAK', () => judge(Buffer.from(passphrase)));
  });

  it('when it is too long, or is no text', async () => {
    await expectRefusal('INPUT_TOO_LARGE', () => judge('quiet river stone lamp '.repeat(50)));
    await expectRefusal('INPUT_NOT_UTF8', () => judge(Buffer.from('quiet river stone \xff lamp', 'latin1')));
  });

  it('without a word of it in what is said', async () => {
    for (const passphrase of ['Password2024!', 'xyzzy', 'Ada-Lovelace-1815', '\xff'.repeat(12)]) {
      const error = await judge(Buffer.from(passphrase, 'latin1')).catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(Refusal);
      const { message, facts } = error as Refusal;
      const said = `${message}${JSON.stringify(facts)}`.toLowerCase();
      for (const part of passphrase.toLowerCase().split(/[^a-z0-9]+/))
        if (part.length > 3 && part !== 'password') expect(said).not.toContain(part);
    }
  });
});

describe('a passphrase is taken', () => {
  it.each([
    'correct horse battery',
    'quiet river stone lamp',
    'blue-kettle-orbit-7',
    'zq7#kw0!pmxr',
    'пароль и ещё слово',
    '猫は夜にそっと窓を開ける',
    'my payroll is nobodys business here',
  ])('%j', (passphrase) => judge(Buffer.from(passphrase)));

  it('when it is twelve random letters', async () => {
    const letter = fc.integer({ min: 0x61, max: 0x7a });
    const random = fc.array(letter, { minLength: 12, maxLength: 12 });
    // A few hold a common word of six letters, or a long row.
    const taken = await Promise.all(
      fc.sample(random, { numRuns: 30, seed: 7 }).map((bytes) =>
        judge(Buffer.from(bytes)).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    expect(taken.reduce((sum: number, one) => sum + one, 0)).toBeGreaterThan(26);
  });
});

describe('the bytes that a key is derived from', () => {
  const bytesOf = (passphrase: Passphrase) => withBytes(passphrase, async (bytes) => Buffer.from(bytes));

  it('are the text in NFC, however it was typed', async () => {
    const marks = fc.constantFrom('\u0301', '\u0308', '\u0323', '\u3099', '\u1161', '\u11a8', '\u0b3e');
    const letters = fc.constantFrom('a', 'e', 'ö', 'ệ', 'が', '각', '\u1100', 'ଓ', 'Ω', '\u212b', '🜁', ' ');
    const typed = fc.string({ unit: fc.oneof(letters, marks, fc.string({ unit: 'binary', maxLength: 1 })) });
    await fc.assert(
      fc.asyncProperty(typed, async (text) => {
        const wanted = Buffer.from(text.toWellFormed().normalize('NFC')).toString('hex');
        expect((await bytesOf(text)).toString('hex')).toBe(wanted);
        const apart = Buffer.from(text.normalize('NFD'));
        expect((await bytesOf(apart)).toString('hex')).toBe(wanted);
      }),
      { numRuns: 200 },
    );
  });

  it('are cleared after the act, also when it fails', async () => {
    const seen: Buffer[] = [];
    const act = async (bytes: Buffer) => {
      seen.push(bytes);
      if (seen.length > 1) throw new Error('no');
    };
    await withBytes('quiet river', act);
    await withBytes('quiet rïver', act).catch(() => {});
    expect(seen.map((bytes) => [bytes.length, bytes.some((byte) => byte !== 0)])).toEqual([
      [11, false],
      [12, false],
    ]);
  });
});
