/** What the link of an enrolment opens: two touches, by the routes that any other page can use. */
export const ENROL_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Keyturn: a passkey</title>
<h1>A passkey</h1>
<p id="told" role="status">Open the link that the terminal printed.</p>
<button id="go" disabled>Make the passkey</button>
<script src="/enrol.js"></script>
</html>
`;

export const ENROL_SCRIPT = `'use strict';
(() => {
  const told = document.getElementById('told');
  const go = document.getElementById('go');
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link === null) return;
  history.replaceState(null, '', '/enrol');
  const ask = async (step, more) => {
    const answer = await fetch('/v1/enrolments/' + step, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ link, ...more }),
    });
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.detail + ' ' + value.advice);
    return value;
  };
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const base64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
  const base64url = (buffer) => base64(buffer).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
  const make = async () => {
    const { options } = await ask('begin');
    const { rawId, response } = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: bytes(options.challenge),
        user: { ...options.user, id: bytes(options.user.id) },
        excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytes(one.id) })),
      },
    });
    await ask('made', {
      answer: {
        credential_id: base64url(rawId),
        public_key: base64(response.getPublicKey()),
        algorithm: response.getPublicKeyAlgorithm(),
        authenticator_data: base64url(response.getAuthenticatorData()),
        client_data: base64url(response.clientDataJSON),
      },
    });
  };
  const sign = async () => {
    const { challenge, digests, rp_id, credential_id } = await ask('draft');
    const { response } = await navigator.credentials.get({
      publicKey: {
        challenge: bytes(challenge),
        rpId: rp_id,
        allowCredentials: [{ type: 'public-key', id: bytes(credential_id) }],
        userVerification: 'required',
        timeout: 110000,
      },
    });
    const proof = {
      authenticator_data: base64url(response.authenticatorData),
      client_data: base64url(response.clientDataJSON),
      signature: base64url(response.signature),
      touch: digests.length === 1 ? null : digests,
    };
    return ask('sign', { proof });
  };
  const followed = async (status) => {
    while (status !== 'enrolled') {
      await new Promise((done) => setTimeout(done, 1000));
      ({ status } = await ask('status'));
    }
    told.textContent = 'The passkey is enrolled. You can close this page.';
  };
  let has_passkey = false;
  go.addEventListener('click', async () => {
    go.disabled = true;
    try {
      if (!has_passkey) {
        await make();
        has_passkey = true;
        told.textContent = 'It is made. Touch it once more: it signs its own enrolment.';
        go.textContent = 'Sign with the passkey';
        go.disabled = false;
        return;
      }
      const { status } = await sign();
      go.hidden = true;
      told.textContent = 'The passkey has signed. Now it must be vouched for, at the terminal or with another credential, within two minutes.';
      await followed(status);
    } catch (error) {
      told.textContent = error.message;
      go.hidden = false;
      go.disabled = false;
    }
  });
  told.textContent = 'You will touch the passkey twice: once to make it, once to sign its enrolment.';
  go.disabled = false;
})();
`;
