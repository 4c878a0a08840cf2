// bench/.p.ts
import { randomUUID as randomUUID2 } from "node:crypto";
import { mkdtempSync, rmSync as rmSync2 } from "node:fs";

// src/store/sqlite/store.ts
import { resolve } from "node:path";

// src/refusal.ts
var reasons = {
  // 1000-1999: the input itself is wrong.
  INPUT_NOT_UTF8: [1001, "The input is not valid UTF-8.", "Save the file as UTF-8 and try again."],
  INPUT_TOO_LARGE: [
    1002,
    "The input is larger than Keyturn accepts.",
    "Send less. The limits and their reasons are in src/limits.ts."
  ],
  JSON_MALFORMED: [1003, "The input is not valid JSON.", "Correct the JSON at the place the message names."],
  JSON_TOO_DEEP: [1004, "The JSON is nested deeper than Keyturn accepts.", "Flatten the value."],
  JSON_DUPLICATE_KEY: [
    1005,
    "A JSON object has the same key twice, so its meaning is ambiguous.",
    "Keep one of the two keys."
  ],
  JSON_BAD_STRING: [1006, "A string has a lone surrogate or a NUL character.", "Remove the character."],
  JSON_BAD_NUMBER: [
    1007,
    "A number is not finite, or is an integer that cannot be held exactly.",
    "Write the number as a string, or use a smaller one."
  ],
  JSON_NOT_PLAIN: [
    1008,
    "The value is not plain JSON.",
    "Pass only objects, arrays, strings, numbers, booleans and null."
  ],
  SHAPE_INVALID: [
    1009,
    "A field is unknown, missing or of the wrong type.",
    "Correct the field that the message names."
  ],
  YAML_MALFORMED: [
    1010,
    "The file is not valid YAML, or uses a feature that makes it ambiguous.",
    "Correct the YAML at the place the message names."
  ],
  USAGE: [1011, "The command line is not one that Keyturn knows.", "Run the command with --help."],
  ID_MALFORMED: [
    1020,
    "The id is not a lower-case UUID of 36 characters.",
    "Copy the id exactly as it was printed."
  ],
  HASH_MALFORMED: [
    1021,
    "The hash is not 64 lower-case hexadecimal characters.",
    "Copy the hash exactly as it was printed."
  ],
  NAME_MALFORMED: [
    1022,
    "The name has characters that names may not have.",
    "Use a to z, 0 to 9, dot, dash and underscore, 64 at most."
  ],
  TIME_MALFORMED: [
    1023,
    "The time or duration cannot be read.",
    "Write a time as 2026-01-15T12:00:00.000Z and a duration as 30s, 15m, 2h or 7d."
  ],
  INTENT_EMPTY: [1030, "The intent has no text.", "Say what is wanted."],
  INTENT_NOT_FOUND: [1031, "There is no intent with this id.", "Run `keyturn list` to see the intents."],
  HASH_MISMATCH: [
    1032,
    "The hash is not the hash of this intent.",
    "Review the intent again; what you hold is not what was proposed."
  ],
  INTENT_EXPIRED: [1033, "The intent has expired.", "Propose it again."],
  INTENT_EXISTS: [1034, "An intent with this id exists already.", "Propose it under a new id."],
  ENVELOPE_HASH_WRONG: [
    1035,
    "The integrity hash in the envelope is not the hash of the envelope.",
    "Rebuild the envelope; it was changed after it was sealed."
  ],
  TOOL_UNKNOWN: [
    1040,
    "The registry has no tool with this name.",
    "Run `keyturn tool list` to see the tools."
  ],
  TOOL_DUPLICATE: [
    1041,
    "The registry lists a tool twice.",
    "Keep one definition, then run `keyturn tool lock`."
  ],
  BINDING_MISSING: [
    1042,
    "The registry binds no tool to this intent.",
    "Add a binding for this intent id to the registry."
  ],
  BINDING_EMPTY: [
    1043,
    "The registry binds zero tools to this intent.",
    "Name exactly one tool in the binding."
  ],
  BINDING_AMBIGUOUS: [
    1044,
    "The registry binds several tools to this intent.",
    "Name exactly one tool in the binding."
  ],
  BINDING_MISMATCH: [
    1045,
    "The registry binds this intent id to another tool or other arguments.",
    "Propose what the binding says, or change the binding."
  ],
  REGISTRY_MALFORMED: [
    1046,
    "The tool registry cannot be understood.",
    "Run `keyturn tool lint` and correct what it names."
  ],
  ARGUMENT_MISSING: [
    1047,
    "A required argument is missing.",
    "Pass the argument; `keyturn tool list` shows the parameters."
  ],
  ARGUMENT_UNKNOWN: [
    1048,
    "The tool has no parameter with this name.",
    "Remove the argument; `keyturn tool list` shows the parameters."
  ],
  ARGUMENT_INVALID: [
    1049,
    "An argument breaks a constraint of its parameter.",
    "Pass a value that the constraint allows."
  ],
  ARGUMENT_LOOKS_LIKE_OPTION: [
    1050,
    "An argument would reach the tool as an option, because it begins with a dash.",
    "Pass a value without the dash, or allow it for this parameter in the registry."
  ],
  PROPOSER_AMBIGUOUS: [1060, "It is not clear who proposes this.", "Name the proposer with --by."],
  PRINCIPAL_UNKNOWN: [
    1061,
    "No principal with this name is enrolled.",
    "Run `keyturn identity list` to see who is."
  ],
  PRINCIPAL_EXISTS: [1062, "A principal with this name is enrolled already.", "Choose another name."],
  EXECUTION_NOT_FOUND: [
    1063,
    "There is no execution with this id.",
    "Run `keyturn status` to see the executions."
  ],
  CODE_UNKNOWN: [
    1064,
    "There is no reason code with this name or number.",
    "Run `keyturn explain` to list them all."
  ],
  HEAD_MALFORMED: [
    1070,
    "The head is not a signed checkpoint.",
    "Use the file that `keyturn ledger head` wrote, unchanged."
  ],
  EXPORT_MALFORMED: [
    1071,
    "The file is not a ledger export.",
    "Use the file that `keyturn ledger export` wrote, unchanged."
  ],
  BUNDLE_MALFORMED: [
    1072,
    "The file is not a proof bundle.",
    "Use the file that `keyturn ledger prove` wrote, unchanged."
  ],
  // plan edits
  EDIT_BINARY: [
    1100,
    "The file is binary: it holds NUL characters.",
    "Edit text files only. Replace a binary file as a whole."
  ],
  EDIT_FORMAT_MISMATCH: [
    1101,
    "The edit is not made for files of this format.",
    "Use a json_ edit for JSON, yaml_update for YAML and a text edit for other text."
  ],
  EDIT_NO_MATCH: [1102, "The pattern does not occur in the file.", "Check the pattern and the file."],
  EDIT_MATCH_COUNT: [
    1103,
    "The pattern does not occur as often as the plan says.",
    "Make the pattern more exact, or correct expected_matches or max_matches."
  ],
  EDIT_PATTERN_INVALID: [
    1104,
    "The regular expression cannot be used.",
    "Write it in RE2 syntax, without look-around and back-references, so that it never matches empty text."
  ],
  EDIT_COSTLY: [
    1105,
    "The pattern or the path could take too long on this file.",
    "Use a literal pattern with fewer matches, or a path of plain keys and places."
  ],
  EDIT_REPLACEMENT_INVALID: [
    1106,
    "The replacement names a group that the pattern does not have, or has a stray dollar sign.",
    "Write $1 for a group, or $ and its name in braces, and $$ for a dollar sign."
  ],
  EDIT_LINE_OUT_OF_RANGE: [1107, "The file has no such line.", "Count the lines of the file again."],
  EDIT_PATH_MALFORMED: [
    1108,
    "The path inside the document is not one that Keyturn follows.",
    "Write an RFC 9535 path such as $.properties.name, with one selector in each step."
  ],
  EDIT_TARGET_MISSING: [1109, "The path leads to nothing.", "Check the path against the document."],
  EDIT_TARGET_AMBIGUOUS: [
    1110,
    "The path leads to more than one place.",
    "Make the path more exact. An edit changes one place."
  ],
  EDIT_TARGET_UNFIT: [
    1111,
    "The place is not one that this edit can change.",
    "Choose a path that leads to an object, or another edit."
  ],
  EDIT_TARGET_SHARED: [
    1112,
    "The place has an anchor, an alias or a tag, so a change there would mean more than it shows.",
    "Edit this place by hand, or with a text edit."
  ],
  EDIT_KEY_EXISTS: [1113, "The object has this key already.", "Use json_update_value to change it."],
  EDIT_KEY_MISSING: [1114, "The object does not have this key.", "Check the key against the document."],
  EDIT_CHANGES_NOTHING: [1115, "The file already is what the edit would make it.", "Remove the edit."],
  EDIT_RESULT_TOO_LARGE: [
    1116,
    "The edited file would be larger than Keyturn accepts.",
    "Insert less. The limits are in src/plan/edit/bounds.ts."
  ],
  EDIT_SEVERAL_DOCUMENTS: [
    1117,
    "The YAML file holds several documents, or none.",
    "Edit a file with one document."
  ],
  EDIT_NOT_EXACT: [
    1118,
    "The edited file would not read back as exactly this one change.",
    "Nothing was changed. Edit this place by hand, or with a text edit."
  ],
  SCHEMA_INVALID: [1119, "The result is not a valid JSON Schema.", "Correct what the message names."],
  SCHEMA_DIALECT_UNKNOWN: [
    1120,
    "The schema names a dialect that Keyturn cannot check.",
    "Use draft 2020-12, 2019-09 or draft-07."
  ],
  // plan
  PLAN_LIMIT_EXCEEDED: [
    1150,
    "The plan is larger than Keyturn accepts: too many files, too large a file, too much to back up, or too long.",
    "Split the plan. The limits are in src/plan/limits.ts."
  ],
  PLAN_PATHS_NESTED: [
    1151,
    "The plan treats one path both as a file and as a folder.",
    "Split the plan, so that each path is one or the other."
  ],
  PLAN_DEPENDENCIES_CYCLIC: [
    1152,
    "The actions of the plan wait for each other in a circle, or for an action that is not there.",
    "Correct depends_on."
  ],
  PLAN_RULE_BROKEN: [
    1153,
    "A validation rule of the plan does not hold after the run.",
    "The run was rolled back. Correct the plan or the rule."
  ],
  CHECKPOINT_UNKNOWN: [
    1154,
    "The manifest has no checkpoint with this id.",
    "Copy the id from the rollback manifest."
  ],
  CHECKPOINT_CHAINED: [
    1155,
    "A file was moved between this checkpoint and others, so one cannot be restored without them.",
    "Name the other checkpoints too, or roll back everything."
  ],
  PLAN_RESULT_UNKNOWN: [
    1156,
    "An action needs a file whose content only the run itself can tell, so nobody could approve it.",
    "Split the plan after the action that makes the file."
  ],
  // SQL
  SQL_EMPTY: [1200, "The SQL holds no statement.", "Write at least one statement."],
  SQL_MALFORMED: [
    1201,
    "The SQL cannot be parsed, or could be read in two ways.",
    "Correct the SQL at the place that the message names."
  ],
  SQL_PARAMETER_MISSING: [1202, "A parameter of the SQL has no value.", "Give a value for the parameter."],
  SQL_PARAMETER_UNUSED: [
    1203,
    "A value was given for a parameter that no statement uses.",
    "Remove the value, or correct its name."
  ],
  SQL_PARAMETER_INVALID: [
    1204,
    "A parameter has no name, has two values, or its value is not a JSON scalar.",
    "Write parameters as $name, and give each a string, a number, a boolean or null."
  ],
  SQL_NO_RESULT: [
    1205,
    "Results were expected, and the last statement gave none.",
    "Nothing was changed. End with a SELECT that finds rows, or expect no results."
  ],
  SQL_STATEMENT_FAILED: [
    1206,
    "DuckDB could not run a statement.",
    "Nothing was changed. Correct the statement that the message names."
  ],
  // plan input
  PLAN_ACTION_DUPLICATE: [1250, "The plan uses one action id twice.", "Give each action an id of its own."],
  PLAN_PATH_UNCLEAR: [
    1251,
    "A path of the plan can be read in more than one way.",
    "Write a plain relative path with / and without control, invisible or lookalike characters."
  ],
  PLAN_PATH_TWIN: [
    1252,
    "The plan names two paths that some file systems take for one.",
    "Use one spelling, or split the plan."
  ],
  PLAN_FALSE_CLAIM: [
    1253,
    "The plan says that an action is reversible, and it is not.",
    "Set reversible to false, so that the approver is not misled."
  ],
  CONTENT_SYNTAX_BROKEN: [
    1254,
    "A JSON or YAML file would no longer be valid.",
    "Correct the edit, so that the file can still be read."
  ],
  CONTENT_CREDENTIAL: [
    1255,
    "A file would hold something that looks like a credential.",
    "Keep the credential out of the plan and out of the file; refer to it by name."
  ],
  TASK_EXPIRED: [
    1256,
    "The task envelope is past its time to live, or comes from the future.",
    "Ask its sender for a new one, and check the clocks."
  ],
  // 2000-2999: a file is not as it must be.
  FILE_NOT_FOUND: [2001, "The file does not exist.", "Check the path."],
  FILE_UNREADABLE: [2002, "The file cannot be read.", "Check its permissions."],
  FILE_IS_SYMLINK: [2003, "The path is, or goes through, a symbolic link.", "Name the real file."],
  FILE_NOT_REGULAR: [2004, "The path is not a regular file.", "Name a regular file."],
  FILE_HARD_LINKED: [
    2005,
    "The file has a second name (a hard link), so it can change under that name.",
    "Use a file with one name."
  ],
  PATH_ESCAPES: [
    2006,
    "The path leads outside the folder it must stay in.",
    'Use a relative path without "..".'
  ],
  DISK_FULL: [2007, "The disk is full.", "Free some room and try again."],
  WRITE_FAILED: [2008, "A write did not reach the disk.", "Check the disk. Nothing was acknowledged."],
  REGISTRY_MISSING: [2010, "The tool registry does not exist.", "Create tools.yaml, or name another file."],
  EXECUTABLE_MISSING: [
    2012,
    "The executable of the tool does not exist.",
    "Install it, or correct the registry."
  ],
  EXECUTABLE_NOT_EXECUTABLE: [
    2013,
    "The executable of the tool may not be executed.",
    "Set its execute permission."
  ],
  WORKING_FOLDER_MISSING: [
    2014,
    "The working folder of the tool does not exist.",
    "Create it, or correct the registry."
  ],
  SANDBOX_PATH_MISSING: [
    2015,
    "A path that the sandbox profile binds does not exist.",
    "Create it, or correct the registry."
  ],
  STORE_MISSING: [2020, "The project has no store.", "Run `keyturn init`."],
  STORE_CORRUPT: [
    2021,
    "The store is damaged.",
    "Restore a backup. Check it with `keyturn ledger verify` against a head that you kept."
  ],
  STORE_READ_ONLY: [
    2022,
    "The store cannot be written.",
    "Check the permissions of .keyturn and of the disk."
  ],
  STORE_NEWER: [2024, "The store was written by a newer Keyturn.", "Use that version or a later one."],
  STORE_BUSY: [2025, "Another process holds the store for too long.", "Try again when it has finished."],
  OBJECT_MISSING: [
    2026,
    "A stored object is gone; it was erased or lost.",
    "The ledger still proves its digest. What needs its content can no longer be done."
  ],
  OBJECT_CORRUPT: [2027, "A stored object is not what its digest says.", "Restore a backup of the store."],
  LEDGER_BROKEN: [
    2030,
    "An entry of the ledger is not what it was when it was written.",
    "Keep this copy as evidence and restore one that verifies."
  ],
  LEDGER_TRUNCATED: [
    2031,
    "The ledger is shorter than the head that was kept.",
    "Entries were removed. Keep this copy as evidence."
  ],
  LEDGER_FORKED: [
    2032,
    "The ledger is not the one that the kept head describes.",
    "History was rewritten. Keep both as evidence."
  ],
  HEAD_SIGNATURE_INVALID: [
    2033,
    "The head is not signed by the expected key.",
    "Check the key fingerprint with the owner of the ledger."
  ],
  PROOF_INVALID: [2034, "The proof does not lead to the head.", "Do not rely on this bundle."],
  PROJECTION_DRIFT: [
    2035,
    "The stored state is not what the ledger says.",
    "Run `keyturn ledger rebuild --write` to make it so, and find out who changed it."
  ],
  QUEUE_MISSING: [2040, "The queue file does not exist.", "Check the --queue folder."],
  QUEUE_MALFORMED: [
    2041,
    "The queue has a line that cannot be understood, or one without an end.",
    "Correct the file by hand; Keyturn never repairs it."
  ],
  QUEUE_AMBIGUOUS: [
    2042,
    "The queue says two different things about one id.",
    "Correct the file by hand; Keyturn never chooses."
  ],
  PROJECT_EXISTS: [
    2043,
    "This folder is a Keyturn project already.",
    "Use it as it is, or choose another folder."
  ],
  PROJECT_MISSING: [
    2044,
    "This folder is not inside a Keyturn project.",
    "Run `keyturn init`, or pass --project."
  ],
  // plan
  FILE_EXISTS: [
    2100,
    "Something is at a path that must be free.",
    "Choose another path, or remove what is there."
  ],
  PLAN_DRIFT: [
    2101,
    "A file is not what it was when the plan was approved.",
    "Find out who changed it, then propose the plan again."
  ],
  RESULT_MISMATCH: [
    2102,
    "The result of an action is not the one that was approved.",
    "The run was rolled back. Propose the plan again."
  ],
  BACKUP_CORRUPT: [
    2103,
    "A backup is missing or is not the original.",
    "The file was left as it is. Restore it from another backup."
  ],
  MANIFEST_CORRUPT: [
    2104,
    "The rollback manifest or its journal cannot be trusted.",
    "Restore the files by hand from the backups folder."
  ],
  CHANGED_SINCE_RUN: [
    2105,
    "The file was changed by somebody else after the run, so it is not rolled back.",
    "Keep that change, or undo it by hand and roll back again."
  ],
  // SQL
  SQL_DATABASE_BUSY: [2200, "Another process has the database open.", "Close it there and try again."],
  SQL_DATABASE_CORRUPT: [
    2201,
    "The file is not a DuckDB database, or it is damaged.",
    "Check the path, or restore a backup."
  ],
  SQL_DATABASE_VERSION: [
    2202,
    "The database was written by a version of DuckDB that this one cannot read.",
    "Export it with that version, or update Keyturn."
  ],
  SQL_DATABASE_HAS_LOG: [
    2203,
    "The database has a log (.wal) beside it, so the file alone is not the whole database.",
    "Open it once with DuckDB and run CHECKPOINT, then propose again."
  ],
  SQL_DATABASE_CHANGED: [
    2204,
    "The database is not what it was when it was approved, or it changed during the run.",
    "Nothing was changed by this run. Find out who changed it, then propose again."
  ],
  SQL_FILE_TOO_LARGE: [
    2205,
    "The database or the result would be larger than is allowed.",
    "Nothing was changed. Do less at once, or raise the limit."
  ],
  // 3000-3999: nobody who may has said yes.
  REGISTRY_WRITABLE: [
    3001,
    "The tool registry can be written, so it could change during a run.",
    "Run `keyturn tool lock`."
  ],
  APPROVAL_MISSING: [3002, "No human has approved this intent.", "Run `keyturn review`."],
  APPROVAL_EXPIRED: [3003, "The approval has expired.", "Review and approve the intent again."],
  INTENT_REJECTED: [3004, "A human rejected this intent. That is final.", "Propose a new intent."],
  SELF_APPROVAL: [3005, "The proposer may not approve their own intent.", "Ask another human to review it."],
  NOT_HUMAN: [3006, "Only an enrolled human may do this.", "Ask a human."],
  KEY_REVOKED: [3007, "The key of this principal was revoked.", "Use another enrolled key."],
  PASSPHRASE_WRONG: [3008, "The passphrase does not open the key.", "Try again."],
  PASSPHRASE_WEAK: [3009, "The passphrase is too short.", "Use at least 8 characters."],
  KEY_FILE_INVALID: [
    3010,
    "The key file is missing, damaged or not the enrolled key.",
    "Restore the key file from a backup."
  ],
  SIGNATURE_INVALID: [3011, "A signature does not verify.", "Do not rely on what it signs."],
  CONFIRMATION_DECLINED: [
    3012,
    "The human did not say y.",
    "Nothing was done. Run the command again if you want it."
  ],
  NO_TERMINAL: [
    3013,
    "There is no terminal to ask a human at.",
    "Run the command in a terminal. No flag and no variable answers a prompt."
  ],
  CONFIRMATION_WRONG: [
    3014,
    "What was typed is not the exact id.",
    "Nothing was approved. Copy the id exactly."
  ],
  LANE_FORBIDDEN: [
    3015,
    "This folder belongs to a Keyturn project that does not allow the lane.",
    "Use `keyturn run`, or set lane.allow in keyturn.yaml."
  ],
  EFFECT_CHANGED: [
    3016,
    "What would run is not what was approved.",
    "Propose it again and review the new effect."
  ],
  EXECUTABLE_CHANGED: [
    3017,
    "The executable is not the one that was approved or pinned.",
    "Find out who changed it, then propose again."
  ],
  LAST_HUMAN: [3018, "This is the last enrolled human.", "Enrol another human first."],
  ALREADY_APPROVED: [
    3019,
    "The intent is approved already.",
    "Nothing was done. Check it with `keyturn lane check`."
  ],
  // plan
  PERMISSION_DENIED: [
    3100,
    "The system does not allow this file to be read, written or given to its owner.",
    "Check the permissions of the file and of its folder."
  ],
  // plan input
  PLAN_PATH_OWN: [
    3150,
    "The path belongs to Keyturn. No plan may write it, under any approval.",
    "Remove the action. People change these files themselves."
  ],
  PLAN_PATH_FORBIDDEN: [
    3151,
    "The configuration forbids this path.",
    "Remove the action, or ask whoever keeps the configuration."
  ],
  PLAN_PATH_UNLISTED: [
    3152,
    "The path is not one that the plan lists.",
    "Nothing was changed there. Propose a plan that lists it."
  ],
  PLAN_OPERATION_FORBIDDEN: [
    3153,
    "The configuration does not allow this kind of action.",
    "Remove the action, or ask whoever keeps the configuration."
  ],
  APPROVAL_NOT_OPTIONAL: [
    3154,
    "The configuration tries to do without an approval.",
    "Remove requires_approval: false. A human approves every plan."
  ],
  TASK_NOT_APPROVED: [
    3155,
    "The task envelope does not say APPROVED.",
    "Send the task through its validation first. APPROVED there does not replace an approval here."
  ],
  MANIFEST_STILL_ACTIVE: [
    3156,
    "The rollback manifest is still active, so its backups stay where they are.",
    "Wait until it expires, or roll back first."
  ],
  // SQL
  SQL_STATEMENT_FORBIDDEN: [
    3200,
    "A statement is of a kind that may not run.",
    "Remove the statement that the message names."
  ],
  SQL_FUNCTION_FORBIDDEN: [
    3201,
    "A statement calls a function that does more than read.",
    "Remove the call that the message names."
  ],
  SQL_ACCESS_DENIED: [
    3202,
    "A statement reached for a file, the network or a setting that it may not have.",
    "Use only the tables of the database and the folders that were made readable."
  ],
  // 4000-4999: something that this depends on is not so.
  ALREADY_EXECUTED: [
    4001,
    "The intent has been executed already.",
    "Propose a new intent if it is wanted again."
  ],
  RUN_IN_DOUBT: [
    4002,
    "A run of this intent started and its end is not recorded: the effect may have happened.",
    "Find out what happened, then run `keyturn resolve`."
  ],
  RUN_FAILED: [
    4003,
    "The run of this intent failed.",
    "Find out why. A human may authorise one new attempt with `keyturn retry`."
  ],
  RETRY_NOT_DUE: [4004, "There is no failed run to try again.", "Run `keyturn status`."],
  RESOLVE_NOT_DUE: [4005, "The execution is not in doubt.", "Run `keyturn status`."],
  RUN_STILL_ALIVE: [
    4006,
    "The process of this run is still alive, or on another host.",
    "Wait for it to end. For another host, give your word with --host-is-dead."
  ],
  CLAIM_TAKEN: [
    4007,
    "Another process took this claim first.",
    "Nothing was done here. Look at what the other process did."
  ],
  TRANSITION_ILLEGAL: [
    4008,
    "The intent is not in a state where this can happen.",
    "Run `keyturn show` to see its state."
  ],
  SANDBOX_UNAVAILABLE: [
    4010,
    "The tool asks for a sandbox that this machine does not have.",
    "Install bubblewrap (bwrap) and util-linux (prlimit)."
  ],
  VERIFIER_NOT_FOUND: [4011, "The approval verifier does not exist.", "Check the path of the verifier."],
  VERIFIER_NOT_CALLABLE: [4012, "The approval verifier cannot be started.", "Check its permissions."],
  VERIFIER_ERROR: [
    4013,
    "The approval verifier answered neither yes nor no.",
    "Repair the verifier. Nothing is assumed."
  ],
  VERIFIER_DENIED: [4014, "The approval verifier said no.", "The intent is not approved with this hash."],
  LOCK_UNAVAILABLE: [
    4015,
    "The queue cannot be locked.",
    "Install util-linux (flock), or wait for the other process."
  ],
  CLOCK_BEHIND: [
    4016,
    "The clock of this machine is behind the ledger, so nothing that expires can be judged.",
    "Set the clock."
  ],
  // plan
  DEPENDENCY_FAILED: [4100, "An action that this one depends on failed.", "Correct the action that failed."],
  DEPENDENCY_NOT_COMPLETED: [
    4101,
    "An action that this one depends on was not completed.",
    "Find out why that action did not run."
  ],
  RUNNER_MISSING: [
    4102,
    "There is nothing here that could run an action of this type.",
    "Register the pipeline, or remove the action."
  ],
  // 5000-5999: something broke.
  INTERNAL: [5001, "Keyturn failed in a way it does not know.", "Report this. Nothing was acknowledged."],
  RECORDING_FAILED: [
    5002,
    "The tool may have run, and its outcome could not be recorded.",
    "The run is in doubt. Find out what happened, then run `keyturn resolve`."
  ],
  TOOL_NOT_STARTED: [5010, "The tool could not be started.", "Read the error output."],
  TOOL_EXIT_NONZERO: [5011, "The tool ended with an exit code other than 0.", "Read the error output."],
  TOOL_TIMED_OUT: [
    5012,
    "The tool ran longer than its timeout and was killed.",
    "Find out how far it came. What it did until then stays done."
  ],
  TOOL_KILLED: [
    5013,
    "The tool was killed by a signal.",
    "Find out how far it came. What it did until then stays done."
  ],
  // plan
  ACTION_TIMED_OUT: [5100, "An action took longer than its timeout.", "Raise its timeout, or do less in it."],
  PLAN_TIMED_OUT: [
    5101,
    "The plan took longer than its timeout.",
    "It was rolled back. Raise its timeout, or split the plan."
  ],
  PLAN_CANCELLED: [
    5102,
    "The run was cancelled.",
    "It was rolled back. Propose the plan again if it is wanted."
  ],
  PIPELINE_FAILED: [5103, "A pipeline did not end well.", "Read its output. What it did stays done."],
  // SQL
  SQL_TIMED_OUT: [
    5200,
    "The SQL ran longer than its timeout and was killed.",
    "Nothing was changed. Make it faster, or raise the timeout."
  ],
  SQL_ABORTED: [
    5201,
    "The SQL was stopped from outside.",
    "Nothing was changed. Run it again if it is wanted."
  ],
  SQL_OUT_OF_MEMORY: [
    5202,
    "The SQL needs more memory than it may have.",
    "Nothing was changed. Do less at once, or raise the limit."
  ],
  SQL_RUNNER_FAILED: [
    5203,
    "The process that runs SQL could not be started, or died.",
    "Nothing was changed. Read the message; a statement may have crashed DuckDB."
  ]
};
var categories = [
  "VALIDATION_ERROR",
  "FILE_SYSTEM_ERROR",
  "PERMISSION_ERROR",
  "DEPENDENCY_ERROR",
  "INTERNAL_ERROR"
];
var reasonCodes = Object.keys(reasons);
function explain(code) {
  const [number, meaning, advice] = reasons[code];
  return { code, number, category: categories[Math.floor(number / 1e3) - 1], meaning, advice };
}
var Refusal = class extends Error {
  code;
  /** What was checked and what was found. Shown to the human, so it holds no secrets. */
  details;
  constructor(code, message, details = {}) {
    super(message ?? explain(code).meaning);
    this.name = "Refusal";
    this.code = code;
    this.details = details;
  }
};
function refuse(code, message, details) {
  throw new Refusal(code, message, details);
}

