import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { hasStrace } from './crash.ts';
import { bundleSqlChild, killSqlAt } from './sql-crash.ts';

let child: Awaited<ReturnType<typeof bundleSqlChild>>;
beforeAll(async () => {
  child = await bundleSqlChild();
});
afterAll(() => child.remove());

describe('kill -9 of a run of SQL', () => {
  it('where the database is put in its place: it opens, and the rollback restores every byte', async () => {
    if (!hasStrace) return console.warn('SKIPPED: strace is not installed, so no kill at a system call');
    const blow = { child: child.path, root: scratch(), kind: 'changed', task: 'run' } as const;
    expect(await killSqlAt({ ...blow, calls: 'rename,renameat,renameat2', when: 2 })).toBe(true);
  });
});
