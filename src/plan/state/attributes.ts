import type { BigIntStats } from 'node:fs';
import { sha256 } from '../../canonical/digest.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { isImmutable, type Place, pathForChild, statAt, withPlace } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { copyAttributes, type RunChild, readAttributes } from '../../effect/attributes.ts';
import { planLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { identityOf, isSettled, nothingIfMissing, type SecondNames, type Seen, seeAt } from './see.ts';

/** The digest of the attributes of a file, and their names; null when it has none. */
interface Worn {
  readonly digest: string;
  readonly names: readonly string[];
}

interface Known {
  readonly worn: Worn | null;
  /** Whether a later change would have another ctime. */
  readonly settled: boolean;
}

/**
 * What files carry besides content, mode, owner and times: access control lists and extended attributes. A change of them
 * changes the identity of the file (its ctime), so what was read once holds as long as the identity does. Reading starts a
 * process, so one value of this serves all runs of a project.
 */
export class Attributes {
  readonly #known = new Map<string, Known>();
  readonly #run: RunChild | undefined;

  /** `run` starts the process that reads them; left out, this process starts it itself. */
  constructor(run?: RunChild) {
    this.#run = run;
  }

  /** Reads those of all files at once. A place where nothing is has none. */
  async learn(places: readonly Place[]): Promise<void> {
    if (this.#known.size > planLimits.kept_attributes) this.#known.clear();
    const at_ms = Date.now();
    const unknown = new Map<string, { readonly place: Place; readonly settled: boolean }>();
    for (const place of places) {
      const stats = statAt(place);
      if (stats === null || !isReadable(stats)) continue;
      const identity = identityOf(stats);
      if (!this.#known.get(identity)?.settled)
        unknown.set(identity, { place, settled: isSettled(stats, at_ms) });
    }
    const found = [...unknown];
    const paths = found.map(([, { place }]) => pathForChild(place));
    const read = await readAttributes(paths, this.#run);
    for (const [i, [identity, { settled }]] of found.entries())
      this.#known.set(identity, { worn: wornOf(read[i]!), settled });
  }

  /** The same for paths, and for the folders that they are in. */
  async learnPaths(root: string, paths: readonly string[]): Promise<void> {
    const folders = new OpenFolders(root);
    try {
      const places = paths.flatMap((path) => placeOf(folders, path));
      const above = new Map(places.map((place) => [place.folder_fd, { ...place, name: '.' }]));
      await this.learn([...places, ...above.values()]);
    } finally {
      folders.close();
    }
  }

  /** What is at a path, attributes included; null when nothing is. */
  see(root: string, path: string, ours?: SecondNames): Promise<Seen | null> {
    return withPlace(root, path, async (place) => {
      const seen = seeAt(place, ours);
      return seen && (await this.of(place, seen));
    }).catch(nothingIfMissing);
  }

  /** The same look, with the attributes of the file as part of its state. */
  async of<T extends Seen>(place: Place, seen: T): Promise<T> {
    if (!this.#known.has(seen.identity)) await this.learn([place]);
    const known = this.#known.get(seen.identity);
    if (known === undefined)
      refuse('PLAN_DRIFT', `${place.path} changed while it was read.`, { path: place.path });
    const { worn } = known;
    return worn === null ? seen : { ...seen, state: { ...seen.state, attributes: worn.digest } };
  }

  /** Takes note of a file that we made ourselves and that has none. */
  noteNone(place: Place): void {
    const stats = statAt(place);
    if (stats) this.#known.set(identityOf(stats), { worn: null, settled: false });
  }

  /** Refuses a file that this user could not put back as it is. */
  async requireKeepable(place: Place): Promise<void> {
    const { path } = place;
    if (isImmutable(place)) refuse('FILE_IMMUTABLE', `${path} is marked immutable.`, { path });
    const stats = statAt(place);
    const uid = process.getuid?.();
    if (stats === null || uid === 0) return;
    const groups = [process.getgid?.(), ...(process.getgroups?.() ?? [])];
    if (Number(stats.uid) !== uid || !groups.includes(Number(stats.gid)))
      refuse('PERMISSION_DENIED', `${path} belongs to another user or group and would change its owner.`, {
        path,
      });
    const forbidden = (await this.#names(place)).find((name) => /^(security|trusted)\./.test(name));
    if (forbidden !== undefined)
      refuse('ATTRIBUTES_NOT_KEPT', `${path} has ${forbidden}, which only root can set.`, { path });
  }

  /** Refuses a folder whose files inherit an access control list: what is put there would not be what was approved. */
  async requireNoInheritance(place: Place): Promise<void> {
    if ((await this.#names({ ...place, name: '.' })).includes('system.posix_acl_default'))
      refuse('ATTRIBUTES_NOT_KEPT', `The folder of ${place.path} has a default access control list.`, {
        path: place.path,
      });
  }

  async #names(place: Place): Promise<readonly string[]> {
    const stats = statAt(place);
    if (stats === null) return [];
    const identity = identityOf(stats);
    if (!this.#known.has(identity)) await this.learn([place]);
    return this.#known.get(identity)?.worn?.names ?? [];
  }
}

/** What is refused for its size or kind is refused by the look at its content. */
function isReadable(stats: BigIntStats): boolean {
  return stats.isDirectory() || (stats.isFile() && stats.size <= planLimits.file_bytes);
}

/** A folder that is missing has nothing in it. */
function placeOf(folders: OpenFolders, path: string): Place[] {
  try {
    return [folders.at(path)];
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

function wornOf(attributes: readonly { readonly name: string; readonly value: string }[]): Worn | null {
  if (attributes.length === 0) return null;
  const sorted = [...attributes].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { digest: sha256(canonicalBytes(sorted)), names: sorted.map(({ name }) => name) };
}

/** Gives a file that is not in its place yet what another one carries. */
export function wearAs(from: Place, place: Place, name: string): Promise<void> {
  return copyAttributes(pathForChild(from), pathForChild(place, name));
}
