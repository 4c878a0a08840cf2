import { parseJson } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import { openEntry } from '../ledger/entry.ts';
import type { PlanEffect } from '../plan/model.ts';
import { withDiffs } from '../plan/report/change-log.ts';
import { compareChanges } from '../plan/report/compare.ts';
import { CHANGE_LOG_NAME, REPORT_NAME } from '../plan/report/folder.ts';
import { recordedChangesSchema } from '../plan/report/schema.ts';
import { changeLogBytes, writeReports } from '../plan/report/write.ts';
import { parseManifest } from '../plan/rollback/manifest.ts';
import { see } from '../plan/state/see.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { openEffect } from './sealed-effect.ts';

/** What the ledger keeps of a run, by the names that `execution.finished` gives it. */
export interface Recorded {
  readonly execution_report: Uint8Array;
  readonly changes: Uint8Array;
  readonly rollback_manifest?: Uint8Array;
  /** What a rollback goes by besides the manifest. */
  readonly journal?: Uint8Array;
}

export interface Reported {
  readonly folder: string;
  /** The files that were missing and are there now. */
  readonly written: readonly string[];
}

/**
 * Makes the reports of a recorded run again where they are missing, from the record and the backups. A report that is there is never
 * replaced.
 */
export async function reportPlan(context: Context, execution_id: string): Promise<Reported> {
  const { intent_id } =
    (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const entries = (await context.store.entriesOf(intent_id)).map(({ bytes }) => openEntry(bytes));
  const bodyOf = <K extends 'execution.claimed' | 'execution.finished'>(kind: K) =>
    entries
      .filter((entry) => entry.kind === kind)
      .map(({ body }) => body as Event<K>['body'])
      .find((body) => body.execution_id === execution_id);
  const [claimed, finished] = [bodyOf('execution.claimed'), bodyOf('execution.finished')];
  if (!claimed || claimed.reports === null)
    return refuse('REPORTS_NOT_RECORDED', 'A tool call has no reports.');
  const { execution_report, changes, rollback_manifest } = finished?.reports ?? {};
  if (!execution_report || !changes)
    return refuse('REPORTS_NOT_RECORDED', 'No end of this run is recorded, so there is nothing to report.');
  const { store, root } = context;
  const effect = openEffect(await store.object(claimed.effect_digest)) as PlanEffect;
  const written = await writeMissing(root, claimed.reports, effect, {
    execution_report: await store.object(execution_report),
    changes: await store.object(changes),
    ...(rollback_manifest && { rollback_manifest: await store.object(rollback_manifest) }),
  });
  return { folder: claimed.reports, written };
}

/** Writes those of the reports that are not there, and says which. */
export async function writeMissing(
  root: string,
  folder: string,
  effect: PlanEffect,
  recorded: Recorded,
): Promise<string[]> {
  const missing = await missingReports(root, folder);
  const written: Record<string, Uint8Array> = {};
  if (missing.includes(REPORT_NAME)) written[REPORT_NAME] = recorded.execution_report;
  if (missing.includes(CHANGE_LOG_NAME)) written[CHANGE_LOG_NAME] = await changeLogOf(root, effect, recorded);
  await writeReports(root, folder, written);
  return missing;
}

/** Which reports of a finished run are not there. */
export async function missingReports(root: string, folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of [REPORT_NAME, CHANGE_LOG_NAME])
    if ((await see(root, `${folder}/${name}`)) === null) names.push(name);
  return names;
}

/** The diffs are made from the backups and the files as they are now. What is protected is shown in no report. */
async function changeLogOf(
  root: string,
  { elevated }: PlanEffect,
  { changes: bytes, rollback_manifest }: Recorded,
): Promise<Uint8Array> {
  const changes = recordedChangesSchema.parse(parseJson(bytes, bytes.length));
  const checkpoints = rollback_manifest ? parseManifest(rollback_manifest).checkpoints : [];
  const diffs = await compareChanges(changes, {
    root,
    checkpoints,
    hides: (path) => elevated.includes(path),
  });
  return changeLogBytes(withDiffs(changes, diffs));
}
