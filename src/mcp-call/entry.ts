import * as z from 'zod';
import { serverName } from '../event/shape.ts';
import { mcpLimits } from '../limits.ts';
import { startSchema } from '../tool/schema.ts';

/** One MCP server in keyturn.yaml. It starts nothing until a human has accepted it. */
export const serverEntrySchema = startSchema;

export const serversSchema = z
  .record(serverName, serverEntrySchema)
  .refine((all) => Object.keys(all).length <= mcpLimits.servers, `has more than ${mcpLimits.servers} servers`)
  .default({});

export type ServerEntry = z.infer<typeof serverEntrySchema>;
export type ServerEntries = Readonly<Record<string, ServerEntry>>;
