import * as z from 'zod';
import { isDigest } from '../../canonical/digest.ts';
import { WORD_FORM } from '../../canonical/form.ts';
import { guardPlain, type Json } from '../../canonical/json.ts';
import { fieldLimits, planLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import { actionTypes } from '../operation.ts';

/** The plan file of 004 section 3.3 around its operations, with the fields that its other sections add. */

/** A name or a lower-case UUID. It becomes part of a folder name, so it holds nothing that a path could mean. */
const name = z
  .string()
  .regex(WORD_FORM, 'is not a name of letters, digits, dots, dashes and underscores')
  .refine(
    (id) => !/^[0-9a-f-]{36}$/i.test(id) || id === id.toLowerCase(),
    'is a UUID that is not in lower case',
  );

export const planIdSchema = name;

const path = z.string().min(1);
const plain = z.custom<Json>(isPlain, 'is not plain JSON');
/** The maxima depend on the action type and are checked with it. */
const timeout_ms = z.int().min(1);

export const operationShell = z.looseObject({
  type: z.string(),
  details: z.record(z.string(), plain).optional(),
});

export const riskLevels = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;

export const actionShape = {
  action_id: name,
  target: path,
  depends_on: z.array(name).max(planLimits.actions).default([]),
  reversible: z.boolean().optional(),
  risk_level: z.enum(riskLevels).optional(),
  timeout_ms: timeout_ms.optional(),
};

const action = z.strictObject({
  ...actionShape,
  action_type: z.enum(actionTypes),
  operation: operationShell,
});

/** 004 sections 7.2 and 11.1. */
const instructions = z.strictObject({
  execution_order: z.enum(['sequential', 'parallel', 'dependency_based']).default('sequential'),
  stop_on_error: z.boolean().default(true),
  rollback_on_failure: z.boolean().default(true),
  preserve_permissions: z.boolean().default(true),
  verify_hashes: z.boolean().default(true),
  timeout_ms: timeout_ms.optional(),
});

const validationRule = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file_exists'), path }),
  z.strictObject({ type: z.literal('file_absent'), path }),
  z.strictObject({
    type: z.literal('hash_equals'),
    path,
    sha256: z.string().refine(isDigest, 'is not a SHA-256 digest'),
  }),
  z.strictObject({ type: z.literal('json_valid'), path }),
  z.strictObject({ type: z.literal('yaml_valid'), path }),
  z.strictObject({ type: z.literal('contains'), path, text: z.string().min(1) }),
]);

export const planShape = {
  plan_id: planIdSchema,
  execution_instructions: instructions.prefault({}),
  validation: z.array(validationRule).max(planLimits.actions).default([]),
  version: z.string().min(1).max(fieldLimits.version_chars).optional(),
  created_at: z.iso.datetime({ offset: true }).optional(),
  task_summary: plain.optional(),
  decisions: plain.optional(),
  task_decomposition: plain.optional(),
  risk_assessment: plain.optional(),
};

export const actionList = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(planLimits.actions);

export const planSchema = z.strictObject({ ...planShape, action_plan: actionList(action) });

export type PlanFile = z.infer<typeof planSchema>;
export type ActionFile = PlanFile['action_plan'][number];

function isPlain(value: unknown): value is Json {
  try {
    guardPlain(value);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
