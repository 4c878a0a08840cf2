import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { proposed } from './facts.ts';
import { allEntries, requireChain } from './place.ts';
import { acknowledgedBefore, committer, type Line } from './processes.ts';
import { made, opened } from './sqlite-file.ts';

describe('many processes on one SQLite store', () => {
  it('lose nothing that was acknowledged when they are killed at any moment', async () => {
    const path = await made();
    const acknowledged: Line[] = [];
    for (let i = 0; i < 6; i++)
      acknowledged.push(
        ...(await acknowledgedBefore(Math.random() * 60, committer(path, `k${i}`, 'forever'))),
      );
    expect(acknowledged.length).toBeGreaterThan(0);
    const store = await opened(path);
    for (const { intent_id, claim } of acknowledged) {
      expect(await store.find('intent', intent_id)).toMatchObject({ status: 'proposed' });
      await expectRefusal('CLAIM_TAKEN', () => store.commit({ claims: [claim], events: [proposed()] }));
    }
    const entries = await allEntries(store);
    expect(entries.length).toBeGreaterThanOrEqual(acknowledged.length + 1);
    expect(await store.tip()).toEqual(requireChain(entries));
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    await store.close();
  });
});
