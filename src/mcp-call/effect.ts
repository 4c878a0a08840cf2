import * as z from 'zod';
import { canonicalText, isSameJson, type Json, type JsonObject } from '../canonical/json.ts';
import { clientCapabilities } from '../intent/client-input.ts';
import { didYouMean, refuse } from '../refusal.ts';
import { type Accepted, type Configured, type Started, startedSchema } from './accepted.ts';
import { pinOf, type ToolDefinition } from './definition.ts';
import { callAction, calledName } from './name.ts';

const object = z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;

/** What calling a tool of an MCP server would do: which server, how it is started, the tool as it defines it, and the arguments. */
export const mcpEffectSchema = startedSchema.extend({
  kind: z.literal('mcp'),
  server: z.string(),
  /** As the server has it, and as the gate offers it. */
  tool: z.string(),
  called: z.string(),
  action: z.string(),
  arguments: object,
  /** What the client of the caller can answer, and has answered, to questions of the server. */
  input: z
    .strictObject({
      capabilities: clientCapabilities,
      responses: object.nullable(),
      state: z.string().nullable(),
    })
    .optional(),
  /** The whole definition, in the server's words, and its digest. */
  definition: object,
  pin: z.string(),
  timeout_ms: z.int(),
});

export type McpEffect = z.infer<typeof mcpEffectSchema>;
export type CallInput = NonNullable<McpEffect['input']>;

/** What the client answers and gives back, for policies; empty where it does neither. */
export function clientSaid({ responses = null, state = null }: Partial<CallInput> = {}): string {
  return responses === null && state === null ? '' : canonicalText({ responses, state } as Json);
}

/** The effect of one call, by what a human accepted of the server. `started` is how it would be started now. */
export function mcpEffect(
  { server, tools, pass }: Accepted,
  { start, files }: Started,
  call: { readonly tool: string; readonly arguments: JsonObject; readonly input?: CallInput | undefined },
): McpEffect {
  if (call.input && !pass.includes('input'))
    refuse('MCP_NOT_PASSED', `No human accepted that "${server}" asks clients for input.`);
  const definition: ToolDefinition =
    tools.find(({ name }) => name === call.tool) ??
    refuse(
      'MCP_TOOL_UNKNOWN',
      `No human has accepted a tool "${call.tool}" of the server "${server}".${didYouMean(
        call.tool,
        tools.map(({ name }) => name),
      )}`,
    );
  const called = calledName(server, call.tool);
  return {
    kind: 'mcp',
    server,
    tool: call.tool,
    called,
    action: callAction(server, called),
    arguments: call.arguments,
    ...(call.input && { input: call.input }),
    definition: definition as unknown as JsonObject,
    pin: pinOf(definition),
    start,
    files,
    timeout_ms: start.timeout_ms,
  };
}

/** Refuses where a server would be started in another way than a human accepted. */
export function requireSameStart({ server, ...accepted }: Accepted, now: Configured): void {
  const differing = (Object.keys(now) as (keyof Configured)[]).flatMap((part) =>
    part === 'start'
      ? startDifferences(accepted.start, now.start)
      : isSameJson(accepted[part], now[part])
        ? []
        : [part],
  );
  if (differing.length === 0) return;
  refuse(
    'MCP_SERVER_CHANGED',
    `The server "${server}" would be started with other: ${differing.join(', ')}.`,
    {
      fields: differing.join(', '),
    },
  );
}

function startDifferences(accepted: Started['start'], now: Started['start']): string[] {
  const [before, after] = [accepted, now] as unknown as Record<string, Json>[];
  const names = Object.keys(now);
  return names
    .filter((name) => canonicalText(before![name] ?? null) !== canonicalText(after![name] ?? null))
    .sort();
}

/** Refuses when what would be called now is not what was approved, and says in what it differs. */
export function compareCalls(approved: McpEffect, now: McpEffect): void {
  if (isSameJson(approved, now)) return;
  if (approved.pin !== now.pin) refuse('MCP_DEFINITION_CHANGED');
  const names = Object.keys(now) as (keyof McpEffect)[];
  const fields = names.filter((name) => !isSameJson(approved[name] as Json, now[name] as Json)).sort();
  if (fields.length === 1 && fields[0] === 'start') {
    const inside = startDifferences(approved.start, now.start);
    if (inside.join() === 'executables') refuse('EXECUTABLE_CHANGED', undefined, { fields: 'executables' });
  }
  refuse('EFFECT_CHANGED', `What would be called differs from what was proposed in: ${fields.join(', ')}.`, {
    fields: fields.join(', '),
  });
}
