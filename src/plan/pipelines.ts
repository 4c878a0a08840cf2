import { sha256 } from '../canonical/digest.ts';
import { canonicalText, decodeUtf8 } from '../canonical/json.ts';
import { readFileBeneath } from '../durable/beneath.ts';
import { runSql } from '../effect/sql/run.ts';
import { requireRunnable, statementsOf } from '../effect/sql/statement.ts';
import { limits, sqlLimits } from '../limits.ts';
import { didYouMean, refuse } from '../refusal.ts';
import { deriveEffect, type ToolEffect } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
import { prepareRun, type Surroundings } from '../tool/run.ts';
import type { Pipeline } from '../tool/schema.ts';
import { toolNamed } from '../tool/select.ts';
import type { PipelineOptions, PipelineResult, Pipelines } from './handler/pipeline-run.ts';
import type { PipelineStep, SqlStep } from './model.ts';
import type { OperationOf } from './operation.ts';

export interface PipelineSetting {
  readonly root: string;
  readonly registry: () => Registry;
  readonly surroundings: Surroundings;
}

/** The pipelines of the registry. Their steps are fixed there: a plan only names one, and the approver sees each step. */
export function registeredPipelines(setting: PipelineSetting): Pipelines {
  return {
    resolve: ({ target, operation }) => {
      requireNoArguments(target, operation);
      return pipelineSteps(setting, target);
    },
    async run({ target, operation, steps: approved }, options): Promise<PipelineResult> {
      requireNoArguments(target, operation);
      const steps = pipelineSteps(setting, target);
      if (canonicalText(steps) !== canonicalText(approved)) {
        refuse('EFFECT_CHANGED', `The steps of the pipeline ${target} are not those that were approved.`);
      }
      for (const [i, step] of steps.entries()) {
        const failure =
          step.kind === 'tool'
            ? await runTool(setting, step, options)
            : await runSqlStep(setting, step, options);
        if (failure !== null) return { ok: false, output: `Step ${i + 1} of ${target} failed: ${failure}` };
      }
      return { ok: true, output: `Pipeline '${target}' completed, steps: ${steps.length}` };
    },
  };
}

function requireNoArguments(name: string, operation: OperationOf<'PIPELINE_RUN'>): void {
  if (Object.keys(operation.arguments).length > 0) {
    refuse(
      'ARGUMENT_UNKNOWN',
      `The pipeline ${name} takes no arguments: its steps are fixed in the registry.`,
    );
  }
}

/** What the registry's pipeline of this name would do now. */
export function pipelineSteps(setting: PipelineSetting, name: string): PipelineStep[] {
  const registry = setting.registry();
  const pipeline =
    registry.pipelines.get(name) ??
    refuse(
      'TOOL_UNKNOWN',
      `The registry has no pipeline "${name}".${didYouMean(name, registry.pipelines.keys())}`,
    );
  return pipeline.steps.map((step) =>
    'tool' in step ? toolStep(setting, registry, step) : sqlStep(setting, step),
  );
}

function toolStep(
  { root, surroundings: { digests } }: PipelineSetting,
  registry: Registry,
  step: Extract<Pipeline['steps'][number], { tool: string }>,
): ToolEffect {
  const tool = toolNamed(registry, step.tool);
  return deriveEffect({
    registry,
    tool,
    arguments: step.arguments,
    fixed: true,
    root,
    ...(digests && { digests }),
  });
}

function sqlStep(
  { root }: PipelineSetting,
  { sql: file, database }: Extract<Pipeline['steps'][number], { sql: string }>,
): SqlStep {
  const { bytes } = readFileBeneath(root, file, limits.json_string_chars);
  const text = decodeUtf8(bytes, limits.json_string_chars);
  requireRunnable(statementsOf(text));
  return { kind: 'sql', file, sha256: sha256(bytes), text, database };
}

async function runTool(
  { surroundings }: PipelineSetting,
  effect: ToolEffect,
  { signal, lock }: PipelineOptions,
): Promise<string | null> {
  const prepared = prepareRun(effect, { ...surroundings, ...(lock !== undefined && { lock }) });
  try {
    const { started, exit_code, signal: killed } = await prepared.run({ abort: signal });
    if (started && exit_code === 0) return null;
    return `${effect.tool} ended with ${exit_code === null ? (killed ?? 'no exit code') : `exit code ${exit_code}`}`;
  } finally {
    prepared.close();
  }
}

async function runSqlStep(
  { root }: PipelineSetting,
  { database, text }: SqlStep,
  { signal, timeout_ms }: PipelineOptions,
): Promise<null> {
  await runSql({
    root,
    database,
    text,
    expect_results: false,
    timeout_ms: Math.min(timeout_ms, sqlLimits.timeout_ms),
    abort: signal,
  });
  return null;
}
