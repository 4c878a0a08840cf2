import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { attenuate, type Narrower } from '../../src/capability/attenuate.ts';
import { proveHolder, requireHolder } from '../../src/capability/proof.ts';
import { openCapability } from '../../src/capability/verify.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  ann,
  authorizing,
  type Block,
  blockAfter,
  bob,
  bound,
  CLAIMS,
  chained,
  control,
  cyd,
  forged,
  HEADER,
  HERE,
  held,
  keys,
  minted,
  NOTHING,
  NOW,
  payloadIn,
  type SCOPE,
  stranger,
} from './sample.ts';

const root = await held(ann);
const narrower = (change: Narrower, text = root, by = ann) => attenuate(text, by, change, NOW);
const refused = (code: ReasonCode, text: string) => expectRefusal(code, () => openCapability(text, keys));

describe('a block that its holder signs without asking', () => {
  it('opens when it says the same or less', async () => {
    openCapability(chained(root), keys);
    openCapability(
      chained(root, (block) => ({ ...block, exp: block.exp - 1 })),
      keys,
    );
  });

  const details = (change: (old: { scope: typeof SCOPE; conditions: object }) => object) => (block: Block) =>
    authorizing(block, change as never);

  it.each<[string, (block: Block) => unknown]>([
    ['a later end', (block) => ({ ...block, exp: block.exp + 1 })],
    ['another capability', (block) => ({ ...block, jti: CLAIMS.intent_id })],
    ['another action', details(() => ({ action: 'tool:destroy' }))],
    ['another tool category', details(() => ({ tool_category: 'other' }))],
    ['no tool category', details(() => ({ tool_category: null }))],
    ['a wider folder', details(({ scope }) => ({ scope: { ...scope, write: ['/srv'] } }))],
    ['the root folder', details(({ scope }) => ({ scope: { ...scope, read: [], write: ['/'] } }))],
    ['a similar folder', details(({ scope }) => ({ scope: { ...scope, write: ['/srv/database'] } }))],
    ['one more folder', details(({ scope }) => ({ scope: { ...scope, read: ['/etc/app', '/root'] } }))],
    ['a pipeline', details(({ scope }) => ({ scope: { ...scope, pipelines: ['ship'] } }))],
    ['no sandbox', details(() => ({ scope: { ...NOTHING, network: true, unconfined: true } }))],
    ['a dropped condition', details(() => ({ conditions: {} }))],
    ['another condition', details(() => ({ conditions: { environment: 'prod' } }))],
    ['a condition in place of another', details(() => ({ conditions: { host: 'host-1' } }))],
  ])('is refused as wider for %s', async (_, change) => {
    await refused('CAPABILITY_WIDENED', chained(root, change));
  });

  it('is refused as wider than the block before, not only than the first', async () => {
    const less = chained(
      root,
      details(({ scope }) => ({ scope: { ...scope, network: false } })),
    );
    const [first, second] = less.split('~') as [string, string];
    const details_of = payloadIn(first).authorization_details;
    const again = { ...blockAfter(first), prev: sha256(less), authorization_details: details_of };
    const header = { alg: 'EdDSA', typ: 'keyturn-attenuation+jwt', kid: ann.kid };
    await refused('CAPABILITY_WIDENED', `${first}~${second}~${forged(header, again, ann)}`);
  });

  it.each<[string, (block: Block) => unknown]>([
    ['an unknown claim', (block) => ({ ...block, aud: 'elsewhere' })],
    ['no previous text', ({ prev: _, ...block }) => block],
    ['an end as text', (block) => ({ ...block, exp: String(block.exp) })],
    ['a way up', details(({ scope }) => ({ scope: { ...scope, write: ['/srv/data/../../etc'] } }))],
    ['an empty path', details(({ scope }) => ({ scope: { ...scope, write: [''] } }))],
    ['no details', (block) => ({ ...block, authorization_details: [] })],
    ['a claim twice', (block) => JSON.stringify(block).replace('"exp"', '"exp":1,"exp"')],
    ['a holder that anybody is', (block) => ({ ...block, ...bound(Buffer.alloc(32).toString('base64')) })],
  ])('is refused as malformed for %s', async (_, change) => {
    await refused('CAPABILITY_MALFORMED', chained(root, change));
  });

  it('is refused as malformed when it has the type of another token', async () => {
    for (const typ of ['keyturn-capability+jwt', 'keyturn-proof+jwt', 'JWT'])
      await refused('CAPABILITY_MALFORMED', chained(root, undefined, ann, { typ }));
  });

  it('is refused for its algorithm', async () => {
    await refused('CAPABILITY_ALGORITHM', chained(root, undefined, ann, { alg: 'none' }));
  });

  it('is no capability without the block before it', async () => {
    await refused('CAPABILITY_MALFORMED', chained(root).split('~')[1]!);
  });
});

