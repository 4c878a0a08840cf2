import { closePlace, openPlace, type Place } from './beneath-write.ts';
import { componentsBeneath } from './walk.ts';

/**
 * Folders that stay open for a while, so that a look at a hundred files of one folder needs one walk. For looks, and for
 * folders that are ours: a change walks again, because another process may have put another folder there meanwhile.
 */
export class OpenFolders {
  readonly #root: string;
  readonly #open = new Map<string, Place>();

  constructor(root: string) {
    this.#root = root;
  }

  /** The place of a path. It is closed with the others. */
  at(path: string): Place {
    const components = componentsBeneath(path);
    const name = components.pop()!;
    const folder = components.join('/');
    const open = this.#open.get(folder);
    if (open) return { ...open, name, path };
    const place = openPlace(this.#root, path);
    this.#open.set(folder, place);
    return place;
  }

  close(): void {
    for (const place of this.#open.values()) closePlace(place);
    this.#open.clear();
  }
}
