import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { attenuate, type Narrower } from '../../src/capability/attenuate.ts';
import { proveHolder, requireHolder } from '../../src/capability/proof.ts';
import { openCapability, requireUsable } from '../../src/capability/verify.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  ann,
  bob,
  CLAIMS,
  chained,
  control,
  cyd,
  EXPECTED,
  HERE,
  held,
  keys,
  later,
  minted,
  NOTHING,
  NOW,
  SCOPE,
} from './sample.ts';

const root = await held(ann);
const narrower = (change: Narrower, text = root, by = ann) => attenuate(text, by, change, NOW);
const refused = (code: ReasonCode, text: string) => expectRefusal(code, () => openCapability(text, keys));

describe('a capability made narrower', () => {
  const LESS: Narrower = {
    scope: { ...NOTHING, write: ['/srv/data/reports'] },
    conditions: { host: 'host-1' },
    expires_at: '2030-05-06T10:01:00.000Z',
    holder: bob.public_key,
  };

  it('says less, and remembers what it was', async () => {
    const opened = openCapability(narrower(LESS), keys);
    expect(opened.depth).toBe(1);
    expect(opened.root).toEqual({ ...CLAIMS, holder: ann.public_key });
    expect(opened.claims).toEqual({
      ...CLAIMS,
      scope: LESS.scope,
      conditions: { environment: 'staging', host: 'host-1' },
      expires_at: LESS.expires_at,
      holder: bob.public_key,
    });
  });

  it('works for its new holder, and only for the less that it is', async () => {
    const text = narrower(LESS);
    const opened = openCapability(text, keys);
    const presented = requireHolder(opened, proveHolder(text, bob, HERE), HERE);
    requireUsable(presented, { ...EXPECTED, needs: LESS.scope! }, 'issued');
    await expectRefusal('CAPABILITY_OUT_OF_SCOPE', () => requireUsable(presented, EXPECTED, 'issued'));
    const now = later(60);
    await expectRefusal('CAPABILITY_EXPIRED', () => requireUsable(presented, { ...EXPECTED, now }, 'issued'));
  });

  it('can be made narrower seven times, and not once more', async () => {
    let text = root;
    for (let i = 0; i < 7; i++) text = narrower({ holder: ann.public_key }, text);
    expect(openCapability(text, keys).depth).toBe(7);
    await expectRefusal('CAPABILITY_MALFORMED', () => narrower({}, text));
    await refused('CAPABILITY_MALFORMED', chained(text.split('~')[0]!).concat('~x'.repeat(7)));
    await refused('CAPABILITY_MALFORMED', `${text}~${text.split('~').at(-1)}`);
  });

  it('stays with its holder when no other is named', async () => {
    const opened = openCapability(narrower({ scope: NOTHING }), keys);
    expect(opened.claims.holder).toBe(ann.public_key);
  });

  it('takes a scope in whatever order it is written', async () => {
    const scope = { ...NOTHING, read: ['/srv/data/b', '/etc/app', '/srv/data/a', '/etc/app'] };
    const { claims } = openCapability(narrower({ scope }), keys);
    expect(claims.scope.read).toEqual(['/etc/app', '/srv/data/a', '/srv/data/b']);
  });

  it('begins no earlier, whatever the clock of its holder says', async () => {
    const early = attenuate(root, ann, {}, later(-9000));
    expect(openCapability(early, keys).claims.issued_at).toBe(CLAIMS.issued_at);
    const late = attenuate(root, ann, {}, later(20));
    expect(openCapability(late, keys).claims.issued_at).toBe('2030-05-06T10:00:20.000Z');
  });

  it('goes on from holder to holder without the control plane', async () => {
    const first = narrower({ holder: bob.public_key });
    const second = narrower({ holder: cyd.public_key }, first, bob);
    expect(openCapability(second, keys).claims.holder).toBe(cyd.public_key);
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => narrower({}, second, bob));
  });
});

describe('making one', () => {
  it.each<[string, Narrower]>([
    ['a wider folder', { scope: { ...SCOPE, write: ['/srv'] } }],
    ['a folder whose name begins the same', { scope: { ...SCOPE, write: ['/srv/database'] } }],
    ['writing what may be read', { scope: { ...NOTHING, write: ['/etc/app'] } }],
    ['a pipeline', { scope: { ...SCOPE, pipelines: ['ship'] } }],
    ['no sandbox', { scope: { ...NOTHING, unconfined: true } }],
    ['a later end', { expires_at: '2030-05-06T10:05:01.000Z' }],
    ['another environment', { conditions: { environment: 'prod' } }],
  ])('with %s is refused as wider', async (_, change) => {
    await expectRefusal('CAPABILITY_WIDENED', () => narrower(change));
  });

  it.each<[string, Narrower]>([
    ['a way up', { scope: { ...NOTHING, write: ['/srv/data/../../etc'] } }],
    ['an unknown condition', { conditions: { moon: 'full' } as object }],
    ['an end that is no time', { expires_at: 'soon' }],
    ['an end within a second', { expires_at: '2030-05-06T10:01:00.500Z' }],
    ['a holder that is no key', { holder: 'nobody' }],
    ['a holder key that anybody has', { holder: Buffer.alloc(32).toString('base64') }],
    ['a file named __proto__', { conditions: { files: JSON.parse('{"__proto__":null}') } }],
    [
      'more than a block holds',
      {
        conditions: {
          files: Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`f${i}`, sha256('')])),
        },
      },
    ],
  ])('with %s is refused as malformed', async (_, change) => {
    await expectRefusal('CAPABILITY_MALFORMED', () => narrower(change));
  });

  it('by a key that is not the holder is refused', async () => {
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => narrower({}, root, bob));
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => narrower({}, root, control));
  });

  it('from one that is bound to nobody is refused', async () => {
    const bearer = minted();
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => narrower({}, bearer));
    await refused('CAPABILITY_FORGED', chained(bearer));
    await refused(
      'CAPABILITY_FORGED',
      chained(bearer, (block) => block, control),
    );
  });

  it('from text that is no capability is refused', async () => {
    for (const odd of ['', 'x', root.slice(1), `${root}~`])
      await expectRefusal('CAPABILITY_MALFORMED', () => narrower({}, odd));
  });
});