describe('a chain', () => {
  const full = async () => {
    const first = chained(root, (block) => ({ ...block, ...bound(bob.public_key) }));
    const second = attenuate(first, bob, { holder: cyd.public_key }, NOW);
    return attenuate(second, cyd, { scope: NOTHING }, NOW);
  };

  it('opens in its own order and in no other', async () => {
    const blocks = (await full()).split('~');
    const orders = permutations(blocks).filter((order) => order.join('~') !== blocks.join('~'));
    openCapability(blocks.join('~'), keys);
    expect(orders).toHaveLength(23);
    for (const order of orders) {
      const code = order[0] === blocks[0] ? 'CAPABILITY_FORGED' : 'CAPABILITY_MALFORMED';
      await refused(code, order.join('~'));
    }
  });

  it('with a block repeated or left out is refused', async () => {
    const [a, b, c, d] = (await full()).split('~');
    for (const blocks of [
      [a, b, b, c, d],
      [a, b, c, c, d],
      [a, b, c, d, d],
      [a, c, d],
      [a, b, d],
      [a, d],
    ])
      await refused('CAPABILITY_FORGED', blocks.join('~'));
  });

  it('with a block from a chain of another root is refused', async () => {
    const other = minted({ holder: ann.public_key, attempt: 2 });
    const [, foreign] = chained(other).split('~');
    await refused('CAPABILITY_FORGED', `${root}~${foreign}`);
    const twin = minted({ holder: ann.public_key, jti: CLAIMS.intent_id });
    await refused('CAPABILITY_FORGED', `${root}~${chained(twin).split('~')[1]}`);
  });

  it('with a block by anybody but the holder before it is refused', async () => {
    for (const by of [bob, stranger, control]) {
      await refused('CAPABILITY_FORGED', chained(root, undefined, by));
      await refused('CAPABILITY_FORGED', chained(root, undefined, by, { kid: ann.kid }));
    }
    const passed = chained(root, (block) => ({ ...block, ...bound(bob.public_key) }));
    const back = { ...blockAfter(passed.split('~')[0]!), prev: sha256(passed) };
    const header = { alg: 'EdDSA', typ: 'keyturn-attenuation+jwt', kid: ann.kid };
    await refused('CAPABILITY_FORGED', `${passed}~${forged(header, back, ann)}`);
  });

  it('on a first block that nobody issued is refused', async () => {
    const own = forged({ ...HEADER, kid: stranger.kid }, payloadIn(root), stranger);
    await refused('CAPABILITY_KEY_UNKNOWN', chained(own));
    await refused('CAPABILITY_FORGED', chained(forged(HEADER, payloadIn(root), stranger)));
  });

  it('cut back to a wider block opens, and is of no use to who has only the narrower key', async () => {
    const whole = narrower({ scope: NOTHING, holder: bob.public_key });
    const cut = whole.split('~')[0]!;
    const opened = openCapability(cut, keys);
    for (const proof of [
      null,
      proveHolder(cut, bob, HERE),
      proveHolder(whole, bob, HERE),
      proveHolder(whole, ann, HERE),
    ])
      await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => requireHolder(opened, proof, HERE));
  });

  it('too large as a whole is refused', async () => {
    const name = 'f'.repeat(380);
    const files = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`${name}${i}`, sha256('')]));
    let text = narrower({ conditions: { files } });
    for (let i = 0; i < 5; i++) text = narrower({}, text);
    expect(text.length).toBeGreaterThan(60_000);
    await expectRefusal('CAPABILITY_MALFORMED', () => narrower({}, text));
    await refused('CAPABILITY_MALFORMED', `${text}~${text.split('~').at(-1)}`);
  });
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, i) =>
    permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]),
  );
}
