import { type Digest, sha256 } from '../canonical/digest.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import { readFileBeneath } from '../durable/beneath.ts';
import { isRaw, rawActions } from '../plan/input/actions.ts';
import { planLimits } from '../plan/limits.ts';
import { pipelineSteps } from '../plan/pipelines.ts';
import { Refusal } from '../refusal.ts';
import type { PlanBound } from './bound.ts';
import type { Context } from './context.ts';
import { pipelineSetting } from './plan.ts';

/**
 * A plan of a simulation, and what it takes from outside itself: the steps of its pipelines, its files of SQL and its files of content. Whatever is
 * missed here is not found among what was activated when the effect is compared with it, and so is refused.
 */
export function boundPlan(context: Context, plan: JsonObject, config: JsonObject | null): PlanBound {
  const actions = rawActions(plan).filter(isRaw);
  const named = (type: string) =>
    actions.flatMap(({ action_type, target }) =>
      action_type === type && typeof target === 'string' ? [target] : [],
    );
  const setting = pipelineSetting(context);
  return {
    kind: 'plan',
    plan,
    config,
    pipelines: sorted(named('PIPELINE_RUN')).map((name) => ({ name, steps: pipelineSteps(setting, name) })),
    files: sorted(actions.flatMap(({ operation }) => filesIn(operation as Json))).map((path) => ({
      path,
      sha256: digestOf(context.root, path, named('FILE_CREATE').includes(path)),
    })),
  };
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort();

function filesIn(value: Json | undefined): string[] {
  if (!isRaw(value)) return [];
  const { query_file, content_file, details } = value as JsonObject;
  return [...[query_file, content_file].filter((path) => typeof path === 'string'), ...filesIn(details)];
}

function digestOf(root: string, path: string, is_created: boolean): Digest | null {
  try {
    return sha256(readFileBeneath(root, path, planLimits.file_bytes).bytes);
  } catch (error) {
    if (is_created && error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}
