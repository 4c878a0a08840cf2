import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../limits.ts';

const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_NOFOLLOW } = constants;

export const SPOOLED = ['stdout', 'stderr', 'steps'] as const;
export type Spooled = (typeof SPOOLED)[number];

const MOST: Readonly<Record<Spooled, number>> = {
  stdout: limits.output_bytes,
  stderr: limits.output_bytes,
  steps: limits.live_steps_bytes,
};

/**
 * What a run prints while it goes on, in files that another process of this host can read. It is unsigned and for people who watch:
 * nothing rests on it, and where it cannot be written the run goes on without it.
 */
export class Spool {
  readonly #folder: string;
  readonly #execution_id: string;
  readonly #pending: Record<Spooled, Uint8Array[]> = { stdout: [], stderr: [], steps: [] };
  readonly #bytes: Record<Spooled, number> = { stdout: 0, stderr: 0, steps: 0 };
  readonly #files = new Map<Spooled, FileHandle>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> | null = null;
  #has_waited = false;
  #is_over = false;

  constructor(folder: string, execution_id: string) {
    this.#folder = folder;
    this.#execution_id = execution_id;
  }

  /** Never throws, and waits for nothing. What goes beyond the most is left out whole. */
  add(to: Spooled, bytes: Uint8Array): void {
    if (this.#is_over || bytes.length === 0 || this.#bytes[to] + bytes.length > MOST[to]) return;
    this.#bytes[to] += bytes.length;
    this.#pending[to].push(bytes);
    if (this.#has_waited) this.#write();
    else this.#timer ??= setTimeout(() => this.#begin(), limits.spool_after_ms).unref();
  }

  /** Nothing more is printed. What the record has is removed; without a record it is written to its end and stays, for the person who settles the run. */
  async end({ is_recorded }: { readonly is_recorded: boolean }): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    if (!is_recorded) this.#begin();
    else this.#is_over = true;
    await this.#writing;
    this.#is_over = true;
    for (const [which, file] of this.#files) {
      await file.close().catch(() => {});
      if (is_recorded) await unlink(spoolPath(this.#folder, this.#execution_id, which)).catch(() => {});
    }
  }

  #begin(): void {
    this.#has_waited = true;
    this.#write();
  }

  #write(): void {
    this.#writing ??= this.#writePending()
      .catch(() => {
        this.#is_over = true;
      })
      .finally(() => {
        this.#writing = null;
      });
  }

  async #writePending(): Promise<void> {
    for (;;) {
      const which = SPOOLED.find((one) => this.#pending[one].length > 0);
      if (which === undefined || this.#is_over) return;
      const bytes = Buffer.concat(this.#pending[which].splice(0));
      await (await this.#file(which)).appendFile(bytes);
    }
  }

  async #file(which: Spooled): Promise<FileHandle> {
    const known = this.#files.get(which);
    if (known) return known;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = spoolPath(this.#folder, this.#execution_id, which);
    const file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    this.#files.set(which, file);
    return file;
  }
}

function spoolPath(folder: string, execution_id: string, which: Spooled): string {
  return join(folder, `${execution_id}.${which}`);
}

export interface SpoolPart {
  readonly execution_id: string;
  readonly which: Spooled;
  readonly after: number;
  readonly most: number;
}

/** Empty where there is nothing, or nothing that can be read. */
export async function readSpool(folder: string, part: SpoolPart): Promise<Buffer> {
  const { execution_id, which, after, most } = part;
  let file: FileHandle;
  try {
    file = await open(spoolPath(folder, execution_id, which), O_RDONLY | O_NOFOLLOW);
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, after);
    return buffer.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  } finally {
    await file.close();
  }
}

const stopPath = (folder: string, execution_id: string) => join(folder, `${execution_id}.stop`);

/** Asks the process that runs it on this host to stop it. */
export function askToStop(folder: string, execution_id: string): Promise<void> {
  return touch(folder, stopPath(folder, execution_id));
}

async function touch(folder: string, path: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const now = new Date();
    await file.utimes(now, now);
  } finally {
    await file.close();
  }
}

/** Once: what asked for it is taken away. */
export async function isAskedToStop(folder: string, execution_id: string): Promise<boolean> {
  const path = stopPath(folder, execution_id);
  // Looked at several times a second while a run goes on, and what fails in the pool of threads costs twenty times as much.
  if (!existsSync(path)) return false;
  return unlink(path).then(
    () => true,
    () => false,
  );
}

const goingPath = (folder: string, execution_id: string) => join(folder, `${execution_id}.going`);

/** Says that it goes on, to processes that share the folder and cannot look at the one that runs it. */
export function sayGoing(folder: string, execution_id: string): Promise<void> {
  return touch(folder, goingPath(folder, execution_id));
}

/** How long ago that was said, in milliseconds; null where it was not. */
export async function saidGoing(folder: string, execution_id: string): Promise<number | null> {
  return stat(goingPath(folder, execution_id)).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => null,
  );
}

export async function unsayGoing(folder: string, execution_id: string): Promise<void> {
  await unlink(goingPath(folder, execution_id)).catch(() => {});
}

/** The runs of which something is there. */
export async function spooledRuns(folder: string): Promise<ReadonlySet<string>> {
  const names = await readdir(folder).catch(() => []);
  return new Set(
    names.flatMap((name) => /^(.{36})\.(?:stdout|stderr|steps|stop|going)$/.exec(name)?.[1] ?? []),
  );
}

/** What a process left that was killed. */
export async function removeSpool(folder: string, execution_id: string): Promise<void> {
  for (const which of SPOOLED) await unlink(spoolPath(folder, execution_id, which)).catch(() => {});
  await isAskedToStop(folder, execution_id);
  await unsayGoing(folder, execution_id);
}
