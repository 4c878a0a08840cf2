import { limits } from '../../limits.ts';
import { planLimits } from '../limits.ts';

/** The most an edit accepts, each with its reason. Units are part of the name. */

const KiB = 1024;

export const bounds = {
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
