import type { Reason } from './reason.ts';

/** What can be wrong with an MCP server, a call to it, or a grant. */

export const mcpValidationReasons = {
  MCP_SERVER_UNKNOWN: [
    1260,
    'keyturn.yaml names no MCP server like this.',
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
    'Use a server with fewer tools. The limits and their reasons are in src/limits.ts.',
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
} as const satisfies Record<string, Reason>;

export const mcpPermissionReasons = {
  MCP_SERVER_UNACCEPTED: [
    3260,
    'No human has accepted this MCP server. Nothing of it is started.',
    'Run `keyturn mcp accept NAME`: it shows every tool, and asks for a signature.',
  ],
  MCP_SERVER_CHANGED: [
    3261,
    'How the MCP server is started is not what a human accepted.',
    'Run `keyturn mcp diff NAME` to see the difference, and `keyturn mcp accept NAME` to accept it.',
  ],
  MCP_DEFINITION_CHANGED: [
    3262,
    'The MCP server now defines the tool in another way than a human accepted.',
    'Run `keyturn mcp diff NAME` to see the difference, and `keyturn mcp accept NAME` to accept it.',
  ],
  GRANT_OUTSIDE: [
    3263,
    'The call is outside of what the grant allows.',
    'Propose it without the grant: a human decides on it.',
  ],
  GRANT_SPENT: [
    3264,
    'The grant was used as often as it may be.',
    'Propose it without the grant, or ask a human for another one.',
  ],
  GRANT_PIN_CHANGED: [
    3265,
    'The grant was given for another definition of the tool, and ended when that changed.',
    'Propose it without the grant, or ask a human for another one.',
  ],
} as const satisfies Record<string, Reason>;

export const mcpDependencyReasons = {
  MCP_SERVER_DOWN: [
    4260,
    'The MCP server could not be started, or does not answer as it must.',
    'See what it writes to its standard error, in `.keyturn/mcp/NAME.log`. It is tried again after a while.',
  ],
  MCP_CALL_LOST: [
    4261,
    'The MCP server ended, or its connection broke, before it answered. What it did is not known.',
    'Find out what happened, and settle the run with `keyturn resolve`. The call is never sent again.',
  ],
  MCP_CALL_TIMED_OUT: [
    4262,
    'The MCP server did not answer in time. What it did is not known.',
    'Find out what happened, and settle the run with `keyturn resolve`. The call is never sent again.',
  ],
  MCP_ANSWER_TOO_LARGE: [
    4263,
    'The MCP server answered with more than is kept. What it did is not known.',
    'Find out what happened, and settle the run with `keyturn resolve`. Ask for less.',
  ],
  MCP_TOOL_FAILED: [
    4264,
    'The MCP server says that the tool failed.',
    'Read what it says with `keyturn show ID --output`.',
  ],
  MCP_CALL_REFUSED: [
    4265,
    'The MCP server answered the call with an error.',
    'Read what it says with `keyturn show ID --output`.',
  ],
} as const satisfies Record<string, Reason>;
