import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planOf, planProjects, ran, undo } from '../journey/plan-story.ts';
import { attributesAt, setAcl, setAttribute, withTools } from '../support/attributes.ts';
import { DB, databaseBytes, rowsOf, sql } from './p01-database.ts';

const planProject = planProjects();

function carried(path: string) {
  const { mode, uid, gid } = statSync(path);
  return { mode, uid, gid, attributes: attributesAt([path]) };
}

describe('P3: what a database and a result of SQL carry', () => {
  it(
    'owner, mode, access control list and attributes are kept by SQL, and brought back by an undo',
    withTools(async () => {
      const p = await planProject({ 'data/keep': '', 'rows.csv': 'old' });
      const path = join(p.root, DB);
      writeFileSync(path, await databaseBytes());
      const files = [path, join(p.root, 'rows.csv')];
      for (const file of files) {
        setAcl(file, 'u:1234:rw', 'g:5678:r', 'm::rw');
        setAttribute(file, 'user.origin', 'here');
        if (process.getuid?.() === 0) chownSync(file, 1234, 5678);
      }
      const before = files.map(carried);
      const query = 'INSERT INTO t VALUES (3); SELECT i FROM t';
      const { report } = await ran(p, planOf([sql('1', { query, save_results_to: 'rows.csv' })]));
      expect(report.result).toBe('success');
      expect(await rowsOf(path)).toEqual([1, 2, 3]);
      expect(files.map(carried)).toEqual(before);
      await undo(p, report);
      expect(await rowsOf(path)).toEqual([1, 2]);
      expect(files.map(carried)).toEqual(before);
    }),
  );
});
