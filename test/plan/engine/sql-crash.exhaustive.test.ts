import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../../support/scratch.ts';
import { hasStrace } from './crash.ts';
import { bundleSqlChild, killSqlAt, SQL_PLANS } from './sql-crash.ts';

let child: Awaited<ReturnType<typeof bundleSqlChild>>;
beforeAll(async () => {
  child = await bundleSqlChild();
});
afterAll(() => child.remove());

/** Every call with which SQL changes files, and the number of calls from one kill to the next. With KEYTURN_SOAK it is every call. */
const every = (stride: number) => (process.env.KEYTURN_SOAK ? 1 : stride);
const CALLS: readonly (readonly [string, number])[] = [
  ['rename,renameat,renameat2', 1],
  ['link,linkat', 1],
  ['unlink,unlinkat', 1],
  ['rmdir', 1],
  ['fchmod', 1],
  ['fsync,fdatasync', 1],
  ['mkdir,mkdirat', every(20)],
  ['write,pwrite64', every(20)],
  ['open,openat', every(100)],
];

describe.each(Object.keys(SQL_PLANS))('kill -9 at every system call, database %s', (kind) => {
  describe.each(['run', 'back'] as const)('of a %s', (task) => {
    it.each(CALLS)(
      '%s: it opens, and the rollback restores every byte',
      async (calls, stride) => {
        expect(hasStrace, 'this sweep needs strace').toBe(true);
        let when = 1;
        for (const blow = { child: child.path, kind, task, calls }; ; when += stride)
          if (!(await killSqlAt({ ...blow, root: scratch(), when }))) break;
        console.info(`${kind}, ${task}, ${calls}: ${Math.ceil(when / stride)} kills`);
      },
      3_600_000,
    );
  });
});
