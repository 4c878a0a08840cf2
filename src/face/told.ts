import * as z from 'zod';
import type { JsonObject } from '../canonical/json.ts';
import { once } from '../canonical/once.ts';
import type { Envelope } from '../intent/envelope.ts';
import { absence, awaited, digest, id, intent, jsonObject, output, time, undoneBy } from './parts.ts';
import { shown } from './shown.ts';
import { CAPABILITY_WORDS, RUN_WORDS } from './statuses.ts';

/** What entries tell a person: one by one, and as the story of an intent. */

/** What the policies said. */
const decision = once(() =>
  z
    .strictObject({
      allowed: z.boolean(),
      code: z.enum(['POLICY_DENIED', 'POLICY_NO_PERMIT', 'POLICY_ERROR']).nullable(),
      policies: z
        .array(
          z
            .strictObject({
              id: z.string(),
              version: z.string(),
              scope: z.string(),
              rationale: z.string(),
            })
            .readonly(),
        )
        .readonly(),
      words: z.string(),
      snapshot: digest,
    })
    .readonly()
    .meta({ id: 'told-decision' }),
);

export const toldEntry = once(() =>
  z
    .strictObject({
      seq: z.int(),
      tenant: z.string(),
      at: time,
      kind: z.string(),
      subject: z.string(),
      /** The unique keys that its commit took. */
      claims: z.array(z.string()).readonly(),
      /** It holds digests, and never an argument, an output or a goal. */
      body: jsonObject,
      /** The hash of the entry before; zeros for the first. */
      prev: digest,
      /** The same for a person. */
      words: z.string(),
      /** What the policies said, where that was asked for; null where they were not asked, and where it was erased. */
      decision: decision().nullable().optional(),
    })
    .readonly()
    .meta({ id: 'entry' }),
);

export const story = once(() =>
  z
    .strictObject({
      intent: intent.readonly(),
      /** Whether it is known who may sign. It is not in a file that begins later than the ledger: no approval is counted there, and words go by the clock and the entries of the intent alone. */
      signers_known: z.boolean(),
      /** Goal, arguments and what would run, as the human approved them; null where they are not there. */
      envelope: z
        .looseObject({ declared_goal: z.string() })
        .nullable() as unknown as z.ZodType<Envelope | null>,
      effect: z
        .looseObject({ kind: z.enum(['tool', 'plan', 'mcp']) })
        .nullable() as unknown as z.ZodType<JsonObject | null>,
      /** Why they are not there; null where they are. */
      absent: absence.nullable(),
      /** What a person sees of the effect, and of each effect that a human may turn to when a run fails. */
      shown: shown.nullable(),
      alternates: z.array(shown).readonly(),
      /** Everything that happened to it, oldest first, in words. */
      story: z
        .array(
          z
            .strictObject({
              seq: z.int(),
              at: time,
              kind: z.string(),
              words: z.string(),
              decision: decision().nullable(),
            })
            .readonly(),
        )
        .readonly(),
      /** What it asks for differently than the intent that it replaces; null when that one is not in the file. */
      changes: z.array(z.string()).readonly().nullable(),
      /** Which freeze stops it, in one sentence; null where none does, of what is over, and in a file, which does not tell. */
      frozen: z.string().nullable(),
      /** Which executors its order waits for; `null` where no run is ordered that an executor would take. */
      waits_for: awaited.nullable(),
      /** The intent that undoes its run; null where none does, and in a file, which does not tell. */
      undone_by: undoneBy.nullable(),
      outputs: z
        .array(
          z
            .strictObject({ execution_id: id, stdout: digest.nullable(), stderr: digest.nullable() })
            .readonly(),
        )
        .readonly(),
      /** What became of each order and each run, in the words of `runs.capabilities` and `runs.list`. */
      capability_words: z
        .array(z.strictObject({ capability_id: id, status_word: z.enum(CAPABILITY_WORDS) }).readonly())
        .readonly(),
      run_words: z
        .array(z.strictObject({ execution_id: id, status_word: z.enum(RUN_WORDS) }).readonly())
        .readonly(),
      /** Reports of finished runs that are not in the project; `plans.report` makes them again. */
      reports_missing: z
        .array(z.strictObject({ execution_id: id, names: z.array(z.string()).readonly() }).readonly())
        .readonly(),
      /** What the newest run printed, as text; null where that was not asked for, or there was none. */
      output: output.nullable(),
    })
    .meta({ id: 'story' }),
);

/** What erasing one object would take away. */
export const erasure = once(() =>
  z.strictObject({
    digest,
    bytes: z.int(),
    /** All that would be erased together: the object itself first, then those that hold the same words. */
    objects: z
      .array(
        z
          .strictObject({
            digest,
            role: z.string().nullable(),
            /** What needs this very object, and could no longer do something without it. It is signed with the erasure. */
            needed_by: z
              .array(
                z
                  .strictObject({ subject: z.string(), stops: z.boolean(), undo: z.string().nullable() })
                  .readonly(),
              )
              .readonly(),
          })
          .readonly(),
      )
      .readonly(),
    /** The kind of object, where it is one that is never erased. */
    kept: z.string().nullable(),
    /** How many intents, conversations and others rest on one of them. */
    holders: z.int(),
    /** The first entries that name one of them. */
    named_by: z
      .array(
        z
          .strictObject({
            seq: z.int(),
            at: time,
            kind: z.string(),
            subject: z.string(),
            role: z.string(),
            digest,
          })
          .readonly(),
      )
      .readonly(),
    /** What could no longer be approved, run, retried or answered. */
    stops: z.array(z.string()).readonly(),
    /** Executions and conversations that could no longer be undone. */
    undo: z.array(z.string()).readonly(),
    /** Executions and conversations whose decisions could no longer be made again. */
    replay: z.array(z.string()).readonly(),
  }),
);
