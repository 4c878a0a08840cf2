import { describe, expect, it, vi } from 'vitest';
import { tab, told, touchTwice } from './browser.ts';
import { opened, vouched } from './enrol.ts';
import { call, SAY, type Service, service, session } from './service.ts';

vi.setConfig({ testTimeout: 110_000 });

/** Runs in the page of the service: one touch for this challenge. */
const TOUCH = `async ({ challenge, credential_id }) => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
  const { response } = await navigator.credentials.get({ publicKey: {
    challenge: bytes(challenge), rpId: 'localhost', userVerification: 'required',
    allowCredentials: [{ type: 'public-key', id: bytes(credential_id) }],
  } });
  return { authenticator_data: text(response.authenticatorData), client_data: text(response.clientDataJSON), signature: text(response.signature) };
}`;

async function proposed(s: Service, word: string) {
  const effect = { ...SAY.effect, arguments: { word } };
  const { body } = await call(s, '/v1/intents/propose', { ...SAY, effect }, { token: s.token });
  return { intent_id: body.intent_id as string, hash: body.hash as string };
}

describe('a real browser', () => {
  it('enrols a passkey with two touches, and turns two keys with one', async () => {
    const s = await service({ most: 1 });
    const cookie = await session(s);
    const { told: open } = await opened(s, cookie, { name: 'ada', label: 'phone' });
    const { link, enrolment_id } = open.body;
    const page = await tab();
    await touchTwice(page, link);
    expect(page.url()).toBe(`${s.address}/enrol`);
    await told(page, 'vouched for');
    expect((await vouched(s, cookie, enrolment_id, s.ada)).status).toBe(200);
    await told(page, 'is enrolled');

    const { principals } = await s.keyturn.people.list();
    const passkey = principals.find(({ name }) => name === 'ada')!.credentials[1]!;
    if (passkey.kind !== 'passkey') throw new Error('It is no passkey.');
    const { credential_id, public_key: key } = passkey;
    const requests = [await proposed(s, 'one'), await proposed(s, 'two')];
    const acts = requests.map((request) => ({ verb: 'intents.turn', request }));
    const { body } = await call(s, '/v1/acts/draft', { by: 'ada', key, acts }, { cookie });
    const { challenge, digests } = body;
    const asked = JSON.stringify({ challenge, credential_id });
    const answer = (await page.evaluate(`(${TOUCH})(${asked})`)) as object;
    const finished = { acts: body.drawn, proofs: { ...answer, touch: digests } };
    const done = await call(s, '/v1/acts/finish', finished, { cookie });
    expect(done.body.results).toMatchObject([{ ok: true }, { ok: true }]);
    for (const { intent_id } of requests)
      expect(await s.keyturn.intents.waitFor({ intent_id })).toMatchObject({ status: 'succeeded' });
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('opens the link into a session of which the cookie alone is of no use', async () => {
    const s = await service();
    const page = await tab();
    await page.goto(s.link);
    await page.waitForSelector('.live.live', { state: 'attached' });
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    expect(cookie).toMatch(/^keyturn_session=/);
    expect((await call(s, '/v1/people/list', undefined, { headers: { cookie } })).status).toBe(401);
    const read = await page.evaluate(
      `fetch('/v1/people/list', { headers: { 'keyturn-page': localStorage.getItem('keyturn-page') } }).then((one) => one.status)`,
    );
    expect(read).toBe(200);
    const secret = String(await page.evaluate(`localStorage.getItem('keyturn-page')`));
    const shown = { cookie: { cookie, page: secret } };
    expect((await call(s, '/v1/people/list', undefined, shown)).status).toBe(200);
    await page.evaluate(`location.hash = '/people'`);
    await page.click('text=Log out of this browser');
    await page.waitForSelector('text=This browser has no session.');
    expect((await call(s, '/v1/people/list', undefined, shown)).status).toBe(401);
  });
});
