import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Signer } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { humanKey } from './keys.ts';

/** Apart from project.ts, which checks each answer: a bench measures a project that is made here as it is. */

export interface Project {
  readonly root: string;
  readonly keyturn: Keyturn;
  readonly ada: Signer;
}

export interface Founding {
  /** Otherwise the registry is the starter's. */
  readonly registry?: string;
  readonly clock?: (() => Date) | undefined;
  /** Of the one human. PASSPHRASE opens the key; `which` tells several keys of one name apart. */
  readonly name?: string;
  readonly which?: number | undefined;
}

/** A real project at this place, with one human, whose signer is called `ada` here whatever her name. The caller closes it. */
export async function found(
  root: string,
  { registry, clock, name = 'ada', which }: Founding = {},
): Promise<Project> {
  const key = await humanKey(name, which);
  const keyturn = await Keyturn.init({ at: root, key, ...(clock && steady(clock)) });
  if (registry !== undefined) writeRegistry(root, registry);
  return { root, keyturn, ada: key.signer };
}

/** A clock of a test's own goes as it likes, and the time since boot goes with it, so it does not count as set. */
export function steady(clock: () => Date): { clock: () => Date; uptime: () => number } {
  return { clock, uptime: () => clock().getTime() };
}

export function writeRegistry(root: string, text: string): void {
  const path = join(root, 'tools.yaml');
  try {
    chmodSync(path, 0o644);
  } catch {}
  writeFileSync(path, text);
  chmodSync(path, 0o444);
}
