import { z } from 'zod';
import { code, digest, fingerprint, id, intent, name, time } from './schema-parts.ts';
import { shown } from './schema-shown.ts';

/** What the commands about the story of an intent and about the ledger print with `--json`. */

const story = z.strictObject({
  intent,
  /** `null` when it was erased, or is not in the file. */
  envelope: z.looseObject({ declared_goal: z.string() }).nullable(),
  effect: z.looseObject({ kind: z.enum(['tool', 'plan']) }).nullable(),
  /** What a person sees of the effect, and of each effect that a human may turn to when a run fails. */
  shown: shown.nullable(),
  alternates: z.array(shown).readonly(),
  /** Everything that happened to it, oldest first, in words. */
  story: z.array(
    z.strictObject({
      seq: z.int(),
      at: time,
      kind: z.string(),
      words: z.string(),
      /** What the policies said, where they were asked; `null` otherwise, and when it was erased. */
      decision: z
        .strictObject({
          allowed: z.boolean(),
          code: code.nullable(),
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
        .nullable(),
    }),
  ),
  /** What it asks for differently than the intent that it replaces; `null` when that one is not in the file. */
  changes: z.array(z.string()).nullable(),
  outputs: z.array(
    z.strictObject({ execution_id: id, stdout: digest.nullable(), stderr: digest.nullable() }).readonly(),
  ),
  /** Reports of finished runs that are not in the project; `plan report` makes them again. */
  reports_missing: z.array(z.strictObject({ execution_id: id, names: z.array(z.string()) })),
  output: z.strictObject({ stdout: z.string().nullable(), stderr: z.string().nullable() }).nullable(),
});

const verified = z.strictObject({
  what: z.enum(['ledger', 'export', 'proof']),
  size: z.int(),
  root: digest,
  key: fingerprint,
  key_confirmed: z.boolean(),
  kept_heads: z.int(),
  deep: z.boolean(),
  /** `null` when the file was written without objects. */
  objects: z.strictObject({ stored: z.int(), erased: z.int() }).nullable(),
});

export const ledgerResults = {
  show: story,
  'ledger show': z.strictObject({
    entries: z.array(
      z.looseObject({ seq: z.int(), at: time, kind: z.string(), subject: z.string(), prev: digest }),
    ),
    /** How the file was verified; `null` for the ledger of the project. */
    verified: verified.nullable(),
    /** The story of an intent from a file, as `show` tells it. */
    story: story.nullable(),
  }),
  'ledger verify': verified,
  'ledger head': z.strictObject({
    origin: z.string(),
    size: z.int(),
    root: digest,
    key: fingerprint,
    text: z.string(),
  }),
  'ledger accept-head': z.strictObject({
    entries: z.int(),
    /** How many entries the longest kept head knew; `null` when none could be read. */
    kept_size: z.int().nullable(),
    by: name,
    reason: z.string(),
  }),
  'ledger prove': z.strictObject({ intent_id: id, key: fingerprint, bundle: z.string() }),
  'ledger export': z.strictObject({ file: z.string(), key: fingerprint }),
  'ledger rebuild': z.strictObject({
    entries: z.int(),
    rows: z.int(),
    differences: z.array(z.string()),
    written: z.boolean(),
  }),
} as const;
