import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { proposed } from '../store/facts.ts';
import { made, opened } from '../store/sqlite-file.ts';

const COMMITS = 250;
const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

describe('T7: a commit', () => {
  it('writes few pages: a ledger and its rows grow at their ends', async () => {
    const path = await made();
    const store = await opened(path, 'write');
    const frames = () => (readFileSync(`${path}-wal`).length - WAL_HEADER_BYTES) / FRAME_BYTES;
    await store.commit({ events: [proposed()] });
    const before = frames();
    for (let i = 0; i < COMMITS; i++) await store.commit({ events: [proposed()] });
    // The entry, the intent, the count of its proposer, the names that lead to them, and where one of these pages was full its neighbours.
    expect((frames() - before) / COMMITS).toBeLessThan(6.6);
    await store.close();
  });
});
