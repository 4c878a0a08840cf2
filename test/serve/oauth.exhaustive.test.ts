import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { authority } from '../journey/authority.ts';
import { serving } from './service.ts';

const LONG = { timeout: 60_000 };

/** An authorization server with one key, and tokens that it signed. */
async function issuing() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  const server = createServer((request, response) => {
    const says = request.url!.startsWith('/.well-known/')
      ? { issuer, jwks_uri: `${issuer}/keys` }
      : { keys: [jwk] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(says));
  });
  await new Promise<void>((done) => server.listen(0, 'localhost', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://localhost:${(server.address() as { port: number }).port}`;
  const token = (over: { aud?: string; sub?: string; iss?: string; exp?: string; key?: typeof privateKey }) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
      .setIssuer(over.iss ?? issuer)
      .setSubject(over.sub ?? 'client-7')
      .setAudience(over.aud ?? '')
      .setExpirationTime(over.exp ?? '5m')
      .sign(over.key ?? privateKey);
  return { issuer, token };
}

describe('an access token of an authorization server at /mcp', () => {
  it('names an enrolled agent, for this service alone', LONG, async () => {
    const { issuer, token } = await issuing();
    const p = await authority();
    await p.keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: p.ada });
    const names = new Map([
      ['client-7', 'bot'],
      ['client-8', 'ada'],
    ]);
    const { address } = await serving(p, { access: { issuer, claim: 'sub', names } });
    const ask = async (shown: string | null, headers: Record<string, string> = {}, path = '/mcp') => {
      const answer = await fetch(`${address}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(shown !== null && { authorization: `Bearer ${shown}` }),
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      });
      return {
        status: answer.status,
        challenge: answer.headers.get('www-authenticate'),
        text: await answer.text(),
      };
    };
    const aud = `${address}/mcp`;
    const good = await token({ aud });
    expect(await ask(good)).toMatchObject({ status: 200 });
    // Where to get one is told to a caller that shows none.
    const none = await ask(null);
    expect(none.status).toBe(401);
    const [, where = ''] = /resource_metadata="([^"]+)"/.exec(none.challenge ?? '') ?? [];
    expect(await (await fetch(where)).json()).toMatchObject({
      resource: aud,
      authorization_servers: [issuer],
    });
    const { privateKey: other } = await generateKeyPair('ES256');
    for (const bad of [
      await token({ aud: 'https://other.example/mcp' }),
      await token({ aud, iss: 'https://other.example' }),
      await token({ aud, exp: '-1h' }),
      await token({ aud, key: other }),
      await token({ aud, sub: 'client-9' }),
      // A human is none here, whatever a server says.
      await token({ aud, sub: 'client-8' }),
      `${good.slice(0, -4)}AAAA`,
    ])
      expect(await ask(bad)).toMatchObject({ status: 401 });
    expect(await ask(good, { origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    // It opens no other path.
    expect((await ask(good, {}, '/v1/intents/list')).status).toBe(401);
    await p.keyturn.people.revoke({ name: 'bot', reason: 'gone', signer: p.ada } as never);
    expect(await ask(good)).toMatchObject({ status: 401 });
  });
});
