import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { entriesAbout, sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, call, granted, named, proposeSay } from './authority.ts';

describe('a run names what was shown', () => {
  it('and runs it: what a look showed, or what its human ordered', async () => {
    const p = await authority();
    const first = named(await granted(p));
    const { seen, shown } = await p.keyturn.runs.look(first);
    expect(shown.headline.value.map(({ text }) => text).join('')).toContain('hello');
    expect((await p.keyturn.runs.run({ ...first, seen })).result).toBe('success');
    const second = await proposeSay(p);
    const turned = await p.keyturn.intents.turn({ ...second, signer: p.ada });
    expect((await p.keyturn.runs.run({ ...second, seen: turned.seen })).result).toBe('success');
  });

  it('in another process than the one that looked', async () => {
    const p = await authority();
    const intent = named(await granted(p));
    const { seen } = await p.keyturn.runs.look(intent);
    const other = await Keyturn.open({ at: p.root });
    try {
      expect((await other.runs.run({ ...intent, seen })).result).toBe('success');
    } finally {
      await other.close();
    }
  });

  it('and is refused where it would do something else', async () => {
    const p = await authority();
    const say = named(await granted(p));
    const wait = named(await granted(p, call('wait', { seconds: 1 })));
    const { seen } = await p.keyturn.runs.look(wait);
    await expectRefusal('SEEN_OTHER', () => p.keyturn.runs.run({ ...say, seen }));
    await expectRefusal('SEEN_OTHER', () => p.keyturn.runs.run({ ...say, seen: '' }));
    await expectRefusal('SHAPE_INVALID', () => p.keyturn.runs.run({ ...say } as never));
    const kinds = (await entriesAbout(p.keyturn, say.intent_id)).map(({ kind }) => kind);
    expect(kinds).not.toContain('execution.claimed');
    expect(kinds.filter((kind) => kind === 'execution.refused')).toHaveLength(2);
  });

  it('within the bounds that were shown: another order is another look', async () => {
    const p = await authority();
    const intent = named(await granted(p, {}, { is_issued: false }));
    const { seen } = await p.keyturn.runs.look(intent);
    const { seen: newer } = await p.keyturn.intents.grant({ ...intent, signer: p.ada, ttl_s: 60 });
    await expectRefusal('SEEN_OTHER', () => p.keyturn.runs.run({ ...intent, seen }));
    expect((await p.keyturn.runs.run({ ...intent, seen: newer })).result).toBe('success');
  });

  it('is not asked of a preview, which records nothing, also when it refuses', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const size = await sizeOf(p.keyturn);
    await expectRefusal('APPROVAL_MISSING', () => p.keyturn.runs.preview(intent));
    expect(await sizeOf(p.keyturn)).toBe(size);
    await expectRefusal('APPROVAL_MISSING', () => p.keyturn.runs.look(intent));
    expect(await sizeOf(p.keyturn)).toBe(size + 1);
  });
});
