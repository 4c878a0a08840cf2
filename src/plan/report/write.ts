import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { putNew, syncFolderOf, withPlace } from '../../durable/beneath-write.ts';
import { describeIssue } from '../../event/event.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { eachAtMost } from '../concurrent.ts';
import { makeFolders } from '../state/folders.ts';
import { stageBytes } from '../state/stage.ts';
import { SCRIPT_NAME } from './folder.ts';
import {
  type ChangeLog,
  changeLogSchema,
  type ExecutionReport,
  executionReportSchema,
  type RecordedChanges,
  recordedChangesSchema,
} from './schema.ts';
import { rollbackScript } from './script.ts';

/** Reports are private: they show parts of files. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const SCRIPT_MODE = 0o700;

/** Writes the reports, durably. Each is written once: a report is never replaced. */
export async function writeReports(
  root: string,
  folder: string,
  reports: Readonly<Record<string, Uint8Array>>,
): Promise<void> {
  await writeAll(
    root,
    folder,
    Object.entries(reports).map(([name, bytes]) => [name, bytes, FILE_MODE] as const),
  );
}

export const reportBytes = (report: ExecutionReport) => jsonBytes(executionReportSchema, report);
export const changesBytes = (changes: RecordedChanges) => jsonBytes(recordedChangesSchema, changes);
export const changeLogBytes = (log: ChangeLog) => jsonBytes(changeLogSchema, log);

/** Written before the first change: the manifest names it. */
export function writeRollbackScript(root: string, folder: string, execution_id: string): Promise<void> {
  return writeAll(root, folder, [[SCRIPT_NAME, Buffer.from(rollbackScript(execution_id)), SCRIPT_MODE]]);
}

function jsonBytes<T>(schema: z.ZodType<T>, value: T): Uint8Array {
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    refuse('SHAPE_INVALID', `A report is not what its schema says: ${describeIssue(parsed.error)}`);
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

type NewFile = readonly [name: string, bytes: Uint8Array, mode: number];

/** All files, and then their folder once. */
export async function writeAll(root: string, folder: string, files: readonly NewFile[]): Promise<void> {
  await makeFolders(root, folder, FOLDER_MODE);
  await eachAtMost(planLimits.concurrent_actions, files, ([name, bytes, mode]) =>
    withPlace(root, `${folder}/${name}`, async (place) => {
      const temporary = `.${randomBytes(16).toString('hex')}`;
      await stageBytes(place, temporary, bytes, { mode });
      putNew(place, temporary);
    }),
  );
  await withPlace(root, `${folder}/any`, syncFolderOf);
}