// src/canonical/digest.ts
import { hash } from "node:crypto";
var DIGEST = /^[0-9a-f]{64}$/;
function isDigest(text) {
  return DIGEST.test(text);
}
function sha256(bytes) {
  return hash("sha256", bytes, "hex");
}

// src/canonical/json.ts
import { isUtf8 } from "node:buffer";
import { isProxy } from "node:util/types";
import canonicalizeUnguarded from "canonicalize";

// src/limits.ts
var KiB = 1024;
var MiB = 1024 * KiB;
var limits = {
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
  tools: 1e3,
  parameters: 64,
  bindings: 1e5,
  /** All of argv. The kernel's own limit is 2 MiB with the environment. */
  argv_bytes: 512 * KiB,
  /** Captured output of one stream: kept in the store for good, shown to a person. */
  output_bytes: 4 * MiB,
  output_bytes_default: 256 * KiB,
  /** How long a tool may run. */
  timeout_s: 3600,
  timeout_s_default: 60,
  /** An executable is hashed whole before each run. */
  executable_bytes: 1024 * MiB,
  /** One ledger entry: facts hold digests, not contents. */
  entry_bytes: 64 * KiB,
  /** How long an intent and an approval live when nobody says otherwise, and at most. */
  intent_ttl_s_default: 24 * 3600,
  intent_ttl_s: 30 * 24 * 3600,
  approval_ttl_s_default: 3600,
  approval_ttl_s: 7 * 24 * 3600,
  /** How far the clock may be behind the newest ledger entry before nothing that expires is judged. */
  clock_skew_ms: 5e3,
  passphrase_chars_min: 8,
  passphrase_chars: 1024,
  /** How long a commit waits for another process that holds the store. */
  store_busy_ms: 3e4
};

