import { visible } from '../canonical/visible.ts';
import type { ListedSimulation } from '../keyturn.ts';
import type { Field } from './fold.ts';

/** A definition as fields, for the eyes of whoever decides about it. Nothing that it does is left out. */

type Definition = ListedSimulation['definition'];
type Effect = NonNullable<Definition['effect']>;

export function definitionFields({ id, version, status, definition }: ListedSimulation): Field[] {
  const { summary, risk, phrases, words, fields, rollback_plan_ref, access_action, timeout_ms } = definition;
  return [
    ['Simulation', [['bold', visible(id)], `, version ${version}, ${status} now`]],
    ['Summary', visible(summary.en!)],
    ['Risk', [[risk === 'HIGH' ? 'alarm' : 'bold', risk]]],
    ...(definition.effect ? effectFields(definition.effect) : stepFields(definition.steps ?? [])),
    ['It is', consequences(definition)],
    ['Undone by', rollback_plan_ref ?? 'nothing'],
    ['Access', access_action],
    ['Phrases', counted(phrases)],
    ...(words === undefined ? [] : ([['Words', vocabulary(words)]] as const)),
    ...Object.entries(fields).map(([name, field]): Field => ['Asks for', asked(name, field)]),
    ['Timeout', `${timeout_ms / 1000} s`],
  ];
}

/** What an activation allows, and for how long. */
export function consentFields({ risk, irreversible }: Definition, ttl: string): Field[] {
  const waits = risk === 'HIGH' || irreversible;
  return [
    ['For', ttl],
    [
      'On a yes',
      waits
        ? 'an approver signs each run first'
        : [['alarm', 'IT RUNS: the user says yes, and nobody else looks']],
    ],
  ];
}

function effectFields(effect: Effect): Field[] {
  if ('tool' in effect)
    return [
      ['Does', ['runs the tool ', ['yellow', visible(effect.tool)]]],
      ...Object.entries(effect.arguments).map(([name, value]): Field => ['With', pair(name, value)]),
    ];
  const { action_plan, ...rest } = effect.plan;
  const actions: unknown[] = Array.isArray(action_plan) ? action_plan : [action_plan];
  return [
    ['Does', `a plan of ${actions.length === 1 ? '1 action' : `${actions.length} actions`}`],
    ...actions.map((action): Field => ['Action', actionWords(action)]),
    ...Object.entries(rest).map(([name, value]): Field => ['Plan', pair(name, value)]),
    ...Object.entries(effect.config ?? {}).map(([name, value]): Field => ['Config', pair(name, value)]),
  ];
}

function stepFields(steps: NonNullable<Definition['steps']>): Field[] {
  return [
    ['Does', `${steps.length === 1 ? '1 step' : `${steps.length} steps`}, one in each turn`],
    ...steps.map(
      ({ simulation, fields }): Field => ['Step', joined([visible(simulation), ...pairs(fields)])],
    ),
  ];
}

/** `change FILE_MODIFY shop/closed.json, json_add_property, path: "$"`, and whatever else the action says. */
function actionWords(action: unknown): string {
  if (!isRecord(action)) return shown(action);
  const { action_id, action_type, target, operation, ...rest } = action;
  const head = [action_id, action_type, target]
    .filter((part) => part !== undefined)
    .map(plain)
    .join(' ');
  if (!isRecord(operation))
    return joined([head, ...pairs({ ...(operation !== undefined && { operation }), ...rest })]);
  const { type, ...how } = operation;
  return joined([head, ...(type === undefined ? [] : [plain(type)]), ...pairs(how), ...pairs(rest)]);
}

function consequences(definition: Definition): Field[1] {
  const marks = (['impactful', 'side_effecting', 'irreversible'] as const).filter((mark) => definition[mark]);
  if (marks.length === 0) return 'without consequences';
  return [[definition.irreversible ? 'alarm' : 'bold', marks.join(', ').replace('_', ' ')]];
}

function counted(phrases: Definition['phrases']): string {
  const found = Object.entries(phrases).map(([language, texts]) => `${language} ${texts.length}`);
  return found.length === 0 ? 'none: it is found by its summary' : found.join(', ');
}

function vocabulary(words: NonNullable<Definition['words']>): string {
  return Object.entries(words)
    .map(([language, { acts, things }]) => `${language} ${acts.length} acts and ${things.length} things`)
    .join(', ');
}

function asked(name: string, { type, question, formats }: Definition['fields'][string]): string {
  return visible(`${name} (${type}): ${question.en} Such as ${formats.join(' or ')}`);
}

const joined = (parts: readonly string[]) => parts.join(', ');
const pairs = (given: object) => Object.entries(given).map(([name, value]) => pair(name, value));
const pair = (name: string, value: unknown) => `${visible(name)}: ${shown(value)}`;
const shown = (value: unknown) => visible(JSON.stringify(value));
const plain = (value: unknown) => (typeof value === 'string' ? visible(value) : shown(value));

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
