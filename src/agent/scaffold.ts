import { visible } from '../canonical/visible.ts';
import { simulationName } from '../finder/simulation.ts';
import { refuse } from '../refusal.ts';
import type { Registry, Tool } from '../tool/registry.ts';
import { toolNamed } from '../tool/select.ts';

/** A file for simulations/ that calls a tool of the registry. What its author must decide is said in it; what can be known is filled in. */
export interface Scaffold {
  readonly id: string;
  readonly text: string;
}

export function scaffoldOf(registry: Registry, tool_name: string, given?: string): Scaffold {
  const tool = toolNamed(registry, tool_name);
  const id = given ?? tool.name.replace(/[^a-z0-9._-]/g, '-');
  // It becomes the name of a file.
  if (!simulationName.safeParse(id).success)
    refuse('SIMULATION_INVALID', `"${visible(id)}" cannot be an id: a-z, 0-9, dot, dash, underscore.`);
  const fields = neededBy(tool);
  return {
    id,
    text: `${[...head(id, tool), ...fieldLines(fields), ...effectLines(tool, fields)].join('\n')}\n`,
  };
}

/** What the tool cannot do without. Everything else it has a default for. */
function neededBy({ parameters }: Tool): (readonly [parameter: string, type: Field])[] {
  return Object.entries(parameters)
    .filter(([, { required, default: fallback }]) => required && fallback === undefined)
    .map(([name, { type }]) => [name, fieldType(type)] as const);
}

type Field = 'string' | 'integer' | 'number' | 'boolean';

function fieldType(type: string): Field {
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'string';
}

function head(id: string, tool: Tool): string[] {
  const reach = reachOf(tool);
  // A tool that changes nothing leaves nothing to undo.
  const lasting = reach !== null && tool.undo === 'none';
  const words = tool.name.replace(/[-_.]+/g, ' ');
  return [
    '# Made from the tool by `keyturn simulation new`. Try words with `keyturn simulation try "…"`; then register it.',
    `id: ${JSON.stringify(id)}`,
    'version: 1',
    `family: ${JSON.stringify(id.split('.')[0])}`,
    `summary: { en: ${JSON.stringify(words)} }`,
    '# How people ask for it, and what they call the act and the thing that it is done to.',
    `phrases: { en: [${JSON.stringify(words)}] }`,
    '# words: { en: { acts: [refund, give back], things: [order] } }',
    '# What is HIGH or irreversible waits for an approval after the yes.',
    'risk: MEDIUM',
    '# With impactful: true, say what undoes it: rollback_plan_ref: the id of another simulation.',
    'impactful: false',
    reach === null ? 'side_effecting: false' : `side_effecting: true  # ${reach}`,
    lasting ? 'irreversible: true  # undo: none in tools.yaml' : 'irreversible: false',
    `access_action: ${JSON.stringify(id)}`,
  ];
}

/** Why a run may change something; null where its sandbox lets it change nothing. */
function reachOf({ sandbox }: Tool): string | null {
  if (sandbox === 'none') return 'the tool runs without a sandbox';
  const may = [
    ...(sandbox.write.length > 0 ? ['write files'] : []),
    ...(sandbox.network ? ['reach the network'] : []),
  ];
  return may.length === 0 ? null : `the tool may ${may.join(' and ')}`;
}

function fieldLines(fields: readonly (readonly [string, Field])[]): string[] {
  if (fields.length === 0) return [];
  return [
    'fields:',
    ...fields.flatMap(([parameter, type]) => [
      `  ${JSON.stringify(parameter)}:`,
      `    type: ${type}`,
      ...(type === 'integer' || type === 'number' ? ['    extract: number'] : []),
      ...(type === 'string' ? ['    extract: quoted'] : []),
      `    question: { en: ${JSON.stringify(`Which ${parameter.replace(/[-_]+/g, ' ')}?`)} }`,
      `    formats: ${FORMATS[type]}`,
    ]),
  ];
}

const FORMATS: Readonly<Record<Field, string>> = {
  string: '["in quotes", "as the answer to the question"]',
  integer: '["25", "1000"]',
  number: '["25", "89.90"]',
  boolean: '["true", "false"]',
};

function effectLines({ name }: Tool, fields: readonly (readonly [string, Field])[]): string[] {
  const given = fields.map(
    ([parameter]) => `${JSON.stringify(parameter)}: ${JSON.stringify(`{${parameter}}`)}`,
  );
  const all = given.length === 0 ? '{}' : `{ ${given.join(', ')} }`;
  return [`effect: { tool: ${JSON.stringify(name)}, arguments: ${all} }`];
}
