import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newMemory, rememberedAt } from '../../src/agent/context.ts';
import type { Catalog } from '../../src/finder/catalog.ts';
import { type Finder, type FinderPacket, type FinderRequest, Keyturn } from '../../src/keyturn.ts';
import { agentLimits } from '../../src/limits.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace } from './agent-place.ts';

/** 003 section 14.1: what is remembered cannot be written to, does not grow, and does not last. */

let now_ms = Date.parse('2026-03-02T12:00:00.000Z');
const clock = () => new Date(now_ms);
const place = agentPlace(clock);

/** Keeps what it was shown, and says no. */
class WatchingFinder implements Finder {
  readonly requests: FinderRequest[] = [];

  find(request: FinderRequest): FinderPacket {
    this.requests.push(request);
    const { catalog, utterance: _, language: __, gold: ___, clarify: ____, ...head } = request;
    const refusal = { reason_code: 'NO_RULE', message: 'No rule.', evidence_refs: [] };
    return { kind: 'REFUSE', ...head, catalog_snapshot_ref: catalog.digest, ...refusal };
  }
}

async function withFinder<T>(finder: Finder, act: (keyturn: Keyturn) => Promise<T>): Promise<T> {
  const keyturn = await Keyturn.open({ at: place().root, ...steady(clock), finder });
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

describe('the catalog that is remembered', () => {
  it('is the same for five minutes, and is then read again with everything that was made of it', async () => {
    const finder = new WatchingFinder();
    await withFinder(finder, async (keyturn) => {
      const shown = async (later_ms: number): Promise<Catalog> => {
        now_ms += later_ms;
        await keyturn.conversations.ask({ user_id: 'ada', utterance: 'anything' });
        return finder.requests.at(-1)!.catalog;
      };
      const first = await shown(0);
      expect(await shown(agentLimits.memory_ms - 1)).toBe(first);
      const second = await shown(1);
      expect(second).not.toBe(first);
      expect(second).toEqual(first);
      expect(await shown(1000)).toBe(second);
    });
  });

  it('cannot be changed by the finder that it is shown to', async () => {
    const greedy: Finder = {
      find: ({ catalog }) => {
        const entry = catalog.simulations.find(({ simulation }) => simulation.id === 'archive.wipe')!;
        (entry.simulation as { risk: string }).risk = 'LOW';
        throw new Error('It was changed.');
      },
    };
    await withFinder(greedy, async (keyturn) => {
      const asked = keyturn.conversations.ask({ user_id: 'ada', utterance: 'anything' });
      await expect(asked).rejects.toThrow(TypeError);
    });
  });
});

describe('what a process remembers', () => {
  const filled = (count: number) => {
    const memory = rememberedAt(newMemory(), clock());
    for (let i = 0; i < count; i += 1) memory.stored.add(String(i));
    return memory;
  };

  it('is forgotten when its time is over, and when the clock went back', () => {
    const at = (later_ms: number) => new Date(now_ms + later_ms);
    expect(rememberedAt(filled(3), at(agentLimits.memory_ms - 1)).stored.size).toBe(3);
    expect(rememberedAt(filled(3), at(agentLimits.memory_ms)).stored.size).toBe(0);
    expect(rememberedAt(filled(3), at(-1)).stored.size).toBe(0);
  });

  it('does not grow without bound', () => {
    expect(rememberedAt(filled(999), clock()).stored.size).toBe(999);
    expect(rememberedAt(filled(1000), clock()).stored.size).toBe(0);
  });
});

describe('a wish that waits', () => {
  it('is looked at once for each catalog, by the finder that is there', async () => {
    const wish = 'launch the paper rocket over the river';
    const { keyturn } = place();
    const told = await keyturn.conversations.ask({ user_id: 'ada', utterance: wish });
    expect(told).toMatchObject({ kind: 'MISSING_SIMULATION', intake: 'RECORDED' });
    const finder = new WatchingFinder();
    const looks = () => finder.requests.filter(({ utterance }) => utterance === wish).length;
    await withFinder(finder, async (other) => {
      for (let i = 0; i < 3; i += 1) await other.conversations.ask({ user_id: 'ada', utterance: 'anything' });
      expect(looks()).toBe(1);
      now_ms += agentLimits.memory_ms;
      await other.conversations.ask({ user_id: 'ada', utterance: 'anything' });
      expect(looks()).toBe(2);
    });
  });

  it('is no reason to lose an answer when another finder fails on it', async () => {
    const calm = new WatchingFinder();
    const fragile: Finder = {
      find: (request) => {
        if (request.utterance !== 'anything') throw new Error('It broke.');
        return calm.find(request);
      },
    };
    await withFinder(fragile, async (keyturn) => {
      const told = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'anything' });
      expect(told).toMatchObject({ kind: 'REFUSED', news: [] });
    });
  });

  it('is refused, and not counted for ever, while its place is always taken', async () => {
    const { keyturn, root } = place();
    const path = join(root, '.keyturn', 'store.db');
    const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
    const taken = (await store.all('intake')).reduce((sum, { count }) => sum + count, 0) + 1;
    const told = { user_id: 'ada', simulation: 'hello.show' };
    const fingerprint = (await store.all('intake'))[0]!.fingerprint;
    // The claim of the next wish, taken by an entry that is none.
    await store.commit({
      claims: [`intake:${taken}`],
      events: [{ kind: 'intake.told', subject: `intake:${fingerprint}`, body: told }],
    });
    await store.close();
    await expectRefusal('STORE_BUSY', () =>
      keyturn.conversations.ask({ user_id: 'ada', utterance: 'polish the silver trombone tomorrow' }),
    );
  });
});
