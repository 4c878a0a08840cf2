import type { Reason } from './reason.ts';

/** 1000 to 1999: the input itself is wrong. */
export const validationReasons = {
  INPUT_NOT_UTF8: [1001, 'The input is not valid UTF-8.', 'Save the file as UTF-8 and try again.'],
  INPUT_TOO_LARGE: [
    1002,
    'The input is larger than Keyturn accepts.',
    'Send less: 1 MiB in one document at most, and 128 KiB in one of its texts.',
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
    'Copy the id as it was printed, all of it. For its first 4 or more characters `ids.find` knows the whole.',
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
    'Write a time as 2026-01-15T12:00:00.000Z and a duration as 30s, 15m, 2h or 7d, within the bound that is named.',
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
  COVERS_MISSING: [
    1051,
    'An interpreted tool does not say which files it loads, so changing them needs no new approval.',
    'Name them under covers in the registry, or write covers: [] when it loads none.',
  ],
  PROPOSER_AMBIGUOUS: [
    1060,
    'It is not clear who proposes this.',
    'Name the proposer: with --by, or with --as for `keyturn mcp`.',
  ],
  PRINCIPAL_UNKNOWN: [
    1061,
    'No principal with this name is enrolled.',
    'Run `keyturn identity list` to see who is.',
  ],
  PRINCIPAL_EXISTS: [1062, 'A principal with this name is enrolled already.', 'Choose another name.'],
  EXECUTION_NOT_FOUND: [
    1063,
    'There is no execution with this id.',
    'Run `keyturn runs` to see the executions.',
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
    'Insert less, or spread it over several files.',
  ],
  EDIT_SEVERAL_DOCUMENTS: [
    1117,
    'The YAML file holds several documents, or none.',
    'Name the one to edit with document; the first is 0.',
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
  PLAN_LIMIT_EXCEEDED: [
    1150,
    'The plan is larger than Keyturn accepts: too many files, too large a file, too much to back up, or too long.',
    'Split the plan into several, each with fewer or smaller files.',
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
    'The manifest has no checkpoint with this id, or for this path.',
    'Copy the id or the path from `keyturn rollback ID --preview`.',
  ],
  CHECKPOINT_CHAINED: [
    1155,
    'A file was moved between this checkpoint and others, so one cannot be restored without them.',
    'Name the other checkpoints too, or roll back everything.',
  ],
  PLAN_RESULT_UNKNOWN: [
    1156,
    'An action needs a file whose content only the run itself can tell, so it cannot be approved in advance.',
    'Split the plan after the action that makes the file.',
  ],
  REPORTS_NOT_RECORDED: [
    1157,
    'The ledger holds nothing that reports could be made of.',
    'Only a finished run of a plan has reports. Run `keyturn show ID` to see what happened.',
  ],
  ID_AMBIGUOUS: [
    1158,
    'Several ids begin with what was typed.',
    'Type more characters of the id, or the whole id.',
  ],
  CURSOR_INVALID: [
    1159,
    'The cursor does not belong to this list.',
    'Take `next` from the last page, and ask with the same filters; or begin the list again.',
  ],
} as const satisfies Record<string, Reason>;
