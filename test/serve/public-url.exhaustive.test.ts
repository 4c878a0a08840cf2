import { describe, expect, it, vi } from 'vitest';
import { publicUrlOf, siteOf } from '../../src/serve/guard.ts';
import { expectRefusal } from '../support/refusal.ts';
import { call, callRaw, service } from './service.ts';

vi.setConfig({ testTimeout: 100_000 });

describe('a service behind a proxy', () => {
  it('is reached under its address and on this machine, whatever a header says', async () => {
    const s = await service({ public_url: 'https://keys.example.org' });
    expect(s.link).toMatch(/^https:\/\/keys\.example\.org\/#link=/);
    expect(s.address).toBe('https://keys.example.org');
    const near = { address: `http://127.0.0.1:${s.port}` };
    const raw = (headers: Record<string, string>, path = '/livez') => callRaw(near, path, headers);
    for (const host of ['keys.example.org', 'keys.example.org:443', `localhost:${s.port}`])
      expect((await raw({ host })).status, host).toBe(200);
    for (const host of [
      'evil.example',
      'keys.example.org:8443',
      'keys.example.org.evil.example',
      'localhost',
    ])
      expect(
        (await raw({ host, 'x-forwarded-host': 'keys.example.org', forwarded: 'host=keys.example.org' }))
          .status,
      ).toBe(421);
    const page = (origin: string) =>
      raw({ host: 'keys.example.org', origin, authorization: `Bearer ${s.token}` }, '/v1/intents/list');
    expect((await page('https://keys.example.org')).status).toBe(200);
    for (const origin of [
      'http://keys.example.org',
      'https://evil.example',
      'null',
      'https://keys.example.org:8443',
    ])
      expect((await page(origin)).status, origin).toBe(403);
    const link = s.link.split('#link=')[1];
    const opened = await call(near, '/v1/session', { link });
    expect(opened.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  });

  it('has an address with TLS, a host name, and nothing behind it', async () => {
    expect(siteOf('localhost', 7717, 'https://keys.example.org:8443')).toMatchObject({
      origin: 'https://keys.example.org:8443',
      rp_id: 'keys.example.org',
    });
    for (const url of [
      'http://keys.example.org',
      'https://10.0.0.1',
      'https://[::1]',
      'https://a.org/x',
      'https://u@a.org',
      'https://a.org/?x',
      'x',
    ])
      await expectRefusal('USAGE', () => publicUrlOf(url));
    expect(siteOf('10.0.0.1', 80).rp_id).toBe(null);
    // As in a container whose port leads to this machine.
    for (const every of ['0.0.0.0', '::'])
      expect(siteOf(every, 7717)).toMatchObject({ origin: 'http://localhost:7717', rp_id: 'localhost' });
  });
});
