import * as z from 'zod';

/** It is there or not, and says no more: text in it would reach the server beside the arguments. */
const flag = z.strictObject({});

/** What a client can answer, by the names of the protocol and no others: none can hold a value that was not approved. */
export const clientCapabilities = z.strictObject({
  elicitation: z.strictObject({ form: flag.optional(), url: flag.optional() }).optional(),
  sampling: z.strictObject({ context: flag.optional(), tools: flag.optional() }).optional(),
  roots: flag.optional(),
});
