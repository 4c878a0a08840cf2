import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { isWorthKeeping, readCodeCache, type ScriptFile, writeCodeCache } from './code-cache.ts';
import type * as Main from './main.ts';

/**
 * All commands as one script. It evaluates to an object of parts, one for each source file, each of which runs when something of it is
 * first used. A script and not modules, because V8 keeps only a script compiled on every node that we support. scripts/bundle.mjs makes
 * it, and puts its name here.
 */
declare const BUNDLE: string;

type Part = (
  give: (exports: object) => void,
  require: (name: string) => unknown,
  later: (name: string) => Promise<unknown>,
) => void;

const MAIN = '0';

/** In the place of `main.ts`, in a build. */
export async function main(words: readonly string[]): Promise<number> {
  const { file, source } = readScript(fileURLToPath(new URL(`./chunks/${BUNDLE}`, import.meta.url)));
  const known = readCodeCache(file);
  const script = new Script(source, { filename: file.path, ...(known && { cachedData: known.data }) });
  const usable = script.cachedDataRejected === false ? known : null;
  const bundle = new Bundle(script.runInThisContext()(import.meta.url));
  const code = await (bundle.load(MAIN) as typeof Main).main(words);
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
  readonly #loaded = new Map<string, object>();
  readonly #require = createRequire(import.meta.url);
  #has_flags = false;

  constructor(all: Readonly<Record<string, Part>>) {
    this.#all = all;
  }

  readonly load = (name: string): unknown => {
    const known = this.#loaded.get(name);
    if (known) return known;
    const part = this.#all[name];
    if (part === undefined) return this.#outside(name);
    part((exports) => this.#loaded.set(name, exports), this.load, this.#later);
    return this.#loaded.get(name);
  };

  /** As `import()` answers: a package that is no module is its own default export. */
  readonly #later = async (name: string): Promise<unknown> => {
    const found = this.load(name);
    return name in this.#all ? found : Object.create(found as object, { default: { value: found } });
  };

  /** The policy engine is WebAssembly. To optimise it costs more time and memory than one command gets back. */
  #outside(name: string): unknown {
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

const POLICY_ENGINE = '@cedar-policy/';
