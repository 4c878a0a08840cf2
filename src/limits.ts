/**
 * Every limit of Keyturn, each with its reason. A limit is a bound that a caller, a file or a moment can meet: the most bytes, rows or tries,
 * how long something is waited for, how often it is looked at, how long it is kept and how many are remembered. Units are part of the name.
 * What is no limit stands with its code: a constant of a format, a protocol or a kernel, a scale, a unit of time, the layout of a screen, and
 * the weights of a search.
 */

const KiB = 1024;
const MiB = 1024 * KiB;
/** Of these `editLimits` has the same. If it read them from another list, both would be in every page of the console. */
const JSON_STRING_CHARS = 128 * KiB;
const YAML_BYTES = 1 * MiB;
const PLAN_FILE_BYTES = 50 * MiB;

export const limits = {
  /** One JSON document from outside. An envelope is a few KiB; more is a mistake or an attack. */
  json_bytes: 1 * MiB,
  /** Nesting of a JSON document. Far above any envelope, far below any stack. */
  json_depth: 64,
  /** One string inside a JSON document: what one argument can hold on Linux is 128 KiB. */
  json_string_chars: JSON_STRING_CHARS,
  /** A registry or a config file. A thousand tools fit; a human must be able to read it. */
  yaml_bytes: YAML_BYTES,
  /** What V8 keeps of the command line, compiled, and reads at each start, 7 ms for each MiB: three commands that look, and some more. */
  code_cache_full_bytes: 1.75 * MiB,
  /** The largest such file that is read. With all commands it would be 4 MiB; more is not ours. */
  code_cache_bytes: 8 * MiB,
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
  /** The id of a conversation, which its caller chooses; those of others are shorter. */
  id_chars: 128,
  /** Tools in one registry, and parameters of one tool. */
  tools: 1000,
  parameters: 64,
  bindings: 100_000,
  /** Items of an argument that is a list. */
  list_items: 10_000,
  /** All of argv. The kernel's own limit is 2 MiB with the environment. */
  argv_bytes: 512 * KiB,
  /** Captured output of one stream: kept in the store for good, shown to a person. */
  output_bytes: 4 * MiB,
  output_bytes_default: 256 * KiB,
  /** What one answer about a run that goes on holds of each stream, and how long such an answer may be waited for. */
  live_bytes: 64 * KiB,
  live_wait_s: 20,
  /** The steps of a plan while it goes on: two lines of 200 bytes for each of its actions, and some more. */
  live_steps_bytes: 256 * KiB,
  /** What hosts tell each other of runs that go on: how long a word is kept, of how many runs, and how often one tells how far it has come. */
  run_words_ms: 3_600_000,
  run_words: 10_000,
  run_told_ms: 250,
  /** A run that is over sooner is in the record before a reader could open its spool. */
  spool_after_ms: 100,
  /** A secret of the executor. A private key has 4 KiB; under 8 bytes one would be found in output that has nothing to do with it. */
  secret_bytes: 8 * KiB,
  secret_bytes_min: 8,
  /** The longest escape of one character that is read in output: two halves, each with three `%255C` (JSON in JSON, in a URL in a URL), `u` and four digits. */
  escape_bytes: 40,
  secrets: 1000,
  /** How long the command that gives a secret may take. */
  secret_timeout_s: 60,
  secret_timeout_s_default: 10,
  /** How long one attempt to notify may take, in all. */
  notify_timeout_s: 60,
  notify_timeout_s_default: 10,
  notify_targets: 64,
  /** One stored object: the largest file that a plan may bring (004 section 11.2), sealed. */
  object_bytes: 50 * MiB + 1 * KiB,
  /** A proof with its objects, read whole: the outputs of several attempts, and of no more than an intent can have. */
  bundle_bytes: 128 * MiB,
  /** How long a grant is decided again because the count that it rests on moved. Many rounds; a caller still waits for it. */
  grant_decision_ms: 30_000,
  /** What one executor can be called by besides its name. */
  executor_labels: 16,
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
  /** What an entry may say: more than any machine has, and as little as a program can start with. */
  sandbox_memory_mb: 16 * MiB,
  sandbox_memory_mb_min: 16,
  sandbox_processes: 100_000,
  sandbox_open_files: 1 * MiB,
  sandbox_open_files_min: 16,
  sandbox_file_mb: 1 * MiB,
  sandbox_tmp_mb: 1 * MiB,
  /** Folders beneath the binds of one run: each is searched for the keys of another project first. Takes a second or two. */
  sandbox_folders: 20_000,
  /** In folders that a tool may only read. Each is covered by a mount of its own. */
  sandbox_sockets: 256,
  /** An executable is hashed whole before each run. */
  executable_bytes: 1024 * MiB,
  /** The kernel looks at no more of the first line of a script. */
  script_line_bytes: 256,
  /** A file is hashed, and one that is only read is read, in pieces. One of the second kind is larger than the longest line of a queue. */
  hash_piece_bytes: 1 * MiB,
  read_piece_bytes: 256 * KiB,
  /** Digests of files that a process remembers: all that one tool covers, and the programs of a registry. */
  remembered_digests: 8_000,
  /** A file or a folder that changed this recently may change again without its times showing it. */
  settled_ms: 2_000,
  /** Files that `covers` of one tool names: each is hashed at every look, and all their digests fit into one effect. */
  covered_files: 4_000,
  /** Names that are looked at to find them. A pattern that begins with ** in a large tree is refused, not walked for minutes. */
  covered_names: 50_000,
  /** Links on the way. Two that lead to each other's folder would be followed for ever. */
  covered_links: 2_000,
  /** All covered files together. */
  covered_bytes: 256 * MiB,
  /** Most are small, and are read in one piece. */
  covered_piece_bytes: 64 * KiB,
  /** How many names a message holds. The effects themselves have them all. */
  named_files: 5,
  /** What a browser writes around a challenge. Chromium and Firefox need 100 to 300 bytes. */
  client_data_bytes: 4 * KiB,
  /** 37 bytes, and what extensions add. Keyturn asks for none, and a few authenticators answer all the same. */
  authenticator_data_bytes: 1 * KiB,
  /** At enrolment it also holds the credential id and the key, which takes 550 bytes at most. */
  enrolment_data_bytes: 4 * KiB,
  /** WebAuthn's own limit. */
  credential_id_bytes: 1023,
  /** A signature by RSA with 4096 bits. */
  passkey_signature_bytes: 512,
  /** A host name, an address on localhost, and a few that follow a move. */
  passkey_origins: 8,
  /** Acts in one touch. Each entry holds the whole list, so a hundred take 700 KiB, and each entry 7 of its 64 KiB. */
  touch_acts: 100,
  /** Entries that one signature of the control plane covers: those of one commit, of which it decides two at most. */
  control_covers: 8,
  /** One ledger entry: facts hold digests, not contents. */
  entry_bytes: 64 * KiB,
  /** Objects that are smaller are never removed by gc: the entry that would say so takes about half as much, for good. */
  gc_object_bytes: KiB,
  /** How long an intent and an approval live at most; keyturn.yaml has what they live unless told otherwise. */
  intent_ttl_s: 30 * 24 * 3600,
  approval_ttl_s: 7 * 24 * 3600,
  /** After so long without a word a verification forgets a conversation whose plans are over: one that goes on later costs another reading. */
  conversation_rests_s: 30 * 24 * 3600,
  /** How long a capability lives at most. It never outlives its intent. */
  capability_ttl_s: 3600,
  /** How long a prompt of a conversation waits for its yes unless told otherwise, and at most. */
  prompt_ttl_s_default: 15 * 60,
  prompt_ttl_s: 24 * 3600,
  /** The most that is shown of what a read printed. */
  result_chars: 4000,
  /** The longest goal or answer: several times a spoken minute. */
  utterance_chars: 2000,
  /** How long a simulation is active, unless told. */
  active_s_default: 30 * 24 * 3600,
  /** A capability of the agent core is used at once, so it need not live long. */
  agent_capability_ttl_s: 60,
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
  /**
   * Requests of one caller of a service within a minute, those that are answered at one time, and its streams, when keyturn.yaml does not say
   * otherwise, and at most. A hundred a second is more than an agent needs that waits for a human.
   */
  requests_minute_default: 6_000,
  requests_minute: 10_000_000,
  requests_at_once_default: 128,
  requests_at_once: 10_000,
  streams_default: 16,
  streams: 2_000,
  /** Lines of the log about refusals with one code, each minute: callers that have proven nothing cause some of them, and none may fill the disk. */
  refused_lines_minute: 120,
  /** Parts of a diff in one answer. */
  hunks_answer: 240,
  /** Of the contents whose diffs a page compares with the digests of a plan. */
  diff_text_bytes: 4 * MiB,
  /** Connections to a service: all of them, at all of its addresses, and those from one address, which leave some to others. */
  connections: 2_048,
  connections_each: 1_536,
  /** How long a delegation holds at most, and how often it can be passed on. */
  delegation_ttl_s: 90 * 24 * 3600,
  delegation_depth: 4,
  /** That one human can have at a time: a few devices, a key file, a recovery key, and some that are being replaced. */
  credentials: 16,
  /** That one agent can have at a time: one for each place where it runs, and some that are being replaced. */
  tokens: 16,
  /** How long a freeze, a revocation or a violation can go unseen by a run. */
  watch_ms: 200,
  /** Where the store tells that others wrote, the next look comes sooner, but not sooner than this after the last one. */
  watch_told_ms: 50,
  /** How long one look for them may take before the run is ended. */
  watch_late_ms: 2_000,
  /** How long an act may be committed after it was drawn up: time for a person to look and touch, not for the world to change. */
  act_wait_s: 120,
  /** How old the signature of a request may be: time for a slow line, and little to replay it in elsewhere. */
  message_signature_s: 60,
  /** Orders that an executor has begun with beside those that run: each may wait for a plan that shares a path with it. */
  waiting_runs: 32,
  /** How often an executor says that it runs, and after how long without a word it is taken for gone. */
  beat_ms: 5_000,
  beat_missed_ms: 15_000,
  /** How long a service is not ready after a write that a server refused: there may be room again, and only what is sent to it shows that. */
  write_failed_ms: 15_000,
  /** How far the clock may be behind the newest ledger entry before nothing that expires is judged. */
  clock_skew_ms: 5_000,
  /** How many differences are named where a value is not what it was: a person reads them, and one is enough to refuse. */
  named_differences: 8,
  /** The same of the rows of a store. One is enough to act on; a page of them shows the pattern. */
  named_rows: 20,
  /** What a story tells of an intent that was changed: places that differ, and characters of each value. */
  told_changes: 20,
  told_value_chars: 200,
  /**
   * How far the clock may step ahead of the time that passed since the last entry. ntpd, too, steps no further by itself and
   * leaves more to a human.
   */
  clock_step_ms: 1_000_000,
  /** A key file can be copied and then guessed without a limit of tries. Shorter ones are mostly a word and some digits. */
  passphrase_chars_min: 12,
  passphrase_bytes: 1024,
  /** How much of it is judged: far more than anything that is guessed early, and what follows cannot make it weaker. */
  passphrase_judged_bytes: 128,
  /** How often a terminal asks for a passphrase, a yes or a no, or what has to be typed before something is done. */
  tries: 3,
  /** How many guesses a passphrase must cost, as a power of ten. At 0.4 s for each, 10 is 127 years of one core. */
  passphrase_guesses_log10: 10,
  /** How long a commit waits for another process that holds the store. */
  store_busy_ms: 30_000,
  /** The fewest that RFC 7677 allows. A server that is not verified could ask for one, and guess the password from the proof. */
  scram_iterations: 4096,
  /** Node fires a timer that is longer at once. */
  timer_ms: 2 ** 31 - 1,
  /** Nesting of a YAML document: flow collections, and the column where a block collection may start. The parser recurses, so the lexer checks first. */
  yaml_flow_depth: 32,
  yaml_block_columns: 120,
  /** One value of a tool call, and the items of a list, when the registry does not say otherwise. */
  argument_chars_default: 4096,
  argument_items_default: 100,
  /** The kernel follows at most this many interpreters of interpreters, and this many links in a path. */
  interpreters: 4,
  path_links: 40,
  /** All attributes of one file: the kernel allows 64 KiB for the names and 64 KiB for each value. */
  attribute_header_bytes: 4 * MiB,
  /** The kernel reads no longer program table, no longer name of a loader, and no longer note. */
  elf_table_bytes: 65_536,
  elf_path_bytes: 4_096,
  elf_note_bytes: 1_024,
  /** What bubblewrap writes about the child that it started. */
  child_status_bytes: 4096,
  /** How long the trial whether a sandbox can be made here may take. */
  sandbox_trial_ms: 10_000,
  /** Children that only look, such as tar: so many count as one run before a helper is started. One command of a person starts a few. */
  looks_a_run: 4,
  /** How much later than the run itself the answer of the process that starts children may come. */
  starter_answer_ms: 5_000,
  /** A child that prints in small pieces must not cost a message for each, and one that is over soon costs none. */
  starter_gather_ms: 50,
  /**
   * After the program has ended, output that is still in the pipe is read until it pauses this long, and at most so often: a process that
   * escaped and writes for ever must not hold us.
   */
  drain_ms: 50,
  drain_rounds: 40,
  /** How long what a server wrote is read after it ended, or after it closed its output. */
  last_output_ms: 500,
  /** How much later than the wait for a lock itself the answer of flock(1) may come. */
  flock_late_ms: 5_000,
  /** How long a verifier of the lane may run, and what is kept of its standard error: enough for bubblewrap to say why it did not start. */
  verifier_timeout_ms: 60_000,
  verifier_stderr_bytes: 4096,
  /** Node cannot make a FIFO, so mkfifo(1) makes this many with one call. A spare one that is older was left by a process that died. */
  spare_run_locks: 16,
  spare_run_lock_ms: 3_600_000,
  /** How long mkfifo(1) may take. */
  mkfifo_ms: 5_000,
  /** The file that keeps the newest head of the ledger. */
  head_file_bytes: 1024,
  /** How long the commits of one process gather before the head is written. After a crash before that, the head is an older one. */
  head_gather_ms: 50,
  /** A reader and a writer can meet in the middle of a line. The writer is done at once, so the second look is whole. */
  head_looks: 3,
  /** How long is waited for the lock of what one process of a host does at a time. Another process may hold it for a moment, only to see whether it is held. */
  alone_ms: 1_000,
  /** Nonces that a file takes before those that are over are left out of it. */
  nonce_lines: 20_000,
  /**
   * What services share beside the ledger, of one kind: the places of targets, the last uses of tokens. Kept for longer than a service is away,
   * and more than there are targets and tokens.
   */
  shared_row_ms: 365 * 86_400_000,
  shared_rows: 10_000,
  /** Uses of a token this soon after the last one that was kept are not kept. */
  token_use_ms: 60_000,
  /** Signatures of one note. Its specification asks for at least 16; a ledger signs once, the rest is for witnesses. */
  note_signatures: 16,
  /** How long a break-glass holds. An emergency that lasts longer is looked at again. */
  break_glass_ms: 3_600_000,
  /** How long a breach of a figure can be accepted. For longer it is another target. */
  waiver_days: 30,
  /** Users that are counted for one request that no simulation serves. The state of one fingerprint stays small. */
  intake_users: 1000,
  /** Plans of one conversation, so that its state stays small. */
  conversation_plans: 16,
  /** What Node takes beside the derivation of a key from a passphrase. */
  unlock_memory_bytes: 64 * MiB,
  /** Decisions of the policies that are remembered: a few tools, people and actions ask the same again, and so do the rows of a list. */
  remembered_policy_sets: 2_048,
  /** Intents whose derived effects a process remembers: as many as callers may work on at once. */
  remembered_contexts: 256,
  /** Public keys that stay imported. */
  remembered_keys: 256,
  /** Signatures that a long-lived process remembers as verified. */
  remembered_claims: 100_000,
  /** How often a copy follows a source that goes on growing, and how many bytes of objects it takes at once. */
  copy_rounds: 10,
  copy_batch_bytes: 8 * MiB,
  /** Commits in one transaction, and their bytes: a batch must not hold the lock of the chain for long. */
  commit_batch: 128,
  commit_batch_bytes: 16 * MiB,
  /** Callers that learn in one turn of the event loop what became of their commits: what each does next takes half a millisecond. */
  answers_turn: 16,
  /** A claim or a subject: what fits into an index of PostgreSQL, with room to spare. */
  postgres_key_bytes: 2_000,
  /** Rows that a connection keeps from one commit to the next. A few KiB each. */
  kept_rows: 2_000,
  /** Answers of a service that are given again while nothing was written. A few KiB each. */
  kept_answers: 1_000,
  /** Rows that a rebuild keeps in memory: most intents are over before as many others began, and are written once. */
  folded_rows: 10_000,
  /** Intents and conversations that stay folded, and entries that stay in memory, while a ledger is read from its beginning. */
  folded_parts: 1_000,
  folded_entries: 1_000,
  /** Entries that are not read again: the keys and policies of a project are needed for every intent. */
  remembered_entries: 1_000,
  /** Readings that forget. A ledger that looks at forgotten rows after that is read once more, and all of it is kept. */
  forgetful_reads: 3,
  /** Entries whose digests are held in memory at once. A longer ledger is read more than once. */
  objects_together: 250_000,
  /** Entries per read. Each read is a transaction of its own, so that a slow reader blocks neither the WAL nor the cleaning of the server. */
  read_batch: 1000,
  /** Entries that a reader is given together: what is slow with each of them, such as a signature, still takes less than a turn. */
  walked_together: 50,
  /** How long one turn of the event loop may go on with long work before others have theirs. */
  turn_ms: 10,
  /** Objects per read of a rebuild. Each may be as large as an object can be, where an attacker wrote the table. */
  rebuild_objects: 20,
  /** Rows that a command prints at most, however many are asked for. */
  printed_rows: 10_000,
  /** Newest entries in which the conversation of an intent is looked for: more than wait for an approver at once. */
  conversation_entries: 1_000,
  /** Moves of one conversation that its story tells, oldest first. */
  conversation_moves: 1_000,
  /** Goals of users, newest first, by which a simulation that is registered is tried. */
  tried_goals: 200,
  /** Rows in one page of a list, at most and unless told. */
  page_rows: 1000,
  page_rows_default: 50,
  /** Values that a page is read by: each is a part of the statement. */
  page_values: 100,
  /** Waiting intents that a service counts for its operator. */
  queue_counted: 10_000,
  /** Rows in each list of what needs a human. A human does not work through more; `list` says how many there are. */
  status_rows: 1000,
  /** Recent decisions that are asked again when policies change, unless told. */
  asked_again: 1000,
} as const;

