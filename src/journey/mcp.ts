import type { Json, JsonObject } from '../canonical/json.ts';
import { type Accepted, type Configured, openAccepted } from '../mcp-call/accepted.ts';
import {
  type CallInput,
  compareCalls,
  type McpEffect,
  mcpEffect,
  requireSameStart,
} from '../mcp-call/effect.ts';
import { isStillStart, knownStart } from '../mcp-call/known-start.ts';
import { RUN_PROGRESS } from '../mcp-call/name.ts';
import { isStillDefined, NOT_SENT, requireDefinition, sendCall } from '../mcp-call/run.ts';
import { startedBy } from '../mcp-call/start.ts';
import type { Upstream } from '../mcp-call/upstreams.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Derived, Effect, Ended, RunOptions } from './derived.ts';

export interface McpCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, Json>>;
  readonly input?: CallInput | undefined;
}

/** What a human accepted of a server, and by which digest. Refused where none did. */
export interface FoundServer {
  readonly accepted: Accepted;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export async function acceptedServer({ store, memory }: Context, server: string): Promise<FoundServer> {
  const row = await store.find('server', server);
  if (row?.status !== 'active')
    return refuse('MCP_SERVER_UNACCEPTED', `No human has accepted the MCP server "${server}".`);
  // Read each time, since the bytes are checked then. The same bytes are parsed once.
  const bytes = await store.object(row.accepted);
  const accepted = memory.servers.accepted.get(row.accepted) ?? openAccepted(bytes);
  memory.servers.accepted.set(row.accepted, accepted);
  return { accepted, digest: row.accepted, bytes };
}

/** How the server would be started now: as keyturn.yaml says, with the files as they are. */
export function startedNow(context: Context, server: string): Configured {
  const entry = context.servers()[server];
  if (entry === undefined)
    return refuse('MCP_SERVER_UNKNOWN', `keyturn.yaml names no MCP server "${server}".`);
  const { memory, root } = context;
  const known = memory.servers.starts.get(server);
  if (known && isStillStart(known, entry)) return known.configured;
  const look = () => startedBy(server, entry, context);
  const configured = look();
  const now = knownStart(entry, configured, { root, again: look });
  if (now) memory.servers.starts.set(server, now);
  return configured;
}

/** A call of a tool of an MCP server: a human accepted the server as it is configured now, and the tool. Nothing is started. */
export async function deriveMcpCall(context: Context, call: McpCall): Promise<Derived> {
  const started = startedNow(context, call.server);
  const found = await acceptedServer(context, call.server);
  requireSameStart(found.accepted, started);
  const { tool, input } = call;
  const effect = mcpEffect(found.accepted, started, { tool, arguments: { ...call.arguments }, input });
  return {
    effect,
    registry_digest: found.digest,
    registry_bytes: found.bytes,
    name: effect.called,
    contents: [],
    approvals_needed: 1,
    requireSame: (approved) => compareCalls(approved as McpEffect, effect),
    async prepare(_scope, secrets, since_ms) {
      await requireProven(context, call.server, found.digest);
      const { upstream, changes } = await definedUpstream(context, effect, secrets, since_ms);
      return {
        reports: null,
        run: (options) => sentOnce(context, upstream, effect, changes, options),
        close: () => {},
      };
    },
  };
}

/** A row can be forged; a signature cannot. What starts a process rests on the signed entry. */
export async function requireProven(context: Context, server: string, digest: string): Promise<void> {
  const told = (await context.ledger.told('server', server))?.state ?? null;
  if (told?.status !== 'active' || told.accepted !== digest) refuse('MCP_SERVER_UNACCEPTED');
}

/** Asks a server that runs for its list now, so that it answers while the call is written down. */
export function prefetchList({ upstreams }: Context, effect: Effect, since_ms: number): void {
  if (effect.kind !== 'mcp') return;
  const upstream = upstreams.running(effect.server, effect.start);
  // A caller who needs the list asks for it again, and is told why there is none.
  upstream?.definitions(since_ms).catch(() => {});
}

/** A connection that broke while nothing was asked is opened once more: only the list was asked for. */
async function definedUpstream(
  context: Context,
  effect: McpEffect,
  secrets: Parameters<Derived['prepare']>[1],
  since_ms: number | undefined,
): Promise<{ readonly upstream: Upstream; readonly changes: number }> {
  const upstream = await openUpstream(context, effect, secrets);
  try {
    return { upstream, ...(await requireDefinition(upstream, effect, since_ms)) };
  } catch (error) {
    if (upstream.connection.isOpen) throw error;
    const again = await openUpstream(context, effect, secrets);
    return { upstream: again, ...(await requireDefinition(again, effect)) };
  }
}

/** The server of an accepted effect, started where it does not run yet. */
export function openUpstream(
  context: Context,
  { server, start }: Pick<McpEffect, 'server' | 'start'>,
  secrets: Parameters<Derived['prepare']>[1],
): Promise<Upstream> {
  const { hidden_paths: hidden, protected_paths, digests, upstreams } = context;
  const around = { hidden, protected: protected_paths, machine: context.machine(), digests, secrets };
  return upstreams.open(server, start, around);
}

async function sentOnce(
  { clock, upstreams }: Context,
  upstream: Upstream,
  effect: McpEffect,
  changes: number,
  { execution_id, abort, onOutput }: RunOptions,
): Promise<Ended> {
  const started_at = clock().toISOString();
  const is_same = await isStillDefined(upstream, effect, changes, abort);
  const onProgress = (told: JsonObject) => {
    onOutput?.(Buffer.from(`${JSON.stringify(told)}\n`), 'stderr', 0);
    upstreams.tell(effect.server, { method: RUN_PROGRESS, params: { execution_id, told } });
  };
  const { result, reason_code, answer } = is_same
    ? await sendCall(upstream, effect, { abort, onProgress })
    : NOT_SENT;
  if (answer.length > 0) onOutput?.(answer, 'stdout', 0);
  return {
    result,
    reason_code,
    exit_code: null,
    signal: null,
    started_at,
    finished_at: clock().toISOString(),
    stdout: { bytes: answer, total: answer.length, truncated: false },
    stderr: { bytes: new Uint8Array(), total: 0, truncated: false },
    reports: {},
  };
}
