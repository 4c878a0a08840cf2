import type { RegistryFile, ToolEntry } from './schema.ts';
import type { ToolProblem } from './template.ts';

/** The call of a tool that undoes another one. */
export interface UndoCall {
  readonly tool: string;
  readonly arguments: Record<string, string | number | boolean | string[]>;
}

type Value = UndoCall['arguments'][string] | readonly string[];

/** What an effect says about its undo. */
interface Undoable {
  readonly undone_by: UndoCall | null;
  readonly arguments: Readonly<Record<string, Value>>;
}

const PARAMETER = /^\{([a-z][a-z0-9_]*)\}$/;

/** The call that makes up for this one, as the registry declared it when this one was approved; null where it declared none. */
export function undoCall({ undone_by, arguments: values }: Undoable): UndoCall | null {
  if (undone_by === null) return null;
  const given = Object.entries(undone_by.arguments).flatMap(([name, value]) => {
    const parameter = typeof value === 'string' ? PARAMETER.exec(value)?.[1] : undefined;
    const found = parameter === undefined ? value : values[parameter];
    // One that was not given is not passed on.
    return found === undefined ? [] : [[name, Array.isArray(found) ? [...found] : found] as const];
  });
  return { tool: undone_by.tool, arguments: Object.fromEntries(given) as UndoCall['arguments'] };
}

/** A declared undo that cannot be called would be found only when it is needed. */
export function undoProblems(
  { undo, undone_by, parameters }: ToolEntry,
  { tools }: RegistryFile,
): ToolProblem[] {
  if (undone_by === undefined) return [];
  const found = (message: string): ToolProblem => ({ path: ['undone_by'], message });
  const by = tools.find(({ name }) => name === undone_by.tool);
  if (!by) return [found(`names the tool "${undone_by.tool}", which is not registered`)];
  const given = Object.entries(undone_by.arguments);
  const used = given.flatMap(([, value]) =>
    typeof value === 'string' ? (PARAMETER.exec(value)?.[1] ?? []) : [],
  );
  const lacking = Object.entries(by.parameters).filter(
    ([name, one]) => one.required && one.default === undefined && !Object.hasOwn(undone_by.arguments, name),
  );
  return [
    ...(undo === 'none' ? [found('goes with undo: exact or compensating')] : []),
    ...used
      .filter((name) => !Object.hasOwn(parameters, name))
      .map((name) => found(`{${name}} is no parameter of this tool`)),
    ...given
      .filter(([name]) => !Object.hasOwn(by.parameters, name))
      .map(([name]) => found(`${by.name} has no parameter ${name}`)),
    ...lacking.map(([name]) => found(`${by.name} needs ${name}`)),
  ];
}
