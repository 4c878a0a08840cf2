import * as z from 'zod';
import { mcpLimits } from '../limits.ts';
import { capture } from './execution.ts';
import { body, by_executor, digest, name, prose, reason_code, serverName, signed, title } from './shape.ts';

/** What a human accepted of MCP servers, and what passed without an approval because they accepted that. */
export const mcpBodies = {
  /** A human looked at an MCP server: how it is started, and every tool with its definition. Until then nothing of it is started. */
  'mcp.accepted': body(() => ({
    server: serverName,
    accepted: digest,
    /** What was accepted until then, as the human who signs it knows it; null for the first time, and after a removal. */
    replaces: digest.nullable(),
    tools: z.int().min(0).max(mcpLimits.tools),
    /** How many of them pass without an approval, in shadow mode; absent for none. */
    shadow: z.int().min(1).max(mcpLimits.tools).optional(),
    reason: prose,
    ...signed,
  })),
  'mcp.removed': body(() => ({
    server: serverName,
    /** What was accepted until then, as the human who signs it knows it. */
    accepted: digest,
    reason: prose,
    ...signed,
  })),

  /** A call in shadow mode passes without an approval. It is written down before it is sent, with what the gate would have done. */
  'mcp.shadowed': body(() => ({
    server: serverName,
    tool: title,
    accepted: digest,
    proposer: name,
    /** The proposer's key was there; otherwise the name is only a claim. */
    verified: z.boolean(),
    effect: digest,
    /** `run`: a grant covers it. `ask`: a human would have been asked. `deny`: the policies would have let no human approve it. */
    would: z.enum(['run', 'ask', 'deny']),
    would_code: reason_code.nullable(),
    /** What the policies answered; null where they were not asked. */
    ruling: digest.nullable(),
    ...by_executor,
  })),
  'mcp.shadow_ended': body(() => ({
    server: serverName,
    tool: title,
    result: z.enum(['success', 'failure', 'partial']),
    reason_code: reason_code.nullable(),
    output: capture,
    ...by_executor,
  })),
} as const;