/** The most that one field of a schema may hold, each with its reason. Names, ids and prose have theirs in `limits`. */
export const fieldLimits = {
  /** A path, and a word of a command: the most that Linux takes for a path. */
  path_chars: 4 * KiB,
  /** A host, a user, a ledger or a file without its folder: the most that a file name can have. */
  host_chars: 255,
  /** An origin: the longest host name that DNS knows, with a scheme and a port. */
  origin_chars: 300,
  url_chars: 2 * KiB,
  /** The address of a service, what it gives for a session, and the folder of a report. */
  address_chars: 512,
  /** A key as SPKI in base64: RSA with 4096 bits takes 736. */
  spki_chars: 800,
  /** A signature in base64: RSA with 4096 bits takes 684. */
  proof_chars: 1 * KiB,
  /** What a browser answers for a new passkey, in base64url: `enrolment_data_bytes` with room. */
  passkey_chars: 8 * KiB,
  /** An action, a checkpoint, what a freeze stops, and a reference to something else. */
  reference_chars: 128,
  /** For whom a capability is, and what a decision is about: a name with its kind. */
  subject_chars: 256,
  /** A version, and a time. */
  version_chars: 32,
  /** A language, and a signal. */
  word_chars: 16,
  /** A link, a title or a text that is searched for: one line. */
  line_chars: 200,
  /** A pattern is compiled at each look. */
  pattern_chars: 1 * KiB,
  /** An argument or a variable that the registry fixes. */
  value_chars: 32 * KiB,
  /** The beginning of a diff, in a report. */
  preview_chars: 500,
  /** Entries of a list that a person reads as a whole: actions, fields, steps, people. */
  listed: 64,
  /** Paths, secrets, patterns and names in one entry of a registry. */
  registered: 100,
  /** Values that a person does not read one by one: arguments, choices of a parameter, paths of a rollback. */
  values: 1_000,
  /** Of one human. */
  roles: 16,
  /** Other tools that a human may turn to after a failure. */
  alternates: 8,
  /** Networks that are not public and may be connected to. */
  networks: 32,
} as const;

