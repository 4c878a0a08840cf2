import { derived, type Line, line, registry, spaced, valued, words } from '../display/shown.ts';
import { showTemplate } from '../display/template.ts';
import type { Field, Simulation } from '../finder/simulation.ts';
import type { Bound } from '../journey/bound.ts';
import { type BoundSection, RUNS } from '../journey/bound-shown.ts';
import { AGENT_CORE } from './context.ts';
import { simulationAction } from './intent.ts';

/** A definition for the human who decides about it. Its digest is signed, so every field of it is in a line. */
export function definitionLines(simulation: Simulation, status: string): Line[] {
  return [
    line(
      'Simulation',
      [registry(simulation.id), derived(`, version ${simulation.version}, ${status} now`)],
      'warn',
    ),
    ...Object.values(FIELDS).flatMap((linesOf) => linesOf(simulation)),
  ];
}

/** What the definition itself says that it runs. An activation shows what is bound instead (`showBound`). */
export function effectSections({ effect }: Simulation): BoundSection[] {
  return effect === undefined ? [] : [{ title: RUNS, shown: showTemplate(effect as Template) }];
}

type Template = Parameters<typeof showTemplate>[0];

/** What the signature of an activation allows. */
export function consentLines(simulation: Simulation, bound: Bound): Line[] {
  const waits = !approvesByDelegation(simulation);
  const actions = delegatedActions(bound);
  return [
    waits
      ? line('On a yes', [derived('an approver signs each run first')])
      : line('On a yes', [derived('IT RUNS: the user says yes, and no other human looks')], 'alarm'),
    ...(actions.length === 0
      ? []
      : [line('Delegates', [derived(`to ${AGENT_CORE}: `), ...words(actions, 'registry')])]),
  ];
}

/** Whether it runs on the yes of a user. Everything else waits for an approver. */
export function approvesByDelegation({ risk, irreversible }: Simulation): boolean {
  return risk !== 'HIGH' && !irreversible;
}

/** What an activation delegates to the agent core. A template delegates nothing: its steps have their own delegations. */
export function delegatedActions({ simulation: id, version, effect }: Bound): string[] {
  if (effect === null) return [];
  return [effect.kind === 'plan' ? 'plan' : effect.action, simulationAction({ id, version })];
}

/** In the order of the screen: a new field of a simulation does not compile without its lines. */
const FIELDS: { readonly [K in keyof Required<Simulation>]: (simulation: Simulation) => Line[] } = {
  id: () => [],
  version: () => [],
  summary: ({ summary }) =>
    byLanguage(summary).map(([language, text]) =>
      line('Summary', [derived(`${language}: `), registry(text)]),
    ),
  risk: ({ risk }) => [line('Risk', [registry(risk)], risk === 'HIGH' ? 'alarm' : 'warn')],
  // What it runs stands below, as a section of its own.
  effect: () => [],
  steps: ({ steps }) =>
    steps === undefined
      ? []
      : [
          line('Does', [
            derived(`${steps.length === 1 ? '1 step' : `${steps.length} steps`}, one in each turn`),
          ]),
          ...steps.map(({ simulation, fields }) =>
            line('Step', spaced([[registry(simulation)], ...Object.entries(fields).map(pair)], ', ')),
          ),
        ],
  impactful: (simulation) => [consequences(simulation)],
  side_effecting: () => [],
  irreversible: () => [],
  rollback_plan_ref: undoneBy,
  access_action: ({ access_action }) => [line('Access', [registry(access_action)])],
  family: ({ family, priority }) => [line('Family', [registry(family), derived(`, priority ${priority}`)])],
  priority: () => [],
  phrases: ({ phrases }) => {
    const found = Object.entries(phrases);
    if (found.length === 0) return [line('Phrases', [derived('none: it is found by its summary')])];
    return found.map(([language, texts]) =>
      line('Phrases', [derived(`${language}: `), ...words(texts, 'registry')]),
    );
  },
  words: ({ words: heard = {} }) =>
    Object.entries(heard).map(([language, { acts, things }]) =>
      line('Words', [
        derived(`${language}: acts `),
        ...words(acts, 'registry'),
        derived('; things '),
        ...words(things, 'registry'),
      ]),
    ),
  fields: ({ fields }) => Object.entries(fields).flatMap(([name, field]) => fieldLines(name, field)),
  timeout_ms: ({ timeout_ms }) => [line('Timeout', [registry(`${timeout_ms / 1000} s`)])],
};

/** English first: it is always there. */
function byLanguage(texts: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(texts).sort(([a], [b]) => Number(b === 'en') - Number(a === 'en'));
}

function consequences(simulation: Simulation): Line {
  const marks = (['impactful', 'side_effecting', 'irreversible'] as const).filter((mark) => simulation[mark]);
  if (marks.length === 0) return line('It is', [derived('without consequences')]);
  return line(
    'It is',
    [registry(marks.join(', ').replace('_', ' '))],
    simulation.irreversible ? 'alarm' : 'warn',
  );
}

function undoneBy({ rollback_plan_ref }: Simulation): Line[] {
  return [line('Undone by', [registry(rollback_plan_ref ?? 'nothing')])];
}

/** What it asks a user for, then how an answer is read. */
function fieldLines(name: string, { type, question, formats, ...rest }: Field): Line[] {
  const { en = '', ...others } = question;
  const rules = Object.entries(rest).filter(([, value]) => value !== undefined);
  return [
    line('Asks for', [registry(`${name} (${type}): ${en} Such as ${formats.join(' or ')}`)]),
    ...Object.entries(others).map(([language, text]) =>
      line('Asks for', [registry(name), derived(` in ${language}: `), registry(text)]),
    ),
    ...(rules.length === 0
      ? []
      : [line('Accepts', [registry(name), derived(' by '), ...spaced(rules.map(pair), ', ')])]),
  ];
}

function pair([name, value]: [string, unknown]) {
  return [registry(name), derived(' = '), valued(value, 'registry')];
}
