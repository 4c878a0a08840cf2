import { sha256 } from '../../canonical/digest.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { isImmutable, type Place, pathForChild, statAt, withPlace } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { copyAttributes, readAttributes } from '../../effect/attributes.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { identityOf, nothingIfMissing, type SecondNames, type Seen, seeAt } from './see.ts';

/** The digest of the attributes of a file, and their names; null when it has none. */
interface Worn {
  readonly digest: string;
  readonly names: readonly string[];
}

/**
 * What files carry besides content, mode, owner and times: access control lists and extended attributes. A change of them
 * changes the identity of the file (its ctime), so what was read once holds as long as the identity does.
 */
export class Attributes {
  readonly #known = new Map<string, Worn | null>();

  /** Reads those of all files at once. A place where nothing is has none. */
  async learn(places: readonly Place[]): Promise<void> {
    const unknown = new Map<string, Place>();
    for (const place of places) {
      const stats = statAt(place);
      if (stats && (stats.isFile() || stats.isDirectory()) && !this.#known.has(identityOf(stats)))
        unknown.set(identityOf(stats), place);
    }
    const read = await readAttributes([...unknown.values()].map((place) => pathForChild(place)));
    for (const [i, identity] of [...unknown.keys()].entries()) this.#known.set(identity, wornOf(read[i]!));
  }

  /** The same for paths, and for the folders that they are in. */
  async learnPaths(root: string, paths: readonly string[]): Promise<void> {
    const folders = new OpenFolders(root);
    try {
      await this.learn(paths.flatMap((path) => placesOf(folders, path)));
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
    const worn = this.#known.get(seen.identity);
    if (worn === undefined)
      refuse('PLAN_DRIFT', `${place.path} changed while it was read.`, { path: place.path });
    return worn === null ? seen : { ...seen, state: { ...seen.state, attributes: worn.digest } };
  }

  /** Takes note of a file that we made ourselves and that has none. */
  noteNone(place: Place): void {
    const stats = statAt(place);
    if (stats) this.#known.set(identityOf(stats), null);
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
      refuse('PERMISSION_DENIED', `${path} belongs to another user or group and would change hands.`, {
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
    return this.#known.get(identity)?.names ?? [];
  }
}

/** The file and its folder. A folder that is missing has nothing in it. */
function placesOf(folders: OpenFolders, path: string): Place[] {
  try {
    const place = folders.at(path);
    return [place, { ...place, name: '.' }];
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
