import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runChild } from '../../src/effect/child.ts';
import { inspectMachine } from '../../src/effect/machine.ts';
import { confineRunner } from '../../src/effect/sql/confine.ts';
import {
  type DuckDB,
  loadDuckDB,
  type OpenDatabase,
  openLocked,
  statementRefusal,
} from '../../src/effect/sql/duckdb.ts';
import { runSql } from '../../src/effect/sql/run.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** A root with a readable folder, and beside the root a secret. */
function trap(): { root: string; data: string; secret: string } {
  const folder = scratch();
  const root = join(folder, 'root');
  const data = join(root, 'data');
  const secret = join(folder, 'secret.txt');
  mkdirSync(data, { recursive: true });
  writeFileSync(secret, 'hidden');
  writeFileSync(join(root, 'private.txt'), 'hidden');
  writeFileSync(join(data, 'a.csv'), 'a\n1\n');
  return { root, data, secret };
}

describe('SQL that may run reaches nothing outside its folders', () => {
  const reads = [
    "FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd.csv'",
    "FROM read_csv('private.txt')",
    "FROM read_text('data/../private.txt')",
    "FROM glob('/etc/*')",
    "FROM read_blob('/proc/self/environ')",
    "FROM read_csv('http://127.0.0.1:1/a.csv')",
    "FROM 's3://bucket/a.parquet'",
    "CREATE TABLE x AS FROM read_text('/etc/passwd')",
    "CREATE VIEW v AS FROM read_text('/etc/passwd')",
    "SELECT (SELECT content FROM read_text(['data/a.csv', '/etc/passwd']) LIMIT 1 OFFSET 1)",
  ];

  it.each(reads)('%s', async (text) => {
    const { root } = trap();
    await expectRefusal('SQL_ACCESS_DENIED', () =>
      runSql({ root, database: null, text, expect_results: false, readable: ['data'], threads: 1 }),
    );
  });

  it('a readable folder with a link, a second name or a pipe in it is refused', async () => {
    const read = (root: string) =>
      runSql({ root, database: null, text: 'SELECT 1', expect_results: false, readable: ['data'] });
    const linked = trap();
    symlinkSync(linked.secret, join(linked.data, 'link.txt'));
    await expectRefusal('FILE_IS_SYMLINK', () => read(linked.root));
    const twice = trap();
    mkdirSync(join(twice.data, 'deep'));
    linkSync(twice.secret, join(twice.data, 'deep', 'hard.txt'));
    await expectRefusal('FILE_HARD_LINKED', () => read(twice.root));
    const piped = trap();
    spawnSync('mkfifo', [join(piped.data, 'pipe')]);
    await expectRefusal('FILE_NOT_REGULAR', () => read(piped.root));
  });

  it('a folder that was made readable can be read, and no other', async () => {
    const { root } = trap();
    const read = (readable: string[]) =>
      runSql({ root, database: null, text: "FROM 'data/a.csv'", expect_results: true, readable });
    expect((await read(['data'])).rows).toEqual([['1']]);
    await expectRefusal('SQL_ACCESS_DENIED', () => read([]));
  });
});

