import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packInto } from './support/packed.ts';
import { freshFolder } from './support/scratch.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** What `npm pack` packs, unpacked beside the packages that it depends on and none of those for development. */
describe('the package, installed', () => {
  const place = freshFolder('keyturn-installed-');
  const installed = join(place, 'node_modules/keyturn');
  const project = join(place, 'project');
  let packed: string[] = [];

  beforeAll(async () => {
    const { file, paths } = await packInto(place, { types: false });
    packed = paths;
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components=1']);
    for (const name of runtimePackages()) link(name);
  }, 600_000);

  afterAll(() => {
    rmSync(place, { recursive: true, force: true });
  });

  function runtimePackages(): string[] {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    return Object.entries(packages as Record<string, { dev?: true }>)
      .filter(
        ([path, { dev }]) => path.startsWith('node_modules/') && dev !== true && existsSync(join(ROOT, path)),
      )
      .map(([path]) => path.slice('node_modules/'.length))
      .filter((name) => !name.includes('/node_modules/'));
  }

  function link(name: string): void {
    const path = join(place, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(join(ROOT, 'node_modules', name), path);
  }

  /** Runs a module of a user who installed the package. */
  function program(code: string): string {
    const path = join(place, 'program.mjs');
    writeFileSync(path, code);
    return execFileSync(process.execPath, [path], { cwd: place, encoding: 'utf8' });
  }

  function keyturn(...words: string[]) {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { status, stdout, stderr } = spawnSync(join(installed, bin.keyturn), words, {
      cwd: place,
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  }

  it('has the command line, the library, the licences, and no compiled code', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'dist/cli.cjs',
        'dist/lane-check.cjs',
        'dist/sql-runner.js',
        'dist/keyturn.js',
      ]),
    );
    expect(packed).toEqual(
      expect.arrayContaining([
        'dist/audit.js',
        'dist/audit.browser.js',
        'dist/client.js',
        'dist/LICENSES.txt',
      ]),
    );
    expect(packed.filter((path) => path.includes('.cache'))).toEqual([]);
    const licences = readFileSync(join(installed, 'dist/LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'yaml', 'zod', 're2js', 'minisearch', 'diff', 'json-p3', 'jsonc-parser'])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'));
  });

  it('every part of every command loads, and has what others ask it for', () => {
    const script = readdirSync(join(installed, 'dist/chunks')).find((name) =>
      /^commands-.*\.js$/.test(name),
    )!;
    const count = program(`
      import { readFileSync } from 'node:fs';
      import { createRequire } from 'node:module';
      const url = 'file://${installed}/dist/cli.cjs';
      const require = createRequire(url);
      const parts = (0, eval)(readFileSync('${installed}/dist/chunks/${script}', 'latin1'))(url);
      const loaded = new Map();
      const load = (name) => {
        if (!parts[name]) return require(name);
        if (!loaded.has(name)) parts[name]((given) => loaded.set(name, given), load, load);
        return loaded.get(name);
      };
      for (const [name, part] of Object.entries(parts)) {
        load(name);
        for (const [, asked, member] of String(part).matchAll(/require\\("([^"]+)"\\)\\)\\.(\\w+)/g))
          if (!(member in load(asked))) throw new Error(name + ' asks ' + asked + ' for ' + member);
      }
      console.log(loaded.size);
    `);
    expect(Number(count)).toBeGreaterThan(100);
  });

  it('the library makes a project, and the command line works in it', () => {
    const intent = program(`
      import { Keyturn } from 'keyturn';
      import 'keyturn/audit';
      import 'keyturn/client';
      import { mkdirSync } from 'node:fs';
      mkdirSync('${project}');
      const keyturn = await Keyturn.init({ at: '${project}', name: 'ada', passphrase: 'correct horse battery' });
      const effect = { kind: 'tool', tool: 'greet', arguments: { name: 'Ada' } };
      const { intent_id } = await keyturn.intents.propose({ issuer: 'ada', declared_goal: 'Greet.', effect });
      await keyturn.close();
      console.log(intent_id);
    `).trim();
    const commands = [
      ['--version'],
      ['--help'],
      ['status'],
      ['list'],
      ['show', intent],
      ['tool', 'list'],
      ['tool', 'lint'],
      ['identity', 'list'],
      ['policy', 'check'],
      ['policy', 'test'],
      ['ledger', 'show'],
      ['ledger', 'verify', '--deep'],
      ['ledger', 'head'],
      ['ledger', 'export'],
      ['ledger', 'rebuild'],
      ['executor', 'list'],
      ['delegation', 'list'],
      ['credential', 'list'],
      ['simulation', 'list'],
      ['intake', 'list'],
      ['store', 'verify'],
      ['completion', 'bash'],
      ['explain'],
    ];
    // Twice: with code that is compiled now, and with what the first round kept.
    for (const words of [...commands, ...commands]) {
      const { code, stderr } = keyturn(
        ...words,
        ...(words[0]!.startsWith('-') ? [] : ['--project', project]),
      );
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
    }
  }, 600_000);
});
