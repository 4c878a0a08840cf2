import * as z from 'zod';
import { digest, id, reasonCode, time } from './parts.ts';

/** The backups of one run. */
const run = z
  .strictObject({
    execution_id: id,
    intent_id: id,
    at: time,
    folder: z.string(),
    files: z.int(),
    bytes: z.int(),
    undoable: z.boolean(),
    /** An earlier gc recorded that they expired and was ended before it removed them. */
    begun: z.boolean(),
    /** Why it stays whatever its age; `null` where age and size decide. */
    kept: reasonCode.nullable(),
  })
  .readonly();

const object = z
  .strictObject({
    digest,
    bytes: z.int(),
    role: z.string(),
    /** When an entry named it last. */
    at: time,
    subjects: z.array(z.string()).readonly(),
    /** Executions and conversations whose undo goes with it. */
    undo: z.array(z.string()).readonly(),
  })
  .readonly();

const stay = z
  .strictObject({
    why: z.enum(['rules', 'in_use', 'undoable', 'unnamed', 'damaged', 'new_or_small']),
    objects: z.int(),
    bytes: z.int(),
    /** The first few of them. */
    digests: z.array(digest).readonly(),
  })
  .readonly();

export const gcPreview = z.strictObject({
  /** What goes, the oldest first. */
  removes: z.array(run).readonly(),
  keeps: z.array(run).readonly(),
  objects: z
    .strictObject({ removes: z.array(object).readonly(), keeps: z.array(stay).readonly() })
    .readonly(),
});

/** Why something is not gone; null where it is. */
const trouble = { code: reasonCode.nullable(), message: z.string().nullable() };

export const gcOutcome = z.strictObject({
  runs: z
    .array(
      z
        .strictObject({
          execution_id: id,
          bytes: z.int(),
          /** Recorded as given up: its rollback is refused from then on, also where some of the files could not be removed. */
          expired: z.boolean(),
          removed: z.boolean(),
          ...trouble,
        })
        .readonly(),
    )
    .readonly(),
  objects: z
    .strictObject({
      objects: z.int(),
      bytes: z.int(),
      /** Listed, and needed again by now. */
      kept: z.array(digest).readonly(),
      ...trouble,
    })
    .readonly(),
});
