import { planLimits } from '../limits.ts';
import type {
  ActionEffect,
  ExecutionInstructions,
  PathChange,
  PlanEffect,
  ValidationRule,
} from '../plan/model.ts';
import { isPin } from '../plan/state/pin.ts';
import { type SeenFiles, showAction } from './action.ts';
import {
  type Alarm,
  agent,
  derived,
  type Line,
  lifted,
  line,
  ordered,
  type Shown,
  spaced,
  valued,
  worded,
  words,
} from './shown.ts';
import { alarm } from './tool.ts';

/** A plan with all its actions. Without `seen` the contents are those that the plan itself gives. */
export function showPlan(effect: PlanEffect, seen: SeenFiles | null = null): Shown {
  const actions = effect.actions.map((action) => showAction(action, seen));
  const parts = effect.actions.flatMap(({ action_id }, i) => [
    { at: [agent(action_id)], shown: actions[i]! },
    ...actions[i]!.parts.map((shown, j) => ({ at: [agent(action_id), derived(`: step ${j + 1}`)], shown })),
  ]);
  return {
    kind: 'plan',
    headline: line('Plan', [agent(effect.plan_id), derived(`: ${summary(effect)}`)]),
    alarms: ordered([...planAlarms(effect), ...lifted(parts), ...findingAlarms(seen)]),
    fields: Object.values(FIELDS).flatMap((fieldsOf) => fieldsOf(effect)),
    blocks: [],
    parts: actions,
  };
}

/** `3 actions: 2 FILE_MODIFY, 1 PIPELINE_RUN`. */
function summary({ actions }: PlanEffect): string {
  const kinds = new Map<string, number>();
  for (const { action_type } of actions) kinds.set(action_type, (kinds.get(action_type) ?? 0) + 1);
  const counted = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return `${actions.length === 1 ? '1 action' : `${actions.length} actions`}, ${counted}`;
}

/** Of a plan as a whole, also of one whose placeholders are not filled in yet. */
export function planAlarms({ instructions, elevated }: Alarming): Alarm[] {
  const found: Alarm[] = [];
  if (!instructions.rollback_on_failure)
    found.push(alarm('no-rollback', 'NO ROLLBACK: after a failure, what was done stays done'));
  // Where everything is rolled back, the run ends at the first failure.
  if (!instructions.stop_on_error && !instructions.rollback_on_failure)
    found.push({
      ...alarm('goes-on', 'GOES ON: after a failure, the other actions are done all the same'),
      weight: 'warn',
    });
  if (elevated.length > 0)
    found.push(alarm('protected', 'PROTECTED FILES: a second approver is needed', words(elevated, 'agent')));
  return found;
}

interface Alarming {
  readonly instructions: Pick<ExecutionInstructions, 'rollback_on_failure' | 'stop_on_error'>;
  readonly elevated: readonly string[];
}

function findingAlarms(seen: SeenFiles | null): Alarm[] {
  return (seen?.findings ?? []).map(({ severity, path, line: at, message, code }) => ({
    alarm: 'content' as const,
    weight: severity === 'refuse' ? ('alarm' as const) : ('warn' as const),
    words: severity === 'refuse' ? `REFUSED (${code})` : 'CONTENT',
    about: [worded(path, 'agent'), derived(`, line ${at}: ${message}`)],
  }));
}

