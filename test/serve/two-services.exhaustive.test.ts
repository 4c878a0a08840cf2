import { expect, it } from 'vitest';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { freshSigner } from '../support/keys.ts';
import { callRaw, serving } from './service.ts';
import { signatureOf } from './signed.ts';

const server = postgres();

const HOST = 'keys.example.org';

it('a signed request is taken once by all services of one address', async () => {
  const p = await shared(server(), 'two-services');
  const other = await anotherHost(p);
  const scout = freshSigner('scout');
  const { public_key } = scout;
  await p.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: p.ada });
  const over = { public_url: `https://${HOST}` };
  // On one host two of them, and one on another.
  const services = [await serving(p, over), await serving(p, over), await serving(other, over)];
  const asked = { ...p, ...services[0]!, token: '', token_id: '' };
  const near = services.map(({ port }) => ({ address: `http://127.0.0.1:${port}` }));
  for (const first of near) {
    const headers = { host: HOST, ...signatureOf(asked, scout, { authority: HOST }) };
    const ask = (one: (typeof near)[number]) => callRaw(one, '/v1/intents/list', headers);
    expect((await ask(first)).status).toBe(200);
    for (const one of near) {
      const replayed = await ask(one);
      expect(replayed.status).toBe(401);
      expect(replayed.body).toContain('MESSAGE_REPLAYED');
    }
  }
});
