import * as z from 'zod';
import { serverName } from '../event/shape.ts';
import { mcpLimits } from '../limits.ts';
import { startSchema } from '../tool/schema.ts';

/** One MCP server in keyturn.yaml. It starts nothing until a human has accepted it. */
export const serverEntrySchema = startSchema.extend({
  /** Its calls pass, and are recorded with what would have been asked: all of them, or those of the tools that are named. */
  shadow: z.union([z.boolean(), z.array(z.string().min(1)).max(mcpLimits.tools)]).default(false),
  /** What of it a client may read without a human, because it is no call. Nothing unless told. */
  pass: z.array(z.enum(['resources', 'prompts', 'logging'])).max(3).default([]),
});

export const serversSchema = z
  .record(serverName, serverEntrySchema)
  .refine((all) => Object.keys(all).length <= mcpLimits.servers, `has more than ${mcpLimits.servers} servers`)
  .default({});

export type ServerEntry = z.infer<typeof serverEntrySchema>;
export type ServerEntries = Readonly<Record<string, ServerEntry>>;
