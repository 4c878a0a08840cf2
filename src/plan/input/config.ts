import * as z from 'zod';
import { type Digest, sha256 } from '../../canonical/digest.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { fieldLimits, planLimits, planTimeout } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import { parseYaml, type YamlDocument } from '../../tool/yaml.ts';
import type { RiskLevel } from '../model.ts';
import { type ActionType, actionTypes } from '../operation.ts';
import { addIssues } from './issues.ts';

import { type Path, type Placed, type PlanProblem, Problems } from './problem.ts';
import type { ProtectedFiles } from './protection.ts';
import { riskLevels } from './schema.ts';

/**
 * The system config that comes with a plan (004 section 3.1). It may make the rules narrower, never wider: it comes from the same
 * side as the plan.
 */
export interface SystemConfig {
  readonly mode: string | null;
  /** From which risk on, or how many: shown to the approver. The approval rules of the project decide. */
  readonly approval_threshold: RiskLevel | number | null;
  readonly timeout_ms: number | null;
  readonly max_files: number | null;
  readonly allowed_operations: readonly ActionType[] | null;
  readonly forbidden_globs: readonly string[];
  readonly protected_files: Partial<ProtectedFiles>;
  /** SHA-256 of the canonical value: part of what is approved. */
  readonly digest: Digest;
}

export type ReadConfig = { readonly config: SystemConfig } | { readonly problems: readonly PlanProblem[] };

const glob = z
  .string()
  .min(1)
  .max(fieldLimits.pattern_chars)
  .refine((pattern) => pattern === pattern.normalize('NFC'), 'is not in the composed form (NFC)')
  .refine((pattern) => !/^\/|\\|[[\]{}!]|(^|\/)\.{0,2}(\/|$)/.test(pattern), {
    message: 'is not a relative pattern of names with ?, * and ** only',
  })
  .refine(
    (pattern) =>
      !/\*\*/.test(
        pattern
          .split('/')
          .filter((part) => part !== '**')
          .join('/'),
      ),
    {
      message: 'has ** beside other characters; it stands alone between slashes',
    },
  );

const globs = z.array(glob).max(planLimits.patterns);

const groups = z.strictObject({
  critical: globs.optional(),
  important: globs.optional(),
  agent_system: globs.optional(),
});

export const systemConfigSchema = z.strictObject({
  workflow_configuration: z
    .strictObject({
      mode: z
        .string()
        .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)
        .optional(),
      requires_approval: z.boolean().default(true),
      approval_threshold: z
        .union([z.enum(riskLevels), z.int().min(1).max(planLimits.approval_threshold)])
        .optional(),
      /** In seconds, for the whole task. */
      timeout: z
        .int()
        .min(1)
        .max(planTimeout.max_ms / 1000)
        .optional(),
    })
    .prefault({}),
  execution_constraints: z
    .strictObject({
      max_files: z.int().min(1).max(planLimits.files).optional(),
      allowed_operations: z.array(z.enum(actionTypes)).min(1).optional(),
      forbidden_globs: globs.default([]),
      /** In the three groups of 004 section 9.1; a plain list is critical. */
      protected_files: z.union([groups, globs]).default({}),
    })
    .prefault({}),
});

/** Reads `system_config.yaml`, or says everything that is wrong with it. */
export function readSystemConfig(yaml: Uint8Array | string): ReadConfig {
  const problems = new Problems();
  const file = openYaml(typeof yaml === 'string' ? Buffer.from(yaml) : yaml, problems);
  const config = file === null ? null : configFrom(file, [], file.value, problems);
  return config === null ? { problems: problems.list() } : { config };
}

/** A config that stands at a path of another file, such as a task envelope. */
export function configFrom(
  file: Placed,
  base: Path,
  value: unknown,
  problems: Problems,
): SystemConfig | null {
  const parsed = systemConfigSchema.safeParse(value);
  if (!parsed.success) {
    addIssues(problems, file, base, parsed.error.issues);
    return null;
  }
  const { workflow_configuration: workflow, execution_constraints: constraints } = parsed.data;
  if (!workflow.requires_approval) {
    const at = [...base, 'workflow_configuration', 'requires_approval'];
    problems.at(file, at, 'APPROVAL_NOT_OPTIONAL', 'Every plan needs the approval of a human.');
    return null;
  }
  const { protected_files } = constraints;
  return {
    mode: workflow.mode ?? null,
    approval_threshold: workflow.approval_threshold ?? null,
    timeout_ms: workflow.timeout === undefined ? null : workflow.timeout * 1000,
    max_files: constraints.max_files ?? null,
    allowed_operations: constraints.allowed_operations ?? null,
    forbidden_globs: constraints.forbidden_globs,
    protected_files: Array.isArray(protected_files)
      ? { critical: protected_files }
      : withoutGaps(protected_files),
    digest: sha256(canonicalBytes(value)),
  };
}

function withoutGaps(files: z.infer<typeof groups>): Partial<ProtectedFiles> {
  return Object.fromEntries(Object.entries(files).filter(([, list]) => list !== undefined));
}

function openYaml(bytes: Uint8Array, problems: Problems): Placed | null {
  try {
    const document = parseYaml(bytes);
    return { value: document.value, spotOf: spots(document), spotOfKey: spots(document) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message, facts } = error;
    problems.add({
      code,
      message,
      pointer: '',
      line: Number(facts.line ?? 1),
      column: Number(facts.column ?? 1),
    });
    return null;
  }
}

function spots(document: YamlDocument): Placed['spotOf'] {
  return (path) => document.place(path);
}
