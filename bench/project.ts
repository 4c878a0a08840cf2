import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Signer } from '../src/identity/act.ts';
import { Keyturn } from '../src/keyturn.ts';

export interface Project {
  readonly keyturn: Keyturn;
  readonly ada: Signer;
}

export interface Asked {
  readonly intent_id: string;
  readonly hash: string;
}

const PASSPHRASE = 'correct horse battery';

const REGISTRY = `version: 1
tools:
  - name: nothing
    summary: Does nothing.
    executable: /bin/true
    sandbox: {}
    undo: exact
`;

/** A real project with one human, one agent, and a tool that does nothing in the default sandbox. */
export async function createProject(root: string): Promise<Project> {
  mkdirSync(root);
  // A bench proposes more than anybody would in a minute.
  writeFileSync(join(root, 'keyturn.yaml'), 'version: 1\nproposals: { pending: 10000, minute: 10000 }\n');
  const keyturn = await Keyturn.init({ at: root, name: 'ada', passphrase: PASSPHRASE });
  const ada = await keyturn.unlock('ada', PASSPHRASE);
  await keyturn.enrol({ name: 'planner', principal: 'agent', public_key: null, signer: ada });
  const registry = join(root, 'tools.yaml');
  rmSync(registry);
  writeFileSync(registry, REGISTRY);
  chmodSync(registry, 0o444);
  return { keyturn, ada };
}

/** A capability that lives as long as the approval: a large ledger takes a while to fill. */
export async function grant({ keyturn, ada }: Project, { intent_id, hash }: Asked): Promise<void> {
  await keyturn.grant({ intent_id, hash, signer: ada, ttl_s: 3600 });
}

export async function openProject(root: string): Promise<Project> {
  const keyturn = await Keyturn.open({ at: root });
  return { keyturn, ada: await keyturn.unlock('ada', PASSPHRASE) };
}

/** An intent that may run: proposed by the agent, approved by the human and granted. Four entries. */
export async function readyIntent({ keyturn, ada }: Project): Promise<Asked> {
  const effect = { kind: 'tool', tool: 'nothing', arguments: {} };
  const { intent_id, hash } = await keyturn.propose({ issuer: 'planner', declared_goal: 'Measure.', effect });
  await keyturn.approve({ intent_id, hash, signer: ada });
  await grant({ keyturn, ada }, { intent_id, hash });
  return { intent_id, hash };
}
