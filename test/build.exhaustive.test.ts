import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
/** Inside the project, where what the bundles import is found. */
const dist = mkdtempSync(join(ROOT, 'node_modules/.dist-test-'));
const SCRIPT: string = join(ROOT, 'scripts/build.mjs');

afterAll(() => {
  rmSync(dist, { recursive: true, force: true });
  rmSync(`${dist}.stop`, { force: true });
});

const build = async () => ((await import(SCRIPT)) as Builder).build({ types: false, dist });
interface Builder {
  build(options: { types: boolean; dist: string }): Promise<void>;
}

function explain(): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [join(dist, 'cli.cjs'), 'explain', 'USAGE']);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((done) => child.on('close', (code) => done({ code, stderr })));
}

/** Looks at the entries without a pause until there is a file `stop`, and says how often one of them was not there. */
const WATCH = `
  import { existsSync } from 'node:fs';
  const [dist] = process.argv.slice(1);
  let missed = 0;
  while (!existsSync(dist + '.stop'))
    for (const name of ['cli.cjs', 'keyturn.js']) if (!existsSync(dist + '/' + name)) missed += 1;
  console.log(missed);
`;

function missing(): { stop(): Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WATCH, dist]);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<string>((done) => child.on('close', () => done(said)));
  return {
    stop: () => {
      writeFileSync(`${dist}.stop`, '');
      return ended;
    },
  };
}

describe('a build', () => {
  it('never breaks a command that starts meanwhile', async () => {
    await build();
    const watcher = missing();
    let building = true;
    const calls: Promise<unknown>[] = [];
    const calling = (async () => {
      while (building) {
        calls.push(explain());
        await calls.at(-1);
      }
    })();
    for (let i = 0; i < 3; i += 1) await build();
    building = false;
    expect(await watcher.stop()).toBe('0\n');
    await calling;
    for (const call of calls) expect(await call).toEqual({ code: 0, stderr: '' });
    expect(calls.length).toBeGreaterThan(2);
  }, 600_000);

  it('keeps the chunks of the build before for a while, and nothing else of it', async () => {
    const [chunk, entry] = [join(dist, 'chunks', 'old-AAAAAAAA.js'), join(dist, 'old.js')];
    writeFileSync(chunk, '');
    writeFileSync(entry, '');
    await build();
    expect({ chunk: existsSync(chunk), entry: existsSync(entry) }).toEqual({ chunk: true, entry: false });
    await build();
    expect(existsSync(chunk)).toBe(true);
    expect(readdirSync(dist)).toContain('cli.cjs');
  }, 600_000);

  it('has lines in the library that a stack trace can point into', async () => {
    await build();
    const lines = readFileSync(join(dist, 'keyturn.js'), 'utf8').split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(2_000);
  });

  it('leaves nothing old in what is packed', async () => {
    const before = process.env.npm_lifecycle_event;
    process.env.npm_lifecycle_event = 'prepack';
    try {
      await build();
    } finally {
      if (before === undefined) delete process.env.npm_lifecycle_event;
      else process.env.npm_lifecycle_event = before;
    }
    expect(existsSync(join(dist, 'chunks', 'old-AAAAAAAA.js'))).toBe(false);
    const packed = spawnSync(process.execPath, [join(dist, 'cli.cjs'), '--version'], { encoding: 'utf8' });
    expect(packed.status).toBe(0);
  }, 600_000);
});