// src/canonical/json.ts
function canonicalText(value) {
  guardPlain(value, 0);
  return canonicalizeUnguarded(value);
}
function canonicalBytes(value) {
  return Buffer.from(canonicalText(value), "utf8");
}
function guardPlain(value, depth = 0) {
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") return guardString(value);
  if (typeof value === "number") return guardNumber(value);
  if (typeof value !== "object") refuse("JSON_NOT_PLAIN", `A ${typeof value} is not JSON.`);
  if (depth >= limits.json_depth) refuse("JSON_TOO_DEEP");
  if (isProxy(value)) refuse("JSON_NOT_PLAIN", "A proxy is not JSON.");
  if (Array.isArray(value)) return guardArray(value, depth);
  guardObject(value, depth);
}
function guardString(text) {
  if (text.length > limits.json_string_chars)
    refuse("INPUT_TOO_LARGE", `A string has ${text.length} characters.`);
  if (!text.isWellFormed()) refuse("JSON_BAD_STRING", "A string has a lone surrogate.");
  if (text.includes("\0")) refuse("JSON_BAD_STRING", "A string has a NUL character.");
}
function guardNumber(number) {
  if (!Number.isFinite(number)) refuse("JSON_BAD_NUMBER", "A number is not finite.");
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    refuse("JSON_BAD_NUMBER", `The integer ${number} cannot be held exactly.`);
  }
}
function guardArray(array, depth) {
  if (Object.getPrototypeOf(array) !== Array.prototype)
    refuse("JSON_NOT_PLAIN", "An array has a foreign prototype.");
  if (Reflect.ownKeys(array).length !== array.length + 1)
    refuse("JSON_NOT_PLAIN", "An array has holes or extra keys.");
  for (let i = 0; i < array.length; i++) guardPlain(plainValue(array, String(i)), depth + 1);
}
function plainValue(object, key2) {
  const property = Object.getOwnPropertyDescriptor(object, key2);
  if (property === void 0 || !("value" in property) || !property.enumerable)
    refuse("JSON_NOT_PLAIN", `The key "${key2}" is computed, hidden or missing.`);
  return property.value;
}
function guardObject(object, depth) {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null)
    refuse("JSON_NOT_PLAIN", "An object is not plain.");
  for (const key2 of Reflect.ownKeys(object)) {
    if (typeof key2 === "symbol") refuse("JSON_NOT_PLAIN", "An object has a symbol as a key.");
    guardString(key2);
    guardPlain(plainValue(object, key2), depth + 1);
  }
}
function parseJson(input, max_bytes = limits.json_bytes) {
  const text = typeof input === "string" ? input : decodeUtf8(input, max_bytes);
  if (text.length > max_bytes) refuse("INPUT_TOO_LARGE", `The document has ${text.length} characters.`);
  refuseDeepNesting(text);
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse("JSON_MALFORMED", `Not JSON: ${error.message}`);
  }
  guardPlain(value);
  refuseDuplicateKeys(text);
  return value;
}
function decodeUtf8(bytes, max_bytes) {
  if (bytes.length > max_bytes) refuse("INPUT_TOO_LARGE", `The input has ${bytes.length} bytes.`);
  if (!isUtf8(bytes)) refuse("INPUT_NOT_UTF8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
function refuseDeepNesting(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = endOfString(text, i);
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth += 1;
      if (depth > limits.json_depth) refuse("JSON_TOO_DEEP");
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth -= 1;
  }
}
function refuseDuplicateKeys(text) {
  const objects = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === OPEN_BRACE) objects.push(/* @__PURE__ */ new Set());
    else if (c === OPEN_BRACKET) objects.push(null);
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) objects.pop();
    else if (c === QUOTE) {
      const end = endOfString(text, i);
      const keys = objects.at(-1);
      if (keys && isFollowedByColon(text, end + 1)) {
        const key2 = JSON.parse(text.slice(i, end + 1));
        if (keys.has(key2))
          refuse("JSON_DUPLICATE_KEY", `The key ${JSON.stringify(key2.slice(0, 80))} appears twice.`);
        keys.add(key2);
      }
      i = end;
    }
  }
}
var QUOTE = 34;
var BACKSLASH = 92;
var OPEN_BRACE = 123;
var CLOSE_BRACE = 125;
var OPEN_BRACKET = 91;
var CLOSE_BRACKET = 93;
var COLON = 58;
function endOfString(text, start) {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === BACKSLASH) i += 1;
    else if (c === QUOTE) return i;
  }
  return text.length;
}
function isFollowedByColon(text, from2) {
  let i = from2;
  while (" 	\r\n".includes(text.charAt(i)) && i < text.length) i += 1;
  return text.charCodeAt(i) === COLON;
}

