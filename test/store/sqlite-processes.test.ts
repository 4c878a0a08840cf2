import { describe, expect, it } from 'vitest';
import { allEntries, requireChain } from './place.ts';
import { committer, linesOf } from './processes.ts';
import { made, opened } from './sqlite-file.ts';

describe('many processes on one SQLite store', () => {
  it('take each claim once and leave a gapless chain', async () => {
    const path = await made();
    const [processes, each] = [4, 25];
    const said = await Promise.all(
      Array.from({ length: processes }, (_, i) => linesOf(committer(path, `own-${i}`, String(each)))),
    );
    const lines = said.flat();
    const won = lines.filter(({ answer }) => answer === 'ok');
    const contested = won.filter(({ claim }) => claim.startsWith('contested'));
    expect(contested.map(({ claim }) => claim).toSorted()).toEqual(
      Array.from({ length: each }, (_, i) => `contested:${i}`).toSorted(),
    );
    expect(won).toHaveLength(each + processes * each);
    expect(new Set(lines.map(({ answer }) => answer))).toEqual(new Set(['ok', 'CLAIM_TAKEN']));
    const store = await opened(path, 'read');
    const entries = await allEntries(store);
    expect(entries).toHaveLength(won.length + 3);
    expect(await store.tip()).toEqual(requireChain(entries));
    expect(await store.rebuild({ write: false })).toMatchObject({ differences: [] });
    await store.close();
  });
});
