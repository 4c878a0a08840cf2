import type { Json, JsonObject } from '../canonical/json.ts';
import type { PlanBound } from '../plan/model.ts';
import { planAlarms } from './plan.ts';
import {
  type Alarm,
  type Block,
  block,
  derived,
  type Line,
  lifted,
  line,
  ordered,
  type Piece,
  registry,
  type Shown,
  valued,
  worded,
} from './shown.ts';
import { showSqlStep, sqlAlarms } from './sql.ts';
import { alarm, givenLines, markedPieces, showTool } from './tool.ts';

/** The effect of a simulation as its definition writes it. */
export type EffectTemplate =
  | { readonly tool: string; readonly arguments: JsonObject }
  | { readonly plan: JsonObject; readonly config?: JsonObject | undefined };

/** What a definition says that it runs, without the registry and the files: those are looked up when it is activated. */
export function showTemplate(effect: EffectTemplate): Shown {
  if ('plan' in effect) {
    const { plan, config = null } = effect;
    return showPlanBound({ kind: 'plan', plan, config, pipelines: [], files: [] });
  }
  return {
    kind: 'tool',
    headline: line('Runs', [derived('the tool '), registry(effect.tool)]),
    alarms: [],
    fields: givenLines(effect.arguments),
    blocks: [],
    parts: [],
  };
}

/** A plan before its placeholders are filled in: what users choose stands in braces. */
export function showPlanBound({ plan, config, pipelines, files }: PlanBound): Shown {
  const { plan_id, action_plan, ...rest } = plan;
  const actions = Array.isArray(action_plan) ? action_plan : [action_plan ?? null];
  const acts = actions.map((action, i) => {
    const shown = showRawAction(action);
    return { at: [derived(`action ${i + 1}`)], shown };
  });
  const steps = pipelines.flatMap(({ name, steps: found }) =>
    found.map((step, i) => ({
      at: [derived('pipeline '), worded(name, 'registry'), derived(`, step ${i + 1}`)],
      shown: step.kind === 'tool' ? showTool(step) : showSqlStep(step),
    })),
  );
  const taken = files.flatMap(({ path, sql }) => (sql === null ? [] : [{ path, sql }]));
  const count = actions.length === 1 ? '1 action' : `${actions.length} actions`;
  return {
    kind: 'plan',
    headline: line('Plan', [...templated(plan_id ?? null), derived(`: ${count}`)]),
    alarms: ordered([
      ...planAlarms({ instructions: instructionsOf(plan), elevated: [] }),
      ...lifted([...acts, ...steps, ...taken.map(sqlPart)]),
    ]),
    fields: [
      ...pairLines('Plan', rest),
      ...configLines(config),
      ...files.flatMap(({ path, sha256 }) => [
        line('File', [worded(path, 'registry')]),
        line('SHA-256', [derived(sha256 ?? 'none yet: the plan creates it')], 'dim'),
      ]),
    ],
    blocks: taken.map(({ path, sql }) => block('sql', [registry(path)], sql, 'registry')),
    parts: [
      ...acts.map(({ shown }) => shown),
      ...steps.map(({ at, shown }) => ({ ...shown, fields: [line('Step', at), ...shown.fields] })),
    ],
  };
}

function sqlPart({ path, sql }: { readonly path: string; readonly sql: string }) {
  return { at: [worded(path, 'registry')], shown: { ...NOTHING, alarms: sqlAlarms(sql) } };
}

const NOTHING: Shown = {
  kind: 'sql',
  headline: line('SQL', []),
  alarms: [],
  fields: [],
  blocks: [],
  parts: [],
};

/** What is neither left out nor true may become false by the value of a user. */
function instructionsOf({ execution_instructions: given }: JsonObject) {
  const { rollback_on_failure = true, stop_on_error = true } = isObject(given) ? given : {};
  return { rollback_on_failure: rollback_on_failure === true, stop_on_error: stop_on_error === true };
}

/** The definition was not parsed as a plan: whatever stands in it is shown. */
function showRawAction(action: Json): Shown {
  if (!isObject(action)) return { ...NOTHING, kind: 'action', headline: line('Action', templated(action)) };
  const { action_id, action_type, target, operation, ...rest } = action;
  const { details, ...inline } = isObject(operation) ? operation : {};
  const nested = isObject(details) ? details : {};
  const sql = [inline.query, nested.query].filter((query) => typeof query === 'string');
  return {
    kind: 'action',
    headline: line('Action', [
      ...templated(action_type ?? null),
      derived(' '),
      ...templated(target ?? null),
      derived(' ('),
      ...templated(action_id ?? null),
      derived(')'),
    ]),
    alarms: ordered([...deleteAlarms(action), ...sql.flatMap(sqlAlarms)]),
    fields: [
      ...(isObject(operation) ? pairLines('With', withoutSql(inline)) : pairLines('With', { operation })),
      ...(isObject(details) ? pairLines('With', withoutSql(nested)) : pairLines('With', { details })),
      ...pairLines('And', rest),
    ],
    blocks: sql.map((text): Block => block('sql', [derived('SQL')], text, 'registry')),
    parts: [],
  };
}

function deleteAlarms({ action_type, target }: JsonObject): Alarm[] {
  return action_type === 'FILE_DELETE' ? [alarm('delete', 'DELETES', templated(target ?? null))] : [];
}

/** SQL that is text is a block of its own. */
function withoutSql({ query, ...rest }: JsonObject): { readonly [name: string]: Json | undefined } {
  return typeof query === 'string' ? rest : { query, ...rest };
}

function pairLines(label: string, given: { readonly [name: string]: Json | undefined }): Line[] {
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [line(label, [worded(name, 'registry'), derived(' = '), ...templated(value)])],
  );
}

/** An empty one is not the same as none: the plan carries its digest. */
function configLines(config: JsonObject | null): Line[] {
  if (config === null) return [];
  return Object.keys(config).length === 0
    ? [line('Config', [derived('empty')])]
    : pairLines('Config', config);
}

function templated(value: Json): Piece[] {
  return markedPieces(valued(value, 'registry').text);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