// src/event/event.ts
import { z } from "zod";
var digest = z.string().regex(/^[0-9a-f]{64}$/);
var uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
var time = z.iso.datetime({ precision: 3 });
var name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);
var key = z.base64().length(44);
var prose = z.string().min(1).max(limits.prose_chars);
var attempt = z.int().min(1);
var reason_code = z.enum(reasonCodes);
var signed = { by: name, key, signed_at: time, signature: z.base64().length(88) };
var capture = z.strictObject({ digest, bytes: z.int().min(0), truncated: z.boolean() });
var executor = z.strictObject({
  host: z.string().min(1).max(255),
  boot_id: z.string().min(1).max(64),
  pid: z.int().min(1),
  started: z.string().min(1).max(64)
});
var bodies = {
  "system.initialised": z.strictObject({ project_id: uuid, ledger_key: key, version: z.string().max(32) }),
  "key.enrolled": z.strictObject({
    principal: z.enum(["human", "agent"]),
    public_key: key.nullable(),
    ...signed
  }),
  "key.revoked": z.strictObject({ reason: prose, ...signed }),
  "intent.proposed": z.strictObject({
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    tool: name,
    proposer: name,
    proposer_kind: z.enum(["human", "agent"]),
    expires_at: time
  }),
  "intent.refused": z.strictObject({ reason_code }),
  "intent.submitted": z.strictObject({ hash: digest, by: name }),
  "approval.granted": z.strictObject({ hash: digest, effect_digest: digest, expires_at: time, ...signed }),
  "approval.denied": z.strictObject({ hash: digest, reason: prose, ...signed }),
  "execution.claimed": z.strictObject({
    execution_id: uuid,
    attempt,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    tool: name,
    executor
  }),
  "execution.refused": z.strictObject({ hash: digest, reason_code }),
  "execution.finished": z.strictObject({
    execution_id: uuid,
    attempt,
    tool: name,
    result: z.enum(["success", "failure", "partial"]),
    reason_code: reason_code.nullable(),
    exit_code: z.int().nullable(),
    signal: z.string().max(16).nullable(),
    started_at: time,
    finished_at: time,
    stdout: capture,
    stderr: capture
  }),
  "execution.resolved": z.strictObject({
    execution_id: uuid,
    attempt,
    outcome: z.enum(["happened", "did_not_happen"]),
    reason: prose,
    ...signed
  }),
  "retry.authorised": z.strictObject({ attempt, after: uuid, hash: digest, reason: prose, ...signed }),
  "object.erased": z.strictObject({ reason: prose, ...signed })
};
var eventKinds = Object.keys(bodies);
function isSigned(event) {
  return "signature" in event.body;
}
function parseEvent(value) {
  const schema = Object.hasOwn(bodies, value.kind) ? bodies[value.kind] : void 0;
  if (!schema) refuse("SHAPE_INVALID", `There is no event kind "${value.kind}".`);
  const parsed = schema.safeParse(value.body);
  if (!parsed.success) refuse("SHAPE_INVALID", `${value.kind}: ${describeIssue(parsed.error)}`);
  return { kind: value.kind, subject: value.subject, body: parsed.data };
}
function describeIssue(error) {
  const issue = error.issues[0];
  const place = issue.path.length ? `${issue.path.map(String).join(".")}: ` : "";
  return `${place}${issue.message}`;
}

// src/ledger/entry.ts
import { hash as digestOf } from "node:crypto";

// src/ledger/strict.ts
function isObjectOf(value, fields) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}

// src/ledger/entry.ts
var GENESIS = "0".repeat(64);
var LEAF = Buffer.from([0]);
function leafHash(bytes) {
  return digestOf("sha256", Buffer.concat([LEAF, bytes]), "hex");
}
function sealEntry(entry) {
  const bytes = canonicalBytes(entry);
  if (bytes.length > limits.entry_bytes)
    refuse("INPUT_TOO_LARGE", `A ledger entry has ${bytes.length} bytes.`);
  return { seq: entry.seq, bytes, hash: leafHash(bytes) };
}
var FIELDS = ["at", "body", "claims", "kind", "prev", "seq", "subject", "tenant"];
function openEntry(bytes) {
  const value = parseJson(bytes, limits.entry_bytes);
  if (!isEntry(value)) refuse("SHAPE_INVALID", "The bytes are JSON, but not a ledger entry.");
  return value;
}
function isEntry(value) {
  return isObjectOf(value, FIELDS) && Number.isSafeInteger(value.seq) && value.seq >= 0 && typeof value.tenant === "string" && typeof value.at === "string" && typeof value.kind === "string" && typeof value.subject === "string" && typeof value.prev === "string" && Array.isArray(value.claims) && value.claims.every((claim) => typeof claim === "string") && typeof value.body === "object" && value.body !== null && !Array.isArray(value.body);
}

