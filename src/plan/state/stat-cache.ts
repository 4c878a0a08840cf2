import { statAt } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { Refusal } from '../../refusal.ts';
import { missingFolders, requireWritableFolder } from './folders.ts';
import { identityOf, type Seen } from './see.ts';

/**
 * What a simulation saw of the project. As long as it would see the same again, it would say the same again: a second
 * look after an hour asks only that. The contents are hashed once more when they are backed up, before anything is touched.
 */
export class StatCache {
  readonly #root: string;
  readonly #files = new Map<string, string | null>();
  readonly #missing = new Map<string, string>();
  readonly #writable = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  saw(path: string, seen: Seen | null): void {
    this.#files.set(path, seen?.identity ?? null);
  }

  sawMissing(path: string, folders: readonly string[]): void {
    this.#missing.set(path, folders.join('\n'));
  }

  sawWritable(folder: string): void {
    this.#writable.add(folder);
  }

  isUnchanged(): boolean {
    const folders = new OpenFolders(this.#root);
    try {
      for (const folder of this.#writable) requireWritableFolder(this.#root, folder);
      return (
        [...this.#files].every(([path, identity]) => identityIn(folders, path) === identity) &&
        [...this.#missing].every(([path, above]) => missingFolders(this.#root, path).join('\n') === above)
      );
    } catch (error) {
      if (error instanceof Refusal) return false; // a real look says what is wrong
      throw error;
    } finally {
      folders.close();
    }
  }
}

function identityIn(folders: OpenFolders, path: string): string | null {
  try {
    const stats = statAt(folders.at(path));
    return stats && identityOf(stats);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}
