import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { joinLedger, Keyturn } from '../../src/keyturn.ts';
import { APPLICATION, type Postgres, urlOf } from '../store/postgres-place.ts';
import { found, type Project } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

/** Tools that are the same on every host: where they run is part of what is approved. */
const TOOLS = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 100 } }
    cwd: /
    sandbox: none
    undo: none
  - name: wait
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["{seconds}"]
    parameters: { seconds: { type: integer, min: 1, max: 60 } }
    cwd: /
    sandbox: none
    undo: none
`;

/** A project whose ledger is on the server, as a ledger of its own. */
export interface Shared extends Project {
  readonly tenant: string;
}

export function writeConfig(root: string, tenant: string, store: string): void {
  const proposals = '{ pending: 1000, minute: 1000 }';
  writeFileSync(
    join(root, 'keyturn.yaml'),
    `version: 1\ntenant: ${tenant}\nstore: ${store}\nproposals: ${proposals}\n`,
  );
}

export async function shared({ server }: Postgres, tenant: string, registry = TOOLS): Promise<Shared> {
  const root = scratch();
  writeConfig(root, tenant, urlOf(server, APPLICATION));
  const p = await found(root, { registry });
  onTestFinished(() => p.keyturn.close());
  return { ...p, tenant };
}

/** Another host: the files that are under version control, and an empty folder of its own. No key comes along. */
export async function anotherHost(
  { root, ada, tenant }: Shared,
  store?: string,
): Promise<Project & { ada: Signer }> {
  const other = scratch();
  for (const name of ['keyturn.yaml', 'tools.yaml', 'policies', 'simulations'])
    cpSync(join(root, name), join(other, name), { recursive: true });
  if (store !== undefined) writeConfig(other, tenant, store);
  await joinLedger({ at: other, confirm: async () => true });
  const keyturn = await Keyturn.open({ at: other });
  onTestFinished(() => keyturn.close());
  await keyturn.system.addExecutor({ reason: 'Another host.', signer: ada });
  return { root: other, keyturn, ada };
}