// src/ledger/merkle.ts
import { hash as hash2 } from "node:crypto";
var EMPTY_ROOT = sha256("");
function nodeHash(left, right) {
  const bytes = Buffer.from(`01${left}${right}`, "hex");
  if (bytes.length !== 65) refuse("HASH_MALFORMED");
  return hash2("sha256", bytes, "hex");
}
function append(tree, leaf, visit) {
  const size = tree.size + 1;
  const frontier = tree.frontier.slice();
  let node = leaf;
  visit?.(tree.size, size, node);
  for (let width = 2; size % width === 0; width *= 2) {
    node = nodeHash(frontier.pop() ?? misfit(), node);
    visit?.(size - width, size, node);
  }
  frontier.push(node);
  return { size, frontier };
}
function misfit() {
  return refuse("LEDGER_BROKEN", "The Merkle frontier does not fit the size of the ledger.");
}

// src/gate/next.ts
var MOVING = /* @__PURE__ */ new Set([
  "intent.proposed",
  "approval.granted",
  "approval.denied",
  "execution.claimed",
  "execution.finished",
  "execution.resolved",
  "retry.authorised"
]);
function movesIntent(event) {
  return MOVING.has(event.kind);
}
var BLOCKS = {
  proposed: "APPROVAL_MISSING",
  rejected: "INTENT_REJECTED",
  approved: null,
  claimed: "RUN_IN_DOUBT",
  succeeded: "ALREADY_EXECUTED",
  failed: "RUN_FAILED",
  partial: "RUN_IN_DOUBT",
  happened: "ALREADY_EXECUTED"
};
function next(state, event, at) {
  if (state === null) {
    if (event.kind !== "intent.proposed") refuse("INTENT_NOT_FOUND");
    return proposed(event, at);
  }
  switch (event.kind) {
    case "intent.proposed":
      return refuse("INTENT_EXISTS");
    case "approval.granted":
      from(state, ["proposed", "approved"]);
      sameHash(state, event.body.hash);
      return { ...state, status: "approved", approvals: [...state.approvals, approvalOf(event)] };
    case "approval.denied":
      from(state, ["proposed", "approved"]);
      sameHash(state, event.body.hash);
      return { ...state, status: "rejected" };
    case "execution.claimed":
      from(state, ["approved"]);
      sameHash(state, event.body.hash);
      if (event.body.attempt !== state.attempt)
        refuse("TRANSITION_ILLEGAL", "The attempt is not the next one.");
      return { ...state, status: "claimed", runs: [...state.runs, runOf(event, at)] };
    case "execution.finished":
      from(state, ["claimed"]);
      return finished(state, event, at);
    case "execution.resolved":
      from(state, ["claimed", "partial"], "RESOLVE_NOT_DUE");
      sameRun(state, event.body.execution_id);
      return { ...state, status: event.body.outcome === "happened" ? "happened" : "failed" };
    case "retry.authorised":
      from(
        state,
        ["failed"],
        state.status === "claimed" || state.status === "partial" ? "RUN_IN_DOUBT" : "RETRY_NOT_DUE"
      );
      sameHash(state, event.body.hash);
      sameRun(state, event.body.after);
      if (event.body.attempt !== state.attempt + 1)
        refuse("TRANSITION_ILLEGAL", "The attempt is not the next one.");
      return { ...state, status: "approved", attempt: event.body.attempt };
  }
}
function proposed({ subject, body }, at) {
  return {
    intent_id: subject,
    status: "proposed",
    hash: body.hash,
    effect_digest: body.effect_digest,
    registry_digest: body.registry_digest,
    tool: body.tool,
    proposer: body.proposer,
    proposer_kind: body.proposer_kind,
    proposed_at: at,
    expires_at: body.expires_at,
    approvals: [],
    attempt: 1,
    runs: []
  };
}
function finished(state, event, at) {
  const { execution_id, result, exit_code } = event.body;
  const run = sameRun(state, execution_id);
  const status = { success: "succeeded", failure: "failed", partial: "partial" }[result];
  return {
    ...state,
    status,
    runs: [...state.runs.slice(0, -1), { ...run, finished_at: at, result, exit_code }]
  };
}
function approvalOf({ body }) {
  return { by: body.by, key: body.key, signed_at: body.signed_at, expires_at: body.expires_at };
}
function runOf({ body }, at) {
  const { execution_id, attempt: attempt3, executor: executor2 } = body;
  return {
    execution_id,
    attempt: attempt3,
    claimed_at: at,
    executor: executor2,
    finished_at: null,
    result: null,
    exit_code: null
  };
}
function from(state, allowed, otherwise) {
  if (allowed.includes(state.status)) return;
  refuse(otherwise ?? BLOCKS[state.status] ?? "TRANSITION_ILLEGAL", void 0, { status: state.status });
}
function sameHash(state, hash3) {
  if (state.hash !== hash3) refuse("HASH_MISMATCH");
}
function sameRun(state, execution_id) {
  const run = state.runs.at(-1);
  if (run?.execution_id !== execution_id) refuse("EXECUTION_NOT_FOUND");
  return run;
}

// src/identity/principal.ts
function movesPrincipal(event) {
  return event.kind === "key.enrolled" || event.kind === "key.revoked";
}
function nextPrincipal(state, event, at) {
  if (event.kind === "key.enrolled") {
    if (state !== null) refuse("PRINCIPAL_EXISTS", `"${event.subject}" is enrolled already.`);
    const { principal, public_key, by } = event.body;
    if (principal === "human" !== (public_key !== null))
      refuse("NOT_HUMAN", "A human has a key and an agent has none.");
    return {
      name: event.subject,
      kind: principal,
      public_key,
      status: "active",
      enrolled_at: at,
      enrolled_by: by
    };
  }
  if (state === null) refuse("PRINCIPAL_UNKNOWN", `"${event.subject}" is not enrolled.`);
  if (state.status === "revoked") refuse("KEY_REVOKED");
  return { ...state, status: "revoked" };
}
function requireHuman(principal, key2) {
  if (principal === null) refuse("PRINCIPAL_UNKNOWN");
  if (principal.kind !== "human")
    refuse("NOT_HUMAN", `"${principal.name}" is an agent. Agents only propose.`);
  if (principal.status === "revoked") refuse("KEY_REVOKED");
  if (principal.public_key !== key2) refuse("KEY_FILE_INVALID", "The key is not the one that was enrolled.");
  return principal;
}

// src/store/projection.ts
function fold(rows, event, seq, at) {
  if (isSigned(event)) requireSigner(rows, event);
  if (movesIntent(event)) return foldIntent(rows, event, seq, at);
  if (movesPrincipal(event)) return [foldPrincipal(rows, event, seq, at)];
  return [];
}
function requireSigner(rows, event) {
  const { by, key: key2 } = event.body;
  if (isSelfSigned(event) && rows.principals().length === 0) return;
  requireHuman(rows.row("principal", by)?.state ?? null, key2);
}
function isSelfSigned({ kind, subject, body }) {
  return kind === "key.enrolled" && body.by === subject && body.key === body.public_key;
}
function foldIntent(rows, event, seq, at) {
  const before = rows.row("intent", event.subject);
  const state = next(before?.state ?? null, event, at);
  const intent = { name: "intent", key: event.subject, seq: before?.seq ?? seq, state };
  return event.kind === "execution.claimed" ? [intent, executionOf(rows, event, seq)] : [intent];
}
function executionOf(rows, { subject, body }, seq) {
  const { execution_id, attempt: attempt3 } = body;
  if (rows.row("execution", execution_id)) refuse("TRANSITION_ILLEGAL", "This execution id was used before.");
  return { name: "execution", key: execution_id, seq, state: { execution_id, intent_id: subject, attempt: attempt3 } };
}
function foldPrincipal(rows, event, seq, at) {
  const before = rows.row("principal", event.subject);
  const state = nextPrincipal(before?.state ?? null, event, at);
  if (event.kind === "key.revoked" && isLastHuman(rows, event.subject)) refuse("LAST_HUMAN");
  return { name: "principal", key: event.subject, seq: before?.seq ?? seq, state };
}
function isLastHuman(rows, name2) {
  const humans = rows.principals().filter(({ kind, status }) => kind === "human" && status === "active");
  return humans.length === 1 && humans[0].name === name2;
}
function overlay(rows) {
  const changes = /* @__PURE__ */ new Map();
  return {
    row: (name2, key2) => changes.get(`${name2} ${key2}`) ?? rows.row(name2, key2),
    principals: () => {
      const names = new Map(rows.principals().map((principal) => [principal.name, principal]));
      for (const { name: name2, key: key2, state } of changes.values())
        if (name2 === "principal") names.set(key2, state);
      return [...names.values()];
    },
    put: (row) => void changes.set(`${row.name} ${row.key}`, row),
    changed: () => changes.values()
  };
}

// src/store/plan.ts
function checkCommit({ claims = [], events, objects = [], erase = [] }) {
  if (events.length === 0) refuse("SHAPE_INVALID", "A commit has at least one event.");
  for (const claim of claims)
    if (typeof claim !== "string" || claim === "") refuse("SHAPE_INVALID", "A claim is a text.");
  if (new Set(claims).size !== claims.length) refuse("CLAIM_TAKEN", "The commit takes a claim twice.");
  const checked = { claims, events: events.map(parseEvent), objects: objects.map(copyOf), erase };
  requireErasuresNamed(checked);
  return checked;
}
function copyOf(object) {
  if (object.length > limits.output_bytes)
    refuse("INPUT_TOO_LARGE", `A stored object has ${object.length} bytes.`);
  const bytes = Uint8Array.from(object);
  return { digest: sha256(bytes), bytes };
}
function requireErasuresNamed({ events, erase }) {
  const named = events.filter(({ kind }) => kind === "object.erased").map(({ subject }) => subject);
  if (named.toSorted().join() !== erase.toSorted().join())
    refuse("SHAPE_INVALID", "Each erased object needs exactly one object.erased event.");
}
function planCommit(tenant, commit, tip, at, ledger) {
  try {
    return planned(tenant, commit, tip, at, ledger);
  } catch (error) {
    refuseTaken(commit, ledger);
    throw error;
  }
}
function refuseTaken({ claims }, ledger) {
  const claim = claims.find((key2) => ledger.isClaimed(key2));
  if (claim !== void 0) refuse("CLAIM_TAKEN", void 0, { claim });
}
function planned(tenant, commit, tip, at, ledger) {
  for (const digest3 of commit.erase) if (!ledger.holdsObject(digest3)) refuse("OBJECT_MISSING");
  const changes = overlay(ledger);
  const entries = [];
  let end = tip;
  for (const event of commit.events) {
    for (const row of tm('  fold',()=>fold(changes, event, end.size, at))) changes.put(row);
    const { kind, subject, body } = event;
    const claims = entries.length === 0 ? commit.claims : [];
    const facts = { seq: end.size, tenant, at, kind, subject, claims, body };
    const { seq, bytes, hash: hash3 } = tm('  seal',()=>sealEntry({ ...facts, prev: end.last }));
    end = { ...tm('  merkle',()=>append(end, hash3)), last: hash3, at };
    entries.push({ seq, bytes, hash: hash3, subject, peak: end.frontier.at(-1) });
  }
  const rows = tm('  rows text',()=>Array.from(changes.changed(), plannedRow));
  return { commit, at, first_seq: tip.size, entries, rows, tip: end };
}
function plannedRow(row) {
  return { row, status: "status" in row.state ? row.state.status : null, text: canonicalText(row.state) };
}

