import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import { showServer } from '../display/mcp.ts';
import type { Shown } from '../display/shown.ts';
import type { Event } from '../event/event.ts';
import { type AcceptedServer, serverSubject } from '../gate/server.ts';
import { type Signer, signAct } from '../identity/act.ts';
import {
  type Accepted,
  type Configured,
  openAccepted,
  sealAccepted,
  secretsOfStart,
} from '../mcp-call/accepted.ts';
import { shadowedTools } from '../mcp-call/definition.ts';
import { requireSameStart } from '../mcp-call/effect.ts';
import { offerOf, type ServerOffer } from '../mcp-call/offer.ts';
import { Upstreams } from '../mcp-call/upstreams.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { acceptedServer, openUpstream, startedNow } from './mcp.ts';

/** A server as it is now, with what a human would accept of it. */
export interface LookedServer {
  readonly accepted: Accepted;
  readonly digest: Digest;
  readonly shown: Shown;
  /** What was accepted before; null where nothing is. */
  readonly replaces: Digest | null;
  readonly changes: readonly ServerChange[];
}

/** One difference between what a human accepted and what is now. */
export interface ServerChange {
  readonly what: string;
  readonly before: string | null;
  readonly now: string | null;
}

/**
 * Starts a server as keyturn.yaml has it, asks for all its tools, and ends it. A human asked for this look at a terminal: nothing else starts a
 * server that is not accepted.
 */
export async function lookAtServer(context: Context, server: string): Promise<LookedServer> {
  const started = startedNow(context, server);
  const upstreams = new Upstreams({ is_look: true });
  try {
    const secrets = await context.secrets(secretsOfStart(started.start));
    const upstream = await openUpstream({ ...context, upstreams }, { server, start: started.start }, secrets);
    const tools = [...(await upstream.connection.tools())];
    const { info } = upstream.connection;
    const accepted: Accepted = { format: 'keyturn-mcp-server/1', server, ...started, info, tools };
    const before = await acceptedServer(context, server).catch(unlessUnaccepted);
    return {
      accepted,
      digest: sealAccepted(accepted).digest,
      shown: showServer(accepted),
      replaces: before?.digest ?? null,
      changes: before ? changesOf(before.accepted, accepted) : [],
    };
  } finally {
    upstreams.close();
  }
}

function unlessUnaccepted(error: unknown): null {
  if (error instanceof Refusal && error.code === 'MCP_SERVER_UNACCEPTED') return null;
  throw error;
}

/** Pure: tool by tool, then how it is started. */
export function changesOf(before: Accepted, now: Accepted): ServerChange[] {
  const [old, fresh] = [before, now].map(({ tools }) => new Map(tools.map((tool) => [tool.name, tool])));
  const names = [...new Set([...old!.keys(), ...fresh!.keys()])].sort();
  const text = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value, null, 2));
  const tools = names
    .filter((name) => canonicalText(old!.get(name) ?? null) !== canonicalText(fresh!.get(name) ?? null))
    .map((name) => ({ what: `tool ${name}`, before: text(old!.get(name)), now: text(fresh!.get(name)) }));
  const parts = ['start', 'files', 'modes', 'pass'] as const;
  const others = parts
    .filter((part) => canonicalText(before[part]) !== canonicalText(now[part]))
    .map((part) => ({
      what: part === 'start' && now.start.kind === 'url' ? 'how it is reached' : PARTS[part],
      before: JSON.stringify(before[part]),
      now: JSON.stringify(now[part]),
    }));
  return [...tools, ...others];
}

const PARTS: Readonly<Record<keyof Configured, string>> = {
  start: 'how it is started',
  files: 'its script',
  modes: 'which of its tools pass without an approval',
  pass: 'what of it passes besides its tools',
};

export interface AcceptRequest {
  /** What the human was shown. */
  readonly looked: Pick<LookedServer, 'accepted' | 'replaces'>;
  readonly reason: string;
  readonly signer: Signer;
}

