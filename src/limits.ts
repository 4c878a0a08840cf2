/**
 * Every limit of Keyturn, each with its reason. A limit is a bound that a caller, a file or a moment can meet: the most bytes, rows or tries,
 * how long something is waited for, how often it is looked at, how long it is kept and how many are remembered. Units are part of the name.
 * What is no limit stands with its code: the size of a field in a schema, a constant of a format, a protocol or a kernel, a unit of time,
 * the layout of a screen, and the weights of a search.
 */

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
  /** A secret of the executor. A private key has 4 KiB; under 8 bytes one would be found in output that has nothing to do with it. */
  secret_bytes: 8 * KiB,
  secret_bytes_min: 8,
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
  /** One ledger entry: facts hold digests, not contents. */
  entry_bytes: 64 * KiB,
  /** Objects that are smaller are never removed by gc: the entry that would say so takes about half as much, for good. */
  gc_object_bytes: KiB,
  /** How long an intent and an approval live unless told otherwise, and at most. */
  intent_ttl_s_default: 24 * 3600,
  intent_ttl_s: 30 * 24 * 3600,
  approval_ttl_s_default: 3600,
  approval_ttl_s: 7 * 24 * 3600,
  /** How long a capability lives unless told otherwise, and at most. It never outlives its intent. */
  capability_ttl_s_default: 5 * 60,
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
  /** Parts of a diff in one answer. */
  hunks_answer: 240,
  /** Of the contents whose diffs a page compares with the digests of a plan. */
  diff_text_bytes: 4 * MiB,
  /** Connections to a service: all of them, and those from one address, which leave some to others. */
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
  /** How long an act may be committed after it was drawn up: time for a person to look and touch, not for the world to change. */
  act_wait_s: 120,
  /** How old the signature of a request may be: time for a slow line, and little to replay it in elsewhere. */
  message_signature_s: 60,
  /** Orders that an executor has begun with beside those that run: each may wait for a plan that shares a path with it. */
  waiting_runs: 32,
  /** How often an executor says that it runs, and after how long without a word it is taken for gone. */
  beat_ms: 5_000,
  beat_missed_ms: 15_000,
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
  /** How often a terminal asks for a passphrase, or for the code of what is approved. */
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
  /** How much later than the run itself the answer of the process that starts children may come. */
  starter_answer_ms: 5_000,
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
  /** Decisions of the policies that are remembered: a few tools, people and actions ask the same again. */
  remembered_policy_sets: 256,
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
  commit_batch: 512,
  commit_batch_bytes: 16 * MiB,
  /** A claim or a subject: what fits into an index of PostgreSQL, with room to spare. */
  postgres_key_bytes: 2_000,
  /** Rows that a connection keeps from one commit to the next. A few KiB each. */
  kept_rows: 2_000,
  /** Answers of a service that are given again while nothing was written. A few KiB each. */
  kept_answers: 1_000,
  /** Rows that a rebuild keeps in memory: most intents are over before as many others began, and are written once. */
  folded_rows: 10_000,
  /** Entries whose digests are held in memory at once. A longer ledger is read more than once. */
  objects_together: 250_000,
  /** Entries per read. Each read is a transaction of its own, so that a slow reader blocks neither the WAL nor the cleaning of the server. */
  read_batch: 1000,
  /** Rows that a command prints at most, however many are asked for. */
  printed_rows: 10_000,
  /** Newest entries in which the conversation of an intent is looked for: more than wait for an approver at once. */
  conversation_entries: 1_000,
  /** Moves of one conversation that its story tells, oldest first. */
  conversation_moves: 1_000,
  /** Goals of users, newest first, by which a simulation that is registered is tried. */
  tried_goals: 200,
  /** Rows in one page of a list. */
  page_rows: 1000,
  /** Values that a page is read by: each is a part of the statement. */
  page_values: 100,
  /** Waiting intents that a service counts for its operator. */
  queue_counted: 10_000,
  /** Rows in each list of what needs a human. A human does not work through more; `list` says how many there are. */
  status_rows: 1000,
  /** Recent decisions that are asked again when policies change, unless told. */
  asked_again: 1000,
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
  /** Beginning one needs no credential, so their number is bounded. The oldest goes. */
  logins: 1_024,
  /** How long an answer is waited for unless told: shorter than most proxies keep a request open. */
  wait_s_default: 25,
  wait_s: 60,
  /** More callers than one project has. Those that are full again are forgotten first. */
  callers: 10_000,
  /** How long what runs may take to end, once the service or the executor is told to stop. */
  grace_ms: 10_000,
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
  /** Lines of a server that are no messages: some servers log to standard output. */
  garbage_lines: 1000,
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
} as const;

/** The most that a plan may be and take: the maxima of 004 section 11, and ours, each with its reason. */
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
