import { limits } from '../limits.ts';

/** The most that a policy set may hold, each with its reason. */
export const policyLimits = {
  files: 64,
  /** One file is one string of the stored set, and a stored string is never longer. */
  file_bytes: limits.json_string_chars,
  /** The stored set is one document like any other. */
  set_bytes: limits.json_bytes,
  policies: 500,
  quorums: 64,
  seats: 9,
  tests: 1000,
  /**
   * How deep one policy may nest, see nesting.ts. Cedar, compiled to WebAssembly, runs out of its stack at twice this
   * and then answers nothing for the rest of the process.
   */
  nesting: 100,
  /** What Cedar says about an error can quote the input. */
  message_chars: 300,
} as const;
