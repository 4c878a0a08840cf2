import { closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Digests } from '../effect/program.ts';
import { refuse } from '../refusal.ts';
import type { Started } from './accepted.ts';

/** A script that an interpreter runs is what the server is. Other files in a command line, such as a database, change as they are used. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|pyz|rb|sh|pl|php|jar|lua|exs|wasm)$/;

const INTERPRETER =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python|pypy|ruby|perl|php|lua|luajit|sh|bash|dash|zsh|ksh)[\d.]*$/;

/** Options of these interpreters that have a value in the next argument. */
const VALUED: ReadonlySet<string> = new Set([
  ...['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions'],
  ...['--env-file', '-W', '-X', '-I', '-o', '-d'],
]);

/** After one of these they run a text, or a module by its name, and no file of the command line. */
const NO_FILE: ReadonlySet<string> = new Set(['-c', '-e', '-m', '-p', '--eval', '--print']);

/** The arguments that name scripts: what an interpreter is given to run, whatever its name ends with, and what has the ending of a script. */
export function scriptPaths(executable: string, args: readonly string[], cwd: string): string[] {
  const given = INTERPRETER.test(basename(executable)) ? runBy(args) : null;
  const listed = args.map((arg) => arg.replace(/^--[\w-]+=/, '')).filter((arg) => SCRIPT.test(arg));
  return [...(given === null ? [] : [given, `${given}.js`]), ...listed].map((path) => resolve(cwd, path));
}

/** `run` is a command of bun and deno. */
function runBy(args: readonly string[]): string | null {
  const rest = args[0] === 'run' ? args.slice(1) : args;
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at]!;
    if (NO_FILE.has(arg)) return null;
    if (arg === '--') return rest[at + 1] ?? null;
    if (VALUED.has(arg)) at += 1;
    else if (!arg.startsWith('-')) return arg;
  }
  return null;
}

/** Each script that is there, with its digest. One that cannot be hashed is refused: it would be started without having been compared. */
export function scriptsOf(paths: readonly string[], digests: Digests): Started['files'] {
  const found = [...new Set(paths.flatMap((path) => realFile(path) ?? []))].sort();
  return found.map((path) => ({ path, sha256: digestOf(path, digests) }));
}

function realFile(path: string): string | null {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isFile() ? real : null;
  } catch {
    return null;
  }
}

function digestOf(path: string, digests: Digests): Started['files'][number]['sha256'] {
  const fd = opened(path);
  try {
    return digests.of(fd);
  } finally {
    closeSync(fd);
  }
}

function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return refuse('EXECUTABLE_MISSING', `The script ${path} cannot be read, so it cannot be hashed.`, {
      path,
    });
  }
}
