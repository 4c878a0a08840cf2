import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { limits } from '../limits.ts';

/** What V8 made of a script, and which parts of it had run by then. */
export interface CodeCache {
  readonly data: Uint8Array;
  readonly parts: ReadonlySet<string>;
}

/** The script that a cache was made of. */
export interface ScriptFile {
  readonly path: string;
  readonly stats: Stats;
}

const DIGEST_BYTES = 32;
const NEW_LINE = 0x0a;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * The cache beside a script, or null. V8 takes these bytes for its own: changed ones run as other code or abort the process. So
 * they count only where an attacker who can write them can write the script as well, and only as they were written, for this script
 * and this node.
 */
export function readCodeCache(script: ScriptFile): CodeCache | null {
  try {
    const bytes = readTrusted(`${script.path}.cache`, script.stats);
    if (bytes === null) return null;
    const content = bytes.subarray(DIGEST_BYTES);
    if (!digestOf(made(script), content).equals(bytes.subarray(0, DIGEST_BYTES))) return null;
    const end = content.indexOf(NEW_LINE);
    const parts = new Set<string>(JSON.parse(content.toString('latin1', 0, end)));
    return { data: content.subarray(end + 1), parts };
  } catch {
    return null; // without it the command starts later, and does the same
  }
}

function readTrusted(path: string, script: Stats): Buffer | null {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    const is_trusted = stats.isFile() && stats.uid === script.uid && (stats.mode & WRITABLE_BY_OTHERS) === 0;
    return is_trusted && stats.size <= limits.code_cache_bytes ? readFileSync(fd) : null;
  } finally {
    closeSync(fd);
  }
}

/**
 * Whether a command that ran these parts adds itself. V8 reads all that is kept at every start, so the commands that are used first
 * have their place there, and the others are compiled each time.
 */
export function isWorthKeeping(ran: Iterable<string>, known: CodeCache | null): boolean {
  if (known === null) return true;
  return known.data.length < limits.code_cache_full_bytes && [...ran].some((name) => !known.parts.has(name));
}

/** Written by the owner of the script alone: a cache of another user would not be read. A new file takes the place of the old one. */
export function writeCodeCache(script: ScriptFile, make: () => CodeCache): void {
  if (process.geteuid?.() !== script.stats.uid) return;
  const path = `${script.path}.cache`;
  const fresh = `${path}.${process.pid}-${Date.now()}`;
  try {
    const { data, parts } = make();
    const list = `${JSON.stringify([...parts])}\n`;
    const bytes = Buffer.concat([digestOf(made(script), list, data), Buffer.from(list), data]);
    writeFileSync(fresh, bytes, { flag: 'wx', mode: 0o644 });
    renameSync(fresh, path);
  } catch {
    rmSync(fresh, { force: true }); // a folder that cannot be written, or a full disk: there is none then
  }
}

/** Of what and by what: with another script or another node, the digest is another. V8 itself looks only at the length of a script. */
function made({ path, stats: { size, mtimeMs } }: ScriptFile): string {
  return `keyturn code cache\n${basename(path)}\n${size}\n${mtimeMs}\n${process.version}\n${process.arch}\n`;
}

function digestOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