/** The most a capability may be, each with its reason. */
export const capabilityLimits = {
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
  /** Verified tokens that a process remembers: those of the runs that begin at once. */
  remembered_tokens: 128,
} as const;

/** The most that a policy set may hold, each with its reason. */
export const policyLimits = {
  files: 64,
  /** One file is one string of the stored set, and a stored string is never longer. */
  file_bytes: limits.json_string_chars,
  /** The stored set is one document like any other. */
  set_bytes: limits.json_bytes,
  /** Policies in one set: a human must be able to read them. */
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
  /** Policies that an explanation names beside the first. */
  named: 4,
} as const;

/** The most that SQL may ask for. Times are those of 004 section 11.1, the file size that of section 11.2. */
export const sqlLimits = {
  text_bytes: MiB,
  statements: 1000,
  parameters: 256,
  timeout_ms: 300_000,
  timeout_ms_default: 60_000,
  memory_mb: 8192,
  memory_mb_default: 512,
  threads: 4,
  threads_default: 2,
  rows: 10_000,
  rows_default: 1000,
  /** Rows as JSON: they go into a report that a person reads. */
  rows_bytes: 4 * MiB,
  /** Files and folders in a readable folder: each is looked at before a run. */
  readable_entries: 10_000,
  /** The child that holds a lock does nothing else: one that does not answer in this time is as good as dead. */
  lock_answer_ms: 20_000,
  file_mb: 1024,
  file_mb_default: 50,
  /** What is kept of the standard error of the SQL runner. */
  stderr_bytes: 4096,
  /** An answer of the SQL runner: the rows, escaped twice. */
  answer_bytes: 16 * MiB,
  /** A message of DuckDB. */
  message_chars: 500,
} as const;