describe('the first wall alone: DuckDB after the lock-down', () => {
  let duckdb: DuckDB;
  beforeAll(async () => {
    duckdb = await loadDuckDB();
  });

  const open = (allowed_directories: string[]): Promise<OpenDatabase> =>
    openLocked(duckdb, { path: null, read_only: false, allowed_directories, memory_mb: 128, threads: 1 });

  it.each([
    "COPY (SELECT 1) TO 'OUT'",
    "COPY (SELECT 1) TO '/proc/self/root/tmp/x.csv'",
    "ATTACH 'OUT'",
    "EXPORT DATABASE 'OUT'",
    "IMPORT DATABASE '/etc'",
    'INSTALL httpfs',
    'LOAD httpfs',
    "LOAD '/tmp/x.duckdb_extension'",
    'SET enable_external_access = true',
    "SET allowed_directories = ['/']",
    "SET temp_directory = '/tmp'",
    'SET threads = 8',
    'RESET lock_configuration',
    'SET lock_configuration = false',
    "SET GLOBAL memory_limit = '100GB'",
    'PRAGMA enable_external_access = true',
    "FROM read_text('LINK')",
    "COPY (SELECT 1) TO 'LINKED/x.csv'",
  ])('%s is denied', async (text) => {
    const { root, data, secret } = trap();
    symlinkSync(secret, join(data, 'link.txt'));
    symlinkSync(root, join(data, 'up'));
    const database = await open([data]);
    const sql = text
      .replace('OUT', join(root, 'out'))
      .replace('LINKED', join(data, 'up'))
      .replace('LINK', join(data, 'link.txt'));
    const denied = await database.connection.run(sql).then(
      () => null,
      (error) => statementRefusal(error, 1),
    );
    expect(denied?.code).toBe('SQL_ACCESS_DENIED');
    expect(existsSync(join(root, 'out'))).toBe(false);
    expect(readdirSync(data).sort()).toEqual(['a.csv', 'link.txt', 'up']);
    database.close();
  });

  it('a secret is not kept, and the profiler writes no file', async () => {
    const { root, data } = trap();
    const { connection, close } = await open([data]);
    await expect(connection.run("CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')")).rejects.toThrow(
      /disabled/,
    );
    const file = join(root, 'profile.json');
    await connection.run(`FROM enable_profiling(format := 'json', save_location := '${file}')`);
    await expect(connection.run('SELECT 1')).rejects.toThrow();
    await connection.run('FROM disable_profiling()');
    expect(existsSync(file)).toBe(false);
    close();
  });
});

describe('the second wall alone: the sandbox around the runner', () => {
  /** Another script in place of the runner, in exactly its sandbox. */
  async function inSandbox(
    reach: { read: string[]; write: string[]; cwd: string },
    script: string,
  ): Promise<string> {
    const runner = { path: script, options: ['-e'], needs: [realpathSync(process.execPath)] };
    const command = confineRunner(inspectMachine(), reach, { memory_mb: 64, file_mb: 1 }, runner);
    const nothing = openSync('/dev/null', 'r');
    const { stdout } = await runChild({
      argv: command.argv,
      fds: [nothing, ...command.fds], // the descriptor for answers, and no database
      filter: command.filter,
      with_status: true,
      env: {},
      cwd: '/',
      timeout_ms: 20_000,
      stdout_bytes: 10_000,
      stderr_bytes: 10_000,
    });
    closeSync(nothing);
    command.close();
    return Buffer.from(stdout.bytes).toString().trim();
  }

  const attempt = (code: string) => `try { ${code}; console.log('done') } catch (e) { console.log(e.code) }`;

  it('sees no file but its own, also through a link, and writes only to its stage', async () => {
    const { root, data, secret } = trap();
    const stage = join(root, 'stage');
    mkdirSync(stage);
    symlinkSync(secret, join(data, 'link.txt'));
    const reach = { read: [data], write: [stage], cwd: root };
    const fs = "const fs = require('fs');";
    const read = (path: string) => inSandbox(reach, fs + attempt(`fs.readFileSync(${JSON.stringify(path)})`));
    const write = (path: string) =>
      inSandbox(reach, fs + attempt(`fs.writeFileSync(${JSON.stringify(path)}, 'x')`));
    expect(await read(join(data, 'a.csv'))).toBe('done');
    expect(await read(secret)).toBe('ENOENT');
    expect(await read(join(data, 'link.txt'))).toBe('ENOENT');
    expect(await read(join(root, 'private.txt'))).toBe('ENOENT');
    expect(await write(join(stage, 'x'))).toBe('done');
    expect(await write(join(data, 'x'))).toBe('EROFS');
    await write(join(root, 'x')); // the root of this test is beneath /tmp, which the sandbox has for its own
    expect(existsSync(join(root, 'x'))).toBe(false);
    expect(await write('/usr/x')).toBe('EROFS');
    expect(
      await inSandbox(reach, fs + attempt(`fs.writeFileSync('${stage}/big', Buffer.alloc(2 ** 21))`)),
    ).toBe('EFBIG');
  });

  it('reaches no network, not even this machine', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const script = `require('net').connect(${port}, '127.0.0.1').on('connect', () => { console.log('connected'); process.exit() }).on('error', (e) => console.log(e.code))`;
    expect(await inSandbox({ read: [], write: [], cwd: '/' }, script)).toMatch(/^E(NETUNREACH|CONNREFUSED)$/);
    server.close();
  });
});
