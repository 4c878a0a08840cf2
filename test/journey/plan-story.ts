import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import type { RunRequest } from '../../src/journey/run.ts';
import { Keyturn, type PlanSpec, type Result } from '../../src/keyturn.ts';
import type { ChangeLog, ExecutionReport } from '../../src/plan/report/schema.ts';
import type { RollbackManifest } from '../../src/plan/rollback/manifest.ts';
import { lay } from '../plan/engine/story.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { found, type Intent, type Project, ready, TOOLS, writeRegistry } from '../support/project.ts';
import { freshFolder, scratch } from '../support/scratch.ts';
import { type Asked, runSeen } from '../support/seen.ts';

/** A plan from its proposal to the end of its run, in a real project. */

export const yes = async () => true;

type Files = Readonly<Record<string, string>>;

/** One project for a whole test file; each test works on a copy of it. Its one human, ada, is unlocked once. */
export function planProjects(): (files?: Files, registry?: string) => Promise<Project> {
  const model = freshFolder('keyturn-plans-');
  let ada: Signer;
  beforeAll(async () => {
    const made = await found(model);
    ada = made.ada;
    await made.keyturn.close();
  });
  afterAll(() => rmSync(model, { recursive: true, force: true }));
  return async (files = {}, registry = TOOLS) => {
    const root = scratch();
    cpSync(model, root, { recursive: true });
    writeRegistry(root, registry);
    lay(root, files);
    const keyturn = await Keyturn.open({ at: root });
    onTestFinished(() => keyturn.close());
    return { root, keyturn, ada };
  };
}

/** A second human. From now on a proposer must be named, and no human approves their own proposal. */
export async function enrolled({ keyturn, ada }: Project, name: string): Promise<Signer> {
  const signer = freshSigner(name);
  await keyturn.people.enrol({ name, principal: 'human', public_key: signer.public_key, signer: ada });
  return signer;
}

export { create, remove, rename, replace } from '../plan/written.ts';

export function planOf(actions: readonly object[], instructions: object = {}, more: object = {}): string {
  const plan = { plan_id: 'plan-001', action_plan: actions, execution_instructions: instructions, ...more };
  return JSON.stringify(plan);
}

/** Reads a plan as the command line does; one with problems fails the test. */
export async function specOf(
  { keyturn }: Project,
  plan: string,
  config: string | null = null,
): Promise<PlanSpec> {
  const read = await keyturn.plans.read({ plan, config });
  return 'spec' in read ? read.spec : expect.fail(JSON.stringify(read.problems));
}

/** The codes of what is wrong with a plan. */
export async function problemsOf(
  { keyturn }: Project,
  plan: string,
  config: string | null = null,
): Promise<string[]> {
  const read = await keyturn.plans.read({ plan, config });
  return 'problems' in read ? read.problems.map(({ code }) => code) : [];
}

export async function proposed(
  p: Project,
  plan: string,
  draft: object = {},
  signer?: Signer,
): Promise<Intent> {
  const effect = { kind: 'plan' as const, ...(await specOf(p, plan)) };
  const asked = { declared_goal: 'Change files', effect, ...draft };
  const { intent_id, hash } = await p.keyturn.intents.propose({ ...asked, signer: signer });
  return { intent_id, hash };
}

/** Proposed, approved and granted. */
export async function runnable(p: Project, plan: string, draft: object = {}): Promise<Intent> {
  const intent = await proposed(p, plan, draft);
  await ready(p, intent);
  return intent;
}

type RunOptions = Partial<Pick<RunRequest, 'abort' | 'onProgress'> & Pick<Asked, 'confirm'>>;

export const run = (p: Project, intent: Intent, options: RunOptions = {}): Promise<Result<'runs.run'>> =>
  runSeen(p.keyturn, { ...intent, confirm: yes, ...options });

/** Approves a plan, grants it a capability and runs it to its end. */
export async function ran(
  p: Project,
  plan: string,
  options: RunOptions = {},
): Promise<Intent & { report: Result<'runs.run'> }> {
  const intent = await runnable(p, plan);
  return { ...intent, report: await run(p, intent, options) };
}

/** Does something when the run comes to this action: what another process does meanwhile. */
export function when(action_id: string, act: () => void) {
  return { onProgress: ({ what }: { what: string }) => void (what === action_id && act()) };
}

export const undo = (p: Project, { execution_id }: Result<'runs.run'>, checkpoints: readonly string[] = []) =>
  p.keyturn.plans.rollback({ execution_id, checkpoints, reason: 'not wanted', signer: p.ada });

export const statusOf = async (p: Project, { intent_id }: Intent) =>
  (await p.keyturn.intents.get({ intent_id })).status;

export const kindsOf = async (p: Project, { intent_id }: Intent) =>
  (await entriesAbout(p.keyturn, intent_id)).map(({ kind }) => kind);

export interface Reports {
  readonly execution_report: ExecutionReport;
  readonly change_log: ChangeLog;
  readonly rollback_manifest: RollbackManifest;
}

/** The three records of 004 section 4, as they are on the disk. */
export function reportsOf({ root }: Project, { folder }: Result<'runs.run'>): Reports {
  const read = (name: string) => JSON.parse(readFileSync(join(root, folder!, `${name}.json`), 'utf8'));
  return {
    execution_report: read('execution_report'),
    change_log: read('change_log'),
    rollback_manifest: read('rollback_manifest'),
  };
}

/** Whatever a test did: the whole ledger verifies, and the projections are what it says. */
export async function expectProvable({ keyturn }: Project): Promise<void> {
  await keyturn.ledger.verify({ deep: true });
  expect(await keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
}
