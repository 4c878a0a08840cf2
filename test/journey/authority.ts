import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { OpenKey, Signer } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { found, type Project, project, writeRegistry } from '../support/project.ts';
import { freshFolder, scratch } from '../support/scratch.ts';

/** Tools for stories about authority: confined and not, short and long, of different actions and categories. */
export const AUTHORITY_TOOLS = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 100 } }
    sandbox: {}
    undo: none
  - name: wait
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["{seconds}"]
    parameters: { seconds: { type: integer, min: 1, max: 60 } }
    sandbox: none
    undo: none
  - name: copy
    summary: Copies a file.
    executable: /usr/bin/cp
    args: ["in/a.txt", "out/a.txt"]
    cwd: .
    sandbox: { read: ["."], write: ["out"] }
    undo: none
    action: copy
    category: files
  - name: fail
    summary: Fails.
    executable: /usr/bin/false
    sandbox: none
    undo: none
`;

export interface Intent {
  readonly intent_id: string;
  readonly hash: string;
}

/** What a request names an intent by, and nothing else that a test knows of it. */
export const named = ({ intent_id, hash }: Intent): Intent => ({ intent_id, hash });

export const yes = async () => true;

/** Under a clock of its own, a new project; otherwise a copy of one that the test file makes once. */
export async function authority(clock?: () => Date): Promise<Project> {
  if (clock) return project(AUTHORITY_TOOLS, clock);
  MODEL.made ??= makeModel();
  const { at, ada } = await MODEL.made;
  const root = scratch();
  cpSync(at, root, { recursive: true });
  writeRegistry(root, AUTHORITY_TOOLS);
  const keyturn = await Keyturn.open({ at: root });
  onTestFinished(() => keyturn.close());
  return { root, keyturn, ada };
}

interface Model {
  readonly at: string;
  readonly ada: Signer;
}

const MODEL: { made?: Promise<Model> } = {};

async function makeModel(): Promise<Model> {
  const at = freshFolder('keyturn-authority-');
  const { keyturn, ada } = await found(at);
  await keyturn.close();
  return { at, ada };
}

/** Another project, with keys of its own. */
export const elsewhere = () => project(AUTHORITY_TOOLS, undefined, undefined, 1);

/** Proposed by ada, who signs it; in another name without a key, unless there is a signer. */
export async function proposeSay(
  { keyturn, ada }: Project,
  over: { issuer?: string; [key: string]: unknown } = {},
  signer?: Signer,
): Promise<Intent> {
  const { issuer = signer?.name ?? 'ada' } = over;
  const draft = {
    declared_goal: 'Say hello.',
    effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'hello' } },
    ...over,
    issuer,
  };
  const { intent_id, hash } = await keyturn.intents.propose({
    ...draft,
    signer: signer ?? (issuer === 'ada' ? ada : undefined),
  });
  return { intent_id, hash };
}

export function call(tool: string, args: object = {}): Record<string, unknown> {
  return { effect: { kind: 'tool' as const, tool, arguments: args } };
}

/** Proposed, approved by ada, and granted. */
export async function granted(
  p: Project,
  over: Record<string, unknown> = {},
  grant: object = {},
): Promise<Intent & { token: string; capability_id: string }> {
  const intent = await proposeSay(p, over);
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  const { token, capability_id } = await p.keyturn.intents.grant({
    ...intent,
    signer: p.ada,
    is_issued: true,
    ...grant,
  });
  return { ...intent, token: token!, capability_id };
}

export async function human({ keyturn, ada }: Project, name: string, roles: string[] = []): Promise<OpenKey> {
  const signer = freshSigner(name);
  await keyturn.people.enrol({ name, principal: 'human', public_key: signer.public_key, roles, signer: ada });
  return signer;
}

/** An agent with a key of its own. */
export async function agent({ keyturn, ada, root }: Project, name: string): Promise<OpenKey> {
  const path = join(root, `${name}.seed`);
  const { public_key } = Keyturn.createAgentKey(path);
  await keyturn.people.enrol({ name, principal: 'agent', public_key, signer: ada });
  return Keyturn.agentSigner(name, path);
}

/** Replaces a file in policies/ and activates what is there then. */
export async function rules(p: Project, text: string, quorums?: string): Promise<void> {
  writePolicies(p, text, quorums);
  await p.keyturn.policies.activate({ reason: 'a test', signer: p.ada });
}

export function writePolicies({ root }: Project, text: string, quorums?: string): void {
  const write = (name: string, content: string) => {
    const path = join(root, 'policies', name);
    try {
      chmodSync(path, 0o644);
    } catch {}
    writeFileSync(path, content);
  };
  write('keyturn.cedar', text);
  write('tests.yaml', '[]\n');
  if (quorums !== undefined) write('quorums.yaml', quorums);
}

/** One policy with its annotations. */
export function policy(id: string, scope: string, text: string, rationale = `Because of ${id}.`): string {
  return `@id("${id}") @version("1") @scope("${scope}") @rationale("${rationale}")\n${text}\n`;
}

/** Permits everything that can be permitted but to break the break_glass. */
export const PERMITS = [
  policy('submit', 'intent', 'permit (principal, action, resource);'),
  policy('grant', 'capability', 'permit (principal, action, resource);'),
  policy('execute', 'execution', 'permit (principal, action, resource);'),
].join('\n');

/** The kinds of the entries about one intent, in order. */
export async function kinds({ keyturn }: Project, subject: string): Promise<string[]> {
  return (await entriesAbout(keyturn, subject)).map(({ kind }) => kind);
}

export async function lastBody({ keyturn }: Project, subject: string): Promise<Record<string, unknown>> {
  return (await entriesAbout(keyturn, subject)).at(-1)!.body as Record<string, unknown>;
}
