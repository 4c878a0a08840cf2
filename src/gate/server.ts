import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { requireSeen } from '../identity/seen.ts';
import { refuse } from '../refusal.ts';

/** An MCP server as the ledger tells it: what a human accepted of it last. */
export interface AcceptedServer {
  readonly server: string;
  /** The object with how it is started and every definition that was accepted. */
  readonly accepted: Digest;
  readonly tools: number;
  /** How many of them pass without an approval. */
  readonly shadow: number;
  readonly status: 'active' | 'removed';
  readonly by: string;
  readonly changed_at: string;
}

export const SERVER_KINDS = ['mcp.accepted', 'mcp.removed'] as const;

export type ServerEvent = Event<(typeof SERVER_KINDS)[number]>;

const ACCEPTED_SINCE = 'Another human accepted it meanwhile. Look at it again.';

/** The subject of what is about a server. */
export function serverSubject(server: string): string {
  return `mcp:${server}`;
}

/** Pure: the server after this event. */
export function nextServer(state: AcceptedServer | null, event: ServerEvent, at: string): AcceptedServer {
  const { server, by } = event.body;
  if (event.subject !== serverSubject(server))
    refuse('SHAPE_INVALID', `"${event.subject}" is not the server "${server}".`);
  const active = state?.status === 'active' ? state : null;
  if (event.kind === 'mcp.removed') {
    if (active === null) refuse('MCP_SERVER_UNKNOWN');
    requireSeen(event.body.accepted, active.accepted, ACCEPTED_SINCE, 'MCP_SERVER_CHANGED');
    return { ...active, status: 'removed', by, changed_at: at };
  }
  const { accepted, replaces, tools, shadow = 0 } = event.body;
  requireSeen(replaces, active?.accepted ?? null, ACCEPTED_SINCE, 'MCP_SERVER_CHANGED');
  return { server, accepted, tools, shadow, status: 'active', by, changed_at: at };
}

/** The subject of a call in shadow mode. */
export function shadowSubject(shadow_id: string): string {
  return `shadow:${shadow_id}`;
}

/** A call passes in shadow mode only where a human accepted that some of this server's tools do. */
export function requireShadow(server: AcceptedServer | null, accepted: Digest): void {
  requireAccepted(server, accepted);
  if (server!.shadow === 0) refuse('MCP_NOT_SHADOW');
}

/** The name by which a tool of a server is called and recorded: `SERVER__TOOL`. */
export function serverOfCall(called: string): string {
  return called.slice(0, called.indexOf('__'));
}

/** A run goes by what is accepted now. `registry` is what its claim says that it went by. */
export function requireAccepted(server: AcceptedServer | null, registry: Digest): void {
  if (server?.status !== 'active') refuse('MCP_SERVER_UNACCEPTED');
  if (server.accepted !== registry)
    refuse('MCP_DEFINITION_CHANGED', 'A human accepted another one meanwhile.');
}