/** The most that a service keeps and waits for, each with its reason. What its owner may set stands in `limits`. */
export const webLimits = {
  /** Verbs that are described for /openapi.json in one turn of the event loop: each takes half a millisecond. */
  described_turn: 16,
  /** A link from the terminal, or from an identity provider, is opened at once. */
  link_ms: 5 * 60_000,
  /** A working day. A session only reads: acts are signed each. */
  session_ms: 12 * 3_600_000,
  /** More windows than the people of one ledger have. The oldest goes. */
  sessions: 1_024,
  /** Time to find the phone. The second touch and the human who vouches have the two minutes of the act itself. */
  enrolment_ms: 10 * 60_000,
  /** More than a team enrols at once. The oldest goes. */
  enrolments: 64,
  /** Time to type a password and find a second factor. */
  login_ms: 10 * 60_000,
  /** Logins that ended, which end no second time. The oldest goes: it is one that its provider would not end again either. */
  logins: 1_024,
  /** Keys of logins, one for each `login_ms`; two count at a time, more where the clocks of hosts differ. */
  login_keys: 8,
  /** How long an answer is waited for unless told: shorter than most proxies keep a request open. */
  wait_s_default: 25,
  wait_s: 60,
  /** More callers than one project has. Those that are full again are forgotten first. */
  callers: 10_000,
  /** How long what runs may take to end, once the service or the executor is told to stop. */
  grace_ms: 10_000,
  /** How often a stream sends a line on which nothing happens, so that no proxy closes it as idle, and looks whether its caller is still one. */
  quiet_ms: 15_000,
  /** Entries in one piece of a stream: each piece costs a look at the caller and a write, and a hundred streams hear of every commit. */
  event_batch: 64,
  /** Callers whose verbs are kept ready, in each project. */
  faces: 1_000,
  /** How old a count that an operator is shown may be: counting costs a look at every intent that waits. */
  counted_kept_ms: 1_000,
  /** The pause before an executor inside the service that failed is started again. */
  executor_again_ms: 1_000,
  /** For the page to hear that the project is founded, before its service ends. */
  founding_grace_ms: 1_500,
  /** A connection that sends slowly is closed: a few must not keep all others out. */
  headers_ms: 10_000,
  request_ms: 30_000,
  keep_alive_ms: 5_000,
  slow_look_ms: 2_000,
  headers_bytes: 16 * KiB,
  /** A body before it is known who sends it: all connections can hold one at a time. What a passkey answers has some KiB. */
  unproven_body_bytes: 64 * KiB,
  /** A connection of which nothing was read for so long, while an answer waits in it, is closed. */
  unread_ms: 60_000,
  /** Of answers that one caller was given and has not read. The largest one has some 48 MiB: what a tool printed, as JSON. */
  unread_bytes: 64 * MiB,
} as const;

