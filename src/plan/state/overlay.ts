import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Digest, sha256 } from '../../canonical/digest.ts';
import { withPlace } from '../../durable/beneath-write.ts';
import { fileCall } from '../../durable/walk.ts';
import { logBeside, looksLikeDatabase, requireDatabase, requireNoLog } from '../../effect/sql/database.ts';
import { readableFiles } from '../../effect/sql/readable.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { FileState } from '../model.ts';
import { ReusedMemory, type TakeMemory } from '../reused-memory.ts';
import type { Attributes } from './attributes.ts';
import { deviceOf, foldersAbove, missingFolders, requireWritableFolder } from './folders.ts';
import { readContent } from './see.ts';
import type { StatCache } from './stat-cache.ts';
import type { ReadFile, World } from './world.ts';

/** Where the bytes of a simulated file are: still at a path of the project, in our scratch folder, or not needed. */
type Source = { readonly disk: string } | { readonly staged: string } | null;

interface Entry {
  readonly state: FileState | null | 'unknown';
  readonly source: Source;
}

export interface OverlayOptions {
  readonly root: string;
  readonly preserve_permissions: boolean;
  readonly attributes: Attributes;
  /** Whether a later action will ask for the bytes at this path. The others are forgotten with the action that made them. */
  readonly keep: (path: string) => boolean;
  /** Remembers what the simulation saw. */
  readonly stat_cache?: StatCache | undefined;
}

/**
 * The project with the changes of a plan laid over it, one after the other. Contents that a later action needs wait on disk, in a
 * private folder, so that memory holds those of one action at a time.
 */
export class PathOverlay implements World {
  readonly preserve_permissions: boolean;
  readonly #options: OverlayOptions;
  readonly #entries = new Map<string, Entry>();
  /** What was there before the current action. */
  readonly #previous = new Map<string, Entry>();
  /** The contents that the current action read or made, by their digest: the preview of the action reads them again. */
  readonly #held = new Map<Digest, Uint8Array>();
  readonly #memory = new ReusedMemory();
  readonly #folders = new Set<string>();
  #scratch: string | null = null;
  #staged = 0;

  constructor(options: OverlayOptions) {
    this.#options = options;
    this.preserve_permissions = options.preserve_permissions;
  }

  async look(path: string): Promise<FileState | null | 'unknown'> {
    return (await this.entry(path)).state;
  }

  async existing(path: string): Promise<FileState> {
    const entry = await this.entry(path);
    const state = this.#known(path, entry.state);
    if (state === null) refuse('FILE_NOT_FOUND', `${path} does not exist.`, { path });
    await this.#requireWritableFolder(path);
    const { root, attributes } = this.#options;
    if (entry.source && 'disk' in entry.source)
      await withPlace(root, entry.source.disk, (place) => {
        // Moved, replaced or removed without its log, a database loses what is only there.
        if (logBeside(place) !== null && looksLikeDatabase(place)) requireNoLog(place);
        return attributes.requireKeepable(place);
      });
    return state;
  }

  read(path: string): Promise<ReadFile> {
    return this.#read(path);
  }

