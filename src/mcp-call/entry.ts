import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { serverName } from '../event/shape.ts';
import { fieldLimits, limits, mcpLimits } from '../limits.ts';
import { secretName, startSchema } from '../tool/schema.ts';

/** Headers that the gate itself sets, or that belong to one connection. */
const OWN_HEADER = /^(host|content-|accept$|connection$|transfer-|te$|upgrade$|mcp-|cookie$|user-agent$)/;
const header = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'is not the name of a header in small letters')
  .refine((name) => !OWN_HEADER.test(name), 'is set by the gate itself');

const PASSED = ['resources', 'prompts', 'completion', 'logging', 'input'] as const;
export type Passed = (typeof PASSED)[number];

const mode = z.enum(['gate', 'shadow']);

/** `shadow` lets calls pass without an approval and records them. That of a tool goes before that of its server. */
const modes = {
  /** What of the server reaches its callers besides its tools. None of it waits for a human. */
  pass: z.array(z.enum(PASSED)).max(PASSED.length).default([]),
  mode: mode.default('gate'),
  tools: z.record(z.string().max(mcpLimits.tool_name_chars), z.strictObject({ mode })).default({}),
};

const programSchema = once(() => startSchema.extend(modes));

const remoteSchema = once(() =>
  z.strictObject({
    ...modes,
    url: z.url({ protocol: /^https?$/ }).max(fieldLimits.url_chars),
    /** Sent with each message, and shown to the human who accepts the server. */
    headers: z.record(header, z.string().regex(/^[ -~]{0,2048}$/)).default({}),
    /** Secrets of the executor, each in the header that stands before it. */
    secrets: z.record(header, secretName).default({}),
    /** A secret of the executor that is sent as `Authorization: Bearer`. */
    bearer: secretName.nullable().default(null),
    /** Networks that are not public and may be connected to all the same. */
    allow: z
      .array(z.union([z.cidrv4(), z.cidrv6()]))
      .max(fieldLimits.networks)
      .default([]),
    timeout_s: z.int().min(1).max(limits.timeout_s).default(limits.timeout_s_default),
  }),
);

/** One MCP server in keyturn.yaml: a program, or a URL. Nothing of it is started or asked until a human has accepted it. */
export const serverEntrySchema = z.looseObject({}).transform((value, context): ServerEntry => {
  const parsed = (Object.hasOwn(value, 'url') ? remoteSchema() : programSchema()).safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues)
    context.issues.push({ code: 'custom', path: [...path], message, input: value });
  return z.NEVER;
});

export const serversSchema = z
  .record(serverName, serverEntrySchema)
  .refine((all) => Object.keys(all).length <= mcpLimits.servers, `has more than ${mcpLimits.servers} servers`)
  .default({});

export type RemoteEntry = z.infer<ReturnType<typeof remoteSchema>>;
export type ServerEntry = z.infer<ReturnType<typeof programSchema>> | RemoteEntry;
export type ServerEntries = Readonly<Record<string, ServerEntry>>;
