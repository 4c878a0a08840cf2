import { cpSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalText } from '../../src/canonical/json.ts';
import { rebuilt } from '../../src/console/statement.ts';
import { consoleAssets } from '../../src/serve/assets.ts';
import { call, service } from '../serve/service.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const BUILT = resolve(import.meta.dirname, '../../dist/console');

describe('the files of the console', () => {
  it('are served at exact paths, under their digests, with no other origin in reach', async () => {
    const s = await service();
    const assets = consoleAssets();
    expect(assets.map(({ path }) => path)).toContain('/');
    for (const { path, sha256: digest } of assets) {
      const { status, text, headers } = await call(s, path);
      expect([status, sha256(text)]).toEqual([200, digest]);
      expect(headers.get('content-security-policy')).toContain("trusted-types 'none'");
    }
    expect((await call(s, '/console/../cli.cjs')).status).not.toBe(200);
    expect((await call(s, '/console/assets.json')).status).not.toBe(200);
  });

  it('are refused where one was changed', async () => {
    const folder = join(scratch(), 'console');
    cpSync(BUILT, folder, { recursive: true });
    cpSync(join(BUILT, '../audit.browser.js'), join(folder, '../audit.browser.js'));
    const { path } = consoleAssets(folder).find((one) => one.path.startsWith('/console/chunk-'))!;
    writeFileSync(join(folder, basename(path)), 'alert(1)');
    await expectRefusal('CONSOLE_CHANGED', () => consoleAssets(folder));
  });
});

describe('the statement that the page makes', () => {
  const later = (s: number) => new Date(Date.now() + s * 1000).toISOString();
  const at = later(0);
  const deadlineOf = (drawn_at: string) => new Date(Date.parse(drawn_at) + 120_000).toISOString();
  const signing = { origin: 'keyturn/x/default', by: 'ada', key: 'k', at };
  const expected = {
    kind: 'order.given',
    subject: 'i',
    fixed: { hash: 'h', bounds: null },
    free: ['order_id'],
  };
  const theirs = (over: object) =>
    canonicalText({
      format: 'keyturn-act/1',
      origin: 'keyturn/x/default',
      kind: 'order.given',
      subject: 'i',
      body: {
        hash: 'h',
        bounds: null,
        order_id: 'o',
        by: 'ada',
        key: 'k',
        signed_at: at,
        deadline: deadlineOf(at),
        ...over,
      },
    });

  it('is that of the service, or it is refused with what differs', () => {
    expect(rebuilt(theirs({}), expected, signing).digest).toBe(sha256(theirs({})));
    for (const [over, what] of [
      [{ hash: 'other' }, 'hash'],
      [{ bounds: 'b' }, 'bounds'],
      [{ more: 1 }, 'more'],
      [{ by: 'eve' }, 'by'],
    ] as const)
      expect(() => rebuilt(theirs(over), expected, signing)).toThrow(`: ${what}.`);
    expect(() => rebuilt(` ${theirs({})}`, expected, signing)).toThrow('its form');
  });

  it('is not one that the service could keep back and commit later', () => {
    expect(() => rebuilt(theirs({ deadline: later(3600) }), expected, signing)).toThrow(': deadline.');
    for (const drawn_at of [later(3 * 3600), later(-3 * 3600), 'soon']) {
      const told = { signed_at: drawn_at, ...(drawn_at !== 'soon' && { deadline: deadlineOf(drawn_at) }) };
      const act = () => rebuilt(theirs(told), expected, { ...signing, at: drawn_at });
      expect(act).toThrow('another time here');
    }
  });
});
