import * as z from 'zod';
import { ALARMS, type Shown, type ShownHunk } from '../display/shown.ts';

/** What a person must see of an effect: `src/display/shown.ts` as `--json` prints it. Nothing is cut. */

const piece = z
  .strictObject({
    /** Harmless on a terminal: what cannot be seen is written out. */
    text: z.string(),
    /** Who chose it: the owner of the registry, the proposer, the machine, or an MCP server. */
    from: z.enum(['registry', 'agent', 'derived', 'server']),
  })
  .readonly();
const pieces = z.array(piece).readonly();
export const shownLine = z
  .strictObject({ label: z.string(), value: pieces, weight: z.enum(['alarm', 'warn', 'plain', 'dim']) })
  .readonly();
const alarm = z
  .strictObject({
    alarm: z.enum(ALARMS),
    weight: z.enum(['alarm', 'warn']),
    words: z.string(),
    about: pieces,
  })
  .readonly();
export const shownHunk: z.ZodType<ShownHunk> = z
  .strictObject({
    old_start: z.int(),
    old_lines: z.int(),
    new_start: z.int(),
    new_lines: z.int(),
    lines: z.array(z.string()).readonly(),
    /** Its lines are not here: so many are asked for with `intents.hunks`. */
    apart: z.int().exactOptional(),
  })
  .readonly();
const block = z
  .strictObject({
    kind: z.enum(['sql', 'text', 'diff']),
    title: pieces,
    from: z.enum(['registry', 'agent', 'derived', 'server']),
    lines: z.array(z.string()).readonly(),
    /** Of a diff. Each line begins with a space, `-`, `+` or `\`; lines count from 1. */
    hunks: z.array(shownHunk).readonly(),
    /** More than zero where a change is too long to be shown. */
    left_out: z.int(),
  })
  .readonly();

export const shown: z.ZodType<Shown> = z
  .strictObject({
    kind: z.enum(['tool', 'plan', 'mcp', 'action', 'sql', 'policies']),
    headline: shownLine,
    alarms: z.array(alarm).readonly(),
    fields: z.array(shownLine).readonly(),
    blocks: z.array(block).readonly(),
    get parts() {
      return z.array(shown).readonly();
    },
  })
  .readonly()
  .meta({ id: 'shown' });
