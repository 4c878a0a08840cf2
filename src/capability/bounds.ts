const KiB = 1024;

/** The most a capability may be, each with its reason. */
export const bounds = {
  /** One signed block: some two hundred paths. A wider scope is said with folders. */
  block_chars: 16 * KiB,
  /** A whole chain, which is read at every run. */
  chain_chars: 64 * KiB,
  /** The first block and seven times narrower: from a person through agents and their sub-agents. */
  blocks: 8,
  header_bytes: 256,
  /** Entries of one list in a scope. */
  entries: 256,
  /** Files in the conditions: each is looked at several times a second while the action runs. */
  files: 16,
  path_chars: 4096,
  /** How old a holder's proof may be. A capability is good for one run, so a replay gains nothing within it. */
  proof_age_ms: 60_000,
  /** The end of the year 9999, the last that an ISO time of four digits can say. */
  time_s: 253_402_300_799,
} as const;
