import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, type Json, type JsonObject } from '../canonical/json.ts';

/** A tool as its server defines it: members that we know, and members that we do not. */
export type ToolDefinition = JsonObject & { readonly name: string };

/** The pin of a definition covers all of it. */
export function pinOf(definition: ToolDefinition): Digest {
  return sha256(canonicalBytes(definition as unknown as Json));
}

/** What the server claims of a tool. It is not checked: screens and policies get it as the words of the server. */
export function serverClaims({ annotations }: ToolDefinition): string[] {
  const said = (typeof annotations === 'object' && annotations !== null ? annotations : {}) as JsonObject;
  return CLAIMS.flatMap(([hint, word]) => (said[hint] === true ? [word] : []));
}

const CLAIMS = [
  ['destructiveHint', 'destructive'],
  ['idempotentHint', 'idempotent'],
  ['openWorldHint', 'open_world'],
  ['readOnlyHint', 'read_only'],
] as const;

type Mode = 'gate' | 'shadow';

interface Modes {
  readonly server: Mode;
  readonly tools: Readonly<Record<string, Mode>>;
}

/** Whether calls of this tool wait for a human, or pass in shadow mode. */
export function modeOf({ modes }: { readonly modes: Modes }, tool: string): 'gate' | 'shadow' {
  return Object.hasOwn(modes.tools, tool) ? modes.tools[tool]! : modes.server;
}

/** The tools that pass without an approval. */
export function shadowedTools(accepted: {
  readonly modes: Modes;
  readonly tools: readonly ToolDefinition[];
}): string[] {
  return accepted.tools.map(({ name }) => name).filter((name) => modeOf(accepted, name) === 'shadow');
}
