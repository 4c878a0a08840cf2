import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundled } from '../workshop.ts';

export interface Peer {
  readonly name: string;
  readonly file: string;
  /** The store that both sides use. */
  readonly store: 'SQLite' | 'PostgreSQL';
  readonly packages: readonly string[];
  /** The least of its rate that Keyturn must reach. */
  readonly asked: number;
}

export const PEERS: readonly Peer[] = [
  {
    name: 'LangGraph',
    file: 'langgraph.mjs',
    store: 'SQLite',
    packages: ['@langchain/langgraph', '@langchain/langgraph-checkpoint-sqlite', 'better-sqlite3'],
    asked: 1,
  },
  { name: 'DBOS', file: 'dbos.mjs', store: 'PostgreSQL', packages: ['@dbos-inc/dbos-sdk'], asked: 0.8 },
];

export const HERE = import.meta.dirname;
const require = createRequire(join(HERE, 'package.json'));

/** Every package of a peer is optional: where one cannot be installed, the other peer is still measured. */
export function missing({ packages }: Peer): readonly string[] {
  return packages.filter((name) => !isThere(name));
}

function isThere(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** `@langchain/langgraph 1.4.18` for each package, as installed. */
export function versions({ packages }: Peer): string {
  return packages.map((name) => `${name} ${versionOf(name)}`).join(', ');
}

function versionOf(name: string): string {
  return require(join(HERE, 'node_modules', name, 'package.json')).version;
}

/** The program of a peer, beside the packages that it imports. */
export function programOf({ file }: Peer, folder: string): Promise<string> {
  return bundled(join(HERE, file), join(folder, file));
}
