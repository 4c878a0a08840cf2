/**
 * Every reason Keyturn can say no. One closed registry: code, number, what it means, what a human can do.
 *
 * The thousands digit is the category: 1 validation, 2 file system, 3 permission, 4 dependency, 5 internal.
 * Tests assert codes, never prose. `keyturn explain CODE` prints an entry.
 */

type Reason = readonly [number: number, meaning: string, advice: string];

const reasons = {
  // 1000-1999: the input itself is wrong.
  INPUT_NOT_UTF8: [1001, 'The input is not valid UTF-8.', 'Save the file as UTF-8 and try again.'],
  INPUT_TOO_LARGE: [
    1002,
    'The input is larger than Keyturn accepts.',
    'Send less. The limits and their reasons are in src/limits.ts.',
  ],
  JSON_MALFORMED: [1003, 'The input is not valid JSON.', 'Correct the JSON at the place the message names.'],
  JSON_TOO_DEEP: [1004, 'The JSON is nested deeper than Keyturn accepts.', 'Flatten the value.'],
  JSON_DUPLICATE_KEY: [
    1005,
    'A JSON object has the same key twice, so its meaning is ambiguous.',
    'Keep one of the two keys.',
  ],
  JSON_BAD_STRING: [1006, 'A string has a lone surrogate or a NUL character.', 'Remove the character.'],
  JSON_BAD_NUMBER: [
    1007,
    'A number is not finite, or is an integer that cannot be held exactly.',
    'Write the number as a string, or use a smaller one.',
  ],
  JSON_NOT_PLAIN: [
    1008,
    'The value is not plain JSON.',
    'Pass only objects, arrays, strings, numbers, booleans and null.',
  ],
  SHAPE_INVALID: [
    1009,
    'A field is unknown, missing or of the wrong type.',
    'Correct the field that the message names.',
  ],
  YAML_MALFORMED: [
    1010,
    'The file is not valid YAML, or uses a feature that makes it ambiguous.',
    'Correct the YAML at the place the message names.',
  ],
  USAGE: [1011, 'The command line is not one that Keyturn knows.', 'Run the command with --help.'],
  ID_MALFORMED: [
    1020,
    'The id is not a lower-case UUID of 36 characters.',
    'Copy the id exactly as it was printed.',
  ],
  HASH_MALFORMED: [
    1021,
    'The hash is not 64 lower-case hexadecimal characters.',
    'Copy the hash exactly as it was printed.',
  ],
  NAME_MALFORMED: [
    1022,
    'The name has characters that names may not have.',
    'Use a to z, 0 to 9, dot, dash and underscore, 64 at most.',
  ],
  TIME_MALFORMED: [
    1023,
    'The time or duration cannot be read.',
    'Write a time as 2026-01-15T12:00:00.000Z and a duration as 30s, 15m, 2h or 7d.',
  ],
  INTENT_EMPTY: [1030, 'The intent has no text.', 'Say what is wanted.'],
  INTENT_NOT_FOUND: [1031, 'There is no intent with this id.', 'Run `keyturn list` to see the intents.'],
  HASH_MISMATCH: [
    1032,
    'The hash is not the hash of this intent.',
    'Review the intent again; what you hold is not what was proposed.',
  ],
  INTENT_EXPIRED: [1033, 'The intent has expired.', 'Propose it again.'],
  INTENT_EXISTS: [1034, 'An intent with this id exists already.', 'Propose it under a new id.'],
  ENVELOPE_HASH_WRONG: [
    1035,
    'The integrity hash in the envelope is not the hash of the envelope.',
    'Rebuild the envelope; it was changed after it was sealed.',
  ],
  TOOL_UNKNOWN: [
    1040,
    'The registry has no tool with this name.',
    'Run `keyturn tool list` to see the tools.',
  ],
  TOOL_DUPLICATE: [
    1041,
    'The registry lists a tool twice.',
    'Keep one definition, then run `keyturn tool lock`.',
  ],
  BINDING_MISSING: [
    1042,
    'The registry binds no tool to this intent.',
    'Add a binding for this intent id to the registry.',
  ],
  BINDING_EMPTY: [
    1043,
    'The registry binds zero tools to this intent.',
    'Name exactly one tool in the binding.',
  ],
  BINDING_AMBIGUOUS: [
    1044,
    'The registry binds several tools to this intent.',
    'Name exactly one tool in the binding.',
  ],
  BINDING_MISMATCH: [
    1045,
    'The registry binds this intent id to another tool or other arguments.',
    'Propose what the binding says, or change the binding.',
  ],
  REGISTRY_MALFORMED: [
    1046,
    'The tool registry cannot be understood.',
    'Run `keyturn tool lint` and correct what it names.',
  ],
  ARGUMENT_MISSING: [
    1047,
    'A required argument is missing.',
    'Pass the argument; `keyturn tool list` shows the parameters.',
  ],
  ARGUMENT_UNKNOWN: [
    1048,
    'The tool has no parameter with this name.',
    'Remove the argument; `keyturn tool list` shows the parameters.',
  ],
  ARGUMENT_INVALID: [
    1049,
    'An argument breaks a constraint of its parameter.',
    'Pass a value that the constraint allows.',
  ],
  ARGUMENT_LOOKS_LIKE_OPTION: [
    1050,
    'An argument would reach the tool as an option, because it begins with a dash.',
    'Pass a value without the dash, or allow it for this parameter in the registry.',
  ],
  PROPOSER_AMBIGUOUS: [1060, 'It is not clear who proposes this.', 'Name the proposer with --by.'],
  PRINCIPAL_UNKNOWN: [
    1061,
    'No principal with this name is enrolled.',
    'Run `keyturn identity list` to see who is.',
  ],
  PRINCIPAL_EXISTS: [1062, 'A principal with this name is enrolled already.', 'Choose another name.'],
  EXECUTION_NOT_FOUND: [
    1063,
    'There is no execution with this id.',
    'Run `keyturn status` to see the executions.',
  ],
  CODE_UNKNOWN: [
    1064,
    'There is no reason code with this name or number.',
    'Run `keyturn explain` to list them all.',
  ],
  HEAD_MALFORMED: [
    1070,
    'The head is not a signed checkpoint.',
    'Use the file that `keyturn ledger head` wrote, unchanged.',
  ],
  EXPORT_MALFORMED: [
    1071,
    'The file is not a ledger export.',
    'Use the file that `keyturn ledger export` wrote, unchanged.',
  ],
  BUNDLE_MALFORMED: [
    1072,
    'The file is not a proof bundle.',
    'Use the file that `keyturn ledger prove` wrote, unchanged.',
  ],

  // plan edits
  EDIT_BINARY: [
    1100,
    'The file is binary: it holds NUL characters.',
    'Edit text files only. Replace a binary file as a whole.',
  ],
  EDIT_FORMAT_MISMATCH: [
    1101,
    'The edit is not made for files of this format.',
    'Use a json_ edit for JSON, yaml_update for YAML and a text edit for other text.',
  ],
  EDIT_NO_MATCH: [1102, 'The pattern does not occur in the file.', 'Check the pattern and the file.'],
  EDIT_MATCH_COUNT: [
    1103,
    'The pattern does not occur as often as the plan says.',
    'Make the pattern more exact, or correct expected_matches or max_matches.',
  ],
  EDIT_PATTERN_INVALID: [
    1104,
    'The regular expression cannot be used.',
    'Write it in RE2 syntax, without look-around and back-references, so that it never matches empty text.',
  ],
  EDIT_COSTLY: [
    1105,
    'The pattern or the path could take too long on this file.',
    'Use a literal pattern with fewer matches, or a path of plain keys and places.',
  ],
  EDIT_REPLACEMENT_INVALID: [
    1106,
    'The replacement names a group that the pattern does not have, or has a stray dollar sign.',
    'Write $1 for a group, or $ and its name in braces, and $$ for a dollar sign.',
  ],
  EDIT_LINE_OUT_OF_RANGE: [1107, 'The file has no such line.', 'Count the lines of the file again.'],
  EDIT_PATH_MALFORMED: [
    1108,
    'The path inside the document is not one that Keyturn follows.',
    'Write an RFC 9535 path such as $.properties.name, with one selector in each step.',
  ],
  EDIT_TARGET_MISSING: [1109, 'The path leads to nothing.', 'Check the path against the document.'],
  EDIT_TARGET_AMBIGUOUS: [
    1110,
    'The path leads to more than one place.',
    'Make the path more exact. An edit changes one place.',
  ],
  EDIT_TARGET_UNFIT: [
    1111,
    'The place is not one that this edit can change.',
    'Choose a path that leads to an object, or another edit.',
  ],
  EDIT_TARGET_SHARED: [
    1112,
    'The place has an anchor, an alias or a tag, so a change there would mean more than it shows.',
    'Edit this place by hand, or with a text edit.',
  ],
  EDIT_KEY_EXISTS: [1113, 'The object has this key already.', 'Use json_update_value to change it.'],
  EDIT_KEY_MISSING: [1114, 'The object does not have this key.', 'Check the key against the document.'],
  EDIT_CHANGES_NOTHING: [1115, 'The file already is what the edit would make it.', 'Remove the edit.'],
  EDIT_RESULT_TOO_LARGE: [
    1116,
    'The edited file would be larger than Keyturn accepts.',
    'Insert less. The limits are in src/plan/edit/bounds.ts.',
  ],
  EDIT_SEVERAL_DOCUMENTS: [
    1117,
    'The YAML file holds several documents, or none.',
    'Edit a file with one document.',
  ],
  EDIT_NOT_EXACT: [
    1118,
    'The edited file would not read back as exactly this one change.',
    'Nothing was changed. Edit this place by hand, or with a text edit.',
  ],
  SCHEMA_INVALID: [1119, 'The result is not a valid JSON Schema.', 'Correct what the message names.'],
  SCHEMA_DIALECT_UNKNOWN: [
    1120,
    'The schema names a dialect that Keyturn cannot check.',
    'Use draft 2020-12, 2019-09 or draft-07.',
  ],

  // plan
  PLAN_LIMIT_EXCEEDED: [
    1150,
    'The plan is larger than Keyturn accepts: too many files, too large a file, too much to back up, or too long.',
    'Split the plan. The limits are in src/plan/limits.ts.',
  ],
  PLAN_PATHS_NESTED: [
    1151,
    'The plan treats one path both as a file and as a folder.',
    'Split the plan, so that each path is one or the other.',
  ],
  PLAN_DEPENDENCIES_CYCLIC: [
    1152,
    'The actions of the plan wait for each other in a circle, or for an action that is not there.',
    'Correct depends_on.',
  ],
  PLAN_RULE_BROKEN: [
    1153,
    'A validation rule of the plan does not hold after the run.',
    'The run was rolled back. Correct the plan or the rule.',
  ],
  CHECKPOINT_UNKNOWN: [
    1154,
    'The manifest has no checkpoint with this id.',
    'Copy the id from the rollback manifest.',
  ],
  CHECKPOINT_CHAINED: [
    1155,
    'A file was moved between this checkpoint and others, so one cannot be restored without them.',
    'Name the other checkpoints too, or roll back everything.',
  ],
  PLAN_RESULT_UNKNOWN: [
    1156,
    'An action needs a file whose content only the run itself can tell, so nobody could approve it.',
    'Split the plan after the action that makes the file.',
  ],

  // SQL
  SQL_EMPTY: [1200, 'The SQL holds no statement.', 'Write at least one statement.'],
  SQL_MALFORMED: [
    1201,
    'The SQL cannot be parsed, or could be read in two ways.',
    'Correct the SQL at the place that the message names.',
  ],
  SQL_PARAMETER_MISSING: [1202, 'A parameter of the SQL has no value.', 'Give a value for the parameter.'],
  SQL_PARAMETER_UNUSED: [
    1203,
    'A value was given for a parameter that no statement uses.',
    'Remove the value, or correct its name.',
  ],
  SQL_PARAMETER_INVALID: [
    1204,
    'A parameter has no name, has two values, or its value is not a JSON scalar.',
    'Write parameters as $name, and give each a string, a number, a boolean or null.',
  ],
  SQL_NO_RESULT: [
    1205,
    'Results were expected, and the last statement gave none.',
    'Nothing was changed. End with a SELECT that finds rows, or expect no results.',
  ],
  SQL_STATEMENT_FAILED: [
    1206,
    'DuckDB could not run a statement.',
    'Nothing was changed. Correct the statement that the message names.',
  ],

  // plan input
  PLAN_ACTION_DUPLICATE: [1250, 'The plan uses one action id twice.', 'Give each action an id of its own.'],
  PLAN_PATH_UNCLEAR: [
    1251,
    'A path of the plan can be read in more than one way.',
    'Write a plain relative path with / and without control, invisible or lookalike characters.',
  ],
  PLAN_PATH_TWIN: [
    1252,
    'The plan names two paths that some file systems take for one.',
    'Use one spelling, or split the plan.',
  ],
  PLAN_FALSE_CLAIM: [
    1253,
    'The plan says that an action is reversible, and it is not.',
    'Set reversible to false, so that the approver is not misled.',
  ],
  CONTENT_SYNTAX_BROKEN: [
    1254,
    'A JSON or YAML file would no longer be valid.',
    'Correct the edit, so that the file can still be read.',
  ],
  CONTENT_CREDENTIAL: [
    1255,
    'A file would hold something that looks like a credential.',
    'Keep the credential out of the plan and out of the file; refer to it by name.',
  ],
  TASK_EXPIRED: [
    1256,
    'The task envelope is past its time to live, or comes from the future.',
    'Ask its sender for a new one, and check the clocks.',
  ],

  // 2000-2999: a file is not as it must be.
  FILE_NOT_FOUND: [2001, 'The file does not exist.', 'Check the path.'],
  FILE_UNREADABLE: [2002, 'The file cannot be read.', 'Check its permissions.'],
  FILE_IS_SYMLINK: [2003, 'The path is, or goes through, a symbolic link.', 'Name the real file.'],
  FILE_NOT_REGULAR: [2004, 'The path is not a regular file.', 'Name a regular file.'],
  FILE_HARD_LINKED: [
    2005,
    'The file has a second name (a hard link), so it can change under that name.',
    'Use a file with one name.',
  ],
  PATH_ESCAPES: [
    2006,
    'The path leads outside the folder it must stay in.',
    'Use a relative path without "..".',
  ],
  DISK_FULL: [2007, 'The disk is full.', 'Free some room and try again.'],
  WRITE_FAILED: [2008, 'A write did not reach the disk.', 'Check the disk. Nothing was acknowledged.'],
  REGISTRY_MISSING: [2010, 'The tool registry does not exist.', 'Create tools.yaml, or name another file.'],
  EXECUTABLE_MISSING: [
    2012,
    'The executable of the tool does not exist.',
    'Install it, or correct the registry.',
  ],
  EXECUTABLE_NOT_EXECUTABLE: [
    2013,
    'The executable of the tool may not be executed.',
    'Set its execute permission.',
  ],
  WORKING_FOLDER_MISSING: [
    2014,
    'The working folder of the tool does not exist.',
    'Create it, or correct the registry.',
  ],
  SANDBOX_PATH_MISSING: [
    2015,
    'A path that the sandbox profile binds does not exist.',
    'Create it, or correct the registry.',
  ],
  STORE_MISSING: [2020, 'The project has no store.', 'Run `keyturn init`.'],
  STORE_CORRUPT: [
    2021,
    'The store is damaged.',
    'Restore a backup. Check it with `keyturn ledger verify` against a head that you kept.',
  ],
  STORE_READ_ONLY: [
    2022,
    'The store cannot be written.',
    'Check the permissions of .keyturn and of the disk.',
  ],
  STORE_NEWER: [2024, 'The store was written by a newer Keyturn.', 'Use that version or a later one.'],
  STORE_BUSY: [2025, 'Another process holds the store for too long.', 'Try again when it has finished.'],
  OBJECT_MISSING: [
    2026,
    'A stored object is gone; it was erased or lost.',
    'The ledger still proves its digest. What needs its content can no longer be done.',
  ],
  OBJECT_CORRUPT: [2027, 'A stored object is not what its digest says.', 'Restore a backup of the store.'],
  LEDGER_BROKEN: [
    2030,
    'An entry of the ledger is not what it was when it was written.',
    'Keep this copy as evidence and restore one that verifies.',
  ],
  LEDGER_TRUNCATED: [
    2031,
    'The ledger is shorter than the head that was kept.',
    'Entries were removed. Keep this copy as evidence.',
  ],
  LEDGER_FORKED: [
    2032,
    'The ledger is not the one that the kept head describes.',
    'History was rewritten. Keep both as evidence.',
  ],
  HEAD_SIGNATURE_INVALID: [
    2033,
    'The head is not signed by the expected key.',
    'Check the key fingerprint with the owner of the ledger.',
  ],
  PROOF_INVALID: [2034, 'The proof does not lead to the head.', 'Do not rely on this bundle.'],
  PROJECTION_DRIFT: [
    2035,
    'The stored state is not what the ledger says.',
    'Run `keyturn ledger rebuild --write` to make it so, and find out who changed it.',
  ],
  QUEUE_MISSING: [2040, 'The queue file does not exist.', 'Check the --queue folder.'],
  QUEUE_MALFORMED: [
    2041,
    'The queue has a line that cannot be understood, or one without an end.',
    'Correct the file by hand; Keyturn never repairs it.',
  ],
  QUEUE_AMBIGUOUS: [
    2042,
    'The queue says two different things about one id.',
    'Correct the file by hand; Keyturn never chooses.',
  ],
  PROJECT_EXISTS: [
    2043,
    'This folder is a Keyturn project already.',
    'Use it as it is, or choose another folder.',
  ],
  PROJECT_MISSING: [
    2044,
    'This folder is not inside a Keyturn project.',
    'Run `keyturn init`, or pass --project.',
  ],

  // plan
  FILE_EXISTS: [
    2100,
    'Something is at a path that must be free.',
    'Choose another path, or remove what is there.',
  ],
  PLAN_DRIFT: [
    2101,
    'A file is not what it was when the plan was approved.',
    'Find out who changed it, then propose the plan again.',
  ],
  RESULT_MISMATCH: [
    2102,
    'The result of an action is not the one that was approved.',
    'The run was rolled back. Propose the plan again.',
  ],
  BACKUP_CORRUPT: [
    2103,
    'A backup is missing or is not the original.',
    'The file was left as it is. Restore it from another backup.',
  ],
  MANIFEST_CORRUPT: [
    2104,
    'The rollback manifest or its journal cannot be trusted.',
    'Restore the files by hand from the backups folder.',
  ],
  CHANGED_SINCE_RUN: [
    2105,
    'The file was changed by somebody else after the run, so it is not rolled back.',
    'Keep that change, or undo it by hand and roll back again.',
  ],

  // SQL
  SQL_DATABASE_BUSY: [2200, 'Another process has the database open.', 'Close it there and try again.'],
  SQL_DATABASE_CORRUPT: [
    2201,
    'The file is not a DuckDB database, or it is damaged.',
    'Check the path, or restore a backup.',
  ],
  SQL_DATABASE_VERSION: [
    2202,
    'The database was written by a version of DuckDB that this one cannot read.',
    'Export it with that version, or update Keyturn.',
  ],
  SQL_DATABASE_HAS_LOG: [
    2203,
    'The database has a log (.wal) beside it, so the file alone is not the whole database.',
    'Open it once with DuckDB and run CHECKPOINT, then propose again.',
  ],
  SQL_DATABASE_CHANGED: [
    2204,
    'The database is not what it was when it was approved, or it changed during the run.',
    'Nothing was changed by this run. Find out who changed it, then propose again.',
  ],
  SQL_FILE_TOO_LARGE: [
    2205,
    'The database or the result would be larger than is allowed.',
    'Nothing was changed. Do less at once, or raise the limit.',
  ],

  // 3000-3999: nobody who may has said yes.
  REGISTRY_WRITABLE: [
    3001,
    'The tool registry can be written, so it could change during a run.',
    'Run `keyturn tool lock`.',
  ],
  APPROVAL_MISSING: [3002, 'No human has approved this intent.', 'Run `keyturn review`.'],
  APPROVAL_EXPIRED: [3003, 'The approval has expired.', 'Review and approve the intent again.'],
  INTENT_REJECTED: [3004, 'A human rejected this intent. That is final.', 'Propose a new intent.'],
  SELF_APPROVAL: [3005, 'The proposer may not approve their own intent.', 'Ask another human to review it.'],
  NOT_HUMAN: [3006, 'Only an enrolled human may do this.', 'Ask a human.'],
  KEY_REVOKED: [3007, 'The key of this principal was revoked.', 'Use another enrolled key.'],
  PASSPHRASE_WRONG: [3008, 'The passphrase does not open the key.', 'Try again.'],
  PASSPHRASE_WEAK: [3009, 'The passphrase is too short.', 'Use at least 8 characters.'],
  KEY_FILE_INVALID: [
    3010,
    'The key file is missing, damaged or not the enrolled key.',
    'Restore the key file from a backup.',
  ],
  SIGNATURE_INVALID: [3011, 'A signature does not verify.', 'Do not rely on what it signs.'],
  CONFIRMATION_DECLINED: [
    3012,
    'The human did not say y.',
    'Nothing was done. Run the command again if you want it.',
  ],
  NO_TERMINAL: [
    3013,
    'There is no terminal to ask a human at.',
    'Run the command in a terminal. No flag and no variable answers a prompt.',
  ],
  CONFIRMATION_WRONG: [
    3014,
    'What was typed is not the exact id.',
    'Nothing was approved. Copy the id exactly.',
  ],
  LANE_FORBIDDEN: [
    3015,
    'This folder belongs to a Keyturn project that does not allow the lane.',
    'Use `keyturn run`, or set lane.allow in keyturn.yaml.',
  ],
  EFFECT_CHANGED: [
    3016,
    'What would run is not what was approved.',
    'Propose it again and review the new effect.',
  ],
  EXECUTABLE_CHANGED: [
    3017,
    'The executable is not the one that was approved or pinned.',
    'Find out who changed it, then propose again.',
  ],
  APPROVER_REVOKED: [
    3020,
    'The key of a human who approved this was revoked since.',
    'Ask another human to review and approve it.',
  ],
  LAST_HUMAN: [3018, 'This is the last enrolled human.', 'Enrol another human first.'],
  ALREADY_APPROVED: [
    3019,
    'The intent is approved already.',
    'Nothing was done. Check it with `keyturn lane check`.',
  ],

  // plan
  PERMISSION_DENIED: [
    3100,
    'The system does not allow this file to be read, written or given to its owner.',
    'Check the permissions of the file and of its folder.',
  ],

  // plan input
  PLAN_PATH_OWN: [
    3150,
    'The path belongs to Keyturn. No plan may write it, under any approval.',
    'Remove the action. People change these files themselves.',
  ],
  PLAN_PATH_FORBIDDEN: [
    3151,
    'The configuration forbids this path.',
    'Remove the action, or ask whoever keeps the configuration.',
  ],
  PLAN_PATH_UNLISTED: [
    3152,
    'The path is not one that the plan lists.',
    'Nothing was changed there. Propose a plan that lists it.',
  ],
  PLAN_OPERATION_FORBIDDEN: [
    3153,
    'The configuration does not allow this kind of action.',
    'Remove the action, or ask whoever keeps the configuration.',
  ],
  APPROVAL_NOT_OPTIONAL: [
    3154,
    'The configuration tries to do without an approval.',
    'Remove requires_approval: false. A human approves every plan.',
  ],
  TASK_NOT_APPROVED: [
    3155,
    'The task envelope does not say APPROVED.',
    'Send the task through its validation first. APPROVED there does not replace an approval here.',
  ],
  MANIFEST_STILL_ACTIVE: [
    3156,
    'The rollback manifest is still active, so its backups stay where they are.',
    'Wait until it expires, or roll back first.',
  ],

  // SQL
  SQL_STATEMENT_FORBIDDEN: [
    3200,
    'A statement is of a kind that may not run.',
    'Remove the statement that the message names.',
  ],
  SQL_FUNCTION_FORBIDDEN: [
    3201,
    'A statement calls a function that does more than read.',
    'Remove the call that the message names.',
  ],
  SQL_ACCESS_DENIED: [
    3202,
    'A statement reached for a file, the network or a setting that it may not have.',
    'Use only the tables of the database and the folders that were made readable.',
  ],

  // 4000-4999: something that this depends on is not so.
  ALREADY_EXECUTED: [
    4001,
    'The intent has been executed already.',
    'Propose a new intent if it is wanted again.',
  ],
  RUN_IN_DOUBT: [
    4002,
    'A run of this intent started and its end is not recorded: the effect may have happened.',
    'Find out what happened, then run `keyturn resolve`.',
  ],
  RUN_FAILED: [
    4003,
    'The run of this intent failed.',
    'Find out why. A human may authorise one new attempt with `keyturn retry`.',
  ],
  RETRY_NOT_DUE: [4004, 'There is no failed run to try again.', 'Run `keyturn status`.'],
  RESOLVE_NOT_DUE: [4005, 'The execution is not in doubt.', 'Run `keyturn status`.'],
  RUN_STILL_ALIVE: [
    4006,
    'The process of this run is still alive, or on another host.',
    'Wait for it to end. For another host, give your word with --host-is-dead.',
  ],
  CLAIM_TAKEN: [
    4007,
    'Another process took this claim first.',
    'Nothing was done here. Look at what the other process did.',
  ],
  TRANSITION_ILLEGAL: [
    4008,
    'The intent is not in a state where this can happen.',
    'Run `keyturn show` to see its state.',
  ],
  ROLLBACK_NOT_DUE: [
    4017,
    'There is nothing here that can be rolled back.',
    'Run `keyturn show` to see the state of the intent.',
  ],
  ROLLBACK_STUCK: [
    4018,
    'A rollback of this intent could not restore everything.',
    'Follow the instructions in its report, then run `keyturn rollback` again.',
  ],
  SANDBOX_UNAVAILABLE: [
    4010,
    'The tool asks for a sandbox that this machine does not have.',
    'Install bubblewrap (bwrap) and util-linux (prlimit).',
  ],
  VERIFIER_NOT_FOUND: [4011, 'The approval verifier does not exist.', 'Check the path of the verifier.'],
  VERIFIER_NOT_CALLABLE: [4012, 'The approval verifier cannot be started.', 'Check its permissions.'],
  VERIFIER_ERROR: [
    4013,
    'The approval verifier answered neither yes nor no.',
    'Repair the verifier. Nothing is assumed.',
  ],
  VERIFIER_DENIED: [4014, 'The approval verifier said no.', 'The intent is not approved with this hash.'],
  LOCK_UNAVAILABLE: [
    4015,
    'The queue cannot be locked.',
    'Install util-linux (flock), or wait for the other process.',
  ],
  CLOCK_BEHIND: [
    4016,
    'The clock of this machine is behind the ledger, so nothing that expires can be judged.',
    'Set the clock.',
  ],

  // plan
  DEPENDENCY_FAILED: [4100, 'An action that this one depends on failed.', 'Correct the action that failed.'],
  DEPENDENCY_NOT_COMPLETED: [
    4101,
    'An action that this one depends on was not completed.',
    'Find out why that action did not run.',
  ],
  RUNNER_MISSING: [
    4102,
    'There is nothing here that could run an action of this type.',
    'Register the pipeline, or remove the action.',
  ],

  // 5000-5999: something broke.
  INTERNAL: [5001, 'Keyturn failed in a way it does not know.', 'Report this. Nothing was acknowledged.'],
  RECORDING_FAILED: [
    5002,
    'The tool may have run, and its outcome could not be recorded.',
    'The run is in doubt. Find out what happened, then run `keyturn resolve`.',
  ],
  TOOL_NOT_STARTED: [5010, 'The tool could not be started.', 'Read the error output.'],
  TOOL_EXIT_NONZERO: [5011, 'The tool ended with an exit code other than 0.', 'Read the error output.'],
  TOOL_TIMED_OUT: [
    5012,
    'The tool ran longer than its timeout and was killed.',
    'Find out how far it came. What it did until then stays done.',
  ],
  TOOL_KILLED: [
    5013,
    'The tool was killed by a signal.',
    'Find out how far it came. What it did until then stays done.',
  ],

  // plan
  ACTION_TIMED_OUT: [5100, 'An action took longer than its timeout.', 'Raise its timeout, or do less in it.'],
  PLAN_TIMED_OUT: [
    5101,
    'The plan took longer than its timeout.',
    'It was rolled back. Raise its timeout, or split the plan.',
  ],
  PLAN_CANCELLED: [
    5102,
    'The run was cancelled.',
    'It was rolled back. Propose the plan again if it is wanted.',
  ],
  PIPELINE_FAILED: [5103, 'A pipeline did not end well.', 'Read its output. What it did stays done.'],

  // SQL
  SQL_TIMED_OUT: [
    5200,
    'The SQL ran longer than its timeout and was killed.',
    'Nothing was changed. Make it faster, or raise the timeout.',
  ],
  SQL_ABORTED: [
    5201,
    'The SQL was stopped from outside.',
    'Nothing was changed. Run it again if it is wanted.',
  ],
  SQL_OUT_OF_MEMORY: [
    5202,
    'The SQL needs more memory than it may have.',
    'Nothing was changed. Do less at once, or raise the limit.',
  ],
  SQL_RUNNER_FAILED: [
    5203,
    'The process that runs SQL could not be started, or died.',
    'Nothing was changed. Read the message; a statement may have crashed DuckDB.',
  ],
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;
export type Category =
  | 'VALIDATION_ERROR'
  | 'FILE_SYSTEM_ERROR'
  | 'PERMISSION_ERROR'
  | 'DEPENDENCY_ERROR'
  | 'INTERNAL_ERROR';

const categories: readonly Category[] = [
  'VALIDATION_ERROR',
  'FILE_SYSTEM_ERROR',
  'PERMISSION_ERROR',
  'DEPENDENCY_ERROR',
  'INTERNAL_ERROR',
];

export interface Explanation {
  readonly code: ReasonCode;
  readonly number: number;
  readonly category: Category;
  readonly meaning: string;
  readonly advice: string;
}

export const reasonCodes = Object.keys(reasons) as ReasonCode[];

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(reasons, text);
}

export function explain(code: ReasonCode): Explanation {
  const [number, meaning, advice] = reasons[code];
  return { code, number, category: categories[Math.floor(number / 1000) - 1]!, meaning, advice };
}

/** A refusal: thrown where it is found, caught once at the edge that talks to the caller. */
export class Refusal extends Error {
  readonly code: ReasonCode;
  /** What was checked and what was found. Shown to the human, so it holds no secrets. */
  readonly details: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ReasonCode, message?: string, details: Record<string, string | number | boolean> = {}) {
    super(message ?? explain(code).meaning);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }
}

/** Stop here with a reason. */
export function refuse(
  code: ReasonCode,
  message?: string,
  details?: Record<string, string | number | boolean>,
): never {
  throw new Refusal(code, message, details);
}
