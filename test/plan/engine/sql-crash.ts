import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { build } from 'esbuild';
import { expect } from 'vitest';
import { withPlace } from '../../../src/durable/beneath-write.ts';
import { logBeside } from '../../../src/effect/sql/database.ts';
import type { Plan } from '../../../src/plan/model.ts';
import { hasTools, setAcl, setAttribute } from '../../support/attributes.ts';
import { processesThatName } from '../../support/processes.ts';
import { expectRecoverable, killAtCall } from './crash.ts';
import { action, derive, everything, lay, picture, plan } from './story.ts';

/**
 * Kill -9 of a run of SQL, or of its rollback: at the nth call of a kind, in whichever of its processes makes it. The
 * database must open afterwards and hold all or nothing, and a rollback must bring every byte back.
 */

export const DATABASE = 'data/shop.duckdb';

/** The child and the SQL runner as one file each. The packages are found through a link, as in an installation. */
export async function bundleSqlChild(): Promise<{ path: string; remove: () => void }> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-sql-child-'));
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(at('../../../node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: { child: at('./child.ts'), 'sql-runner': at('../../../src/effect/sql/runner.ts') },
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    external: ['@duckdb/node-api', 'tsx'],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  return { path: join(folder, 'child.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const sql = (target: string, operation: object): Plan =>
  plan([action('1', 'SQL_EXECUTE', target, { type: 'sql_execute', ...operation }, { timeout_ms: 60_000 })]);

/** A database that is changed, with a result that is saved; and one that is new. */
export const SQL_PLANS: Readonly<Record<string, Plan>> = {
  changed: sql(DATABASE, {
    query: 'INSERT INTO t VALUES (3); SELECT i FROM t ORDER BY i',
    save_results_to: 'out/rows.csv',
  }),
  new: sql('data/new.duckdb', { query: 'CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1), (2), (3)' }),
};

export async function laySqlProject(root: string, kind: string) {
  lay(root, { 'data/readme': 'r' });
  const instance = await DuckDBInstance.create(join(root, DATABASE));
  const connection = await instance.connect();
  await connection.run('CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1), (2); CHECKPOINT');
  connection.closeSync();
  instance.closeSync();
  if (hasTools) {
    setAcl(join(root, DATABASE), 'u:1234:rw');
    setAttribute(join(root, DATABASE), 'user.k', 'v');
  }
  const effect_file = join(root, 'agent_outputs.json');
  writeFileSync(effect_file, JSON.stringify(await derive(root, SQL_PLANS[kind]!)));
  return { effect_file, before: everything(root) };
}

/** The database opens as it is, with nothing beside it that would have to be replayed, and holds all or nothing. */
async function expectAllOrNothing(root: string, path: string): Promise<void> {
  const { [path]: there } = picture(root);
  expect(await withPlace(root, path, logBeside)).toBe(null);
  if (there === undefined) return;
  const instance = await DuckDBInstance.create(join(root, path), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll('SELECT count(*)::INTEGER FROM t')).getRows()[0]![0];
  connection.closeSync();
  instance.closeSync();
  expect([2, 3]).toContain(rows);
}

const FAR_TOO_LONG_MS = 120_000;

/** bubblewrap whose outer process is killed while it sets up waits for ever: it had no time to ask to die with it. */
function endOrphans(child: string): void {
  for (const pid of processesThatName(dirname(child))) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

export interface Blow {
  readonly child: string;
  readonly root: string;
  readonly kind: string;
  readonly task: 'run' | 'back';
  readonly calls: string;
  readonly when: number;
}

/** Kills at one call and looks. False when no process came to that call, so that there is nothing left to kill. */
export async function killSqlAt({ child, root, kind, task, calls, when }: Blow): Promise<boolean> {
  const { effect_file, before } = await laySqlProject(root, kind);
  const args = [task, root, effect_file];
  if (task === 'back') {
    const ran = spawnSync(process.execPath, [child, 'run', root, effect_file], { encoding: 'utf8' });
    expect(ran.stdout).toContain('SUCCESS');
  }
  const { killed } = killAtCall(child, args, calls, when, FAR_TOO_LONG_MS);
  endOrphans(child);
  await expectAllOrNothing(root, kind === 'new' ? 'data/new.duckdb' : DATABASE);
  await expectRecoverable(root, before);
  return killed;
}
