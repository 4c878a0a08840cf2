/** The most Keyturn accepts, each with its reason. Units are part of the name. */

const KiB = 1024;
const MiB = 1024 * KiB;

export const limits = {
  /** One JSON document from outside. An envelope is a few KiB; more is a mistake or an attack. */
  json_bytes: 1 * MiB,
  /** Nesting of a JSON document. Far above any envelope, far below any stack. */
  json_depth: 64,
  /** One string inside a JSON document: what one argument can hold on Linux is 128 KiB. */
  json_string_chars: 128 * KiB,
  /** A registry or a config file. A thousand tools fit; a human must be able to read it. */
  yaml_bytes: 1 * MiB,
  /** A line of a lane queue. Its longest legal form is under 500 bytes. */
  queue_line_bytes: 64 * KiB,
  /** A lane queue file, read whole: about ten million lines. */
  queue_file_bytes: 1024 * MiB,
  /** The text of a lane intent. */
  intent_text_bytes: 1 * MiB,
  /** A declared goal or a reason: what a person reads before deciding. */
  prose_chars: 4 * KiB,
  /** The name of a principal, a tool or a parameter. */
  name_chars: 64,
  /** Tools in one registry, and parameters of one tool. */
  tools: 1000,
  parameters: 64,
  bindings: 100_000,
  /** All of argv. The kernel's own limit is 2 MiB with the environment. */
  argv_bytes: 512 * KiB,
  /** Captured output of one stream: kept in the store for good, shown to a person. */
  output_bytes: 4 * MiB,
  output_bytes_default: 256 * KiB,
  /** One stored object: the largest file that a plan may bring (004 section 11.2), sealed. */
  object_bytes: 50 * MiB + 1 * KiB,
  /** A proof with its objects, read whole: the outputs of several attempts, and of no more than an intent can have. */
  bundle_bytes: 128 * MiB,
  /** How long a grant is decided again because the count that it rests on moved. Many rounds; a caller still waits for it. */
  grant_decision_ms: 30_000,
  /** How long a tool may run. */
  timeout_s: 3600,
  timeout_s_default: 60,
  /**
   * What a sandboxed tool may use unless its registry entry says otherwise. Memory is that of each process: enough for
   * node, python and a compiler, and one that runs away does not take the machine. Threads count as processes.
   */
  sandbox_memory_mb_default: 4096,
  sandbox_processes_default: 256,
  sandbox_open_files_default: 1024,
  sandbox_file_mb_default: 1024,
  /** /tmp and /dev/shm are in memory, and count against no process. */
  sandbox_tmp_mb_default: 256,
  /** Folders beneath the binds of one run: each is searched for the keys of another project first. Takes a second or two. */
  sandbox_folders: 20_000,
  /** In folders that a tool may only read. Each is covered by a mount of its own. */
  sandbox_sockets: 256,
  /** An executable is hashed whole before each run. */
  executable_bytes: 1024 * MiB,
  /** Files that `covers` of one tool names: each is hashed at every look, and all their digests fit into one effect. */
  covered_files: 4_000,
  /** Names that are looked at to find them. A pattern that begins with ** in a large tree is refused, not walked for minutes. */
  covered_names: 50_000,
  /** Links on the way. Two that lead to each other's folder would be followed for ever. */
  covered_links: 2_000,
  /** All covered files together. */
  covered_bytes: 256 * MiB,
  /** One ledger entry: facts hold digests, not contents. */
  entry_bytes: 64 * KiB,
  /** Objects that are smaller are never removed by gc: the entry that would say so takes about half as much, for good. */
  gc_object_bytes: KiB,
  /** How long an intent and an approval live when nobody says otherwise, and at most. */
  intent_ttl_s_default: 24 * 3600,
  intent_ttl_s: 30 * 24 * 3600,
  approval_ttl_s_default: 3600,
  approval_ttl_s: 7 * 24 * 3600,
  /** How long a capability lives when nobody says otherwise, and at most. It never outlives its intent. */
  capability_ttl_s_default: 5 * 60,
  capability_ttl_s: 3600,
  /** Capabilities of one intent that are neither used nor taken back. One is enough; a violation names all of them. */
  outstanding_capabilities: 16,
  /** A file that a condition names is hashed several times a second while the action runs. */
  condition_file_bytes: 4 * MiB,
  /**
   * Proposals of one source that wait for a human, and how many it may make within a minute, when keyturn.yaml does not say otherwise, and at
   * most. A person reads a hundred; an agent that proposes faster than two a second is stuck in a loop.
   */
  pending_proposals_default: 100,
  pending_proposals: 10_000,
  proposals_minute_default: 120,
  proposals_minute: 100_000,
  /** How long a delegation holds at most, and how often it can be passed on. */
  delegation_ttl_s: 90 * 24 * 3600,
  delegation_depth: 4,
  /** Policies in one set: a human must be able to read them. */
  policies: 500,
  /** How long a freeze, a revocation or a violation can go unseen by a run. */
  watch_ms: 200,
  /** How far the clock may be behind the newest ledger entry before nothing that expires is judged. */
  clock_skew_ms: 5_000,
  /** How many differences are named where a value is not what it was: a person reads them, and one is enough to refuse. */
  named_differences: 8,
  /**
   * How far the clock may step ahead of the time that passed since the last entry. ntpd, too, steps no further by itself and
   * leaves more to a human.
   */
  clock_step_ms: 1_000_000,
  /** A key file can be copied and then guessed without a limit of tries. Shorter ones are mostly a word and some digits. */
  passphrase_chars_min: 12,
  passphrase_bytes: 1024,
  /** How many guesses a passphrase must cost, as a power of ten. At 0.4 s for each, 10 is 127 years of one core. */
  passphrase_guesses_log10: 10,
  /** How long a commit waits for another process that holds the store. */
  store_busy_ms: 30_000,
  /** The fewest that RFC 7677 allows. A server that is not verified could ask for one, and guess the password from the proof. */
  scram_iterations: 4096,
} as const;
