import { expect, it } from 'vitest';
import { made, opened, passkeyAt, signedOwn, vouched } from './enrol.ts';
import { service, session } from './service.ts';

it('a passkey is made, signs its own enrolment, and counts when a key file has vouched for it', async () => {
  const s = await service();
  const cookie = await session(s);
  const { link, told } = await opened(s, cookie, { name: 'ada', label: 'phone' });
  const passkey = passkeyAt(s);
  expect((await made(s, link, passkey)).status).toBe(200);
  expect((await signedOwn(s, link, passkey)).body).toEqual({ status: 'signed' });
  expect((await vouched(s, cookie, told.body.enrolment_id, s.ada)).status).toBe(200);
});
