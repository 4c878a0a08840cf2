import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { verifyAct } from '../../src/identity/act.ts';
import { openKey, readHumanKey } from '../../src/identity/keyfile.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { humanKey, PASSPHRASE } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { signedAt } from '../support/signed.ts';

const { signer, file } = await humanKey('ada');
const text = Buffer.from(file);
const edited = (change: (json: { scrypt: Record<string, unknown> }) => void) => {
  const json = JSON.parse(file);
  change(json);
  return Buffer.from(JSON.stringify(json));
};

describe('a key file', () => {
  it('opens with its passphrase and signs with the same key, also beside another one', async () => {
    const bob = await humanKey('bob');
    const opened = await Promise.all([
      openKey('ada', text, PASSPHRASE),
      openKey('bob', Buffer.from(bob.file), Buffer.from(PASSPHRASE)),
    ]);
    expect(opened.map((one) => one.public_key)).toEqual([signer.public_key, bob.signer.public_key]);
    for (const one of opened)
      verifyAct('o', signedAt('o', 'key.revoked', 'eve', { reason: 'left' }, one, new Date()));
  });

  it('does not hold the seed in the clear', () => {
    const seed = (signer.key.export({ format: 'der', type: 'pkcs8' }) as Buffer).subarray(16);
    expect(text.includes(seed.toString('base64'))).toBe(false);
    expect(text.includes(seed)).toBe(false);
  });

  it('stays shut for a wrong passphrase, and for another public key', async () => {
    const forged = Buffer.from(file.replace(signer.public_key, generateKeyPair().public_key));
    await Promise.all([
      expectRefusal('PASSPHRASE_WRONG', () => openKey('ada', text, 'wrong horse battery')),
      expectRefusal('PASSPHRASE_WRONG', () => openKey('ada', forged, PASSPHRASE)),
    ]);
  });

  it('under another name is refused', () =>
    expectRefusal('KEY_FILE_INVALID', () => openKey('eve', text, PASSPHRASE)));

  it('cannot make guessing cheaper, and cannot ask for more memory or time', async () => {
    const asked = [
      { N: 2 },
      { N: 2 ** 15 },
      { N: 2 ** 16 },
      { N: 2 ** 17 - 1 },
      { N: 2 ** 26 }, // 64 GiB
      { N: 2 ** 52 },
      { N: 0 },
      { N: -1 },
      { N: 131072.5 },
      { N: '131072' },
      { r: 1 },
      { r: 2 ** 20 },
      { p: 0 },
      { p: 1000 },
      { salt: '' },
      { extra: 1 },
    ];
    for (const over of asked) {
      const planted = edited(({ scrypt }) => Object.assign(scrypt, over));
      await expectRefusal('KEY_FILE_INVALID', () => openKey('ada', planted, PASSPHRASE));
    }
    expect(readHumanKey('ada', text).scrypt).toMatchObject({ N: 2 ** 17, r: 8, p: 1 });
  });

  it('is not opened, and says why, where there is no memory for it', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'ada.json'), file);
    const script = `
      import { readFileSync } from 'node:fs';
      import { openKey } from '${resolve(import.meta.dirname, '../../src/identity/keyfile.ts')}';
      const code = await openKey('ada', readFileSync('ada.json'), '${PASSPHRASE}').catch(({ code }) => code);
      console.log(code);`;
    const tsx = import.meta.resolve('tsx');
    // Enough for Node and the compiler, and less than they need with 128 MiB more.
    const words = [
      `--data=${160 * 1024 * 1024}`,
      process.execPath,
      '--import',
      tsx,
      '--input-type=module',
      '-e',
      script,
    ];
    expect(execFileSync('prlimit', words, { cwd: folder, encoding: 'utf8' })).toBe('KEY_MEMORY\n');
  });
});

describe('the bytes of a passphrase', () => {
  it('are cleared when the key is open, when it stays shut, and when nothing was derived', async () => {
    const given = [PASSPHRASE, 'wrong horse battery', PASSPHRASE].map((one) => Buffer.from(one));
    const keyturn = await Keyturn.init({ at: scratch(), key: { signer, file } });
    const answers = await Promise.allSettled([
      keyturn.unlock('ada', given[0]!),
      keyturn.unlock('ada', given[1]!),
      keyturn.unlock('nobody', given[2]!),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    const at = scratch();
    const weak = Buffer.from('password1234');
    await expectRefusal('PASSPHRASE_WEAK', () => Keyturn.init({ at, name: 'ada', passphrase: weak }));
    const late = Buffer.from(PASSPHRASE);
    const init = () => Keyturn.init({ at: keyturn.layout.root, name: 'ada', passphrase: late });
    await expectRefusal('PROJECT_EXISTS', init);
    await keyturn.close();
    for (const bytes of [...given, weak, late]) expect(bytes.every((byte) => byte === 0)).toBe(true);
  });
});

describe('a project founded with a key that exists already', () => {
  it('keeps its file as it is, and enrols it', async () => {
    const keyturn = await Keyturn.init({ at: scratch(), key: { signer, file } });
    expect(readFileSync(join(keyturn.layout.keys, 'ada.json'), 'utf8')).toBe(file);
    expect((await keyturn.people.list()).principals).toMatchObject([
      { name: 'ada', credentials: [{ public_key: signer.public_key }] },
    ]);
    await keyturn.close();
  });

  it('is refused where the file is of another key, of another name, or cheap to guess', async () => {
    const other = { ...signer, public_key: generateKeyPair().public_key };
    const cheap = edited(({ scrypt }) => Object.assign(scrypt, { N: 2 ** 15 })).toString();
    for (const key of [
      { signer: other, file },
      { signer: { ...signer, name: 'eve' }, file },
      { signer, file: cheap },
    ])
      await expectRefusal('KEY_FILE_INVALID', () => Keyturn.init({ at: scratch(), key }));
  });
});
