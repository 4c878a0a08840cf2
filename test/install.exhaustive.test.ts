import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { packInto } from './support/packed.ts';
import { inTerminal } from './support/pty.ts';
import { freshFolder } from './support/scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');
const PASSPHRASE = 'seven lanterns under the harbour';
const MB = 1024;

/** `npm install` of what is packed, from the registry of this machine, as a stranger does it. */
describe('the package, from the registry', () => {
  const place = freshFolder('keyturn-stranger-');
  const bin = join(place, 'node_modules/.bin/keyturn');
  let packed: string[] = [];

  const npm = (...words: string[]) =>
    execFileSync('npm', [...words, '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: place,
      stdio: 'pipe',
    });

  beforeAll(async () => {
    const { file, paths } = await packInto(place, { types: true });
    packed = paths;
    writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
    npm('install', file);
  }, 900_000);

  afterAll(() => rmSync(place, { recursive: true, force: true }));

  function keyturn(...words: string[]) {
    const { status, stdout, stderr } = spawnSync(bin, words, { cwd: place, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  }

  it('takes less than 60 MB, without what is optional', () => {
    const [kilobytes] = execFileSync('du', ['-sk', 'node_modules'], { cwd: place, encoding: 'utf8' }).split(
      '\t',
    );
    expect(Number(kilobytes)).toBeLessThan(60 * MB);
    for (const name of ['@duckdb', '@opentelemetry', 'pg'])
      expect(existsSync(join(place, 'node_modules', name))).toBe(false);
  });

  it('has every file that its documents link to', () => {
    for (const page of packed.filter((path) => path.endsWith('.md'))) {
      const text = readFileSync(join(place, 'node_modules/keyturn', page), 'utf8');
      for (const [, link] of text.matchAll(/\]\((?!https?:|mailto:|#)([^)#]+)/g)) {
        const path = join(dirname(page), link!);
        const there = packed.some((one) => one === path || one.startsWith(`${path.replace(/\/$/, '')}/`));
        expect({ page, link, there }).toEqual({ page, link, there: true });
      }
    }
  });

  it('has a README whose links and picture work on a page elsewhere', () => {
    const [folder, tree] = [
      join(place, 'node_modules/keyturn'),
      readFileSync(join(ROOT, 'README.md'), 'utf8'),
    ];
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const links = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g)];
    expect(links.length).toBe([...tree.matchAll(/\]\(/g)].length);
    for (const [, link] of links) {
      const [, path] = /^https:\/\/unpkg\.com\/keyturn@([^#]+)(#.*)?$/.exec(link!) ?? [];
      expect(path, link).toMatch(new RegExp(`^${version.replaceAll('.', '\\.')}/`));
      expect(existsSync(join(folder, path!.slice(version.length + 1))), link).toBe(true);
    }
    // The tree keeps links that work in a clone.
    expect(tree).toContain('](docs/console/');
  });

  it('has declarations that a strict program compiles with', () => {
    writeFileSync(
      join(place, 'program.ts'),
      `import { Keyturn, Refusal } from 'keyturn';
       import 'keyturn/audit';
       export const open = (at: string): Promise<Keyturn> => Keyturn.open({ at });
       // @ts-expect-error: a goal is text
       export const no = (k: Keyturn) => k.intents.propose({ declared_goal: 7 });
       export const code = (error: unknown) => (error instanceof Refusal ? error.code : null);`,
    );
    const http = readFileSync(join(ROOT, 'docs/http.md'), 'utf8');
    writeFileSync(
      join(place, 'client.ts'),
      `${/```ts\n([\s\S]*?)```/.exec(http)![1]}
       // @ts-expect-error: an act is a draft first
       export const no = () => intents.turn({ intent_id, hash: '' });`,
    );
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
    const tsc = [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      ...options,
      ...types,
      'program.ts',
      'client.ts',
    ];
    expect(spawnSync(process.execPath, tsc, { cwd: place, encoding: 'utf8' })).toMatchObject({
      stdout: '',
      status: 0,
    });
  }, 600_000);

  it('turns a first key', async () => {
    const init = inTerminal(['init', '--name', 'ada'], { cwd: place, program: bin });
    await init.expect('New passphrase');
    init.type(PASSPHRASE);
    await init.expect('same again');
    init.type(PASSPHRASE);
    expect(await init.exited).toBe(0);
    const proposed = keyturn(
      'propose',
      '--tool',
      'greet',
      '--arg',
      'name=Grace',
      '--goal',
      'Say hello',
      '--json',
    );
    const { intent_id } = JSON.parse(proposed.stdout).result;
    const turn = inTerminal(['turn', intent_id], { cwd: place, program: bin });
    await turn.expect('Turn the key?');
    turn.type('y');
    await turn.expect('Passphrase');
    turn.type(PASSPHRASE);
    expect(await turn.exited).toBe(0);
    expect(turn.text).toContain('Hello, Grace!');
  }, 600_000);

  it('gates a filesystem server: a call by a client waits, is turned at the terminal, and has its result', async () => {
    npm('install', pinned('@modelcontextprotocol/server-filesystem'));
    const notes = join(place, 'notes');
    mkdirSync(notes);
    const asAda = async (words: readonly string[], ...typed: (readonly [string, string])[]) => {
      const session = inTerminal(words, { cwd: place, program: bin, rows: 2000 });
      onTestFinished(() => session.kill());
      for (const [shown, text] of [...typed, ['Passphrase of ada: ', PASSPHRASE] as const]) {
        await session.expect(shown);
        session.type(text);
      }
      expect(await session.exited, session.text).toBe(0);
    };
    const script = join(place, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
    const scope = ['--scope', `read=${join(place, 'node_modules')}`, '--scope', `write=${notes}`];
    await asAda(['mcp', 'add', 'files', ...scope, '--reason', 'notes', '--', 'node', script, notes]);
    await asAda(['mcp', 'config', 'scout']);
    const { command, args } = JSON.parse(keyturn('mcp', 'config', 'scout', '--json').stdout).result;
    const client = new Client({ name: 'stranger', version: '1' });
    // As a client starts it: with a PATH of its own, on which nothing of this folder is.
    const env = { PATH: '/usr/bin:/bin' };
    await client.connect(new StdioClientTransport({ command, args, env, cwd: '/' }));
    onTestFinished(() => client.close());
    const path = join(notes, 'first.txt');
    const called = client.callTool({ name: 'files__write_file', arguments: { path, content: 'turned' } });
    const words = (): string[] =>
      JSON.parse(keyturn('list', '--json').stdout).result.intents.map(
        (one: { status_word: string }) => one.status_word,
      );
    await expect.poll(words, { timeout: 20_000 }).toContain('waiting');
    expect(existsSync(path)).toBe(false);
    await asAda(['turn'], ['Turn the key?', 'y']);
    expect(await called).toMatchObject({
      content: [{ text: expect.stringContaining('Successfully wrote') }],
    });
    expect(readFileSync(path, 'utf8')).toBe('turned');
  }, 600_000);

  it('says how to install DuckDB before anybody is asked for a yes', () => {
    mkdirSync(join(place, 'data'));
    const operation = { type: 'sql_execute', query: 'SELECT 1', connection: 'memory' };
    const action = { action_id: 'a1', action_type: 'SQL_EXECUTE', target: 'data/day.duckdb', operation };
    writeFileSync(join(place, 'plan.json'), JSON.stringify({ plan_id: 'count', action_plan: [action] }));
    const proposed = keyturn('propose', '--plan', 'plan.json', '--goal', 'Count', '--by', 'ada', '--json');
    expect(proposed.stdout).toContain('intent_id');
    const { intent_id } = JSON.parse(proposed.stdout).result;
    const { code, stderr } = keyturn('turn', intent_id);
    expect(code).toBe(1);
    expect(stderr).toContain('PACKAGE_MISSING');
    expect(stderr).toContain(`npm install ${pinned('@duckdb/node-api')}`);
  });

  it('says how to install the driver of PostgreSQL, and takes it once it is installed', () => {
    const migrate = () => keyturn('store', 'migrate', 'postgres://ada@127.0.0.1:1/none');
    expect(migrate().stderr).toContain('PACKAGE_MISSING');
    expect(migrate().stderr).toContain(`npm install ${pinned('pg')}`);
    npm('install', pinned('pg'));
    expect(migrate().stderr).not.toContain('PACKAGE_MISSING');
  }, 600_000);

  /** As in package.json: what the tests of this tree run with. */
  function pinned(name: string): string {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    return `${name}@${devDependencies[name]}`;
  }
});
