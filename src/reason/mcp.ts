import type { Reason } from './reason.ts';

/** 4260 to 4279: what an MCP server does, or does not do, and what a hook waits for. */

export const mcpDependencyReasons = {
  MCP_SERVER_DOWN: [
    4260,
    'The MCP server could not be started, or does not answer as it must.',
    'Run its command by hand to see what it says. It is tried again after a while.',
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
  MCP_ANSWER_MALFORMED: [
    4266,
    'The MCP server answered with neither a result nor an error, with both, or with a result that does not say that it is done. What it did is not known.',
    'Find out what happened, and settle the run with `keyturn resolve`. The call is never sent again.',
  ],
  HOOK_LATE: [
    4270,
    'The hook could not decide in time, so the call is not let through.',
    'Try again. If it lasts, look with `keyturn doctor` whether something else holds the store.',
  ],
} as const satisfies Record<string, Reason>;
