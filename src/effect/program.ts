import { createHash } from 'node:crypto';
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Digest } from '../canonical/digest.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type ExecutableForm, executableForm, notExecutable } from './executable-form.ts';
import { fileKey, hasSettled } from './file-key.ts';
import { findProgram } from './machine.ts';

/** One file of what runs: the executable, or an interpreter that its first line names. */
export interface Program {
  /** The name by which it is called, which may be a link. */
  readonly called: string;
  /** The real file. */
  readonly path: string;
  readonly sha256: Digest;
}

/** A program whose file is open. The caller must close it. */
export interface OpenProgram extends Program {
  readonly fd: number;
}

/**
 * The executable, the chain of its interpreters, and the loaders that these binaries name, each with its digest. What an
 * interpreter or a loader opens later (libraries, modules) is not here: `covers` in the registry names files, and the
 * sandbox decides what else can be seen.
 */
export function describePrograms(called: string, search_path: string, digests: Digests): Program[] {
  const programs: Program[] = [];
  let pending: Pending[] = [{ called, loader: false }];
  while (pending.length > 0) {
    if (programs.length > 3 * limits.interpreters)
      notExecutable(called, `it has more than ${limits.interpreters} interpreters of interpreters`);
    const [next, ...rest] = pending as [Pending, ...Pending[]];
    pending = rest;
    // Most binaries of a machine share one loader.
    if (next.loader && programs.some((program) => program.called === next.called)) continue;
    const program = openProgram(next.called, digests);
    try {
      programs.push({ called: program.called, path: program.path, sha256: program.sha256 });
      pending = [...pending, ...startedBy(program, search_path, digests)];
    } finally {
      closeSync(program.fd);
    }
  }
  return programs;
}

interface Pending {
  readonly called: string;
  readonly loader: boolean;
}

/** Opens and hashes one program. What is hashed is what is open. */
export function openProgram(called: string, digests: Digests): OpenProgram {
  const path = realPathOf(called);
  const fd = openExecutable(path);
  try {
    return { called, path, fd, sha256: digests.of(fd, (stats) => requireExecutable(path, stats)) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function realPathOf(called: string): string {
  try {
    return realpathSync.native(called);
  } catch {
    return refuse('EXECUTABLE_MISSING', `${called} does not exist.`, { path: called });
  }
}

function openExecutable(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') refuse('EXECUTABLE_MISSING', `${path} does not exist.`, { path });
    return notExecutable(path, 'it cannot be read, so it cannot be hashed');
  }
}

function requireExecutable(path: string, stats: BigIntStats): void {
  if (!stats.isFile()) notExecutable(path, 'it is not a regular file');
  // Root passes access checks that other users fail, so the mode is looked at too.
  if ((stats.mode & 0o111n) === 0n) notExecutable(path, 'no execute permission is set');
  try {
    accessSync(path, constants.X_OK);
  } catch {
    notExecutable(path, 'this user may not execute it');
  }
}

/** What the kernel, or env, starts in order to run this program. */
function startedBy(program: OpenProgram, search_path: string, digests: Digests): Pending[] {
  const form = digests.form(program);
  if (form.kind === 'binary') return form.next === null ? [] : [{ called: form.next, loader: true }];
  const named = /\/env$/.test(form.next)
    ? [form.next, lookedUpByEnv(program.path, form.words, search_path)]
    : [form.next];
  return named.map((called) => ({ called, loader: false }));
}

/** `#!/usr/bin/env node` runs what the tool's own PATH says; `-S` may add plain words and nothing else. */
function lookedUpByEnv(script: string, words: readonly string[], search_path: string): string {
  const [name, ...more] = words[0] === '-S' ? words.slice(1) : words;
  const plain = name !== undefined && /^[A-Za-z0-9._+][A-Za-z0-9._+-]*$/.test(name);
  if (!plain || (more.length > 0 && words[0] !== '-S')) {
    notExecutable(script, 'its #! line uses env in a way that does not tell what runs');
  }
  const found = findProgram(name, search_path.split(':').filter(isAbsolute));
  return found ?? refuse('EXECUTABLE_MISSING', `${script} needs ${name}, which is not in ${search_path}.`);
}

/** What the bytes of open files are. */
export interface Digests {
  /** `look` sees what the file is before it is read, and may refuse it. */
  of(fd: number, look?: (stats: BigIntStats) => void): Digest;
  /** How the kernel starts it. */
  form(program: Pick<OpenProgram, 'fd' | 'path'>): ExecutableForm;
}

/**
 * Hashes files, and remembers within one process those whose inode, size and change time stay the same: an interpreter
 * can be 100 MB. The change time cannot be set by a program that is not root. What stays open is what a remembered
 * digest cannot see: a page that was mapped for writing before it was hashed.
 */
export function createDigests(now_ms: () => number = Date.now): Digests {
  const digests = new Map<string, Digest>();
  const forms = new Map<string, ExecutableForm>();
  let buffer = Buffer.alloc(0);

  function remembered<T>(known: Map<string, T>, stats: BigIntStats, read: () => T): T {
    const key = fileKey(stats);
    const before = known.get(key);
    if (before !== undefined) return before;
    const now = read();
    if (!hasSettled(stats, now_ms())) return now;
    if (known.size >= limits.remembered_digests) known.delete(known.keys().next().value!);
    known.set(key, now);
    return now;
  }

  return {
    of(fd, look) {
      const stats = fstatSync(fd, { bigint: true });
      look?.(stats);
      return remembered(digests, stats, () => {
        if (buffer.length === 0) buffer = Buffer.allocUnsafeSlow(limits.hash_piece_bytes);
        return hashOpenFile(fd, stats, buffer);
      });
    },
    form: ({ fd, path }) =>
      remembered(forms, fstatSync(fd, { bigint: true }), () => executableForm(fd, path)),
  };
}

/**
 * Reads by position: the descriptor's own offset is left for the program that receives it. A file that changes meanwhile
 * is refused: half of what it was and half of what it is would be the digest of neither. One that fits into one read is
 * read at once, so only its length is compared.
 */
function hashOpenFile(fd: number, stats: BigIntStats, buffer: Buffer): Digest {
  const { size } = stats;
  if (size > limits.executable_bytes) refuse('INPUT_TOO_LARGE', `A file to be hashed has ${size} bytes.`);
  const hash = createHash('sha256');
  let at = 0;
  do {
    const n = readSync(fd, buffer, 0, buffer.length, at);
    if (n === 0) break;
    hash.update(buffer.subarray(0, n));
    at += n;
  } while (at < size);
  const whole = BigInt(at) === size && (at < buffer.length || isSame(stats, fstatSync(fd, { bigint: true })));
  if (!whole) refuse('EFFECT_CHANGED', 'A file changed while it was read.');
  return hash.digest('hex');
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;
}
