import { createHash } from 'node:crypto';
import { accessSync, closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Digest } from '../canonical/digest.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { findProgram } from './machine.ts';

/** One file of what runs: the executable, or an interpreter that its first line names. */
export interface Program {
  /** The name by which it is called, which may be a link. */
  readonly called: string;
  /** The real file. */
  readonly path: string;
  readonly sha256: Digest;
}

/** A program whose file is open. Whoever holds it must close it. */
export interface OpenProgram extends Program {
  readonly fd: number;
}

/** The kernel follows at most this many interpreters of interpreters. */
const INTERPRETERS = 4;
/** The kernel looks at no more of the first line. */
const HEAD_BYTES = 256;

/**
 * The executable and the chain of its interpreters, each with its digest. What an interpreter or the loader opens
 * later (libraries, modules) is not covered; the sandbox decides what of that can be seen.
 */
export function describePrograms(called: string, search_path: string, digests: Digests): Program[] {
  const programs: Program[] = [];
  let pending: string[] = [called];
  while (pending.length > 0) {
    if (programs.length > 2 * INTERPRETERS) notExecutable(called, 'its interpreters are nested too deep');
    const program = openProgram(pending[0]!, digests);
    try {
      programs.push({ called: program.called, path: program.path, sha256: program.sha256 });
      pending = [...pending.slice(1), ...interpretersOf(program, search_path)];
    } finally {
      closeSync(program.fd);
    }
  }
  return programs;
}

/** Opens and hashes one program. What is hashed is what is open. */
export function openProgram(called: string, digests: Digests): OpenProgram {
  const path = realPathOf(called);
  const fd = openExecutable(path);
  try {
    if (!fstatSync(fd).isFile()) notExecutable(path, 'it is not a regular file');
    requireExecutable(path, fd);
    return { called, path, fd, sha256: digests.of(fd) };
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

function requireExecutable(path: string, fd: number): void {
  // Root passes access checks that nobody else passes, so the mode is looked at too.
  if ((fstatSync(fd).mode & 0o111) === 0) notExecutable(path, 'no execute permission is set');
  try {
    accessSync(path, constants.X_OK);
  } catch {
    notExecutable(path, 'this user may not execute it');
  }
}

/** What must be opened next to run this program: nothing for a binary. */
function interpretersOf(program: OpenProgram, search_path: string): string[] {
  const head = Buffer.alloc(HEAD_BYTES);
  const length = readSync(program.fd, head, 0, HEAD_BYTES, 0);
  if (head.subarray(0, 4).equals(ELF)) return [];
  const line = head.toString('latin1', 0, length).split('\n', 1)[0]!;
  // Without this line the C library would hand the file to /bin/sh. There is no shell, ever.
  if (!line.startsWith('#!'))
    notExecutable(program.path, 'it is neither a binary nor a script with a #! line');
  if (line.length === HEAD_BYTES) notExecutable(program.path, 'its #! line is too long');
  // The kernel takes only blanks and tabs away: `#!/bin/sh\r` runs a file whose name ends with a carriage return.
  if (/[^\x20-\x7e\t]/.test(line)) notExecutable(program.path, 'its #! line is not plain text');
  const [interpreter, ...rest] = line
    .slice(2)
    .replace(/^[ \t]+|[ \t]+$/g, '')
    .split(/[ \t]+/);
  if (!interpreter || !isAbsolute(interpreter)) {
    notExecutable(program.path, 'its interpreter is not an absolute path');
  }
  if (!/\/env$/.test(interpreter)) return [interpreter];
  return [interpreter, lookedUpByEnv(program.path, rest, search_path)];
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

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

function notExecutable(path: string, why: string): never {
  return refuse('EXECUTABLE_NOT_EXECUTABLE', `${path} cannot be executed: ${why}.`, { path });
}

/** Digests of open files. */
export interface Digests {
  of(fd: number): Digest;
}

/** A file that changed this recently may change again without its times showing it. */
const SETTLED_MS = 2_000;
const REMEMBERED = 256;

/**
 * Hashes files, and remembers within one process those whose inode, size and change time stay the same: an interpreter
 * can be 100 MB. The change time cannot be set by a program that is not root. What stays open is what a remembered
 * digest cannot see: a page that was mapped for writing before it was hashed.
 */
export function createDigests(now_ms: () => number = Date.now): Digests {
  const remembered = new Map<string, Digest>();
  return {
    of(fd) {
      const stats = fstatSync(fd, { bigint: true });
      const key = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
      const known = remembered.get(key);
      if (known) return known;
      const digest = hashOpenFile(fd);
      if (remembered.size >= REMEMBERED) remembered.clear();
      if (now_ms() - Number(stats.ctimeMs) > SETTLED_MS) remembered.set(key, digest);
      return digest;
    },
  };
}

const CHUNK_BYTES = 1024 * 1024;

/** Reads by position: the descriptor's own offset is left for the program that receives it. */
function hashOpenFile(fd: number): Digest {
  const size = fstatSync(fd).size;
  if (size > limits.executable_bytes) refuse('INPUT_TOO_LARGE', `An executable has ${size} bytes.`);
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size + 1));
  for (let at = 0; ; ) {
    const n = readSync(fd, buffer, 0, buffer.length, at);
    if (n === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, n));
    at += n;
    if (at > limits.executable_bytes) refuse('INPUT_TOO_LARGE', 'An executable grew while it was read.');
  }
}
