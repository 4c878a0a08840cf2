import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type HumanKey, Keyturn, keyCredential, loneCredentialWords, makeKey } from '../../src/keyturn.ts';
import { foundWithPasskey } from '../../src/serve/founding.ts';
import { freshSigner } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { made, passkeyAt, signedOwn, touching } from './enrol.ts';
import { acted, call, refusalIn, type Service, serving, session } from './service.ts';

vi.setConfig({ testTimeout: 100_000 });

/** A founding that waits for its link to be opened. */
async function founding(at: string, recovery?: HumanKey) {
  const stop = new AbortController();
  let listening: (link: string) => void = () => {};
  const link = new Promise<string>((done) => {
    listening = done;
  });
  const more = { onListening: listening, ...(recovery && { recovery }) };
  const asked = { at, name: 'ada', label: 'phone', port: 0, signal: stop.signal, ...more };
  const project = foundWithPasskey(asked);
  project.catch(() => {});
  onTestFinished(async () => {
    stop.abort();
    await project.then((keyturn) => keyturn.close()).catch(() => {});
  });
  const [address, secret] = (await Promise.race([link, project.then(() => '')])).split('/enrol#link=');
  return { s: { address: address! } as Service, link: secret!, project, stop };
}

describe('a project that a passkey founds', () => {
  it('is there once the link made a passkey that signed all of its beginning with one touch', async () => {
    const at = scratch();
    const { s, link, project } = await founding(at);
    const passkey = passkeyAt(s);
    expect((await made(s, link, passkey)).status).toBe(200);
    const { body } = await call(s, '/v1/enrolments/draft', { link });
    expect(body.statements.map((one: string) => JSON.parse(one).kind)).toEqual([
      'key.enrolled',
      'control_key.added',
      'executor.added',
      'policy.activated',
    ]);
    expect(existsSync(join(at, '.keyturn'))).toBe(false);
    // Drawn up again, the first list is nothing any more.
    expect((await signedOwn(s, link, passkey)).body).toEqual({ status: 'enrolled' });
    const keyturn = await project;
    await keyturn.ledger.verify({ deep: true });
    expect((await keyturn.people.credentials({ name: 'ada' })).credentials).toMatchObject([
      { label: 'phone', added_by: 'ada', passkey: { origins: [s.address] } },
    ]);
    await keyturn.close();
    expect(readdirSync(at).filter((name) => name.startsWith('.keyturn'))).toEqual(['.keyturn']);
    const { port } = new URL(s.address);
    const again = await serving({ root: at }, { port: Number(port) });
    const cookie = await session(again);
    const ada = touching(again, 'ada', passkey);
    const freeze = { scope: 'tool', name: 'greet', reason: 'a look' };
    expect((await acted(again, '/v1/system/freeze', freeze, ada, cookie)).status).toBe(200);
  });

  it('has a recovery key that is kept elsewhere and acts after the passkey is gone, offline and alone', async () => {
    const at = scratch();
    const passphrase = 'staple violet harbour nine';
    const { s, link, project } = await founding(at, await makeKey('ada', at, passphrase));
    const passkey = passkeyAt(s);
    await made(s, link, passkey);
    expect((await signedOwn(s, link, passkey)).body).toEqual({ status: 'enrolled' });
    const keyturn = await project;
    onTestFinished(() => keyturn.close());
    await keyturn.ledger.verify({ deep: true });
    const { principals } = await keyturn.people.list();
    expect(principals[0]!.credentials.map(({ label }) => label)).toEqual(['phone', 'recovery key']);
    expect(loneCredentialWords(principals)).toBe(null);

    const safe = join(scratch(), 'safe');
    mkdirSync(safe);
    const [file, ...others] = keyturn.host.keyFiles().get('ada')!;
    expect(others).toEqual([]);
    renameSync(file!, join(safe, 'ada.json'));
    await expectRefusal('KEY_FILE_INVALID', () => keyturn.unlock('ada', passphrase));
    renameSync(join(safe, 'ada.json'), file!);

    const signer = await keyturn.unlock('ada', passphrase);
    const lost = { name: 'ada', public_key: passkey.credential.public_key, reason: 'the phone is gone' };
    await keyturn.people.revokeCredential({ ...lost, signer });
    const holder = freshSigner('ada');
    const credential = keyCredential(holder.public_key, 'laptop');
    const [name, reason] = ['ada', 'in its place'];
    expect(loneCredentialWords((await keyturn.people.list()).principals)).toContain('credential add');
    await keyturn.people.addCredential({ name, credential, reason, signer, holder });
    await keyturn.ledger.verify({ deep: true });
  });

  it('is none with the recovery key of another name', async () => {
    const at = scratch();
    const { s, link } = await founding(at, await makeKey('bob', at, 'staple violet harbour nine'));
    await made(s, link, passkeyAt(s));
    const told = await call(s, '/v1/enrolments/draft', { link });
    expect(refusalIn(told)[1]).toBe('KEY_FILE_INVALID');
    expect(readdirSync(at).filter((name) => name.startsWith('.keyturn'))).toEqual([]);
  });

  it('is none where another passkey, page or link tries, and where it is stopped', async () => {
    const at = scratch();
    const { s, link, project, stop } = await founding(at);
    const passkey = passkeyAt(s);
    const wrong = await call(s, '/v1/enrolments/begin', { link: 'x' });
    expect(refusalIn(wrong)).toEqual([404, 'ENROLMENT_UNKNOWN']);
    const foreign = { headers: { origin: 'http://localhost:1' } };
    expect(refusalIn(await call(s, '/v1/enrolments/begin', { link }, foreign))).toEqual([
      403,
      'ORIGIN_FOREIGN',
    ]);
    expect(refusalIn(await call(s, '/v1/people/list', {}))).toEqual([404, 'ROUTE_UNKNOWN']);
    await made(s, link, passkey);
    expect(refusalIn(await signedOwn(s, link, passkeyAt(s)))).toEqual([403, 'SIGNATURE_INVALID']);
    const elsewhere = { client: { origin: 'http://localhost:1' } };
    expect(refusalIn(await signedOwn(s, link, passkey, elsewhere))).toEqual([403, 'PASSKEY_ORIGIN']);
    stop.abort();
    await expectRefusal('CONFIRMATION_DECLINED', () => project);
    expect(readdirSync(at).filter((name) => name.startsWith('.keyturn'))).toEqual([]);
    await expectRefusal('PROJECT_MISSING', () => Keyturn.open({ at }));
  });
});
