import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  type Dirent,
  opendirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '../canonical/digest.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { compileGlobs, type GlobState, type Globs } from './glob.ts';
import { contains } from './mounts.ts';
import type { Digests } from './program.ts';

/** A covered file: its path beneath the root, and the digest of what is read there. */
export type CoveredFile = readonly [path: string, sha256: Digest];

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
const OWN = '.keyturn';

/**
 * Every file beneath the root that one of the patterns matches, sorted by path. A link is followed as the tool would follow
 * it, as long as it stays beneath the root. A file that the tool may write is refused, by whichever name: it could rewrite its
 * own code. Each pattern must match something: one that matches nothing is a mistake that
 * would leave the files uncovered which it was meant for.
 */
export function coveredFiles(
  root: string,
  patterns: readonly string[],
  digests: Digests,
  writable: readonly string[] = [],
): CoveredFile[] {
  const walk: Walk = {
    root: realpathSync.native(root),
    writable,
    globs: compileGlobs(patterns),
    digests,
    buffer: Buffer.allocUnsafe(limits.covered_piece_bytes),
    found: [],
    matched: new Set(),
    names: 0,
    links: 0,
    bytes: 0n,
  };
  walkFolder(walk, '', walk.globs.start);
  const idle = patterns.findIndex((_, i) => !walk.matched.has(i));
  if (idle >= 0) refuse('COVERS_NOTHING', `covers: ${JSON.stringify(patterns[idle])} matches no file.`);
  return walk.found.sort(([a], [b]) => (a < b ? -1 : 1));
}

interface Walk extends Hashing {
  /** Real paths. */
  readonly writable: readonly string[];
  readonly globs: Globs;
  readonly found: CoveredFile[];
  readonly matched: Set<number>;
  names: number;
  links: number;
}

/** One name at a time: a folder with a million names is left as soon as there are too many. */
function walkFolder(walk: Walk, path: string, at: GlobState): void {
  const folder = opened(path, () => opendirSync(join(walk.root, path), { bufferSize: 256 }));
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      if (++walk.names > limits.covered_names)
        refuse('INPUT_TOO_LARGE', `covers looks at more than ${limits.covered_names} names.`);
      visit(walk, path, at, entry);
    }
  } finally {
    folder.closeSync();
  }
}

function visit(walk: Walk, folder: string, at: GlobState, entry: Dirent): void {
  const matched = walk.globs.files(at, entry.name);
  // Of most names of a folder this is all that has to be asked.
  if (matched.length === 0 && entry.isFile()) return;
  const below = entry.isFile() ? [] : walk.globs.below(at, entry.name);
  if (matched.length === 0 && below.length === 0) return;
  const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
  if (entry.name === OWN) refuse('COVERED_WRITABLE', `covers reaches Keyturn's own folder ${path}.`);
  const kind = entry.isSymbolicLink() ? kindBehind(walk, path) : kindOf(entry);
  if (kind === 'folder') {
    if (below.length > 0) walkFolder(walk, path, below);
  } else if (matched.length > 0) {
    if (kind !== 'file') refuse('FILE_NOT_REGULAR', `covers: ${path} is not a regular file.`, { path });
    for (const pattern of matched) walk.matched.add(pattern);
    take(walk, path);
  }
}

type Kind = 'file' | 'folder' | 'other';

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): Kind {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : 'other';
}

function kindBehind(walk: Walk, path: string): Kind {
  const { root } = walk;
  if (++walk.links > limits.covered_links)
    refuse('INPUT_TOO_LARGE', `covers follows more than ${limits.covered_links} links.`);
  const real = opened(path, () => realpathSync.native(join(root, path)));
  if (!contains(root, real))
    refuse('FILE_IS_SYMLINK', `covers: ${path} is a link out of the project.`, { path });
  if (real.slice(root.length).split('/').includes(OWN))
    refuse('COVERED_WRITABLE', `covers: ${path} leads to Keyturn's own folder.`, { path });
  if (walk.writable.some((folder) => contains(folder, real) || contains(real, folder))) mayWrite(path);
  return kindOf(opened(path, () => statSync(real)));
}

function mayWrite(path: string): never {
  return refuse('COVERED_WRITABLE', `The tool may write ${path}, which covers names.`, { path });
}

function take(walk: Walk, path: string): void {
  if (walk.found.length >= limits.covered_files)
    refuse('INPUT_TOO_LARGE', `covers matches more than ${limits.covered_files} files.`);
  if (walk.writable.some((folder) => contains(folder, join(walk.root, path)))) mayWrite(path);
  walk.found.push([path, hashAt(walk, path)]);
}

interface Hashing {
  readonly root: string;
  readonly digests: Digests;
  readonly buffer: Buffer;
  bytes: bigint;
}

/** The digest of what is read at a path, through a link if there is one. */
function hashAt(walk: Hashing, path: string): Digest {
  // Not blocking: a FIFO that was put there since must not hold us.
  const fd = opened(path, () => openSync(`${walk.root}/${path}`, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  try {
    return opened(path, () => digestOf(walk, path, fd));
  } finally {
    closeSync(fd);
  }
}

/** Most files are small: reading and hashing one costs less than finding out whether its digest is remembered. */
function digestOf(walk: Hashing, path: string, fd: number): Digest {
  const count = readSync(fd, walk.buffer, 0, walk.buffer.length, 0);
  if (count < walk.buffer.length) {
    weigh(walk, BigInt(count));
    return createHash('sha256').update(walk.buffer.subarray(0, count)).digest('hex');
  }
  return walk.digests.of(fd, (stats) => {
    if (!stats.isFile()) refuse('FILE_NOT_REGULAR', `covers: ${path} is not a regular file.`, { path });
    weigh(walk, stats.size);
  });
}

function weigh(walk: Hashing, bytes: bigint): void {
  walk.bytes += bytes;
  if (walk.bytes > limits.covered_bytes)
    refuse('INPUT_TOO_LARGE', `covers matches more than ${limits.covered_bytes} bytes.`);
}

/** The first of these files that is not what it was, or `null`. */
export function changedFile(root: string, files: readonly CoveredFile[], digests: Digests): string | null {
  const hashing: Hashing = {
    root,
    digests,
    buffer: Buffer.allocUnsafe(limits.covered_piece_bytes),
    bytes: 0n,
  };
  const changed = files.find(([path, sha256]) => {
    try {
      return hashAt(hashing, path) !== sha256;
    } catch {
      return true;
    }
  });
  return changed?.[0] ?? null;
}

const REASONS: Readonly<Record<string, ReasonCode>> = {
  ENOENT: 'FILE_NOT_FOUND',
  ELOOP: 'FILE_IS_SYMLINK',
  ENXIO: 'FILE_NOT_REGULAR',
};

function opened<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof (error as { syscall?: unknown }).syscall !== 'string') throw error;
    return refuse(REASONS[code ?? ''] ?? 'FILE_UNREADABLE', `covers: ${path || 'the project'}: ${code}`, {
      path,
    });
  }
}
