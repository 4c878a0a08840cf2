import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { isWorthKeeping, readCodeCache, type ScriptFile, writeCodeCache } from './code-cache.ts';
import type * as Main from './main.ts';

/**
 * All commands as one script. It evaluates to an object of parts, each of which runs when it is first asked for. A script and not
 * modules, because V8 keeps only a script compiled on every node that we support. scripts/bundle.mjs makes it, and puts its name here.
 */
declare const BUNDLE: string;

type Part = (exports: object, require: (name: string) => unknown, module: { exports: object }) => void;

/** In the place of `main.ts`, in a build. */
export async function main(words: readonly string[]): Promise<number> {
  const { file, source } = readScript(fileURLToPath(new URL(`./chunks/${BUNDLE}`, import.meta.url)));
  const known = readCodeCache(file);
  const script = new Script(source, { filename: file.path, ...(known && { cachedData: known.data }) });
  const usable = script.cachedDataRejected === false ? known : null;
  const bundle = new Bundle(script.runInThisContext()(import.meta.url));
  const code = await (bundle.load('./main.js') as typeof Main).main(words);
  if (!bundle.hasFlags && isWorthKeeping(bundle.ran, usable)) {
    const parts = new Set([...(usable?.parts ?? []), ...bundle.ran]);
    writeCodeCache(file, () => ({ data: script.createCachedData(), parts }));
  }
  return code;
}

function readScript(path: string): { file: ScriptFile; source: string } {
  const fd = openSync(path, 'r');
  try {
    return { file: { path, stats: fstatSync(fd) }, source: readFileSync(fd, 'latin1') };
  } finally {
    closeSync(fd);
  }
}

/** What runs of the script. */
class Bundle {
  readonly #all: Readonly<Record<string, Part>>;
  readonly #loaded = new Map<string, { exports: object }>();
  readonly #require = createRequire(import.meta.url);
  #has_flags = false;

  constructor(all: Readonly<Record<string, Part>>) {
    this.#all = all;
  }

  readonly load = (name: string): unknown => {
    const part = this.#all[name];
    if (part === undefined) return this.#outside(name);
    const known = this.#loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    this.#loaded.set(name, module);
    part(module.exports, this.load, module);
    return module.exports;
  };

  /**
   * A module of node that few commands use is loaded when a member of it is: it takes some milliseconds, with what it brings along. The
   * policy engine is WebAssembly. To optimise it costs more time and memory than one command gets back.
   */
  #outside(name: string): unknown {
    if (SELDOM.has(name)) return new Proxy({}, { get: (_, member) => this.#require(name)[member] });
    if (name.startsWith(POLICY_ENGINE)) {
      const { setFlagsFromString } = this.#require('node:v8') as typeof import('node:v8');
      setFlagsFromString('--liftoff-only');
      this.#has_flags = true;
    }
    return this.#require(name);
  }

  /** V8 takes no code that was kept under other flags than those it starts with. */
  get hasFlags(): boolean {
    return this.#has_flags;
  }

  get ran(): readonly string[] {
    return [...this.#loaded.keys()];
  }
}

const SELDOM: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:fs/promises',
  'node:readline',
  'node:tty',
]);
const POLICY_ENGINE = '@cedar-policy/';
