import * as z from 'zod';
import { fieldLimits, limits } from '../limits.ts';

/**
 * What a language model of the caller makes of a goal. A model may find, and never decides: what it names must exist, what it shows must
 * have been said, each value is read again by the field itself, and the reading by rules must not contradict it. A match that is
 * made of it always asks for a yes. The attacker is a model that was talked into something, or makes things up.
 */
export const proposalShape = z.strictObject({
  simulation_id: z.string().max(limits.name_chars),
  /** For each field, where its value stands in the goal. */
  fields: z
    .array(
      z.strictObject({
        field: z.string().max(limits.name_chars),
        text: z.string().min(1),
        start: z.int().min(0),
      }),
    )
    .max(fieldLimits.listed)
    .default([]),
});

export type ModelProposal = z.output<typeof proposalShape>;
