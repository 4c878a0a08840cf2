import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { freshDist } from '../support/dist.ts';
import { fileFolder, makeProject } from './project.ts';

/** Tells on standard error what V8 did with compiled code: `none` was given, `taken` or `rejected`. */
const WATCH = `
  const vm = require('node:vm');
  const { Script } = vm;
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options);
      const told = options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'rejected' : 'taken';
      require('node:fs').writeSync(2, told);
    }
  };
`;

const OTHER_NODE = `Object.defineProperty(process, 'version', { value: 'v20.0.0' });`;

describe('the command line and its compiled code', () => {
  const dist = freshDist();
  const chunks = join(dist.folder, 'chunks');
  const caches = () => readdirSync(chunks).filter((name) => name.includes('.cache'));
  const cache = () => join(chunks, caches()[0]!);
  const preload = (name: string, code: string): string[] => {
    const path = join(dist.folder, name);
    writeFileSync(path, code);
    return ['--require', path];
  };

  /** What V8 was given, once the command gave the right answer. */
  function given(...options: string[]): string {
    const watch = preload('watch.cjs', WATCH);
    const { code, stdout, stderr } = dist.run(['explain', 'USAGE', '--json'], [...options, ...watch]);
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: { ok: true } });
    return stderr;
  }

  beforeEach(() => {
    for (const name of caches()) rmSync(join(chunks, name), { recursive: true });
  });

  it('the first command keeps it, the next one takes it', () => {
    expect([given(), given(), given()]).toEqual(['none', 'taken', 'taken']);
    expect(caches()).toHaveLength(1);
  });

  it('a command that it does not know adds itself, once', () => {
    const keeps = (word: string) => {
      const { code } = dist.run([word]);
      expect(code).toBe(word === 'explain' ? 0 : 1); // here is no project
      return statSync(cache()).ino;
    };
    const first = keeps('explain');
    const both = keeps('status');
    expect(both).not.toBe(first);
    expect([keeps('status'), keeps('explain')]).toEqual([both, both]);
  });

  it('bytes that V8 would run without a look are not given to it', () => {
    given();
    const bytes = readFileSync(cache());
    const code = bytes.indexOf('\n', 32) + 900; // behind the numbers that V8 does look at
    for (let at = code; at < bytes.length; at += 997) bytes[at] = bytes[at]! ^ 0xff;
    writeFileSync(cache(), bytes);
    expect([given(), given()]).toEqual(['none', 'taken']);
  });

  it('what others may write is not given to V8, and replaced', () => {
    given();
    chmodSync(cache(), 0o664);
    expect([given(), given()]).toEqual(['none', 'taken']);
  });

  it('what is no file is not waited for', () => {
    given();
    const path = cache();
    rmSync(path);
    execFileSync('mkfifo', [path]);
    expect([given(), given()]).toEqual(['none', 'taken']);
    rmSync(path);
    mkdirSync(path);
    expect([given(), given()]).toEqual(['none', 'none']);
    expect(caches()).toHaveLength(1);
  });

  it('another node, or V8 with other flags, does not take it', () => {
    given();
    expect(given('--no-opt')).toBe('rejected');
    expect(given('--no-opt')).toBe('taken');
    expect(given(...preload('other.cjs', OTHER_NODE), '--no-opt')).toBe('none');
  });

  it('a command that loads the policy engine, and so sets flags, keeps none', async () => {
    const { folder } = await makeProject(fileFolder());
    expect(dist.run(['policy', 'check', '--project', folder])).toMatchObject({ code: 0 });
    expect(caches()).toEqual([]);
    expect(dist.run(['status', '--project', folder])).toMatchObject({ code: 0 });
    expect(caches()).toHaveLength(1);
  });
});
