import type { JsonObject } from '../canonical/json.ts';
import { freezeOf, freezeWords } from '../gate/freeze.ts';
import { secretsOfStart } from '../mcp-call/accepted.ts';
import { requireSameStart } from '../mcp-call/effect.ts';
import type { Passed } from '../mcp-call/entry.ts';
import { objectOf } from '../mcp-call/reply.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { acceptedServer, openUpstream, requireProven, startedNow } from './mcp.ts';

/** What may be asked of a server besides a call, and what a human has to have accepted for it. */
export const PASSED_METHODS = {
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'completion/complete': 'completion',
  'logging/setLevel': 'logging',
} as const satisfies Record<string, Passed>;

export interface PassRequest {
  readonly server: string;
  readonly method: keyof typeof PASSED_METHODS;
  readonly params: JsonObject;
  /** What the client of the caller can answer, where the server may ask it. */
  readonly capabilities?: JsonObject | undefined;
  /** Who asks, where the entry point knows it. */
  readonly by?: string | undefined;
}

/** An answer of a server, or its error, in its own words. */
export interface PassedAnswer {
  readonly result: JsonObject | null;
  readonly error: JsonObject | null;
}

/** Asks a server for what a human accepted that it passes on. Nothing of the caller is sent along but the question. */
export async function askServer(
  context: Context,
  { server, method, params, capabilities, by }: PassRequest,
): Promise<PassedAnswer> {
  const { accepted, digest } = await acceptedServer(context, server);
  const has_input = [capabilities, params.inputResponses, params.requestState].some(
    (one) => one !== undefined,
  );
  for (const what of [PASSED_METHODS[method], ...(has_input ? (['input'] as const) : [])])
    if (!accepted.pass.includes(what))
      refuse('MCP_NOT_PASSED', `No human accepted that "${server}" passes on ${what}.`);
  const { freezes } = await context.store.system();
  const agents = by === undefined ? [] : [by];
  const freeze = freezeOf(freezes, { tenant: context.store.tenant, agents, tools: [] });
  if (freeze) refuse('FROZEN', freezeWords(freeze));
  // What is compared is what is started: a second look at the file could find another one.
  const now = startedNow(context, server);
  requireSameStart(accepted, now);
  const { start } = now;
  await requireProven(context, server, digest);
  const secrets = await context.secrets(secretsOfStart(start));
  const { connection } = await openUpstream(context, { server, start }, secrets);
  const { _meta, ...asked } = params;
  const reply = await connection.ask(method, asked, { timeout_ms: start.timeout_ms, capabilities });
  if (reply.kind === 'lost') return refuse(reply.code satisfies ReasonCode);
  return reply.kind === 'error'
    ? { result: null, error: objectOf(reply.error) }
    : { result: objectOf(reply.result), error: null };
}
