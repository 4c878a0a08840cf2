import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { envelopeSchema } from '../intent/envelope.ts';
import type { Effect } from '../journey/derived.ts';
import { mcpEffectSchema } from '../mcp-call/effect.ts';
import type { PlanEffect } from '../plan/model.ts';
import { actionTypes } from '../plan/operation.ts';
import { effectSchema } from '../tool/effect.ts';
import { digest } from './parts.ts';

/** What would run, as it is hashed. */

const texts = z.array(z.string()).readonly();
const undo = z.enum(['exact', 'compensating', 'none']);
const fileState = z.strictObject({
  sha256: digest,
  size: z.int(),
  mode: z.int(),
  attributes: digest.optional(),
});
/** Null stands for nothing. `unknown` where only the run can tell. */
const there = z.union([fileState, z.literal('unknown')]).nullable();
const sqlStep = z.strictObject({
  kind: z.literal('sql'),
  file: z.string(),
  sha256: digest,
  text: z.string(),
  database: z.string(),
});
const action = z.strictObject({
  action_id: z.string(),
  action_type: z.enum(actionTypes),
  target: z.string(),
  /** As the plan writes it, with every default filled in. */
  operation: z.looseObject({ type: z.string() }),
  depends_on: texts,
  undo,
  timeout_ms: z.int(),
  changes: z.array(z.strictObject({ path: z.string(), before: there, after: there })),
  statements: texts,
  query_text: z.string().nullable(),
  steps: z.array(z.union([effectSchema, sqlStep])),
});

export const planEffect = once(
  () =>
    z
      .strictObject({
        kind: z.literal('plan'),
        plan_id: z.string(),
        task_id: z.string(),
        plan_digest: digest,
        config_digest: digest.nullable(),
        instructions: z.strictObject({
          execution_order: z.enum(['sequential', 'parallel', 'dependency_based']),
          stop_on_error: z.boolean(),
          rollback_on_failure: z.boolean(),
          preserve_permissions: z.boolean(),
          verify_hashes: z.boolean(),
          timeout_ms: z.int(),
        }),
        /** In the order of execution. */
        actions: z.array(action),
        /** Folders that do not exist and that the plan makes, outermost first. */
        folders: texts,
        validation: z.array(z.looseObject({ type: z.string(), path: z.string() })),
        /** Protected paths that this plan touches: they need a second approver. */
        elevated: texts,
      })
      .meta({ id: 'plan-effect' }) as unknown as z.ZodType<PlanEffect>,
);

export const effect = once(
  () =>
    z.union([
      effectSchema.meta({ id: 'tool-effect' }),
      planEffect(),
      mcpEffectSchema.meta({ id: 'mcp-effect' }),
    ]) satisfies z.ZodType<Effect>,
);

export const envelope = once(() => envelopeSchema.meta({ id: 'envelope' }));
