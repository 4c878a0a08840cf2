import { lstatSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { refuse } from '../refusal.ts';

/** Where the files of a project are. `.keyturn` is Keyturn's own; the rest belongs under version control. */
export interface Layout {
  readonly root: string;
  readonly own: string;
  readonly store: string;
  readonly keys: string;
  /** Which ledger belongs to this project. */
  readonly ledger_file: string;
  /** How far the ledger was when this host last wrote to it. */
  readonly head: string;
  readonly ledger_key: string;
  /** Of this host, when it runs something. */
  readonly executor_key: string;
  /** What the receipts of unsigned proposals are made with. */
  readonly receipt_key: string;
  /** Where the secrets of this host come from: outside version control. */
  readonly executor_file: string;
  /** Held by the one service, and by the one executor, of this host. */
  readonly serve_lock: string;
  readonly execute_lock: string;
  /** When each token was used last. It decides nothing. */
  readonly token_uses: string;
  /** Of signed requests that were answered, until they are too old. */
  readonly nonces: string;
  /** Where a service answers the terminals of its own account. */
  readonly serve_socket: string;
  /** What the executor of this host said of itself last, where the store is a file. */
  readonly beat_file: string;
  /** How far each target of notifications has been told. */
  readonly notify_file: string;
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
    ledger_file: join(own, 'ledger.json'),
    head: join(own, 'head'),
    ledger_key: join(own, 'keys', 'ledger.seed'),
    executor_key: join(own, 'keys', 'executor.seed'),
    receipt_key: join(own, 'keys', 'receipts.seed'),
    executor_file: join(own, 'executor.yaml'),
    serve_lock: join(own, 'serve.lock'),
    execute_lock: join(own, 'execute.lock'),
    token_uses: join(own, 'token-uses.json'),
    nonces: join(own, 'serve.nonces'),
    serve_socket: join(own, 'serve.sock'),
    beat_file: join(own, 'beat.json'),
    notify_file: join(own, 'notify.json'),
    config: join(root, 'keyturn.yaml'),
    policies: join(root, 'policies'),
    simulations: join(root, 'simulations'),
  };
}

/**
 * The nearest folder, from here upwards, that holds `.keyturn`. A link of that name is refused: what is hidden and
 * protected is Keyturn's own folder, and with a link, its owner decides which one that is.
 */
export function findProject(from: string): string | null {
  let folder = resolve(from);
  while (true) {
    const own = join(folder, '.keyturn');
    const found = statsOf(own);
    if (found?.isSymbolicLink()) refuseLink(own);
    if (found?.isDirectory()) return folder;
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

/** The folder itself, if it has a configuration: on a new host nothing else says that it is a project. */
export function requireFiles(at: string): string {
  const here = resolve(at);
  const has_config = statsOf(join(here, 'keyturn.yaml')) !== undefined;
  return has_config ? here : (findProject(here) ?? refuse('PROJECT_FILES_MISSING'));
}

export function requireProject(from: string): Layout {
  const layout = layoutOf(findProject(from) ?? refuse('PROJECT_MISSING'));
  const { own, store, keys, ledger_key, executor_key, ledger_file, head } = layout;
  for (const path of [own, store, keys, ledger_key, executor_key, ledger_file, head]) {
    if (statsOf(path)?.isSymbolicLink()) refuseLink(path);
  }
  return layout;
}

/** Undefined where nothing is. What may not be looked at could be a link. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return refuse('FILE_UNREADABLE', `${path} cannot be looked at (${errno}).`, { path, errno });
  }
}

function refuseLink(path: string): never {
  return refuse('FILE_IS_SYMLINK', `${path} is a symbolic link.`, { path });
}
