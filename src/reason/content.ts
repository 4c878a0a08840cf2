import type { Reason } from './reason.ts';

/** 1200 to 1999: what a plan, an enrolment, a policy, a token or a simulation says is wrong. */
export const contentReasons = {
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
  ENROLMENT_UNKNOWN: [
    1210,
    'There is no such enrolment of a passkey now: it is over, was dropped, or belongs to another service.',
    'Begin a new one in the console, under People, or with `keyturn credential add --passkey`.',
  ],
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
  PLAN_UNFIT: [
    1257,
    'The plan does not fit the files as they are now. An agent is not told where, because that would tell it what is in them.',
    'Read the files again and correct the edits. A human sees the reason with `keyturn plan validate`.',
  ],
  MCP_SERVER_UNKNOWN: [
    1260,
    'There is no MCP server of this name in keyturn.yaml.',
    'Run `keyturn mcp list` to see the servers, or `keyturn mcp add NAME -- COMMAND` to add one.',
  ],
  MCP_TOOL_UNKNOWN: [
    1261,
    'No human accepted a tool of this name of this MCP server.',
    'Run `keyturn mcp diff NAME`, and `keyturn mcp accept NAME` if the server has it now.',
  ],
  MCP_DEFINITION_MALFORMED: [
    1262,
    'What an MCP server says about its tools cannot be read.',
    'The server has to be mended. Its answer must be plain JSON as the protocol says.',
  ],
  MCP_LIST_TOO_LONG: [
    1263,
    'An MCP server lists more tools than a human can look at, or never comes to the end of its list.',
    'Use a server with fewer tools, or start it so that it offers fewer of them.',
  ],
  MCP_CONFIG_MALFORMED: [
    1264,
    'The file is no configuration of MCP servers that Keyturn can read.',
    'Name a JSON file with a member mcpServers (or servers), as clients have it.',
  ],
  MCP_MESSAGE_MALFORMED: [
    1265,
    'A message is not what the Model Context Protocol says.',
    'The client has to be mended, or speaks a protocol version that is not served.',
  ],
  GRANT_BOUNDS_MALFORMED: [
    1266,
    'The limits of a grant cannot be held: its schema of arguments cannot be read, or names nothing.',
    'Give a JSON Schema of an object with the members that are allowed, and a number of uses.',
  ],
  HOOK_INPUT_MALFORMED: [
    1270,
    'What the client gave to its hook is not a call that Keyturn can read, so the call is not let through.',
    'Look at `keyturn hook status`: the settings may name another client, or another event than the one before a tool.',
  ],
  HOOK_SETTINGS_MALFORMED: [
    1271,
    'The settings of the client are not plain JSON of the form that its documents describe. Nothing was changed.',
    'Mend the file by hand, without comments, or name another one with --settings.',
  ],
  HOOK_SHELL_UNFIT: [
    1272,
    'The tool "shell" of tools.yaml is not one that a hook can use.',
    'It needs a sandbox, a parameter "command" of type string, and, for other folders than the project, a parameter "folder" of type path. docs/hook.md has one to copy.',
  ],
  POLICY_INVALID: [
    1301,
    'The policies cannot be used as they are.',
    'Correct the place that the message names, then run `keyturn policy check`.',
  ],
  CLARIFICATION_NEEDED: [
    1302,
    'It is not clear what is wanted, and nothing is guessed.',
    'Nothing was done. Say it again, with what is missing.',
  ],
  CAPABILITY_MALFORMED: [
    1303,
    'This is not a capability.',
    'Use the file that `keyturn grant` or `keyturn attenuate` wrote, unchanged.',
  ],
  SIMULATION_INVALID: [
    1401,
    'The simulation cannot be used as it is written.',
    'Correct the place that the message names.',
  ],
  FINDER_PACKET_INVALID: [
    1402,
    'The finder answered with something that is not one whole packet of the four kinds.',
    'Correct the finder. Nothing was dispatched.',
  ],
  ROUTE_UNKNOWN: [1501, 'The service has nothing at this path.', 'Read /openapi.json of the service.'],
  METHOD_WRONG: [1502, 'This path takes another method.', 'Use a method that the header Allow names.'],
  MEDIA_TYPE_WRONG: [
    1503,
    'The body is not said to be JSON.',
    'Send the header Content-Type: application/json, and no encoding.',
  ],
  HOST_UNKNOWN: [
    1504,
    'The request is for a host that this service is not.',
    'Use the address that `keyturn serve` printed.',
  ],
  EVENT_ID_UNKNOWN: [
    1505,
    'The event id is of no entry of this ledger.',
    'Follow the events again without it.',
  ],
  HOST_ONLY: [
    1520,
    'This is only for the host that has the project.',
    'Run it there. Without --service and KEYTURN_SERVICE, or with --project, it is about the project on this machine.',
  ],
} as const satisfies Record<string, Reason>;
