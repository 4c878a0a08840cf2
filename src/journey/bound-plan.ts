import { sha256 } from '../canonical/digest.ts';
import { decodeUtf8, type Json, type JsonObject } from '../canonical/json.ts';
import { readFileBeneath } from '../durable/beneath.ts';
import { limits, planLimits } from '../limits.ts';
import { isRaw, rawActions } from '../plan/input/actions.ts';
import type { FileBound, PlanBound } from '../plan/model.ts';
import { pipelineSteps } from '../plan/pipelines.ts';
import { Refusal } from '../refusal.ts';
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
  const queries = actions.flatMap(({ operation }) => filesIn(operation as Json, 'query_file'));
  const contents = actions.flatMap(({ operation }) => filesIn(operation as Json, 'content_file'));
  const setting = pipelineSetting(context);
  return {
    kind: 'plan',
    plan,
    config,
    pipelines: sorted(named('PIPELINE_RUN')).map((name) => ({ name, steps: pipelineSteps(setting, name) })),
    files: sorted([...queries, ...contents]).map((path) =>
      fileOf(context.root, path, queries.includes(path), named('FILE_CREATE').includes(path)),
    ),
  };
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort();

function filesIn(value: Json | undefined, key: 'query_file' | 'content_file'): string[] {
  if (!isRaw(value)) return [];
  const { [key]: path, details } = value as JsonObject;
  return [...(typeof path === 'string' ? [path] : []), ...filesIn(details, key)];
}

/** The text of SQL is bound, so that the human who activates reads it. A content may be large, and its digest binds it. */
function fileOf(root: string, path: string, is_sql: boolean, is_created: boolean): FileBound {
  const most = is_sql ? limits.json_string_chars : planLimits.file_bytes;
  try {
    const { bytes } = readFileBeneath(root, path, most);
    return { path, sha256: sha256(bytes), sql: is_sql ? decodeUtf8(bytes, most) : null };
  } catch (error) {
    if (is_created && error instanceof Refusal && error.code === 'FILE_NOT_FOUND')
      return { path, sha256: null, sql: null };
    throw error;
  }
}
