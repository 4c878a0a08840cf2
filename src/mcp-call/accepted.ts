import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, guardPlain, type Json, parseJson } from '../canonical/json.ts';
import { describeIssue } from '../event/event.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { effectSchema } from '../tool/effect.ts';
import type { ToolDefinition } from './definition.ts';

/** A file that stands in the command line of a server, such as a script: its bytes are part of what is accepted. */
const file = z.strictObject({ path: z.string(), sha256: z.string() });

const definition = z.custom<ToolDefinition>(
  (value) => typeof (value as { name?: unknown } | null)?.name === 'string',
);

/** A server that is reached by its URL. Of secrets only the names are here, by the header that each is sent in. */
const remoteSchema = z.strictObject({
  kind: z.literal('url'),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  secrets: z.record(z.string(), z.string()),
  bearer: z.string().nullable(),
  allow: z.array(z.string()),
  timeout_ms: z.int(),
});

/** How a server is started or reached, and what starting it runs. */
export const startedSchema = z.strictObject({
  start: z.discriminatedUnion('kind', [effectSchema, remoteSchema]),
  files: z.array(file),
});

const mode = z.enum(['gate', 'shadow']);

/** The same, with which tools pass without an approval. */
const configuredSchema = startedSchema.extend({
  modes: z
    .strictObject({ server: mode, tools: z.record(z.string(), mode) })
    .default({ server: 'gate', tools: {} }),
  /** What reaches callers besides the tools, without an approval. */
  pass: z.array(z.string()).default([]),
});

const acceptedSchema = configuredSchema.extend({
  format: z.literal('keyturn-mcp-server/1'),
  server: z.string(),
  /** What the server says of itself. */
  info: z.strictObject({ name: z.string(), version: z.string(), protocol: z.string() }),
  /** Every definition, whole, as the server gave it, in the order of their names. */
  tools: z.array(definition),
});

export type RemoteStart = z.infer<typeof remoteSchema>;
export type Started = z.infer<typeof startedSchema>;
export type Configured = z.infer<typeof configuredSchema>;
/** What a human accepted of a server. Its digest is what the ledger names. */
export type Accepted = z.infer<typeof acceptedSchema>;

export function sealAccepted(accepted: Accepted): { readonly bytes: Uint8Array; readonly digest: Digest } {
  const bytes = canonicalBytes(accepted as unknown as Json);
  return { bytes, digest: sha256(bytes) };
}

/** The store has checked the bytes against the digest that a human signed. */
export function openAccepted(bytes: Uint8Array): Accepted {
  const parsed = acceptedSchema.safeParse(parseJson(bytes, bytes.length));
  return parsed.success ? parsed.data : refuse('SHAPE_INVALID', describeIssue(parsed.error));
}

/** The secrets of the executor that reaching a server needs. */
export function secretsOfStart(start: Started['start']): string[] {
  const bearer = start.kind === 'url' && start.bearer !== null ? [start.bearer] : [];
  return [...Object.values(start.secrets), ...bearer];
}

/** What a server listed, as definitions that can be pinned. The attacker is the server: names that hide, and lists without an end. */
export function definitionsIn(listed: readonly unknown[]): ToolDefinition[] {
  if (listed.length > mcpLimits.tools)
    refuse('MCP_LIST_TOO_LONG', `It lists more than ${mcpLimits.tools} tools.`);
  const found = new Map<string, ToolDefinition>();
  let bytes = 0;
  for (const one of listed) {
    const given = plainDefinition(one);
    if (found.has(given.name)) malformed(`It lists "${given.name}" twice.`);
    bytes += canonicalBytes(given as unknown as Json).length;
    if (bytes > mcpLimits.definitions_bytes)
      refuse('MCP_LIST_TOO_LONG', `Its definitions have more than ${mcpLimits.definitions_bytes} bytes.`);
    found.set(given.name, given);
  }
  const tools = [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return tools;
}

function plainDefinition(value: unknown): ToolDefinition {
  try {
    guardPlain(value);
  } catch (error) {
    if (error instanceof Refusal) malformed(`A definition is not plain JSON: ${error.message}`);
    throw error;
  }
  const { name, inputSchema } = (value ?? {}) as { name?: unknown; inputSchema?: unknown };
  if (typeof name !== 'string' || name.length === 0 || name.length > mcpLimits.tool_name_chars)
    malformed('A tool has no name that can be used.');
  if (typeof inputSchema !== 'object' || inputSchema === null || Array.isArray(inputSchema))
    malformed(`The tool "${name}" has no inputSchema.`);
  return value as unknown as ToolDefinition;
}

function malformed(words: string): never {
  return refuse('MCP_DEFINITION_MALFORMED', words);
}