/** How long a PostgreSQL server is waited for, each with its reason. */
export const postgresLimits = {
  connect_ms: 10_000,
  /** What the network may take beyond the statement itself. */
  network_ms: 10_000,
  /** What a statement may take beyond waiting for a lock. */
  work_ms: 30_000,
  /** The longest statement of a rebuild compares two tables. Whatever takes longer has no answer to wait for. */
  patient_ms: 5 * 60_000,
  /** Between two statements of a transaction there is only computing. A session that takes longer has died. */
  idle_ms: 30_000,
  /** After so long without a word the other side is asked for one, and given so long for it. */
  quiet_ms: 5_000,
  quiet_answer_ms: 3_000,
  /** A connection on which nothing happens is probed after so long, to find out that the other side is gone. */
  probe_ms: 10_000,
  /** A server that is cut off from us never closes its side. */
  close_ms: 1_000,
  /** How long a second session is waited for. One that is not given has at least not been given ours. */
  second_session_ms: 2_000,
  /** How often a transaction that the server gave up is tried, and how long to wait for a server that is away. */
  tries: 5,
  pause_ms: 100,
  /** What a look may take at least. One that waits for a standby that is gone would wait for ever. */
  look_ms: 2_000,
  /** After another process was faster: so many batches take the lock at once, because it will write again. */
  wary_batches: 16,
  /** Rows that were missed and are loaded with the next decisions. */
  missed_rows: 16,
  /** Nonces that are taken before those that are over are removed. */
  nonces_taken: 1_000,
  /** How often other processes are told at most that the ledger grew. */
  notify_ms: 50,
  /** Closing a store waits no longer than this for the last of these to be told. */
  notify_last_ms: 1_000,
  /** How long beginning to listen for them may take. */
  listen_ms: 10_000,
  /** After a connection was lost: so soon, and less and less often while the server is away. */
  listen_again_ms: 500,
  listen_again_ms_most: 5_000,
} as const;

/** The most that `keyturn hook` takes from the client of an agent, each with its reason. */
export const hookLimits = {
  /** What a client says of one call. The decision of the policies repeats it, and is read back with `json_bytes`. */
  input_bytes: 512 * KiB,
  /** Clients take a hook that is late for a yes, after a minute at the earliest: the no comes before. */
  answer_ms: 25_000,
  /** The settings of a client. */
  settings_bytes: 1 * MiB,
  /** The file in which a client names its MCP servers: some keep a history in it. */
  client_file_bytes: 16 * MiB,
  /** How long Claude Code waits for a command at most, in its own setting. */
  command_ms: 600_000,
  /** What the settings say how long the client waits for the hook. */
  timeout_s: 60,
} as const;

