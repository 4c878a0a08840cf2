import type { PolicyRequest } from './request.ts';
import { CEDAR_SCHEMA, NO_ARGUMENTS } from './schema.ts';

/**
 * Policies declare which arguments of which tools they read, and of which type: `@arguments("pay.amount: integer")`. So a stored set
 * says by itself what it reads, and decides the same whatever tools.yaml becomes. A call without such an argument, or with a value that
 * is not of its type, is denied: nothing passes a rule because it is absent.
 */

/** The types of tools.yaml. */
const CEDAR_TYPES = {
  string: 'String',
  path: 'String',
  integer: 'Long',
  number: 'decimal',
  boolean: 'Bool',
  list: 'Set<String>',
} as const;

export type ArgumentType = keyof typeof CEDAR_TYPES;

export interface DeclaredArgument {
  readonly tool: string;
  readonly parameter: string;
  readonly type: ArgumentType;
}

/** By tool, then by parameter. */
export type ArgumentTypes = ReadonlyMap<string, ReadonlyMap<string, ArgumentType>>;

/** The name of a parameter has no dot. */
const DECLARED = /^([a-z0-9][a-z0-9._-]{0,63})\.([a-z][a-z0-9_]{0,63}): ([a-z]+)$/;

/** What an annotation declares; null when it is not of that form. */
export function declaredIn(annotation: string): DeclaredArgument[] | null {
  const found = annotation.split(', ').map((part) => {
    const [, tool, parameter, type] = DECLARED.exec(part) ?? [];
    const is_type = type !== undefined && Object.hasOwn(CEDAR_TYPES, type);
    return is_type ? { tool: tool!, parameter: parameter!, type: type as ArgumentType } : null;
  });
  return found.every((one) => one !== null) ? found : null;
}

/** The first declaration of an argument counts; another type is a fault of the set, see `examine.ts`. */
export function argumentTypes(declared: readonly DeclaredArgument[]): ArgumentTypes {
  const types = new Map<string, Map<string, ArgumentType>>();
  for (const { tool, parameter, type } of declared) {
    const known = types.get(tool) ?? new Map<string, ArgumentType>();
    if (!known.has(parameter)) known.set(parameter, type);
    types.set(tool, known);
  }
  return types;
}

/** The schema with these arguments: each tool may be absent, and a tool that is there has all of them. */
export function schemaWith(types: ArgumentTypes): string {
  const tools = [...types].map(([tool, parameters]) => {
    const fields = [...parameters].map(([name, type]) => `"${name}": ${CEDAR_TYPES[type]}`);
    return `"${tool}"?: { ${fields.join(', ')} }`;
  });
  return CEDAR_SCHEMA.replace(NO_ARGUMENTS, `type Arguments = { ${tools.join(', ')} };`);
}

/** `context.arguments` of one question, as Cedar takes it. */
export type CedarArguments = { readonly [tool: string]: { readonly [parameter: string]: unknown } };

/**
 * The questions that one request is, as each call is judged by itself: Cedar cannot look at every member of a set. A plan is also asked
 * about without any call, for what it does besides. Calls that policies read the same of are one question. Returns what is wrong
 * where a call cannot be judged.
 */
export function argumentsAsked(
  { resource, context: { calls } }: PolicyRequest,
  types: ArgumentTypes,
): readonly CedarArguments[] | string {
  if (types.size === 0) return [{}];
  const untold = toolsOf(resource).find(
    (name) => types.has(name) && !calls.some(({ tool }) => tool === name),
  );
  if (untold !== undefined) return `the arguments of the tool "${untold}" are not told`;
  const asked = new Map<string, CedarArguments>();
  const is_call = resource.kind !== 'plan' && resource.kind !== 'simulation';
  if (!is_call || calls.length === 0) asked.set('{}', {});
  for (const call of calls) {
    const found = readOf(call, types.get(call.tool));
    if (typeof found === 'string') return found;
    asked.set(JSON.stringify(found), found);
  }
  return [...asked.values()];
}

/** The tools whose calls a question must tell. Of a simulation no values are known. */
function toolsOf({ kind, name, tools }: PolicyRequest['resource']): readonly string[] {
  if (kind === 'simulation') return [];
  return kind === 'plan' ? tools : [name, ...tools];
}

function readOf(
  { tool, arguments: given }: PolicyRequest['context']['calls'][number],
  parameters: ReadonlyMap<string, ArgumentType> | undefined,
): CedarArguments | string {
  if (parameters === undefined) return {};
  const values: Record<string, unknown> = {};
  for (const [name, type] of parameters) {
    if (!Object.hasOwn(given, name)) return `"${tool}" is called without "${name}", which policies read`;
    const value = cedarValue(type, given[name]);
    if (value === undefined) return `"${name}" of "${tool}" is not what policies read as ${type}`;
    values[name] = value;
  }
  return { [tool]: values };
}

function cedarValue(type: ArgumentType, value: unknown): unknown {
  switch (type) {
    case 'string':
    case 'path':
      return typeof value === 'string' ? value : undefined;
    case 'integer':
      return Number.isSafeInteger(value) ? value : undefined;
    case 'number':
      return typeof value === 'number' ? decimalOf(value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'list':
      return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
  }
}

/** As the tool gets it in its argv. Nothing is rounded: a decimal of Cedar has four digits after the point and a bound of its own. */
function decimalOf(value: number): object | undefined {
  const text = Number.isInteger(value) ? `${value}.0` : String(value);
  return /^-?\d{1,15}\.\d{1,4}$/.test(text) ? { __extn: { fn: 'decimal', arg: text } } : undefined;
}
