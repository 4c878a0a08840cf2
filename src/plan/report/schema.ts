import * as z from 'zod';
import { isDigest } from '../../canonical/digest.ts';
import { DIGEST_FORM } from '../../canonical/form.ts';
import { fieldLimits } from '../../limits.ts';
import { type ReasonCode, reasonCodes } from '../../refusal.ts';

/** The reports of 004 section 4 and the error object of section 8.2. `schemas/` is made from these. */

const time = z.iso.datetime();
const id = z.uuid();
const digest = z.string().regex(DIGEST_FORM).refine(isDigest);
const count = z.int().min(0);

export const errorSchema = z.strictObject({
  error_id: id,
  error_code: z.int().min(1000).max(5999),
  error_category: z.enum([
    'VALIDATION_ERROR',
    'FILE_SYSTEM_ERROR',
    'PERMISSION_ERROR',
    'DEPENDENCY_ERROR',
    'INTERNAL_ERROR',
  ]),
  error_type: z.enum(reasonCodes as [ReasonCode, ...ReasonCode[]]),
  message: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).readonly(),
  recovery_action: z.enum(['SKIPPED', 'ROLLED_BACK', 'MANUAL_REQUIRED']),
  timestamp: time,
});

const completed = z.strictObject({
  action_id: z.string(),
  status: z.literal('SUCCESS'),
  started_at: time,
  completed_at: time,
  output: z.string(),
});

const failed = z.strictObject({
  action_id: z.string(),
  status: z.literal('FAILED'),
  started_at: time,
  completed_at: time,
  error_code: z.int().min(1000).max(5999),
  /** The name of the code. */
  error_type: z.string(),
  error_message: z.string(),
  stack_trace: z.string().optional(),
});

const skipped = z.strictObject({ action_id: z.string(), reason: z.string() });

export const executionReportSchema = z.strictObject({
  report_id: id,
  plan_id: z.string(),
  task_id: z.string(),
  execution_id: id,
  executor_version: z.string(),
  status: z.enum(['SUCCESS', 'PARTIAL', 'FAILED', 'ROLLED_BACK', 'CANCELLED']),
  started_at: time,
  completed_at: time,
  duration_ms: count,
  actions_summary: z.strictObject({ total: count, completed: count, failed: count, skipped: count }),
  actions_completed: z.array(completed),
  actions_failed: z.array(failed),
  actions_skipped: z.array(skipped),
  rollback_performed: z.boolean(),
  /** null when the run ended before there was anything to roll back. */
  rollback_manifest_id: id.nullable(),
  /** A human must look: a rollback is stuck, or an unexpected error happened. */
  escalate: z.boolean(),
  /** What a human must do by hand. */
  instructions: z.array(z.string()),
  errors: z.array(errorSchema),
});

/** `hash`, `size_bytes` and `last_modified` are null where nothing is there, or where it is not known. */
const fileState = z.strictObject({
  exists: z.boolean(),
  hash: digest.nullable(),
  size_bytes: count.nullable(),
  last_modified: time.nullable(),
  /** Of the access control list and the extended attributes; null when there are none. */
  attributes: digest.nullable(),
});

const recordedChange = z.strictObject({
  change_id: id,
  action_id: z.string(),
  file_path: z.string(),
  /** Where a rename put the file. */
  new_path: z.string().optional(),
  operation: z.enum(['CREATE', 'MODIFY', 'DELETE', 'RENAME']),
  before_state: fileState,
  after_state: fileState,
  timestamp: time,
});

const logIdentity = { log_id: id, plan_id: z.string(), execution_report_id: id, created_at: time };

/** What the ledger keeps of a run: everything in its change log but the diffs, which are made from the backups. */
export const recordedChangesSchema = z.strictObject({
  ...logIdentity,
  changes: z.array(recordedChange),
  files_affected_count: count,
  /** Whether the run rolled back by itself: then there is nothing to compare. */
  rolled_back: z.boolean(),
});

const change = recordedChange.omit({ timestamp: true }).extend({
  diff_summary: z.strictObject({
    lines_added: count,
    lines_removed: count,
    preview: z.string().max(fieldLimits.preview_chars),
  }),
  timestamp: time,
});

export const changeLogSchema = z.strictObject({
  ...logIdentity,
  changes: z.array(change),
  files_affected_count: count,
  total_lines_changed: count,
});

export type ErrorObject = z.infer<typeof errorSchema>;
export type ExecutionReport = z.infer<typeof executionReportSchema>;
export type ChangeLog = z.infer<typeof changeLogSchema>;
export type RecordedChanges = z.infer<typeof recordedChangesSchema>;
