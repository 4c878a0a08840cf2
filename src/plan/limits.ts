import { limits } from '../limits.ts';

/** The most that a plan may be and take: the maxima of 004 section 11, and ours, each with its reason. Units are part of the name. */

const KiB = 1024;
const MiB = 1024 * KiB;
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
  /** 100 checkpoints with a hundred states each stay far below. */
  manifest_bytes: 16 * MiB,
  journal_bytes: 16 * MiB,
  /** The longest line names each path of a plan once, and stays far below: no write of ours leaves a longer torn line. */
  journal_line_bytes: MiB,
  /** One report. The manifest of a hundred files is far smaller. */
  report_bytes: 16 * MiB,
  /** How long a rollback is kept ready unless the configuration says otherwise. */
  manifest_ttl_ms_default: 30 * 24 * 3600 * 1000,
  /** Edits that are prepared before their turn: they take room on the disk. */
  prefetch_bytes: 64 * MiB,
  /** With an action that has less time than this, nothing is prepared before its turn: preparing delays all others. */
  prefetch_timeout_ms: 5_000,
  /** Old and new text of a diff together: its lines fit in memory several times over. */
  diff_chars: 32 * MiB,
  /** The beginning of a diff in a report. More is searched for secrets than is shown: the cut must not leave half of one. */
  diff_preview_chars: 500,
  diff_searched_chars: 4096,
  /** All diffs of one plan: far more than a person reads, little enough to hold in memory. */
  preview_chars: 64 * MiB,
  /** The same in lines: a page that draws them all has a height that every browser can hold. */
  preview_lines: 1_000_000,
  /** Plans whose diffs are kept for those who read them part by part. */
  kept_previews: 2,
  /** A path: far above what people write, below what every Linux file system takes. */
  path_bytes: 1024,
  name_bytes: 255,
  path_depth: 64,
  /** Problems that are listed; the rest is counted: a file of commas must not become a million objects. */
  problems: 1000,
  /** Patterns of a configuration. */
  patterns: 1000,
  /** Actions of a plan: a person reads each one. */
  actions: 1000,
  /** Attributes that a process remembers, of all its runs. Others are read again. */
  kept_attributes: 20_000,
  /** Larger files are written one at a time: four of them waiting for the disk would all be in memory. */
  together_bytes: MiB,
} as const;

/** The most an edit accepts, each with its reason. */
export const editLimits = {
  /** 004 section 11.2: a file larger than this is not touched. */
  file_bytes: planLimits.file_bytes,
  /** A YAML file is parsed twice into a tree that takes some 200 times its size. */
  yaml_bytes: limits.yaml_bytes,
  /** Words and marks of a YAML file: blank lines and dashes cost as much as text. */
  yaml_tokens: 400_000,
  /** Documents of a YAML file: each is parsed by itself, and compared before and after. */
  yaml_documents: 10_000,
  /** Anchors and aliases of a YAML file: each one is looked for among all others. */
  yaml_anchors: 2_000,
  /** Nesting of a JSON file. Far above what people write, far below any stack. */
  json_depth: 256,
  /** Nesting of a YAML file: flow collections, and the column where a block collection may start. */
  yaml_flow_depth: 64,
  yaml_block_columns: 512,
  /** A pattern, a replacement, a path, inserted lines: what a person can review. */
  pattern_chars: 4 * KiB,
  regex_chars: 1 * KiB,
  path_chars: 1 * KiB,
  text_chars: limits.json_string_chars,
  /** Replacements in one edit: unless the plan says otherwise, and at most. */
  matches_default: 1_000,
  matches: 100_000,
  /** Groups in one replacement: each is looked up at each match. */
  replacement_groups: 100,
  /**
   * One search is linear in the text, many searches may each read it to the end. This bounds characters times
   * program size over all searches; the slowest expressions run some 40 million of these a second.
   */
  regex_steps: 400_000_000,
  /** A path that searches visits every value, and pays for its depth: some 12 million of these a second. */
  path_steps: 30_000_000,
  /** The check of a draft-07 `enum` compares all pairs. */
  schema_array_items: 10_000,
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