/** The most that is taken from MCP servers and clients, each with its reason. */
export const mcpLimits = {
  /** Servers in keyturn.yaml. */
  servers: 64,
  /** Tools of one server: a human must be able to look at all of them. */
  tools: 1000,
  /** Pages of one list. A server that gives a cursor for ever is let go. */
  pages: 200,
  /** All definitions of one server, as canonical JSON: they are kept in the ledger's store, and shown. */
  definitions_bytes: 4 * MiB,
  /** The name of a tool, as its server has it. */
  tool_name_chars: 256,
  /** One line of a server: its largest answer, as JSON. What is recorded of an answer is `output_bytes`. */
  line_bytes: 8 * MiB,
  /** Nesting of a message of a server. Far above what servers answer, far below any stack: what writes JSON ends at some thousand levels. */
  message_depth: 256,
  /** Lines of a server that are no messages, since a request was sent or answered: some servers log to standard output. */
  garbage_lines: 1000,
  /** Answers to requests of a server that it has not read. Servers ask whether we live, and wait for the answer. */
  unread_answers: 100,
  /** The id of a request of a server, which the answer repeats. */
  request_id_chars: 256,
  /** What is kept of the standard error of a server. */
  stderr_bytes: 64 * KiB,
  /** How long a server may take to start and to list its tools. */
  start_ms: 30_000,
  /** How long a server may take to answer that it stopped, before it is ended. */
  cancel_ms: 1_000,
  /** The pause before a server that failed is started again, at first and at most. */
  backoff_ms: 500,
  backoff_ms_most: 60_000,
  /** A call, with its arguments, from a client. */
  message_bytes: 4 * MiB,
  /** How long a call waits for a human before the client is told that it has not run: most clients give up after 60 s. */
  hold_ms: 25_000,
  /** How long a call that a grant covers is waited for before its client, which follows tasks, gets a task. */
  task_hold_ms: 1_000,
  /** Resources that one client watches. */
  watched: 1_000,
  /** Messages to one client that it has not read: more are left out. */
  unread: 1_000,
  /** Sessions of one caller over HTTP, in one process: the one that was used longest ago is forgotten. */
  sessions: 100,
  /** How long a client may wait for the result of a task in one request. */
  task_wait_ms: 3_600_000,
  /** Calls of one client at once; more are told to wait. */
  at_once: 256,
  /** How long an end whose answer may not have been read is given again to the same call. */
  again_ms: 600_000,
  /** Answers to some of the questions of a server: of one call, as JSON; of all calls; and how long they are kept. A client is asked again for others. */
  answers_kept_chars: 64 * KiB,
  answers_kept: 1_000,
  answer_kept_ms: 86_400_000,
  /** The file with the marks of calls, before it is begun anew. */
  marks_bytes: 4 * MiB,
  /** Uses of one grant. There is no "always". */
  grant_uses: 10_000,
  /** A grant lives a day at most. */
  grant_ttl_s: 86_400,
  /** The schema of the arguments that a grant allows. */
  grant_schema_bytes: 64 * KiB,
  /** Comparisons of the arguments of one call with such a schema: the values of the one times the places of the other. The slowest take a second. */
  grant_steps: 2_000_000,
  /** The same of its patterns: characters times the size of the program. The slowest run some 40 million a second. */
  grant_pattern_steps: 20_000_000,
  /** What every client takes as the name of a tool. */
  client_name_chars: 64,
  /** The longest list of tools that is kept as it came. */
  kept_list_bytes: 1 * MiB,
  /** The last words of a server that failed: lines, and characters of each. What matters is often before the last line. */
  said_lines: 10,
  said_chars: 300,
  /** How often it is looked whether the run has begun, and how long one look at it waits for something new. */
  begun_look_ms: 250,
  progress_wait_ms: 5_000,
  /** How often a client is told to ask for a task. */
  task_poll_ms: 1_000,
  /** How often it is looked whether a list has changed. */
  list_look_ms: 500,
} as const;

/** The most that a plan may be and take: the maxima of 004 section 11, and ours, each with its reason. */
export const planLimits = {
  /** Paths that one plan changes: what a person can review. */
  files: 100,
  file_bytes: PLAN_FILE_BYTES,
  /** Files that one query may read. */
  readable: 16,
  /** Approvals that a task may ask for. */
  approval_threshold: 16,
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
  manifest_ttl_ms_default: 30 * 24 * 3_600_000,
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
  /** Paths whose protection is remembered while a plan is read. */
  kept_matches: 2_000,
  /** Actions of a plan: a person reads each one. */
  actions: 1000,
  /** Files whose attributes are asked for with one command line. */
  listed_together: 1000,
  /** What tar tells of them: a line each, with the name escaped. */
  listing_bytes: 4 * MiB,
  listing_ms: 60_000,
  /** Attributes that a process remembers, of all its runs. Others are read again. */
  kept_attributes: 20_000,
  /** Larger files are written one at a time: four of them waiting for the disk would all be in memory. */
  together_bytes: MiB,
  /** A service edits and compares smaller contents itself: a YAML file of this size takes 20 ms. */
  aside_bytes: 4 * KiB,
  /** How long one edit or comparison of a service may take, in a process beside it. The costliest that is accepted takes 10 s of an idle core. */
  aside_ms: 30_000,
  /** All YAML that the edits of one plan read: each parses its file three times, 5 ms for each KiB. */
  yaml_bytes: 2 * MiB,
  /** A larger content is searched for secrets in turns with other work. */
  turns_bytes: 256 * KiB,
  /** Enough around a change to see a whole line, unless the line is a whole file. */
  around_bytes: 4 * KiB,
  /** How much of a diff is read at a time: so many lines, or fewer where they are long. */
  slice_lines: 240,
  /** The fewest edits of a gap are searched for up to this number; the search takes its square. */
  diff_gap_edits: 128,
  /** How many lines a walk looks forward for the line where both lists agree again. Each step may take the square of it. */
  diff_forward_lines: 16,
  /** The clock that stamps files ticks every 10 ms at worst: one that changed this recently is read again. */
  settled_ms: 20,
} as const;

