import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import { REHEARSED } from '../../src/identity/draft.ts';
import type { Context } from '../../src/journey/context.ts';
import { rehearsing } from '../../src/journey/rehearse.ts';
import type { Store } from '../../src/store/store.ts';
import { enrolledAgent, proposed } from '../store/facts.ts';
import { made, opened } from '../store/sqlite-file.ts';
import { expectRefusal } from '../support/refusal.ts';

/** What a store is asked for while acts are rehearsed one after the other, as those of one touch. */
async function touched() {
  const store = await opened(await made());
  const asked: string[] = [];
  const find: Store['find'] = (name, key) => {
    asked.push(`${name} ${key}`);
    return store.find(name, key);
  };
  const earlier: Event[] = [];
  const context = { store: { ...store, find }, clock: () => new Date() } as Context;
  const rehearse = (...events: Event[]) =>
    rehearsing(context, earlier)
      .store.commit({ events })
      .catch((error) => {
        if (error !== REHEARSED) throw error;
      });
  return { store, asked, earlier, rehearse };
}

describe('acts of one touch', () => {
  it('are folded once each: no row is read again for one that comes later', async () => {
    const { store, asked, earlier, rehearse } = await touched();
    for (let i = 0; i < 10; i += 1) await rehearse(enrolledAgent(`bo${i}`, 'ada'));
    expect(earlier).toHaveLength(10);
    expect(asked).toEqual([...new Set(asked)]);
    await expectRefusal('PRINCIPAL_EXISTS', () => rehearse(enrolledAgent('bo3', 'ada')));
    expect(earlier).toHaveLength(10);
    await store.close();
  });

  it('leave nothing behind of one that is refused at its second event', async () => {
    const { store, rehearse } = await touched();
    await rehearse(enrolledAgent('bo', 'ada'));
    await expectRefusal('PRINCIPAL_EXISTS', () =>
      rehearse(enrolledAgent('cy', 'ada'), enrolledAgent('bo', 'ada')),
    );
    await rehearse(enrolledAgent('cy', 'ada'));
    await store.close();
  });

  it('are folded again on what another process wrote meanwhile', async () => {
    const { store, rehearse } = await touched();
    await rehearse(enrolledAgent('bo', 'ada'));
    await store.commit({ events: [enrolledAgent('cy', 'ada'), proposed()] });
    await expectRefusal('PRINCIPAL_EXISTS', () => rehearse(enrolledAgent('cy', 'ada')));
    await rehearse(enrolledAgent('di', 'ada'));
    await expectRefusal('PRINCIPAL_EXISTS', () => rehearse(enrolledAgent('bo', 'ada')));
    await store.close();
  });
});
