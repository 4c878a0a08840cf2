import * as z from 'zod';
import { code, digest, id, problem } from './schema.ts';

/**
 * What `keyturn lane … --json` prints. schemas/lane.json is made from this by scripts/schemas.mjs. The lane answers
 * with flat objects, as the plain files it keeps. Only types come from here at run time: a check must not load zod.
 */

/** As the queue file has it: a date and a time, with or without a zone. */
const stamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?$/)
  .meta({ id: 'lane-time' });
const line = z.strictObject({ id, timestamp: stamp, hash: digest }).readonly().meta({ id: 'lane-line' });

/** `null` when there is no reason to give. */
const reason = {
  code: code.nullable(),
  message: z.string().nullable(),
  advice: z.string().nullable(),
};
const why = { code, message: z.string(), advice: z.string() };

const refused = z.strictObject({ ok: z.literal(false), ...why }).meta({ id: 'lane-refusal' });

const answers = {
  queue: z.union([z.strictObject({ ok: z.literal(true), id, timestamp: stamp, hash: digest }), refused]),
  review: z.union([
    z.strictObject({
      ok: z.literal(true),
      pending: z.array(line).readonly(),
      /** `null` when the person approved nothing. */
      approved: line.nullable(),
    }),
    refused,
  ]),
  verify: z.union([z.strictObject({ ok: z.literal(true), id, hash: digest }), refused]),
  check: z.union([
    z.strictObject({
      ok: z.literal(true),
      /** The line that 000 fixes. */
      line: z.string(),
      code: z.null(),
      message: z.null(),
      advice: z.null(),
      executed_at: z.null(),
    }),
    z.strictObject({ ok: z.literal(false), line: z.string(), ...why, executed_at: stamp.nullable() }),
  ]),
  run: z.union([
    z.strictObject({
      ok: z.literal(true),
      dry_run: z.literal(true),
      id,
      tool: z.string(),
      argv: z.array(z.string()),
      ...reason,
    }),
    /** A tool ran. `ok` is true for exit code 0 alone. */
    z.strictObject({
      ok: z.boolean(),
      id,
      tool: z.string(),
      timestamp: stamp,
      outcome: z.enum(['success', 'failure']),
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      stdout: z.string(),
      stderr: z.string(),
      /** More was said than is here. */
      truncated: z.boolean(),
      ...reason,
    }),
    /** Nothing ran, or it is not known: `lines` has the words of 001. */
    z.strictObject({ ok: z.literal(false), lines: z.array(z.string()).readonly(), ...why }),
  ]),
} as const;

/** What a command has to say for itself. The reason, and for some the `ok`, are added where it is printed. */
export type LaneAnswer<C extends keyof typeof answers> = z.infer<(typeof answers)[C]>;

/** One definition for each command, and the `problem` of words that no command of the lane understands. */
export function laneJsonSchema(): object {
  const named = Object.entries(answers).map(([command, answer]) => answer.meta({ id: `lane-${command}` }));
  return { title: 'What keyturn lane --json prints', ...z.toJSONSchema(z.union([...named, problem])) };
}