/** Every field of a plan has its lines here: a new field does not compile without one. */
const FIELDS: { readonly [K in keyof PlanEffect]: (effect: PlanEffect) => Line[] } = {
  kind: () => [],
  plan_id: () => [],
  task_id: ({ plan_id, task_id }) => (task_id === plan_id ? [] : [line('Task', [agent(task_id)])]),
  instructions: ({ instructions }) =>
    Object.values(INSTRUCTIONS).flatMap((fieldsOf) => fieldsOf(instructions)),
  actions: ({ actions }) => [...undoLines(actions), limitLine(actions)],
  folders: ({ folders }) => (folders.length === 0 ? [] : [line('New folders', words(folders, 'agent'))]),
  elevated: ({ elevated }) =>
    elevated.length === 0 ? [] : [line('Protected', words(elevated, 'agent'), 'alarm')],
  validation: ({ validation }) => validation.map((rule) => line('Must hold', rulePieces(rule))),
  plan_digest: ({ plan_digest }) => [line('Plan digest', [derived(plan_digest)], 'dim')],
  config_digest: ({ config_digest }) =>
    config_digest === null ? [] : [line('Config digest', [derived(config_digest)], 'dim')],
};

function goesOn(rolls_back: boolean): string {
  return rolls_back ? ' at once; stop_on_error: false changes nothing' : ', the other actions go on';
}

const INSTRUCTIONS: {
  readonly [K in keyof ExecutionInstructions]: (given: ExecutionInstructions) => Line[];
} = {
  execution_order: ({ execution_order }) => [line('Order', [agent(execution_order)])],
  rollback_on_failure: ({ rollback_on_failure, stop_on_error }) => [
    line(
      'On a failure',
      [
        agent(rollback_on_failure ? 'everything is rolled back' : 'NOTHING IS ROLLED BACK'),
        agent(stop_on_error ? '' : goesOn(rollback_on_failure)),
      ],
      rollback_on_failure ? 'plain' : 'alarm',
    ),
  ],
  stop_on_error: () => [],
  preserve_permissions: ({ preserve_permissions }) =>
    preserve_permissions ? [] : [line('Permissions', [agent('are not kept')], 'warn')],
  verify_hashes: ({ verify_hashes }) =>
    verify_hashes ? [] : [line('Hashes', [agent('are not verified afterwards')], 'warn')],
  timeout_ms: ({ timeout_ms }) => [line('Time', [agent(`at most ${timeout_ms / 1000} s`)])],
};

function undoLines(actions: readonly ActionEffect[]): Line[] {
  const named = (undo: ActionEffect['undo']) =>
    actions.filter((action) => action.undo === undo).map(({ action_id }) => [agent(action_id)]);
  const [lasting, partly] = [named('none'), named('compensating')];
  const exact = actions.length - lasting.length - partly.length;
  return [
    line('Undo', [derived(`${exact} of ${actions.length} exact`)]),
    ...(partly.length > 0
      ? [line('Undo', [derived('by a counter-action: '), ...spaced(partly, ', ')], 'warn')]
      : []),
    ...(lasting.length > 0 ? [line('Undo', [derived('NOT FOR '), ...spaced(lasting, ', ')], 'alarm')] : []),
  ];
}

/** How much of what a plan may take this one takes. */
function limitLine(actions: readonly ActionEffect[]): Line {
  const changes = actions.flatMap((action) => action.changes.filter((change) => !isPin(change)));
  const first = new Map(changes.toReversed().map(({ path, before }) => [path, sizeOf(before)]));
  const largest = Math.max(0, ...changes.flatMap(({ before, after }) => [sizeOf(before), sizeOf(after)]));
  const backup = [...first.values()].reduce((sum, size) => sum + size, 0);
  return line('Limits', [
    derived(
      `${first.size} of ${planLimits.files} files, the largest ${bytes(largest)} of ${bytes(planLimits.file_bytes)}, ` +
        `backups ${bytes(backup)} of ${bytes(planLimits.backup_bytes)}`,
    ),
  ]);
}

function sizeOf(state: PathChange['before']): number {
  return state === null || state === 'unknown' ? 0 : state.size;
}

function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 ** 2).toFixed(1)} MB`;
}

function rulePieces({ type, path, ...rest }: ValidationRule) {
  const more = Object.values(rest).flatMap((value) => [derived(' '), valued(value, 'agent')]);
  return [agent(type), derived(' '), worded(path, 'agent'), ...more];
}