/** A human accepts a server and every definition that they were shown. From now on its tools can be proposed. */
export async function acceptServer(
  context: Context,
  { looked: { accepted, replaces }, reason, signer }: AcceptRequest,
): Promise<Event<'mcp.accepted'>> {
  const { server, tools } = accepted;
  // keyturn.yaml may have changed while the human read.
  requireSameStart(accepted, startedNow(context, server));
  const { bytes, digest } = sealAccepted(accepted);
  openAccepted(bytes);
  const shadow = shadowedTools(accepted).length;
  const counts = { tools: tools.length, ...(shadow > 0 && { shadow }) };
  const facts = { server, accepted: digest, replaces, ...counts, reason };
  const now = context.clock();
  const event = await signAct(context.origin, 'mcp.accepted', serverSubject(server), facts, signer, now);
  await context.store.commit({ events: [event], objects: [bytes] });
  return event;
}

export interface RemoveServerRequest {
  readonly server: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** From now on nothing of this server can be proposed, and nothing of it runs. */
export async function removeServer(
  context: Context,
  { server, reason, signer }: RemoveServerRequest,
): Promise<Event<'mcp.removed'>> {
  const known = await context.store.find('server', server);
  if (known?.status !== 'active') refuse('MCP_SERVER_UNKNOWN');
  const facts = { server, accepted: known.accepted, reason };
  const now = context.clock();
  const event = await signAct(context.origin, 'mcp.removed', serverSubject(server), facts, signer, now);
  await context.store.commit({ events: [event] });
  return event;
}

export interface ServerStatus {
  readonly server: string;
  /** `changed`: keyturn.yaml or a file says something else than what was accepted. */
  readonly status: 'accepted' | 'unaccepted' | 'changed' | 'removed from keyturn.yaml';
  readonly accepted: Digest | null;
  readonly by: string | null;
  readonly accepted_at: string | null;
  readonly tools: number;
  /** How many of them pass without an approval. */
  readonly shadow: number;
}

/** Every server that keyturn.yaml or the ledger names. Nothing is started. */
export async function serverStatuses(context: Context): Promise<ServerStatus[]> {
  const rows = (await context.store.all('server')).filter(({ status }) => status === 'active');
  const entries = context.servers();
  const names = [...new Set([...Object.keys(entries), ...rows.map(({ server }) => server)])].sort();
  return Promise.all(
    names.map((name) =>
      statusOfServer(
        context,
        name,
        rows.find((row) => row.server === name),
      ),
    ),
  );
}

async function statusOfServer(
  context: Context,
  server: string,
  row: AcceptedServer | undefined,
): Promise<ServerStatus> {
  const entry = context.servers()[server];
  const told = {
    server,
    accepted: row?.accepted ?? null,
    by: row?.by ?? null,
    accepted_at: row?.changed_at ?? null,
    tools: row?.tools ?? 0,
    shadow: row?.shadow ?? 0,
  };
  if (entry === undefined) return { ...told, status: 'removed from keyturn.yaml' };
  if (row === undefined) return { ...told, status: 'unaccepted' };
  try {
    requireSameStart((await acceptedServer(context, server)).accepted, startedNow(context, server));
    return { ...told, status: 'accepted' };
  } catch (error) {
    if (error instanceof Refusal) return { ...told, status: 'changed' };
    throw error;
  }
}

/**
 * What every server offers that is accepted as it is configured now. It is made again when the ledger or keyturn.yaml says something else. That
 * the program of a server is still the same one is asked by each call.
 */
export async function serverOffer(context: Context): Promise<ServerOffer> {
  const { servers: memory } = context.memory;
  const entries = context.servers();
  const accepted = await allAccepted(context);
  const known = memory.offer;
  if (known?.entries === entries && known.accepted === accepted) return known.offer;
  const statuses = await serverStatuses(context);
  const found = await Promise.all(
    statuses
      .filter(({ status }) => status === 'accepted')
      .map(async ({ server }) => (await acceptedServer(context, server)).accepted),
  );
  const offer = offerOf(found);
  // A program that was changed may be changed back, and a human may have accepted another one meanwhile.
  const is_kept =
    statuses.every(({ status }) => status !== 'changed') &&
    context.servers() === entries &&
    (await allAccepted(context)) === accepted;
  memory.offer = is_kept ? { entries, accepted, offer } : null;
  return offer;
}

async function allAccepted({ store }: Context): Promise<string> {
  const rows = (await store.all('server')).filter(({ status }) => status === 'active');
  return rows.map(({ server, accepted }) => `${server} ${accepted}`).join('\n');
}