// src/store/sqlite/group.ts
var BATCH = 512;
function groupCommit(write) {
  const waiting = [];
  function flush() {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const outcomes = written(batch.map(({ request }) => request));
      for (const [i, { resolve: resolve2, reject }] of batch.entries()) {
        const outcome = outcomes[i];
        if ("answer" in outcome) resolve2(outcome.answer);
        else reject(outcome.error);
      }
    }
  }
  function written(batch) {
    try {
      return write(batch);
    } catch (error) {
      return batch.map(() => ({ error }));
    }
  }
  function ask(request) {
    return new Promise((resolve2, reject) => {
      waiting.push({ request, resolve: resolve2, reject });
      if (waiting.length === 1) setImmediate(flush);
    });
  }
  return { ask, flush };
}

// src/store/sqlite/open.ts
import { randomUUID } from "node:crypto";
import { accessSync, closeSync, constants, fsyncSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";

// src/store/sqlite/database.ts
import { pathToFileURL } from "node:url";

// src/store/sqlite/failure.ts
function refusalOf(error) {
  if (isSqliteError(error)) return new Refusal(sqliteCode(error), `The store says: ${error.message}.`);
  const code = SYSTEM[error?.code ?? ""];
  return code ? new Refusal(code, error.message) : error;
}
function isSqliteError(error) {
  return error?.code === "ERR_SQLITE_ERROR";
}
function isConstraint(error) {
  return isSqliteError(error) && (error.errcode & 255) === CONSTRAINT;
}
var CONSTRAINT = 19;
var SYSTEM = {
  ENOENT: "STORE_MISSING",
  ENOTDIR: "STORE_MISSING",
  EEXIST: "PROJECT_EXISTS",
  EACCES: "STORE_READ_ONLY",
  EPERM: "STORE_READ_ONLY",
  EROFS: "STORE_READ_ONLY",
  ENOSPC: "DISK_FULL",
  EDQUOT: "DISK_FULL",
  EIO: "WRITE_FAILED"
};
var PRIMARY = {
  // SQLITE_ERROR and SQLITE_CONSTRAINT: our statements are fixed, so tables or rows are not the ones we made.
  1: "STORE_CORRUPT",
  19: "STORE_CORRUPT",
  5: "STORE_BUSY",
  6: "STORE_BUSY",
  8: "STORE_READ_ONLY",
  10: "WRITE_FAILED",
  11: "STORE_CORRUPT",
  13: "DISK_FULL",
  14: "FILE_UNREADABLE",
  26: "STORE_CORRUPT"
};
var IOERR_READ = 266;
var IOERR_SHORT_READ = 522;
var ENOSPC = 28;
var EDQUOT = 122;
function sqliteCode(error) {
  const extended = error.sqliteExtendedCode ?? error.errcode;
  if (error.systemErrno === ENOSPC || error.systemErrno === EDQUOT) return "DISK_FULL";
  if (extended === IOERR_READ) return "FILE_UNREADABLE";
  if (extended === IOERR_SHORT_READ) return "STORE_CORRUPT";
  return PRIMARY[extended & 255] ?? "INTERNAL";
}

// src/store/sqlite/database.ts
async function connect(path, access, busy_ms = limits.store_busy_ms) {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const location = access === "immutable" ? `${pathToFileURL(path)}?immutable=1` : path;
  return mapped(() => {
    const db = new DatabaseSync(location, {
      readOnly: access !== "write",
      timeout: busy_ms,
      enableForeignKeyConstraints: true,
      defensive: true
    });
    return closedOnFailure(db, () => {
      db.exec(CAREFUL);
      return databaseOf(db, access, busy_ms);
    });
  });
}
var CACHE_KiB = 16 * 1024;
var CAREFUL = `
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;
  PRAGMA recursive_triggers = ON;
  PRAGMA cache_size = -${CACHE_KiB};
`;
var WAL_PAGES = 1e3;
function makeDurable(db) {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA secure_delete = ON;
    PRAGMA wal_autocheckpoint = ${WAL_PAGES};
  `);
}
function databaseOf(db, access, busy_ms) {
  const statements = /* @__PURE__ */ new Map();
  const sql = (text) => {
    const known = statements.get(text);
    if (known) return known;
    const statement = db.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  let failed = null;
  function transaction(kind, act) {
    if (!db.isOpen) refuse("INTERNAL", "The store is closed.");
    if (kind === "write" && failed)
      refuse("WRITE_FAILED", `An earlier write failed (${failed.code}). Open the store again.`);
    mapped(() => sql(kind === "write" ? "BEGIN IMMEDIATE" : "BEGIN").run());
    try {
      const result = act();
      tm('COMMIT',()=>sql("COMMIT").run());
      return result;
    } catch (error) {
      const refusal = refusalOf(error);
      if (kind === "write" && isSqliteError(error)) failed = refusal;
      rollback();
      throw refusal;
    }
  }
  function rollback() {
    if (!db.isTransaction) return;
    try {
      db.exec("ROLLBACK");
    } catch (error) {
      failed ??= new Refusal("WRITE_FAILED", String(error));
    }
  }
  function close() {
    if (!db.isOpen) return;
    rollback();
    try {
      if (access === "write" && !failed) db.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      if (!isSqliteError(error)) throw error;
    } finally {
      statements.clear();
      db.close();
    }
  }
  return {
    sql,
    exec: (text) => db.exec(text),
    transaction,
    run: (act) => {
      if (!db.isOpen) refuse("INTERNAL", "The store is closed.");
      return mapped(act);
    },
    close,
    busy_ms
  };
}
function mapped(act) {
  try {
    return act();
  } catch (error) {
    throw refusalOf(error);
  }
}
function closedOnFailure(db, act) {
  try {
    return act();
  } catch (error) {
    db.close();
    throw error;
  }
}

// src/store/sqlite/schema.ts
var APPLICATION_ID = 1263817294;
var MIGRATIONS = [
  `
  CREATE TABLE tenant (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 4095),
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    peak TEXT,
    at TEXT NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT;
  CREATE TRIGGER entry_no_update BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END;
  CREATE TRIGGER entry_no_delete BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;

  CREATE TABLE lookup (
    tenant INTEGER NOT NULL,
    near TEXT NOT NULL,
    kind TEXT NOT NULL,
    key ANY NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, near, kind, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projection (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    status TEXT,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX projection_status ON projection (tenant, name, status) WHERE status IS NOT NULL;

  CREATE TABLE object (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    digest TEXT NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, digest)
  ) STRICT;
  `
];
var CREATION = [
  ...MIGRATIONS,
  `PRAGMA application_id = ${APPLICATION_ID}`,
  `PRAGMA user_version = ${MIGRATIONS.length}`
].join(";");
var SPAN = 2 ** 40;
function idOf(tenant_id, seq) {
  return tenant_id * SPAN + seq;
}
function seqOf(id) {
  return id % SPAN;
}
function requireVersion(db, newest) {
  if (numberOf(db, "PRAGMA application_id") !== APPLICATION_ID)
    refuse("STORE_CORRUPT", "The file is not a Keyturn store.");
  const version = numberOf(db, "PRAGMA user_version");
  if (version > newest) refuse("STORE_NEWER", void 0, { version, newest });
  return version;
}
function migrate(db, steps = MIGRATIONS) {
  if (requireVersion(db, steps.length) === steps.length) return;
  db.transaction("write", () => {
    const version = requireVersion(db, steps.length);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${steps.length}`);
  });
}
function numberOf(db, pragma) {
  return Object.values(db.sql(pragma).get())[0];
}

