/** The maxima of 004 section 11. Units are part of the name. */

const MiB = 1024 * 1024;
const s = 1000;

export const planLimits = {
  /** Paths that one plan changes: what a person can review. */
  files: 100,
  file_bytes: 50 * MiB,
  /** All backups of one plan. */
  backup_bytes: 500 * MiB,
  /** All contents that a plan takes from files: they are kept in the store, as long as the ledger is. */
  content_bytes: 50 * MiB,
  concurrent_actions: 4,
  /** SQL files and steps of pipelines, as they stand in the effect: a person reads all of it. */
  taken_chars: 1 * MiB,
} as const;

export interface Timeout {
  readonly default_ms: number;
  readonly max_ms: number;
}

const FILE: Timeout = { default_ms: 30 * s, max_ms: 120 * s };

export const actionTimeouts = {
  FILE_CREATE: FILE,
  FILE_MODIFY: FILE,
  FILE_DELETE: FILE,
  FILE_RENAME: FILE,
  SCHEMA_UPDATE: { default_ms: 30 * s, max_ms: 60 * s },
  SQL_EXECUTE: { default_ms: 60 * s, max_ms: 300 * s },
  PIPELINE_RUN: { default_ms: 300 * s, max_ms: 3600 * s },
} as const satisfies Record<string, Timeout>;

export const planTimeout: Timeout = { default_ms: 300 * s, max_ms: 3600 * s };
