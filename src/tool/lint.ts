import type { z } from 'zod';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { checkValue, wholeMatch } from './arguments.ts';
import type { Parameter, RegistryFile, ToolEntry } from './schema.ts';
import { parseTemplate, type ToolProblem } from './template.ts';
import { undoProblems } from './undo.ts';
import type { LinePlace, YamlDocument } from './yaml.ts';

/** One thing that is wrong with a registry, and where in the file. */
export interface Fault extends LinePlace {
  readonly code: ReasonCode;
  readonly message: string;
}

/** Worth a look, but the registry can be used as it is. The file is writable while it is edited: `tool lock` ends that. */
export function isRemark({ code }: Fault): boolean {
  return code === 'REGISTRY_WRITABLE' || code === 'COVERS_MISSING';
}

type Issue = z.core.$ZodIssue;

/** What the schema says is wrong. */
export function shapeFaults(error: z.ZodError, document: YamlDocument): Fault[] {
  return error.issues.map(mostSpecific).map(({ path, message }) => {
    const where = path.map(String).join('.');
    return {
      code: 'REGISTRY_MALFORMED',
      message: where ? `${where}: ${message}` : message,
      ...document.place(path),
    };
  });
}

/** Of the alternatives that a value failed to be, the one it came closest to. */
function mostSpecific(issue: Issue): { path: readonly PropertyKey[]; message: string } {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors
    .flat()
    .map(mostSpecific)
    .sort((a, b) => b.path.length - a.path.length)[0];
  if (!inner || inner.path.length === 0) return issue;
  return { path: [...issue.path, ...inner.path], message: inner.message };
}

/** What the schema cannot see: names used twice, templates and constraints that make no sense. */
export function meaningFaults(file: RegistryFile, document: YamlDocument): Fault[] {
  return [...toolFaults(file, document), ...pipelineFaults(file, document)];
}

/** A pipeline that is listed twice, or whose step is not registered, would be found only when it runs. */
function pipelineFaults({ pipelines, tools }: RegistryFile, document: YamlDocument): Fault[] {
  return pipelines.flatMap(({ name, steps }, i) => {
    const twice = pipelines.findIndex((other) => other.name === name) !== i;
    const unknown = steps.flatMap((step, at) =>
      'tool' in step && !tools.some((tool) => tool.name === step.tool) ? [{ at, tool: step.tool }] : [],
    );
    return [
      ...(twice
        ? [
            fault(
              'TOOL_DUPLICATE',
              `The pipeline "${name}" is listed twice.`,
              document.place(['pipelines', i]),
            ),
          ]
        : []),
      ...unknown.map(({ at, tool }) =>
        fault(
          'REGISTRY_MALFORMED',
          `The pipeline "${name}" names the tool "${tool}", which is not registered.`,
          document.place(['pipelines', i, 'steps', at]),
        ),
      ),
    ];
  });
}

function fault(code: ReasonCode, message: string, place: { line: number; column: number }): Fault {
  return { code, message, ...place };
}

function toolFaults(file: RegistryFile, document: YamlDocument): Fault[] {
  return file.tools.flatMap((tool, i) => {
    const at = (path: readonly PropertyKey[]) => document.place(['tools', i, ...path]);
    const faults = [...problemsOf(tool), ...undoProblems(tool, file)].map(
      ({ path, message }): Fault => ({
        code: 'REGISTRY_MALFORMED',
        message: `The tool "${tool.name}", ${path.map(String).join('.')}: ${message}.`,
        ...at(path),
      }),
    );
    if (file.tools.findIndex(({ name }) => name === tool.name) === i) return faults;
    return [
      { code: 'TOOL_DUPLICATE', message: `The tool "${tool.name}" is listed twice.`, ...at(['name']) },
      ...faults,
    ];
  });
}

function problemsOf(tool: ToolEntry): ToolProblem[] {
  const parameters = Object.entries(tool.parameters).flatMap(([name, parameter]) =>
    parameterProblems(name, parameter).map((message) => ({ path: ['parameters', name], message })),
  );
  const both = Object.keys(tool.secrets).filter((name) => Object.hasOwn(tool.env, name));
  return [
    ...parseTemplate(tool.args, tool.parameters).problems,
    ...parameters,
    ...both.map((name) => ({ path: ['secrets'], message: `${name} is fixed under env as well` })),
  ];
}

const CONSTRAINTS: Readonly<Record<Parameter['type'], readonly (keyof Parameter)[]>> = {
  string: ['pattern', 'enum', 'min_length', 'max_length', 'multiline', 'allow_leading_dash'],
  path: ['pattern', 'enum', 'min_length', 'max_length', 'allow_leading_dash'],
  list: ['pattern', 'enum', 'min_length', 'max_length', 'max_items', 'multiline', 'allow_leading_dash'],
  integer: ['enum', 'min', 'max', 'allow_leading_dash'],
  number: ['enum', 'min', 'max', 'allow_leading_dash'],
  boolean: [],
};

const EVERY: readonly string[] = ['type', 'required', 'default', 'description'];

function parameterProblems(name: string, parameter: Parameter): string[] {
  const known = [...EVERY, ...CONSTRAINTS[parameter.type]];
  // A constraint that is never checked is worse than none: its author relies on it.
  const idle = Object.entries(parameter).filter(([key, value]) => value !== false && !known.includes(key));
  if (idle.length > 0) return idle.map(([key]) => `${key} means nothing for the type ${parameter.type}`);
  if (parameter.pattern !== undefined && !isPattern(parameter.pattern)) return [NO_PATTERN];
  if (parameter.default === undefined) return [];
  try {
    checkValue(name, parameter, parameter.default);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [`the default is refused: ${error.message}`];
  }
}

const NO_PATTERN =
  'the pattern cannot be read; it must be RE2, which has no look-around and no back-references';

function isPattern(pattern: string): boolean {
  try {
    wholeMatch(pattern);
    return true;
  } catch {
    return false;
  }
}

export function refuseFirst(faults: readonly Fault[]): void {
  const first = faults[0];
  if (!first) return;
  const { code, message, line, column } = first;
  refuse(code, `Line ${line}, column ${column}: ${message}`, { line, column });
}
