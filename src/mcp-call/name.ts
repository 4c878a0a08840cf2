import { sha256 } from '../canonical/digest.ts';
import { mcpLimits } from '../limits.ts';

/** What every client takes as the name of a tool. */
const PLAIN = /[^A-Za-z0-9_-]/g;
const MARK_CHARS = 9;

/**
 * The name under which the gate offers a tool of a server, and under which the ledger tells of it. It begins with the configured name of the
 * server, so no server can take the place of another one. A name that had to be changed ends with a mark of the real one, so two tools never
 * have one name.
 */
export function calledName(server: string, tool: string): string {
  const plain = tool.replace(PLAIN, '_');
  const whole = `${server}__${plain}`;
  if (plain === tool && whole.length <= mcpLimits.client_name_chars && !LOOKS_MARKED.test(whole))
    return whole;
  return `${whole.slice(0, mcpLimits.client_name_chars - MARK_CHARS)}-${sha256(tool).slice(0, MARK_CHARS - 1)}`;
}

/** A tool whose own name ends like a mark gets one, too. */
const LOOKS_MARKED = /-[0-9a-f]{8}$/;

/** Says in this process how far a run has come. It is no notification of the protocol, so no server can send it. */
export const RUN_PROGRESS = 'keyturn/progress';

/** What a call does, in the words of intents, delegations and policies: `mcp:SERVER:TOOL`. */
export function callAction(server: string, called: string): string {
  return `mcp:${server}:${called.slice(server.length + 2)}`;
}