// src/store/sqlite/open.ts
function exists(path) {
  return sizeOf(path) !== null;
}
async function createFile(path) {
  const draft = `${path}.${randomUUID()}.new`;
  try {
    closeSync(openSync(draft, "wx", 384));
    await build(draft);
    sync(draft);
    linkSync(draft, path);
    sync(dirname(path));
  } catch (error) {
    if (error.code !== "EEXIST") throw refusalOf(error);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
}
async function build(draft) {
  const db = await connect(draft, "write");
  try {
    db.run(() => {
      makeDurable(db);
      db.exec(`BEGIN IMMEDIATE; ${CREATION}; COMMIT;`);
    });
  } finally {
    db.close();
  }
}
function sync(path) {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
async function openToWrite(path, busy_ms) {
  requireFile(path);
  try {
    accessSync(path, constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw refusalOf(error);
  }
  const db = await connect(path, "write", busy_ms);
  return closedOnFailure2(db, () => {
    db.run(() => {
      requireVersion(db, MIGRATIONS.length);
      makeDurable(db);
    });
    migrate(db);
  });
}
async function openToRead(path, busy_ms) {
  requireFile(path);
  try {
    return requireCurrent(await connect(path, "read", busy_ms));
  } catch (error) {
    const is_unlockable = error instanceof Refusal && UNLOCKABLE.has(error.code);
    if (!is_unlockable || canWrite(dirname(path)) || (sizeOf(`${path}-wal`) ?? 0) > 0) throw error;
    return requireCurrent(await connect(path, "immutable", busy_ms));
  }
}
var UNLOCKABLE = /* @__PURE__ */ new Set(["FILE_UNREADABLE", "STORE_READ_ONLY", "WRITE_FAILED"]);
function requireCurrent(db) {
  return closedOnFailure2(db, () => {
    const version = db.run(() => requireVersion(db, MIGRATIONS.length));
    if (version < MIGRATIONS.length)
      refuse("STORE_READ_ONLY", "The store has an older form. Open it once to write.", { version });
  });
}
function requireFile(path) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) refuse("STORE_MISSING", `There is no store at ${path}.`);
  if (!found.isFile()) refuse("FILE_NOT_REGULAR", `The store at ${path} is not a file.`);
}
function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}
function canWrite(folder2) {
  try {
    accessSync(folder2, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
function closedOnFailure2(db, act) {
  try {
    act();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

// src/store/sqlite/lookup.ts
var UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
function claimKey(claim) {
  return [UUID.exec(claim)?.[0] ?? claim, "claim", claim];
}
function rowKey(name2, key2) {
  return [key2, name2, ""];
}
function claimLookup(claim, seq) {
  return [...claimKey(claim), seq];
}
function entryLookup(subject, seq) {
  return [subject, "entry", seq, seq];
}
function rowLookup({ name: name2, key: key2, seq }) {
  return [...rowKey(name2, key2), seq];
}

// src/store/sqlite/rows.ts
function findTenant(db, name2) {
  const found = db.sql("SELECT id FROM tenant WHERE name = ?").get(name2);
  return found ? { id: found.id, name: name2 } : null;
}
function ledgerOf(db, tenant) {
  return {
    row: (name2, key2) => readRow(db, tenant, name2, key2),
    principals: () => readPrincipals(db, tenant),
    isClaimed: (claim) => db.sql("SELECT seq FROM lookup WHERE tenant = ? AND near = ? AND kind = ? AND key = ?").get(tenant.id, ...claimKey(claim)) !== void 0,
    holdsObject: (digest3) => db.sql("SELECT 1 FROM object WHERE tenant = ? AND digest = ?").get(tenant.id, digest3) !== void 0
  };
}
function readRow(db, tenant, name2, key2) {
  const found = db.sql(
    `SELECT seq, state FROM lookup JOIN projection ON projection.id = ? + lookup.seq
       WHERE lookup.tenant = ? AND near = ? AND kind = ? AND lookup.key = ?`
  ).get(idOf(tenant.id, 0), tenant.id, ...rowKey(name2, key2));
  return found ? { name: name2, key: key2, seq: found.seq, state: stateOf(found.state) } : null;
}
function readPrincipals(db, tenant) {
  const found = db.sql(
    `SELECT state FROM projection
       WHERE tenant = ? AND name = 'principal' AND status IN ('active', 'revoked') ORDER BY id`
  ).all(tenant.id);
  return found.map(({ state }) => stateOf(state));
}
function stateOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(
      "STORE_CORRUPT",
      "A stored state is not JSON. `keyturn ledger rebuild --write` makes it anew."
    );
  }
}

// src/store/sqlite/read.ts
var BATCH2 = 1e3;
function readEntries(db, tenant, from2) {
  const found = db.sql("SELECT id, hash, bytes FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT ?").all(idOf(tenant.id, from2), idOf(tenant.id + 1, 0), BATCH2);
  return found.map(sealedOf);
}
function readEntriesOf(db, tenant, subject) {
  const found = db.sql(
    `SELECT id, hash, bytes FROM lookup JOIN entry ON entry.id = ? + lookup.seq
       WHERE tenant = ? AND near = ? AND kind = 'entry' ORDER BY key`
  ).all(idOf(tenant.id, 0), tenant.id, subject);
  return found.map(sealedOf);
}
function sealedOf({ id, hash: hash3, bytes }) {
  return { seq: seqOf(id), bytes, hash: hash3 };
}
function readIntents(db, tenant, { status, limit, after }) {
  if (!Number.isSafeInteger(limit) || limit < 1) refuse("SHAPE_INVALID", "The limit of a page is 1 or more.");
  const from2 = after === void 0 ? 0 : seqAfter(db, tenant, after);
  const range = [idOf(tenant.id, from2), idOf(tenant.id + 1, 0)];
  const found = status === void 0 ? db.sql(`${SELECT} NOT INDEXED WHERE id >= ? AND id < ? AND name = 'intent' ORDER BY id LIMIT ?`).all(...range, limit) : db.sql(
    `${SELECT} INDEXED BY projection_status WHERE id >= ? AND id < ? AND tenant = ? AND name = 'intent' AND status = ? ORDER BY id LIMIT ?`
  ).all(...range, tenant.id, status, limit);
  return found.map(({ state }) => stateOf(state));
}
var SELECT = "SELECT state FROM projection";
function seqAfter(db, tenant, intent_id) {
  const row = readRow(db, tenant, "intent", intent_id) ?? refuse("INTENT_NOT_FOUND");
  return row.seq + 1;
}
function readObject(db, tenant, digest3) {
  if (!isDigest(digest3)) refuse("HASH_MALFORMED");
  const found = db.sql("SELECT bytes FROM object WHERE tenant = ? AND digest = ?").get(tenant.id, digest3);
  if (!found) refuse("OBJECT_MISSING", void 0, { digest: digest3 });
  if (sha256(found.bytes) !== digest3) refuse("OBJECT_CORRUPT", void 0, { digest: digest3 });
  return found.bytes;
}

// src/store/sqlite/tip.ts
var EMPTY_TIP = { size: 0, last: GENESIS, at: null, frontier: [] };
function tipsOf(db, tenant) {
  let known = EMPTY_TIP;
  const range = [idOf(tenant.id, 0), idOf(tenant.id + 1, 0)];
  function read() {
    const found = db.sql("SELECT id, hash, at FROM entry WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1").get(...range);
    if (!found) return EMPTY_TIP;
    const { hash: last, at } = found;
    const size = seqOf(found.id) + 1;
    if (known.size !== size || known.last !== last)
      known = { size, last, at, frontier: readFrontier(db, tenant, size) };
    return known;
  }
  function remember(tip) {
    known = tip;
  }
  return { read, remember };
}
function readFrontier(db, tenant, size) {
  const frontier = [];
  let width = 2 ** Math.floor(Math.log2(size));
  for (let end = 0; end < size; width /= 2) {
    if (end + width > size) continue;
    end += width;
    frontier.push(readPeak(db, tenant, end - 1));
  }
  return frontier;
}
function readPeak(db, tenant, seq) {
  const found = db.sql("SELECT ifnull(peak, hash) AS peak FROM entry WHERE id = ?").get(idOf(tenant.id, seq));
  return found?.peak ?? refuse("LEDGER_BROKEN", `Entry ${seq} is missing.`, { seq });
}

// src/store/sqlite/write.ts
globalThis.T={};globalThis.now=()=>Number(process.hrtime.bigint())/1000;globalThis.tm=(n,f)=>{const t=now();try{return f()}finally{(T[n]??=[]).push(now()-t)}};
function writeBatch(db, tenant, clock, tips, batch) {
  return db.transaction("write", () => {
    const ledger = ledgerOf(db, tenant);
    let tip = tm('tip',()=>tips.read());
    const outcomes = batch.map((commit) => {
      const at = clock().toISOString();
      const plan = attempt2(() => tm('plan',()=>planCommit(tenant.name, commit, tip, at, ledger)));
      if ("error" in plan) return plan;
      const refusal = attempt2(() => tm('lookups',()=>takeClaims(db, tenant, plan, ledger)));
      if (refusal) return refusal;
      tm('facts',()=>writeFacts(db, tenant, plan));
      tip = plan.tip;
      return { answer: { entries: plan.entries.map(({ seq, bytes, hash: hash3 }) => ({ seq, bytes, hash: hash3 })) } };
    });
    tips.remember(tip);
    return outcomes;
  });
}
function attempt2(act) {
  try {
    return act();
  } catch (error) {
    if (isSqliteError(error)) throw error;
    return { error };
  }
}
function takeClaims(db, tenant, plan, ledger) {
  const lookups = lookupsOf(plan);
  if (lookups.length > TOGETHER) refuseTaken(plan.commit, ledger);
  try {
    for (let i = 0; i < lookups.length; i += TOGETHER)
      insertLookups(db, tenant, lookups.slice(i, i + TOGETHER));
  } catch (error) {
    if (isConstraint(error)) refuseTaken(plan.commit, ledger);
    throw error;
  }
}
function lookupsOf({ commit, entries, rows, first_seq }) {
  const lookups = commit.claims.map((claim) => claimLookup(claim, first_seq));
  for (const { subject, seq } of entries) lookups.push(entryLookup(subject, seq));
  for (const { row } of rows) if (row.seq >= first_seq) lookups.push(rowLookup(row));
  return lookups;
}
var TOGETHER = 16;
var INSERT_LOOKUPS = Array.from(
  { length: TOGETHER + 1 },
  (_, rows) => `INSERT INTO lookup (tenant, near, kind, key, seq) VALUES ${Array(rows).fill("(?, ?, ?, ?, ?)").join()}`
);
function insertLookups(db, tenant, lookups) {
  const values = [];
  for (const [near, kind, key2, seq] of lookups) values.push(tenant.id, near, kind, key2, seq);
  db.sql(INSERT_LOOKUPS[lookups.length]).run(...values);
}
function writeFacts(db, tenant, { commit, at, first_seq, entries, rows }) {
  for (const { seq, hash: hash3, peak, bytes } of entries)
    db.sql("INSERT INTO entry (id, hash, peak, at, bytes) VALUES (?, ?, ?, ?, ?)").run(
      idOf(tenant.id, seq),
      hash3,
      peak === hash3 ? null : peak,
      at,
      bytes
    );
  for (const planned2 of rows) {
    if (planned2.row.seq < first_seq) updateRow(db, tenant, planned2);
    else insertRow(db, tenant, planned2);
  }
  for (const { digest: digest3, bytes } of commit.objects) insertObject(db, tenant, digest3, bytes);
  for (const digest3 of commit.erase)
    db.sql("DELETE FROM object WHERE tenant = ? AND digest = ?").run(tenant.id, digest3);
}
function insertRow(db, tenant, { row, status, text }) {
  db.sql("INSERT INTO projection (id, tenant, name, key, status, state) VALUES (?, ?, ?, ?, ?, ?)").run(
    idOf(tenant.id, row.seq),
    tenant.id,
    row.name,
    row.key,
    status,
    text
  );
}
function updateRow(db, tenant, { row, status, text }) {
  db.sql("UPDATE projection SET status = ?, state = ? WHERE id = ?").run(
    status,
    text,
    idOf(tenant.id, row.seq)
  );
}
function insertObject(db, tenant, digest3, bytes) {
  db.sql("INSERT INTO object (tenant, digest, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING").run(
    tenant.id,
    digest3,
    bytes
  );
}
var ERASE_WAIT_ms = 1e3;
function forgetErased(db) {
  try {
    db.exec(`PRAGMA busy_timeout = ${ERASE_WAIT_ms}`);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isSqliteError(error)) throw error;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${db.busy_ms}`);
  }
}

// src/store/sqlite/rebuild.ts
var NAMED = 20;
var FRESH_TABLES = `
  CREATE TEMP TABLE lookup (
    tenant INTEGER, near TEXT, kind TEXT, key ANY, seq INTEGER, PRIMARY KEY (tenant, near, kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TEMP TABLE projection (
    id INTEGER PRIMARY KEY, tenant INTEGER, name TEXT, key TEXT, status TEXT, state TEXT
  ) STRICT;
  CREATE INDEX temp.principal_rows ON projection (id) WHERE name = 'principal';
`;
var DROP_TABLES = "DROP TABLE temp.lookup; DROP TABLE temp.projection;";
function rebuildProjections(db, tenant, { write }) {
  return db.transaction(write ? "write" : "read", () => {
    db.exec(FRESH_TABLES);
    const tip = foldLedger(db, tenant);
    const differences = differencesOf(db, tenant);
    if (write && differences.length > 0) replace(db, tenant);
    const { rows } = db.sql("SELECT count(*) AS rows FROM temp.projection").get();
    db.exec(DROP_TABLES);
    return { entries: tip.size, rows, differences };
  });
}
function foldLedger(db, tenant) {
  const ledger = ledgerOf(db, tenant);
  let tip = EMPTY_TIP;
  for (let batch = nextEntries(db, tenant, 0); batch.length > 0; batch = nextEntries(db, tenant, tip.size))
    for (const stored of batch) tip = foldEntry(db, tenant, ledger, stored, tip);
  return tip;
}
function nextEntries(db, tenant, from2) {
  return db.sql(
    `SELECT id, hash, ifnull(peak, hash) AS peak, at, bytes FROM entry
       WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`
  ).all(idOf(tenant.id, from2), idOf(tenant.id + 1, 0), BATCH2);
}
function foldEntry(db, tenant, ledger, stored, tip) {
  const { size } = tip;
  try {
    const { seq, at, claims, prev, tenant: owner, ...event } = openEntry(stored.bytes);
    if (stored.id !== idOf(tenant.id, size) || seq !== size) refuse("LEDGER_BROKEN", "an entry is missing");
    if (owner !== tenant.name) refuse("LEDGER_BROKEN", "it belongs to another tenant");
    if (prev !== tip.last) refuse("LEDGER_BROKEN", "it does not follow the entry before it");
    if (leafHash(stored.bytes) !== stored.hash) refuse("LEDGER_BROKEN", "its hash is not that of its bytes");
    const end = { ...append(tip, stored.hash), last: stored.hash, at };
    if (end.frontier.at(-1) !== stored.peak || at !== stored.at)
      refuse("LEDGER_BROKEN", "what is stored beside it does not fit");
    foldEvent(db, tenant, ledger, seq, at, claims, parseEvent(event));
    return end;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse("LEDGER_BROKEN", `Entry ${size}: ${error.message}`, { seq: size, found: error.code });
  }
}
function foldEvent(db, tenant, ledger, seq, at, claims, event) {
  for (const claim of claims) {
    if (ledger.isClaimed(claim)) refuse("CLAIM_TAKEN", "it takes a claim that was taken");
    insertLookups(db, tenant, [claimLookup(claim, seq)]);
  }
  insertLookups(db, tenant, [entryLookup(event.subject, seq)]);
  for (const row of fold(ledger, event, seq, at)) {
    if (row.seq === seq) insertLookups(db, tenant, [rowLookup(row)]);
    (row.seq === seq ? insertRow : updateRow)(db, tenant, plannedRow(row));
  }
}
function differencesOf(db, tenant) {
  const found = db.sql(`${differing("projection", "id, name, key, status, state", `name || ' ' || key`)}
          UNION
          ${differing("lookup", "near, kind, key, seq", `kind || ' ' || CASE kind WHEN 'claim' THEN key ELSE near END`)}
          LIMIT ${NAMED}`).all({ tenant: tenant.id });
  return found.map(({ what }) => what);
}
function differing(table, columns, label) {
  const stored = `SELECT ${columns} FROM main.${table} WHERE tenant = :tenant`;
  const folded = `SELECT ${columns} FROM temp.${table}`;
  return `SELECT ${label} AS what FROM (${stored} EXCEPT ${folded})
          UNION SELECT ${label} FROM (${folded} EXCEPT ${stored})`;
}
function replace(db, tenant) {
  for (const table of ["projection", "lookup"]) {
    db.sql(`DELETE FROM main.${table} WHERE tenant = ?`).run(tenant.id);
    db.sql(`INSERT INTO main.${table} SELECT * FROM temp.${table}`).run();
  }
}

// src/store/sqlite/store.ts
async function openSqliteStore(options) {
  const { tenant, clock, mode: mode2, busy_ms } = options;
  const path = resolve(options.path);
  if (mode2 === "create" && !exists(path)) await createFile(path);
  const db = mode2 === "read" ? await openToRead(path, busy_ms) : await openToWrite(path, busy_ms);
  try {
    if (mode2 === "create") addTenant(db, tenant);
    const found = db.run(() => findTenant(db, tenant));
    if (!found) refuse("STORE_MISSING", `The store has no ledger of "${tenant}".`);
    return storeOf(db, found, clock, mode2 === "read");
  } catch (error) {
    db.close();
    throw error;
  }
}
function addTenant(db, name2) {
  db.transaction("write", () => {
    if (findTenant(db, name2)) refuse("PROJECT_EXISTS", `The store has a ledger of "${name2}" already.`);
    db.sql("INSERT INTO tenant (name) VALUES (?)").run(name2);
  });
}
function storeOf(db, tenant, clock, read_only) {
  const tips = tipsOf(db, tenant);
  const group = groupCommit((batch) => {
    const outcomes = writeBatch(db, tenant, clock, tips, batch);
    if (batch.some(({ erase }) => erase.length > 0)) forgetErased(db);
    return outcomes;
  });
  const requireWritable = () => {
    if (read_only) refuse("STORE_READ_ONLY", "The store was opened to read.");
  };
  return {
    tenant: tenant.name,
    commit: async (commit) => {
      requireWritable();
      return group.ask(checkCommit(commit));
    },
    intent: async (intent_id) => db.run(() => readRow(db, tenant, "intent", intent_id)?.state ?? null),
    intents: async (page) => db.run(() => readIntents(db, tenant, page)),
    execution: async (id) => db.run(() => readRow(db, tenant, "execution", id)?.state ?? null),
    principal: async (name2) => db.run(() => readRow(db, tenant, "principal", name2)?.state ?? null),
    principals: async () => db.run(() => readPrincipals(db, tenant)),
    object: async (digest3) => db.run(() => readObject(db, tenant, digest3)),
    tip: async () => db.run(tips.read),
    entries: (from2) => entriesFrom(db, tenant, from2 ?? 0),
    entriesOf: async (subject) => db.run(() => readEntriesOf(db, tenant, subject)),
    rebuild: async (options) => {
      if (options.write) requireWritable();
      group.flush();
      return rebuildProjections(db, tenant, options);
    },
    close: async () => {
      group.flush();
      db.close();
    }
  };
}
async function* entriesFrom(db, tenant, from2) {
  if (!Number.isSafeInteger(from2) || from2 < 0) refuse("SHAPE_INVALID", "Entries are counted from 0.");
  for (let seq = from2; ; ) {
    const batch = db.run(() => readEntries(db, tenant, seq));
    const last = batch.at(-1);
    if (!last) return;
    yield batch;
    seq = last.seq + 1;
  }
}

// bench/.p.ts
var folder = mkdtempSync("/tmp/sb/p-");
var digest2 = "ab".repeat(32);
var store = await openSqliteStore({ path: folder + "/s.db", tenant: "bench", clock: () => /* @__PURE__ */ new Date(), mode: "create" });
var proposal = () => {
  const subject = randomUUID2();
  return { claims: [`intent:${subject}`], events: [{ kind: "intent.proposed", subject, body: { hash: digest2, effect_digest: digest2, registry_digest: digest2, tool: "deploy", proposer: "planner", proposer_kind: "agent", expires_at: "2030-01-15T12:00:00.000Z" } }] };
};
var measure = async (name2, n, f) => {
  for (let r = 0; r < 4; r++) {
    const c = process.cpuUsage();
    const t = process.hrtime.bigint();
    await f();
    const d = process.cpuUsage(c);
    console.log(name2, "wall", (Number(process.hrtime.bigint() - t) / 1e3 / n).toFixed(1), "user", (d.user / n).toFixed(1), "sys", (d.system / n).toFixed(1));
  }
};
var mode = process.argv[2];
if (mode !== "batch") await measure("lone", 1500, async () => {
  for (let i = 0; i < 1500; i++) await store.commit(proposal());
});
if (mode !== "lone") await measure("batch", 6400, async () => {
  for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 64 }, () => store.commit(proposal())));
});
await store.close();
rmSync2(folder, { recursive: true });

for(const n in T){const a=T[n].slice(T[n].length/2).sort((a,b)=>a-b); console.log(n.padEnd(12),'n',a.length,'p10',a[a.length*.1|0].toFixed(1),'p50',a[a.length>>1].toFixed(1),'p90',a[a.length*.9|0].toFixed(1),'mean',(a.reduce((x,y)=>x+y,0)/a.length).toFixed(1));}
