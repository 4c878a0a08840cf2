import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, type IntentState, Keyturn } from '../../src/keyturn.ts';
import { entriesAbout } from '../support/ledger.ts';
import { type Intent, makeProject, PASSPHRASE, type Project, TOOLS, typedCode } from './project.ts';

export type Turn = readonly [question: string, answer: string];

/** What alice and bob type. */
export const ALICE: Turn = ['Passphrase of alice: ', PASSPHRASE];
export const BOB: Turn = ['Passphrase of bob: ', PASSPHRASE];
export const YES: Turn = ['Proceed? (y/n) ', 'y'];
/** What does not fit on one screen, all at once. */
export const ALL: Turn = ['q: stop -- ', 'a'];
export const TURN: Turn = ['Turn the key? (y/n) ', 'y'];
export const typing = ({ hash }: Pick<Intent, 'hash'>): Turn => ['code to approve it: ', typedCode(hash)];

/** More tools: one that writes where its sandbox lets it, one that another can stand in for, one that fails loudly, and one that another undoes. */
const MORE = `  - name: mark
    summary: Marks a folder.
    executable: /usr/bin/touch
    args: ["{file}"]
    parameters:
      file: { type: string, max_length: 200 }
    sandbox: { write: [out/a, out/b] }
    undo: exact
    category: files
  - name: endless
    summary: Never ends.
    executable: /bin/sh
    args: ["-c", "echo begun; exec sleep 60"]
    sandbox: {}
    undo: exact
  - name: grumble
    summary: Prints what a terminal would obey, and fails.
    executable: /bin/sh
    args: ["-c", "printf 'half\\\\033[2J done\\\\n[OK] all is well'; echo broken >&2; exit 3"]
    sandbox: {}
    undo: exact
  - name: lock
    summary: Locks a door.
    executable: /bin/true
    sandbox: {}
    undo: compensating
    undone_by: { tool: unlock, arguments: {} }
  - name: unlock
    summary: Unlocks it.
    executable: /bin/true
    sandbox: {}
    undo: none
`;

export interface Scene extends Project {
  /** The key file of the agent scout, who is enrolled with it. */
  readonly scout: string;
  stateOf(intent: Intent): Promise<IntentState>;
  storyOf(intent: Intent): Promise<Entry[]>;
  kindsOf(intent: Intent): Promise<string[]>;
  /** Approved by alice, as the library does it. */
  approved(tool: string, args?: Record<string, string | number>): Promise<Intent>;
  /** The same, with a capability. */
  granted(tool: string, args?: Record<string, string | number>): Promise<Intent & { capability: string }>;
  /** A second human, bob. From then on it has to be said who acts. */
  enrolBob(): Promise<void>;
  policy(name: string): string;
  writePolicy(name: string, text: string): void;
}

/** A project with the human alice and the agents bot, without a key, and scout, with one. */
export async function makeScene(folder: string): Promise<Scene> {
  mkdirSync(join(folder, 'out', 'a'), { recursive: true });
  mkdirSync(join(folder, 'out', 'b'), { recursive: true });
  const project = await makeProject(folder);
  const registry = join(folder, 'tools.yaml');
  chmodSync(registry, 0o644);
  writeFileSync(registry, `${TOOLS}${MORE}`);
  chmodSync(registry, 0o444);
  const scout = join(folder, 'scout.key');
  const { public_key } = Keyturn.createAgentKey(scout);
  const { alice } = project;
  await project.inside((keyturn) =>
    keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: alice }),
  );
  const approved: Scene['approved'] = async (tool, args) => {
    const intent = await project.propose(tool, args);
    await project.approve(intent);
    return intent;
  };
  const storyOf: Scene['storyOf'] = ({ id }) => project.inside((keyturn) => entriesAbout(keyturn, id));
  const path = (name: string) => join(folder, 'policies', name);
  return {
    ...project,
    scout,
    storyOf,
    stateOf: ({ id }) => project.inside((keyturn) => keyturn.intents.get({ intent_id: id })),
    kindsOf: async (intent) => (await storyOf(intent)).map(({ kind }) => kind),
    approved,
    granted: async (tool, args) => {
      const intent = await approved(tool, args);
      const { capability_id } = await project.inside((keyturn) =>
        keyturn.intents.grant({ intent_id: intent.id, hash: intent.hash, signer: alice, is_issued: true }),
      );
      return { ...intent, capability: capability_id };
    },
    enrolBob: () =>
      project.inside(async (keyturn) => {
        const { public_key } = await keyturn.host.createKey('bob', PASSPHRASE);
        await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key, signer: alice });
      }),
    policy: (name) => readFileSync(path(name), 'utf8'),
    writePolicy: (name, text) => writeFileSync(path(name), text),
  };
}

export const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
