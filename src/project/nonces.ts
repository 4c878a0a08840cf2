import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { type Digest, isDigest } from '../canonical/digest.ts';
import { replaceDurably } from '../durable/file.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Nonces } from '../store/store.ts';
import type { Layout } from './layout.ts';

/**
 * For a store that is a file, whose only service this is. In memory, and in a file for the process that comes next. A line is written
 * before the answer and not synced: it outlives this process however that ends, and a machine takes longer to start than a nonce is
 * taken.
 */
export function keepNonces({ nonces: path }: Pick<Layout, 'nonces'>): Nonces {
  const used = readNonces(path);
  let fd: number | null = null;
  let lines: number = limits.nonce_lines;
  const clean = (now: Date) => {
    for (const [nonce, until] of used) if (until < now.getTime()) used.delete(nonce);
    if (fd !== null) closeSync(fd);
    replaceDurably(path, Buffer.from([...used].map(([nonce, until]) => lineOf(nonce, until)).join('')));
    fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
    lines = 0;
  };
  return {
    take: async (nonce, until, now) => {
      if (used.has(nonce)) return false;
      if (fd === null || lines >= limits.nonce_lines) clean(now);
      used.set(nonce, until.getTime());
      lines += 1;
      try {
        writeSync(fd!, lineOf(nonce, until.getTime()));
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        refuse('WRITE_FAILED', `${path} cannot be written (${code}).`, { path, errno: code });
      }
      return true;
    },
  };
}

const lineOf = (nonce: Digest, until: number) => `${until} ${nonce}\n`;

/** A line that a crash cut off was not answered yet. */
function readNonces(path: string): Map<Digest, number> {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    const pairs = lines.map((line) => line.split(' ')).filter(([, nonce]) => isDigest(nonce ?? ''));
    return new Map(pairs.map(([until, nonce]) => [nonce!, Number(until)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}
