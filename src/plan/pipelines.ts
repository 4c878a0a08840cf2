import { sha256 } from '../canonical/digest.ts';
import { readFileBeneath } from '../durable/beneath.ts';
import { runSql } from '../effect/sql/run.ts';
import { requireRunnable, statementsOf } from '../effect/sql/statement.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { deriveEffect, type Effect } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
import { prepareRun, type Surroundings } from '../tool/run.ts';
import type { Pipeline } from '../tool/schema.ts';
import { toolNamed } from '../tool/select.ts';
import type { PipelineOptions, PipelineResult, Pipelines } from './engine/handler/pipeline-run.ts';
import type { OperationOf } from './operation.ts';
import { type PipelineStep, stepDigest } from './pipeline-step.ts';

export interface PipelineSetting {
  readonly root: string;
  readonly registry: () => Registry;
  readonly surroundings: Surroundings;
}

type Step = { readonly effect: PipelineStep; run(options: PipelineOptions): Promise<string | null> };

/** The pipelines of the registry. Their steps are fixed there: a plan only names one, and the approver sees its digests. */
export function registeredPipelines(setting: PipelineSetting): Pipelines {
  return {
    resolve: ({ target, operation }) => {
      requireNoArguments(target, operation);
      return pipelineSteps(setting, target).map(stepDigest);
    },
    async run({ target, operation, steps: approved }, options): Promise<PipelineResult> {
      requireNoArguments(target, operation);
      const steps = stepsOf(setting, target);
      if (steps.map(({ effect }) => stepDigest(effect)).join() !== approved.join()) {
        refuse('EFFECT_CHANGED', `The steps of the pipeline ${target} are not those that were approved.`);
      }
      for (const [i, step] of steps.entries()) {
        const failure = await step.run(options);
        if (failure !== null) return { ok: false, output: `Step ${i + 1} of ${target} failed: ${failure}` };
      }
      return { ok: true, output: `Pipeline '${target}' completed with ${steps.length} step(s)` };
    },
  };
}

/** What the registry's pipeline of this name would do now. */
export function pipelineSteps(setting: PipelineSetting, name: string): PipelineStep[] {
  return stepsOf(setting, name).map(({ effect }) => effect);
}

function requireNoArguments(name: string, operation: OperationOf<'PIPELINE_RUN'>): void {
  if (Object.keys(operation.arguments).length > 0) {
    refuse(
      'ARGUMENT_UNKNOWN',
      `The pipeline ${name} takes no arguments: its steps are fixed in the registry.`,
    );
  }
}

function stepsOf(setting: PipelineSetting, name: string): Step[] {
  const registry = setting.registry();
  const pipeline =
    registry.pipelines.get(name) ?? refuse('TOOL_UNKNOWN', `The registry has no pipeline "${name}".`);
  return pipeline.steps.map((step) =>
    'tool' in step ? toolStep(setting, registry, step) : sqlStep(setting, step),
  );
}

function toolStep(
  { root, surroundings }: PipelineSetting,
  registry: Registry,
  step: Extract<Pipeline['steps'][number], { tool: string }>,
): Step {
  const tool = toolNamed(registry, step.tool);
  const effect: Effect = deriveEffect({ registry, tool, arguments: step.arguments, root });
  return {
    effect,
    async run({ signal }) {
      const prepared = prepareRun(effect, surroundings);
      try {
        const { started, exit_code, signal: killed } = await prepared.run({ abort: signal });
        if (started && exit_code === 0) return null;
        return `${effect.tool} ended with ${exit_code === null ? (killed ?? 'no exit code') : `exit code ${exit_code}`}`;
      } finally {
        prepared.close();
      }
    },
  };
}

function sqlStep({ root }: PipelineSetting, step: Extract<Pipeline['steps'][number], { sql: string }>): Step {
  const { bytes } = readFileBeneath(root, step.sql, limits.json_bytes);
  const text = Buffer.from(bytes).toString('utf8');
  requireRunnable(statementsOf(text));
  return {
    effect: { kind: 'sql', file: step.sql, sha256: sha256(bytes), database: step.database },
    async run({ signal, timeout_ms }) {
      await runSql({
        root,
        database: step.database,
        text,
        expect_results: false,
        timeout_ms: Math.min(timeout_ms, 300_000),
        abort: signal,
      });
      return null;
    },
  };
}
