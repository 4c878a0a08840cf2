/**
 * Writes test/identity/passkey-vectors.json: what Debian's chromium answers with its virtual authenticator. The challenges are
 * computed here and not by src/, so that the vectors also say what a challenge is.
 */

import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './setup.mjs';

const RP_ID = 'localhost';
const PORT = 4600;
const OTHER_PORT = 4601;
const ORIGIN = `http://localhost:${PORT}`;
const OTHER_ORIGIN = `http://localhost:${OTHER_PORT}`;
const ALGORITHMS = { ES256: -7, EdDSA: -8, RS256: -257 };

const sha256 = (text) => createHash('sha256').update(text).digest();

/** Keys in their order: this is the canonical text. */
const statementOf = (subject) =>
  `{"body":{"by":"ada","signed_at":"2026-01-02T03:04:05.678Z"},"format":"keyturn-act/1","kind":"approval.granted",` +
  `"origin":"keyturn/5f0c9b1e-6d0a-4c57-9b0e-2f1d3c4b5a69/default","subject":"${subject}"}`;

const touchOf = (digests) => sha256(`{"acts":${JSON.stringify(digests)},"format":"keyturn-touch/1"}`);

/** These run in the page. */
const inPage = {
  async create({ rp_id, alg, challenge, user, verification }) {
    const bytes = (text) =>
      Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
    const base64url = (buffer) => base64(buffer).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    const made = await navigator.credentials.create({
      publicKey: {
        rp: { id: rp_id, name: 'Keyturn' },
        user: { id: bytes(user), name: 'ada', displayName: 'Ada' },
        challenge: bytes(challenge),
        pubKeyCredParams: [{ type: 'public-key', alg }],
        authenticatorSelection: { residentKey: 'required', userVerification: verification },
        attestation: 'none',
      },
    });
    return {
      credential_id: base64url(made.rawId),
      public_key: base64(made.response.getPublicKey()),
      algorithm: made.response.getPublicKeyAlgorithm(),
      authenticator_data: base64url(made.response.getAuthenticatorData()),
      client_data: base64url(made.response.clientDataJSON),
    };
  },
  async get({ rp_id, challenge, credential_id, verification }) {
    const bytes = (text) =>
      Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    const base64url = (buffer) =>
      btoa(String.fromCharCode(...new Uint8Array(buffer)))
        .replace(/\+/g, '-')
        .replace(/\//g, '_')
        .replace(/=+$/, '');
    const { response } = await navigator.credentials.get({
      publicKey: {
        rpId: rp_id,
        challenge: bytes(challenge),
        allowCredentials: [{ type: 'public-key', id: bytes(credential_id) }],
        userVerification: verification,
      },
    });
    return {
      authenticator_data: base64url(response.authenticatorData),
      client_data: base64url(response.clientDataJSON),
      signature: base64url(response.signature),
    };
  },
};

/** Serves an empty page, and at /frame one that holds a frame of the other origin. */
function serve(port) {
  const frame = `<iframe src="${ORIGIN}/" allow="publickey-credentials-get *"></iframe>`;
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Keyturn</title>${request.url === '/frame' ? frame : ''}`);
  });
  return new Promise((resolve) => server.listen(port, 'localhost', () => resolve(server)));
}

async function authenticator(cdp, { can_sync = false, verifies = true } = {}) {
  const options = {
    protocol: 'ctap2',
    ctap2Version: 'ctap2_1',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: verifies,
    isUserVerified: verifies,
    automaticPresenceSimulation: true,
    defaultBackupEligibility: can_sync,
    defaultBackupState: can_sync,
  };
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  return {
    verify: (isUserVerified) => cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    remove: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
  };
}

const servers = [await serve(PORT), await serve(OTHER_PORT)];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage();
const cdp = await page.context().newCDPSession(page);
await cdp.send('WebAuthn.enable');
const passkeys = [];
const assertions = [];

async function enrol(name, alg, verification = 'required') {
  const challenge = randomBytes(32).toString('base64url');
  const registration = await page.evaluate(inPage.create, {
    rp_id: RP_ID,
    alg,
    challenge,
    user: randomBytes(16).toString('base64url'),
    verification,
  });
  passkeys.push({ name, challenge, registration });
  return { name, credential_id: registration.credential_id };
}

/** One touch for these statements. Each of them has an assertion of its own. */
async function touch(
  name,
  { name: passkey, credential_id },
  statements,
  { where = page, verification = 'required' } = {},
) {
  const digests = statements.map((statement) => sha256(statement).toString('hex'));
  const list = digests.length > 1 ? digests : null;
  const challenge = (list === null ? sha256(statements[0]) : touchOf(list)).toString('base64url');
  const got = await where.evaluate(inPage.get, { rp_id: RP_ID, challenge, credential_id, verification });
  for (const statement of statements)
    assertions.push({ name, passkey, statement, assertion: { ...got, touch: list } });
}

try {
  for (const [algorithm, alg] of Object.entries(ALGORITHMS)) {
    for (const can_sync of [false, true]) {
      await page.goto(`${ORIGIN}/`);
      const device = await authenticator(cdp, { can_sync });
      const passkey = await enrol(`${algorithm} ${can_sync ? 'synced' : 'device-bound'}`, alg);
      await touch('one act', passkey, [statementOf('one')]);
      await touch('the same act again', passkey, [statementOf('one')]);
      await touch('three acts', passkey, ['first', 'second', 'third'].map(statementOf));
      await device.verify(false);
      await touch('not verified', passkey, [statementOf('one')], { verification: 'discouraged' });
      await device.verify(true);
      await page.goto(`${OTHER_ORIGIN}/frame`);
      await touch('in a frame', passkey, [statementOf('one')], { where: page.frames()[1] });
      await page.goto(`${OTHER_ORIGIN}/`);
      await touch('on another port', passkey, [statementOf('one')]);
      await device.remove();
    }
  }
  await page.goto(`${ORIGIN}/`);
  const device = await authenticator(cdp, { verifies: false });
  await enrol('not verified', ALGORITHMS.ES256, 'discouraged');
  await device.remove();
  const vectors = {
    browser: `Chromium ${browser.version()}`,
    rp_id: RP_ID,
    origin: ORIGIN,
    passkeys,
    assertions,
  };
  writeFileSync(join(root, 'test/identity/passkey-vectors.json'), `${JSON.stringify(vectors, null, 2)}\n`);
} finally {
  await browser.close();
  for (const server of servers) server.close();
}
