import { closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Digests } from '../effect/program.ts';
import { refuse } from '../refusal.ts';
import { interpretedLine, loadedBy } from '../tool/interpreter.ts';
import type { Started } from './accepted.ts';

/** A script that an interpreter runs is what the server is. Other files in a command line, such as a database, change as they are used. */
const SCRIPT = /\.(?:[cm]?[jt]s|py|pyz|rb|sh|pl|php|jar|lua|exs|wasm)$/;

/** The arguments that name scripts: what an interpreter may load, whatever its name ends with, and what has the ending of a script. */
export function scriptPaths(executable: string, args: readonly string[], cwd: string): string[] {
  const line = interpretedLine(executable, args);
  const listed = args.map((arg) => arg.replace(/^--[\w-]+=/, '')).filter((arg) => SCRIPT.test(arg));
  return [...(line === null ? [] : loadedBy(line, cwd)), ...listed.map((path) => resolve(cwd, path))];
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
