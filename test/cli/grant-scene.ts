import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, type IntentState, Keyturn } from '../../src/keyturn.ts';
import { type Intent, makeProject, PASSPHRASE, type Project, TOOLS } from './project.ts';

export type Turn = readonly [question: string, answer: string];

/** What alice and bob type. */
export const ALICE: Turn = ['Passphrase of alice: ', PASSPHRASE];
export const BOB: Turn = ['Passphrase of bob: ', PASSPHRASE];
export const YES: Turn = ['Proceed? (y/n) ', 'y'];
/** What does not fit on one screen, all at once. */
export const ALL: Turn = ['q: stop -- ', 'a'];
export const TURN: Turn = ['Turn the key? (y/n) ', 'y'];
export const typing = ({ id }: Intent): Turn => ['exact id to approve it: ', id];

/** Two more tools: one that writes where its sandbox lets it, and one that another can stand in for. */
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
    executable: /bin/sleep
    args: ["60"]
    sandbox: {}
    undo: exact
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
    keyturn.enrol({ name: 'scout', principal: 'agent', public_key, signer: alice }),
  );
  const approved: Scene['approved'] = async (tool, args) => {
    const intent = await project.propose(tool, args);
    await project.approve(intent);
    return intent;
  };
  const storyOf: Scene['storyOf'] = ({ id }) => project.inside((keyturn) => keyturn.story(id));
  const path = (name: string) => join(folder, 'policies', name);
  return {
    ...project,
    scout,
    storyOf,
    stateOf: ({ id }) => project.inside((keyturn) => keyturn.intent(id)),
    kindsOf: async (intent) => (await storyOf(intent)).map(({ kind }) => kind),
    approved,
    granted: async (tool, args) => {
      const intent = await approved(tool, args);
      const { issued } = await project.inside((keyturn) =>
        keyturn.grant({ intent_id: intent.id, hash: intent.hash, signer: alice }),
      );
      return { ...intent, capability: issued.body.capability_id };
    },
    enrolBob: () =>
      project.inside(async (keyturn) => {
        const { public_key } = await keyturn.createKey('bob', PASSPHRASE);
        await keyturn.enrol({ name: 'bob', principal: 'human', public_key, signer: alice });
      }),
    policy: (name) => readFileSync(path(name), 'utf8'),
    writePolicy: (name, text) => writeFileSync(path(name), text),
  };
}

export const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
