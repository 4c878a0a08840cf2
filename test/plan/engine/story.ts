import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../../../src/canonical/digest.ts';
import { derivePlan } from '../../../src/plan/derive.ts';
import { type ExecuteOptions, executePlan } from '../../../src/plan/engine/execute.ts';
import type { PlanOutcome } from '../../../src/plan/engine/outcome.ts';
import type { Runners } from '../../../src/plan/handler/handlers.ts';
import type { Action, ExecutionInstructions, Plan, PlanEffect } from '../../../src/plan/model.ts';
import { type ActionType, operationSchemas } from '../../../src/plan/operation.ts';
import { registeredPipelines } from '../../../src/plan/pipelines.ts';
import { type JournalLine, openJournal, readJournal } from '../../../src/plan/rollback/journal.ts';
import { loadRegistry } from '../../../src/tool/registry.ts';
import { attributesAt, hasTools } from '../../support/attributes.ts';

export const REPORTS = 'agent_outputs/reports/20260115T120000Z_task-1';

export function action(
  action_id: string,
  action_type: ActionType,
  target: string,
  operation: object = {},
  more: object = {},
): Action {
  return {
    action_id,
    action_type,
    target,
    operation: operationSchemas[action_type].parse({ type: action_type.toLowerCase(), ...operation }),
    depends_on: [],
    reversible: true,
    risk_level: 'LOW',
    timeout_ms: 30_000,
    ...more,
  } as Action;
}

export const create = (id: string, path: string, content = `new ${path}\n`, more: Partial<Action> = {}) =>
  action(id, 'FILE_CREATE', path, { content }, more);
export const modify = (
  id: string,
  path: string,
  pattern: string,
  replacement: string,
  more: Partial<Action> = {},
) => action(id, 'FILE_MODIFY', path, { type: 'text_replace', pattern, replacement }, more);
export const remove = (id: string, path: string, more: Partial<Action> = {}) =>
  action(id, 'FILE_DELETE', path, {}, more);
export const rename = (id: string, path: string, destination: string, more: Partial<Action> = {}) =>
  action(id, 'FILE_RENAME', path, { destination }, more);

const INSTRUCTIONS: ExecutionInstructions = {
  execution_order: 'sequential',
  stop_on_error: true,
  rollback_on_failure: true,
  preserve_permissions: true,
  verify_hashes: true,
  timeout_ms: 300_000,
};

export function plan(
  actions: readonly Action[],
  instructions: Partial<ExecutionInstructions> = {},
  validation: Plan['validation'] = [],
): Plan {
  return {
    plan_id: 'plan-001',
    task_id: 'task-1',
    actions,
    instructions: { ...INSTRUCTIONS, ...instructions },
    validation,
    digest: sha256(JSON.stringify(actions)),
  };
}

export const derive = (root: string, made: Plan, runners?: Runners): Promise<PlanEffect> =>
  derivePlan({ plan: made, root, config_digest: null, ...(runners ? { runners } : {}) });

export const execute = (
  root: string,
  effect: PlanEffect,
  more: Partial<ExecuteOptions> = {},
): Promise<PlanOutcome> => executePlan(effect, { root, reports_folder: REPORTS, ...more });

export async function deriveAndExecute(
  root: string,
  made: Plan,
  more: Partial<ExecuteOptions> = {},
): Promise<PlanOutcome> {
  return execute(root, await derive(root, made, more.runners), more);
}

/** The journal as it is on the disk, all of it believed: these tests have no ledger that keeps its digest. */
export const journalOf = (root: string, reports_folder = REPORTS) => ({
  lines: readJournal(root, reports_folder),
  async append(line: JournalLine) {
    const journal = await openJournal(root, reports_folder);
    journal.append(line);
    journal.close();
  },
});

/** Writes files with a time of long ago, so that a restored time is seen to be restored. */
export function lay(root: string, files: Readonly<Record<string, string>>, mode = 0o640): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
    utimesSync(join(root, path), 1_600_000_000.25, 1_600_000_001.5);
  }
}

/** What Keyturn keeps for itself in a project. */
const OWN = ['.keyturn', 'agent_outputs', 'agent_logs'];

/** Every path of the project, with what it is: content, mode and time. Store, reports and logs are not part of it. */
export function picture(root: string, with_times = true): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (folder: string) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (OWN.includes(path)) continue;
      const stats = lstatSync(join(root, path));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        found[path] = `folder ${mode}`;
        walk(path);
      } else if (stats.isFile()) {
        const time = with_times ? ` ${Math.round(stats.mtimeMs)}` : '';
        found[path] = `${mode}${time} ${stats.nlink} ${sha256(readFileSync(join(root, path)))}`;
      } else found[path] = 'something else';
    }
  };
  walk('');
  return found;
}

/** Content, mode, owner, time to the microsecond, list and attributes. This look itself changes the time of the last access. */
export function everything(root: string): Record<string, string> {
  const found = picture(root);
  const files = Object.keys(found).filter((path) => !found[path]!.startsWith('folder'));
  const worn = hasTools ? attributesAt(files.map((path) => join(root, path))) : '';
  for (const path of files) {
    const { uid, gid, mtimeNs } = lstatSync(join(root, path), { bigint: true });
    found[path] += ` ${uid}:${gid} ${mtimeNs / 1000n}`;
  }
  return { ...found, ' attributes': worn };
}

/** Of the registry that lies in the project. */
export const pipelinesOf = (root: string) =>
  registeredPipelines({
    root,
    registry: () => loadRegistry(join(root, 'tools.yaml')),
    surroundings: { hidden: [], protected: [] },
  });

export const text = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');
