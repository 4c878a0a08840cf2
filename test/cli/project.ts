import '../support/older-face.ts';
import '../support/answers.ts';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect } from 'vitest';
import { codeOf } from '../../src/canonical/code.ts';
import type { Signer } from '../../src/identity/act.ts';
import { type Account, Keyturn } from '../../src/keyturn.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { newestOf } from '../support/ledger.ts';
import { found } from '../support/project.ts';
import { converse, type Finished, keyturn, type Where } from '../support/pty.ts';
import { freshFolder } from '../support/scratch.ts';

export { PASSPHRASE } from '../support/keys.ts';
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
export const SOME_HASH = 'a'.repeat(64);

export const TOOLS = `version: 1
tools:
  - name: greet
    summary: Prints a greeting.
    executable: /usr/bin/printf
    args: ["Hello, %s!\\\\n", "{name}"]
    parameters:
      name: { type: string, description: Who is greeted., max_length: 5000, multiline: true }
    sandbox: {}
    undo: none
  - name: fail
    summary: Always fails.
    executable: /bin/false
    sandbox: {}
    undo: none
  - name: wait
    summary: Waits.
    executable: /bin/sleep
    args: ["{seconds}"]
    parameters:
      seconds: { type: integer, min: 0, max: 60 }
    sandbox: {}
    undo: none
  - name: hurry
    summary: Waits for longer than it may.
    executable: /bin/sleep
    args: ["30"]
    timeout_s: 1
    sandbox: {}
    undo: none
  - name: reach
    summary: Runs without a sandbox.
    executable: /usr/bin/printf
    args: ["%s %s", "{count}", "{loud}"]
    parameters:
      count: { type: integer, min: 0, max: 9 }
      loud: { type: boolean, default: false }
    sandbox: none
    undo: compensating
  - name: open
    summary: Opens.
    executable: /bin/true
    sandbox: {}
    undo: exact
    undone_by: { tool: greet, arguments: { name: Ada } }
`;

/** The agent works in an account of its own: its name is not proven, and it does not approve. */
export const BOT_ACCOUNT: Account = { host: 'agents', machine: null, uid: 2000, user: 'bot' };

/** A folder for one test file, gone with it. */
export function fileFolder(): string {
  const folder = freshFolder('keyturn-cli-');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a person types of the code of a hash. */
export const typedCode = (hash: string): string => codeOf(hash).slice(0, 7);

/** What is typed at a question, as often as it is asked. */
export const thrice = (question: string, answer: string): Turn[] => [1, 2, 3].map(() => [question, answer]);

export interface Intent {
  readonly id: string;
  readonly hash: string;
}

/** What happened at a terminal. */
export interface Talk extends Finished {
  /** What the person saw: the questions, and what was written to the terminal itself. */
  readonly screen: string;
}

type Turn = readonly [question: string, answer: string];

export interface Project {
  readonly folder: string;
  readonly alice: Signer;
  /** Runs a command here without a terminal. */
  run(...words: string[]): Promise<Finished>;
  /** Runs a command here at a terminal. Standard output and error are caught apart. */
  talk(words: readonly string[], ...turns: Turn[]): Promise<Talk>;
  /** Does something with the library, in this process. */
  inside<T>(act: (keyturn: Keyturn) => Promise<T>, account?: Account): Promise<T>;
  propose(tool: string, args?: Record<string, string | number>, goal?: string): Promise<Intent>;
  approve(intent: Intent): Promise<unknown>;
  /** A capability for the attempt that may run next. */
  grant(intent: Intent): Promise<unknown>;
  /** Approved and granted: it may run now. */
  ready(intent: Intent): Promise<unknown>;
  /** How many entries the ledger has. */
  size(): Promise<number>;
}

/** A project with one human, alice, and one agent, bot. */
export async function makeProject(folder: string): Promise<Project> {
  writeFileSync(join(folder, 'tools.yaml'), TOOLS, { mode: 0o444 });
  const { keyturn: created, ada: signer } = await found(folder, { name: 'alice' });
  await created.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer });
  await created.close();
  return projectAt(folder, signer);
}

function projectAt(folder: string, alice: Signer): Project {
  const inside: Project['inside'] = async (act, account) => {
    const opened = await Keyturn.open({ at: folder, ...(account && { account }) });
    try {
      return await act(opened);
    } finally {
      await opened.close();
    }
  };
  const signing = (act: (keyturn: Keyturn, signer: Signer) => Promise<unknown>) =>
    inside((keyturn) => act(keyturn, alice));
  return {
    folder,
    alice,
    inside,
    run: (...words) => keyturn(words, { cwd: folder }),
    talk: (words, ...turns) => talkAt({ cwd: folder }, words, ...turns),
    propose: (tool, args = {}, declared_goal = 'For a test.') =>
      inside(async (keyturn) => {
        const effect = { kind: 'tool' as const, tool, arguments: args };
        const { intent_id, hash } = await keyturn.intents.propose({ issuer: 'bot', declared_goal, effect });
        return { id: intent_id, hash };
      }, BOT_ACCOUNT),
    approve: ({ id, hash }) =>
      signing((keyturn, signer) => keyturn.intents.approve({ intent_id: id, hash, signer })),
    grant: ({ id, hash }) =>
      signing((keyturn, signer) => keyturn.intents.grant({ intent_id: id, hash, signer })),
    ready: ({ id, hash }) =>
      signing(async (keyturn, signer) => {
        await keyturn.intents.approve({ intent_id: id, hash, signer });
        await keyturn.intents.grant({ intent_id: id, hash, signer });
      }),
    size: () => inside(async (keyturn) => (await newestOf(keyturn, 1)).at(-1)!.seq + 1),
  };
}

export async function talkAt(where: Where, words: readonly string[], ...turns: Turn[]): Promise<Talk> {
  const split = freshFolder('keyturn-talk-');
  mkdirSync(split, { recursive: true });
  try {
    const { code, text } = await converse(words, { ...where, split }, turns);
    const read = (name: string) => readFileSync(join(split, name), 'utf8');
    return { code, screen: text, stdout: read('stdout'), stderr: read('stderr') };
  } finally {
    rmSync(split, { recursive: true, force: true });
  }
}

/** One line on stderr with this code, nothing on stdout, exit 1, and no stack trace. */
export function expectError(code: ReasonCode, { stdout, stderr, code: exit }: Finished): void {
  expect(stderr).toMatch(new RegExp(`^\\[ERROR\\] [^\\n]*\\(${code} \\d{4}\\) [^\\n]*\\n$`));
  expect({ stdout, exit }).toEqual({ stdout: '', exit: 1 });
  expect(stderr).not.toMatch(/\n\s+at /);
}

const schema = JSON.parse(readFileSync(new URL('../../schemas/cli.json', import.meta.url), 'utf8'));
const validate = new Ajv2020({
  allErrors: false,
  strict: true,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(schema);

/** The one JSON object on standard output, checked against the published schema. */
export function answerOf(finished: Finished): { ok: boolean; command: string } & Record<string, never> {
  expect(finished.stdout.split('\n')).toHaveLength(2);
  const answer = JSON.parse(finished.stdout);
  expect(validate(answer), `${finished.stdout}\n${JSON.stringify(validate.errors?.slice(0, 3))}`).toBe(true);
  // Clients of agents take only 2 for the no of a hook.
  expect(finished.code).toBe(answer.ok ? 0 : answer.command === 'hook' ? 2 : 1);
  return answer;
}