/** The most an edit accepts, each with its reason. */
export const editLimits = {
  /** 004 section 11.2: a file larger than this is not touched. */
  file_bytes: PLAN_FILE_BYTES,
  /** A YAML file is parsed twice into a tree that takes some 200 times its size. */
  yaml_bytes: YAML_BYTES,
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
  text_chars: JSON_STRING_CHARS,
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
  /** A colon is looked for this far from the place: enough for any key that people write. */
  colon_chars: 4 * KiB,
} as const;

export interface Timeout {
  readonly default_ms: number;
  readonly max_ms: number;
}

const FILE: Timeout = { default_ms: 30_000, max_ms: 120_000 };

export const actionTimeouts = {
  FILE_CREATE: FILE,
  FILE_MODIFY: FILE,
  FILE_DELETE: FILE,
  FILE_RENAME: FILE,
  SCHEMA_UPDATE: { default_ms: 30_000, max_ms: 60_000 },
  SQL_EXECUTE: { default_ms: 60_000, max_ms: 300_000 },
  PIPELINE_RUN: { default_ms: 300_000, max_ms: 3_600_000 },
} as const satisfies Record<string, Timeout>;

export const planTimeout: Timeout = { default_ms: 300_000, max_ms: 3_600_000 };

/** How much a step of a journey reads and tries, and how long it waits, each with its reason. */
export const journeyLimits = {
  /** How often a commit is decided again after another one came before it. */
  commit_tries: 5,
  /** The longest pause between two decisions of a grant, of all those that `grant_decision_ms` allows. */
  grant_pause_ms: 64,
  /** Intents of a tool that are looked at for an earlier one, newest first, and of a proposer for the same request. */
  earlier_intents: 200,
  twin_intents: 50,
  /** Larger questions are not remembered: a plan can be large, and is asked about seldom. */
  kept_question_bytes: 16 * KiB,
  /** Entries that an erasure lists. More would be read by no person. */
  erasure_listed: 50,
  /** The pause before an order that was not carried out is looked at again. */
  order_again_ms: 500,
  /** The shortest beginning of an id: shorter ones are typed by mistake. */
  id_chars_min: 4,
  /** Candidates that are read for it, and how much of each goal is shown. */
  id_candidates: 6,
  shown_goal_chars: 60,
  /** How often a follower looks without any news, and the entries that are kept for one that is slow. A slower one reads them from the store. */
  follow_look_ms: 60_000,
  follow_entries: 1_000,
  /** How often the ledger is looked at: without notifications that it grew, and with them. */
  ledger_look_ms: 25,
  ledger_look_told_ms: 2_000,
  /** How often another process may have written something: of this host, and of another one. */
  live_look_ms: 50,
  live_look_elsewhere_ms: 250,
  /** How often it is looked whether the process of a run still lives. */
  run_look_ms: 2_000,
  /** A sandbox ends a moment after its tool. How long that is waited for, and how often it is looked at. */
  run_ending_ms: 1_000,
  run_ending_look_ms: 20,
  /** How often a plan looks whether another one that shares a path with it is over. */
  plan_turn_look_ms: 10,
  /** Digests that gc lists of what stays for one reason. */
  gc_listed: 20,
  /** Objects that go with one commit: few enough that no other writer waits long for it. */
  gc_objects: 100,
  /** How often that commit is decided again on a ledger that goes on growing. */
  gc_tries: 20,
  /** Humans of whom the policies are asked whether one could order a run without more approvals, where it matters who asks. */
  orderers_asked: 64,
  /** How many are counted that wait after the next one. */
  more_counted: 1_000,
  /** Rows per read, where all of them are looked at. */
  scan_rows: 500,
  /** Rows that one page looks at, for a filter that fits few of them, and how many at once after the first ones did not fill it. */
  page_looked_at: 1_000,
  page_batch: 200,
  /** Principals that a refusal names as those who could be meant. */
  named_principals: 10,
  /** Paths that a capability names, and their characters: a token is short. Beyond that it names folders. */
  reach_paths: 64,
  reach_chars: 6_000,
  /** How long the steps of callers may go on before timers, children and the network have their turn. */
  step_turn_ms: 20,
  /** Steps in one turn, however quick the last ones were: the next ones may be of another kind. */
  steps_together: 12,
  /** How long the store is asked for what the record of a violation would be fuller with. */
  violation_read_ms: 2_000,
} as const;

/** How much SQLite reads and writes at once, and how long it is waited for, each with its reason. */
export const sqliteLimits = {
  /** Between two attempts of what cannot wait but in this thread, such as a read while another process begins or ends with the file. */
  retry_ms: 1,
  /** Holds the upper levels of the trees of a million intents. */
  cache_KiB: 16 * KiB,
  /**
   * When the WAL has this many pages they move into the file, and the WAL is overwritten from its start, which syncs faster than a file that
   * grows. The more pages, the more changes of one page are moved as one. 4,000 (16 MiB) is what one block of SQLite's index over the WAL
   * holds, so a reader still finds a page in one step.
   */
  wal_pages: 4_000,
  /** Commits after which a thread moves the WAL: each takes five to ten pages of it, so a commit seldom finds it full. */
  checkpoint_commits: 256,
  /** How long a process that ends waits for that thread: three syncs of the file on a slow disk. */
  checkpoint_exit_ms: 10_000,
  /**
   * The longest pause between two attempts while another process writes: about as long as a commit takes. Random, so that two that lost
   * together do not meet again.
   */
  pause_ms: 3,
  /** What is done under the lock takes microseconds. A wait longer than this is for a process that hangs. */
  file_lock_ms: 2_000,
  /** How long an erasure waits for readers before it leaves the rest to the next checkpoint. */
  erase_ms: 1_000,
  /**
   * A folder that changed this recently may change again in the same step of its clock: longer than the steps of file systems that count whole
   * seconds, up to two of them, and than those of the others.
   */
  coarse_step_ms: 2_500,
  fine_step_ms: 50,
  /** Rows that one statement writes. It is compiled once for each number of rows. */
  statement_rows: 16,
  /** Newest entries, at least, that are in no list. A row among them changes its status without a change of any list. */
  unlisted_entries: 192,
  /** How many enter the lists at a time, or more. */
  listed_together: 64,
  /** Digests per read. */
  digests_read: 1_000,
  /** Entries per read of a rebuild: few enough to be garbage before the collector moves them. */
  rebuild_read: 200,
  /** Rows of the agent that are compared together. More of them outlive the young generation of the collector. */
  compared_rows: 100,
  /** Entries, and subjects of entries, that are looked up together. */
  compared_entries: 10_000,
  compared_subjects: 1_000,
} as const;