  async readToEdit(path: string): Promise<ReadFile & { readonly take: TakeMemory }> {
    const { take } = this.#memory;
    return { ...(await this.#read(path, take)), take };
  }

  async #read(path: string, take?: TakeMemory): Promise<ReadFile> {
    const entry = await this.entry(path);
    const state = this.#known(path, entry.state);
    if (state === null) return refuse('FILE_NOT_FOUND', `${path} does not exist.`, { path });
    const bytes = await this.bytesOf(entry, take);
    if (bytes === null || sha256(bytes) !== state.sha256)
      return refuse('PLAN_DRIFT', `${path} changed while it was read.`, { path });
    this.#held.set(state.sha256, bytes);
    return { bytes, state };
  }

  async requireFree(path: string): Promise<void> {
    if (this.#known(path, await this.look(path)) !== null)
      refuse('FILE_EXISTS', `Something is at ${path}.`, { path });
    const missing = missingFolders(this.#options.root, path);
    this.#options.stat_cache?.sawMissing(path, missing);
    for (const folder of missing) this.#folders.add(folder);
    await this.#requireWritableFolder(path);
  }

  requireSameFileSystem(from: string, to: string): void {
    const [a, b] = [from, to].map((path) => deviceOf(this.#options.root, this.#nearestFolder(path)));
    if (a !== b)
      refuse('RENAME_ACROSS_FILE_SYSTEMS', `${from} and ${to} are on different file systems.`, { path: to });
  }

  async put(path: string, bytes: Uint8Array, mode: number, attributes?: Digest): Promise<FileState> {
    if (bytes.length > planLimits.file_bytes)
      refuse('PLAN_LIMIT_EXCEEDED', `${path} would have ${bytes.length} bytes.`, { path });
    const kept = attributes === undefined ? {} : { attributes };
    const state = { sha256: sha256(bytes), size: bytes.length, mode, ...kept };
    this.#held.set(state.sha256, bytes);
    this.#set(path, { state, source: this.#options.keep(path) ? this.#stage(bytes) : null });
    return state;
  }

  remove(path: string): void {
    this.#set(path, { state: null, source: null });
  }

  move(from: string, to: string): void {
    const entry = this.#entries.get(from);
    if (entry) this.#set(to, entry);
    this.remove(from);
  }

  leaveUnknown(path: string): void {
    this.#set(path, { state: 'unknown', source: null });
  }

  async requireDatabase(path: string): Promise<void> {
    const { state, source } = await this.entry(path);
    const disk = state === null ? path : source && 'disk' in source ? source.disk : null;
    const { root } = this.#options;
    if (disk === null || missingFolders(root, disk).length > 0) return; // an earlier action makes it, or this one
    await withPlace(root, disk, (place) => requireDatabase(place, planLimits.file_bytes));
  }

  readableFiles(folder: string): readonly string[] {
    // One that the plan makes holds only what the plan puts there.
    return this.#folders.has(folder) ? [] : readableFiles(this.#options.root, folder);
  }

  async entry(path: string): Promise<Entry> {
    const known = this.#entries.get(path);
    if (known) return known;
    const found = await this.#options.attributes.see(this.#options.root, path);
    this.#options.stat_cache?.saw(path, found);
    const entry: Entry = { state: found?.state ?? null, source: found ? { disk: path } : null };
    this.#entries.set(path, entry);
    return entry;
  }

  async bytesOf({ state, source }: Entry, take?: TakeMemory): Promise<Uint8Array | null> {
    const held = state === null || state === 'unknown' ? undefined : this.#held.get(state.sha256);
    if (held) return held;
    if (source === null) return null;
    if ('staged' in source) return readFileSync(source.staged);
    return (await readContent(this.#options.root, source.disk, take))?.bytes ?? null;
  }

  /** The next action begins. */
  begin(): void {
    this.#previous.clear();
    this.#held.clear();
    this.#memory.release();
  }

  async previous(path: string): Promise<Entry> {
    return this.#previous.get(path) ?? this.entry(path);
  }

  /** The folders that would be made, each after the one it is in. */
  folders(): string[] {
    return [...this.#folders].sort();
  }

  close(): void {
    if (this.#scratch !== null) rmSync(this.#scratch, { recursive: true, force: true });
  }

  #set(path: string, entry: Entry): void {
    const previous = this.#entries.get(path) ?? { state: null, source: null };
    if (!this.#previous.has(path)) this.#previous.set(path, previous);
    this.#entries.set(path, entry);
  }

  #known(path: string, state: FileState | null | 'unknown'): FileState | null {
    return state === 'unknown' ? refuse('PLAN_RESULT_UNKNOWN', `${path} is not known yet.`, { path }) : state;
  }

  #stage(bytes: Uint8Array): Source {
    this.#scratch ??= mkdtempSync(join(tmpdir(), 'keyturn-plan-'));
    const staged = join(this.#scratch, String(this.#staged++));
    fileCall('the scratch folder', () => writeFileSync(staged, bytes, { flag: 'wx', mode: 0o600 }));
    return { staged };
  }

  /** The nearest folder above a path that exists; the root is the empty path. */
  #nearestFolder(path: string): string {
    return foldersAbove(path).findLast((above) => !this.#folders.has(above)) ?? '';
  }

  /** The nearest folder that exists must let us change names in it. */
  async #requireWritableFolder(path: string): Promise<void> {
    const { root, attributes, stat_cache } = this.#options;
    const folder = this.#nearestFolder(path);
    requireWritableFolder(root, folder);
    stat_cache?.sawWritable(folder);
    await withPlace(root, folder === '' ? 'any' : `${folder}/any`, (place) =>
      attributes.requireNoInheritance({ ...place, path }),
    );
  }
}
