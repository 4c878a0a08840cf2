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

/** With what was on the screen of the human who ordered it. */
export interface Ordered extends Asked {
  readonly seen: string;
}

const PASSPHRASE = 'correct horse battery';

const REGISTRY = `version: 1
tools:
  - name: nothing
    summary: Does nothing.
    executable: /bin/true
    sandbox: {}
    undo: exact
  - name: bare
    summary: Does nothing, without a sandbox.
    executable: /bin/true
    cwd: /
    sandbox: none
    undo: exact
`;

/** A real project with one human, one agent, and, if nothing else is said, a tool that does nothing, in the default sandbox and without one. */
export async function createProject(root: string, store?: string, tools = REGISTRY): Promise<Project> {
  mkdirSync(root);
  // A bench proposes more in a minute than an agent would.
  const config = ['version: 1', 'proposals: { pending: 10000, minute: 100000 }'];
  if (store !== undefined) config.push(`store: ${store}`);
  writeFileSync(join(root, 'keyturn.yaml'), `${config.join('\n')}\n`);
  const keyturn = await Keyturn.init({ at: root, name: 'ada', passphrase: PASSPHRASE });
  const ada = await keyturn.unlock('ada', PASSPHRASE);
  await keyturn.people.enrol({ name: 'planner', principal: 'agent', public_key: null, signer: ada });
  const registry = join(root, 'tools.yaml');
  rmSync(registry);
  writeFileSync(registry, tools);
  chmodSync(registry, 0o444);
  return { keyturn, ada };
}

/** A capability that lives as long as the approval: a large ledger takes a while to fill. */
export async function grant({ keyturn, ada }: Project, { intent_id, hash }: Asked): Promise<Ordered> {
  const { seen } = await keyturn.intents.grant({
    intent_id,
    hash,
    signer: ada,
    ttl_s: 3600,
    is_issued: true,
  });
  return { intent_id, hash, seen };
}

export async function openProject(root: string): Promise<Project> {
  const keyturn = await Keyturn.open({ at: root });
  return { keyturn, ada: await keyturn.unlock('ada', PASSPHRASE) };
}

/** An intent that the agent proposes, and for which the human turns the key. */
export async function turnedIntent({ keyturn, ada }: Project, tool = 'nothing'): Promise<Ordered> {
  const effect = { kind: 'tool' as const, tool, arguments: {} };
  const { intent_id, hash } = await keyturn.intents.propose({
    issuer: 'planner',
    declared_goal: 'Measure.',
    effect,
  });
  const { seen } = await keyturn.intents.turn({ intent_id, hash, signer: ada });
  return { intent_id, hash, seen };
}

/** An intent that may run for an hour: proposed by the agent, approved by the human and granted. Five entries. */
export async function readyIntent({ keyturn, ada }: Project): Promise<Ordered> {
  const effect = { kind: 'tool' as const, tool: 'nothing', arguments: {} };
  const { intent_id, hash } = await keyturn.intents.propose({
    issuer: 'planner',
    declared_goal: 'Measure.',
    effect,
  });
  await keyturn.intents.approve({ intent_id, hash, signer: ada });
  return grant({ keyturn, ada }, { intent_id, hash });
}
