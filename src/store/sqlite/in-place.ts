import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sqliteLimits } from '../../limits.ts';

/** Whether the files of a store are still the ones that were opened. */
export interface InPlace {
  /** Inside a transaction: the WAL that is there is the one that this connection reads and writes. */
  noteWal(): void;
  isStore(): boolean;
  /** The same of its WAL, too. */
  isWhole(): boolean;
}

const NS_PER_S = 1_000_000_000n;

/**
 * A file that is made, removed or renamed changes the time of its folder, so while that time stays the same, so do both files. The WAL
 * itself is asked only when it changed: once the times of a file were read, Linux gives it a new time with its next write, and the sync of the
 * next commit would have to write that, too.
 */
export function inPlaceOf(path: string): InPlace {
  const folder = dirname(path);
  const file = identityOf(path);
  let wal: string | null = null;
  let seen: string | null = null;

  const isStore = () => identityOf(path) === file;

  function noteWal(): void {
    wal ??= identityOf(`${path}-wal`);
  }

  function isWhole(): boolean {
    const now = markOf(folder);
    if (now !== null && now === seen) return true;
    const is_whole = isStore() && (wal === null || identityOf(`${path}-wal`) === wal);
    seen = is_whole ? now : null;
    return is_whole;
  }

  return { noteWal, isStore, isWhole };
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}:${found.ino}` : null;
}

/** What is another one after a change in the folder; null where the next change could come in the same step of its clock. */
function markOf(folder: string): string | null {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (!found) return null;
  const { dev, ino, ctimeMs, ctimeNs } = found;
  const step_ms = ctimeNs % NS_PER_S === 0n ? sqliteLimits.coarse_step_ms : sqliteLimits.fine_step_ms;
  return BigInt(Date.now()) - ctimeMs > step_ms ? `${dev}:${ino}:${ctimeNs}` : null;
}
