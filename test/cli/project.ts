import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { converse, type Finished, keyturn } from '../support/pty.ts';

export const PASSPHRASE = 'correct horse battery';
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
export const SOME_HASH = 'a'.repeat(64);

export const TOOLS = `version: 1
tools:
  - name: greet
    summary: Prints a greeting.
    executable: /usr/bin/printf
    args: ["Hello, %s!\\\\n", "{name}"]
    parameters:
      name: { type: string, description: Who is greeted., max_length: 200, multiline: true }
    sandbox: {}
    undo: none
  - name: fail
    summary: Always fails.
    executable: /bin/false
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
`;

/** A folder for one test file, gone with it. */
export function fileFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Project {
  readonly folder: string;
  /** Runs a command here without a terminal. */
  run(...words: string[]): Promise<Finished>;
  /** Runs a command here at a terminal: each question with its answer. */
  talk(words: readonly string[], ...turns: (readonly [string, string])[]): Promise<{ code: number; text: string }>;
  /** Proposes a tool call and returns its id and hash. */
  propose(...words: string[]): Promise<{ id: string; hash: string }>;
  /** Does something with the library, in this process. */
  inside<T>(act: (keyturn: Keyturn) => Promise<T>): Promise<T>;
}

/** A project with one human, alice, and one agent, bot. */
export async function makeProject(folder: string): Promise<Project> {
  writeFileSync(join(folder, 'tools.yaml'), TOOLS, { mode: 0o444 });
  const created = await Keyturn.init({ at: folder, name: 'alice', passphrase: PASSPHRASE });
  const signer = created.unlock('alice', PASSPHRASE);
  await created.enrol({ name: 'bot', principal: 'agent', public_key: null, signer });
  await created.close();
  return projectAt(folder);
}

export function projectAt(folder: string): Project {
  const inside: Project['inside'] = async (act) => {
    const opened = await Keyturn.open({ at: folder });
    try {
      return await act(opened);
    } finally {
      await opened.close();
    }
  };
  return {
    folder,
    run: (...words) => keyturn(words, { cwd: folder }),
    talk: (words, ...turns) => converse(words, { cwd: folder }, turns),
    inside,
    propose: (tool, ...args) =>
      inside(async (keyturn) => {
        const pairs = args.map((arg): [string, string] => [arg.split('=')[0]!, arg.slice(arg.indexOf('=') + 1)]);
        const proposal = await keyturn.propose({
          issuer: 'bot',
          declared_goal: 'For a test.',
          effect: { kind: 'tool', tool, arguments: keyturn.argumentsOf(tool!, new Map(pairs)) },
        });
        return { id: proposal.intent_id, hash: proposal.hash };
      }),
  };
}

/** Approves without a terminal, by the library: for tests that are about what comes after. */
export function approveInside(project: Project, { id, hash }: { id: string; hash: string }): Promise<unknown> {
  return project.inside((keyturn) =>
    keyturn.approve({ intent_id: id, hash, signer: keyturn.unlock('alice', PASSPHRASE) }),
  );
}
