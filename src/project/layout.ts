import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { refuse } from '../refusal.ts';

/** Where the files of a project are. `.keyturn` is Keyturn's own; the rest belongs under version control. */
export interface Layout {
  readonly root: string;
  readonly own: string;
  readonly store: string;
  readonly keys: string;
  readonly ledger_key: string;
  readonly config: string;
  readonly policies: string;
  readonly simulations: string;
}

export function layoutOf(root: string, own: string = join(root, '.keyturn')): Layout {
  return {
    root,
    own,
    store: join(own, 'store.db'),
    keys: join(own, 'keys'),
    ledger_key: join(own, 'keys', 'ledger.seed'),
    config: join(root, 'keyturn.yaml'),
    policies: join(root, 'policies'),
    simulations: join(root, 'simulations'),
  };
}

/** The nearest folder, from here upwards, that holds `.keyturn`. */
export function findProject(from: string): string | null {
  let folder = resolve(from);
  while (true) {
    const own = join(folder, '.keyturn');
    if (existsSync(own) && statSync(own).isDirectory()) return folder;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

export function requireProject(from: string): Layout {
  return layoutOf(findProject(from) ?? refuse('PROJECT_MISSING'));
}