/** What notifying waits for and looks at, each with its reason. How long one attempt may take stands in `limits`. */
export const notifyLimits = {
  /** Waiting intents in one read, and reads, that are looked at for reminders. */
  page_rows: 200,
  pages: 50,
  /** How often it is looked whether a reminder is due. */
  due_look_ms: 15_000,
  /** The pauses after each attempt that failed: a target that was started again hears of it. After the last one the message is given up. */
  delays_ms: [1_000, 5_000, 30_000, 120_000, 600_000],
  /** The pause before a ledger that could not be read is followed again. */
  again_ms: 1_000,
  /** A service that was killed keeps its turn for so long, one that lives renews it, and others look whether it is free. */
  lease_ms: 15_000,
  renew_ms: 5_000,
  turn_look_ms: 1_000,
  /** How long `keyturn notify test` waits for one target, with a command that gives its secret. */
  test_ms: 120_000,
} as const;

/** The most that a command reads, shows and waits for, each with its reason. */
export const cliLimits = {
  /** How long one answer of a service may take. A wait is ended by the service, and by its own signal. */
  answer_ms: 60_000,
  /** What a human signed may take long: a rollback puts files back, and a step of a conversation runs. */
  finish_ms: 15 * 60_000,
  /** Of one answer of a service. The largest one has some 48 MiB: what a tool printed, as JSON. */
  answer_bytes: 128 * MiB,
  /** How long `mcp` waits for the service to say where it is, and how long that is remembered: it can be started, or stopped, at any time. */
  address_ms: 1_000,
  address_kept_ms: 5_000,
  /** How long `stop` waits for the end. A tool is killed within a second; a plan has to put back what it changed. */
  stopped_ms: 10_000,
  /** How long the clocks may differ, when the end of an order is awaited. */
  lapse_ms: 5_000,
  /** How often it is looked whether a browser has done its part of an enrolment. */
  enrolment_look_ms: 300,
  /** How often a copy says how far it is. */
  progress_ms: 1_000,
  /** How long a list that is not full goes on with older rows by itself. */
  page_ms: 1_000,
  /** Intents that `turn` looks at for one that this human may turn. */
  turn_candidates: 50,
  /** Intents and conversations that are suggested to a shell. */
  completions: 100,
  /** Rows of each list that `status` prints, and entries that `ledger show` prints unless told. */
  status_rows: 20,
  entries_default: 20,
  /** A line of a run that is longer is shown in parts: it must not gather in memory. */
  live_line_bytes: 4 * KiB,
  /** Far more than a terminal holds: only a program goes on typing. */
  typed_before_bytes: 1 * MiB,
} as const;

/** What a person can type into a form of the console. The service looks again, with the limits of the verb. */
export const consoleLimits = { reason_chars: 2_000, label_chars: 60, name_chars: limits.name_chars } as const;

/** What the agent core remembers, asks and tries, each with its reason. */
export const agentLimits = {
  /** How long what was read and parsed is used, and how much of one kind is remembered. */
  memory_ms: 300_000,
  remembered: 1_000,
  /** From the decision to the entry that rests on it. */
  decided_ms: 300_000,
  /** How often it is decided again when the ledger says no to what was decided a moment ago. */
  start_tries: 3,
  /** How often a wish that lost the race is counted again. */
  intake_tries: 20,
  /** How often a user is asked what they mean (003). */
  clarify_tries: 2,
  /** Simulations that such a question chooses between, and that `simulation try` shows. */
  rivals: 3,
  tried_candidates: 5,
  /** No word that confirms is nearly as long. What is longer is not read at all. */
  confirmation_chars: 200,
  /** The name of a wish: a few words, so that two people who want the same are counted together. */
  wish_words: 8,
  wish_chars: 200,
  /** As much text of each language as tells it from the others. More would only take longer. */
  spelling_chars: 20_000,
} as const;

/** The most new wishes: of one user in an hour, of the tenant in an hour, of the tenant in a day. */
export const intakeLimits = { user_hour: 3, tenant_hour: 20, tenant_day: 100 } as const;

/** The most that one simulation may hold, each with its reason. */
export const simulationLimits = {
  /** One file is one definition that a human reads before activating it. */
  file_bytes: 128 * KiB,
  /** A line that is shown to a person in one piece. */
  line_chars: 300,
  phrases: 32,
  /** Values that a field chooses between, and examples of one. */
  choices: 100,
  examples: 8,
  fields: 32,
  steps: 16,
  languages: 32,
  /** What a field may hold when the simulation does not say. */
  value_chars: 200,
  pattern_chars: 512,
  timeout_ms: 3_600_000,
  timeout_ms_default: 30_000,
} as const;
