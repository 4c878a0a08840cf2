import type { Parameter, ToolEntry } from './schema.ts';

/** One piece of an argv element: text from the registry, or the value of a parameter. */
export type Segment = { readonly text: string } | { readonly parameter: string };

/** How argv is made. Each part gives zero or more whole elements; a value can never become two. */
export type TemplatePart =
  | { readonly kind: 'element'; readonly segments: readonly Segment[] }
  | { readonly kind: 'spread'; readonly parameter: string }
  | { readonly kind: 'when'; readonly parameter: string; readonly parts: readonly TemplatePart[] };

/** Something wrong with a tool, and where in its entry. */
export interface ToolProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly problems: readonly ToolProblem[];
}

type Parameters = ToolEntry['parameters'];

/** Reads the argv template of a tool and checks it against the parameters. */
export function parseTemplate(args: ToolEntry['args'], parameters: Parameters): Template {
  const problems: ToolProblem[] = [];
  const parts = args.flatMap((arg, i): TemplatePart[] => {
    if (typeof arg === 'string') return parseElement(arg, parameters, null, ['args', i], problems);
    if (!Object.hasOwn(parameters, arg.when)) {
      problems.push({ path: ['args', i, 'when'], message: `there is no parameter "${arg.when}"` });
    }
    const inner = arg.args.flatMap((text, j) =>
      parseElement(text, parameters, arg.when, ['args', i, 'args', j], problems),
    );
    return [{ kind: 'when', parameter: arg.when, parts: inner }];
  });
  for (const unused of unusedParameters(parts, parameters)) {
    problems.push({ path: ['parameters', unused], message: `"${unused}" is never used in args` });
  }
  return { parts, problems };
}

const SPREAD = /^\{([a-z][a-z0-9_]*)\.\.\.\}$/;
const TOKEN = /\{\{|\}\}|\{([a-z][a-z0-9_]*)\}|[{}]|[^{}]+/g;

function parseElement(
  text: string,
  parameters: Parameters,
  guard: string | null,
  path: readonly PropertyKey[],
  problems: ToolProblem[],
): TemplatePart[] {
  const spread = SPREAD.exec(text)?.[1];
  const segments: Segment[] = spread ? [] : parseSegments(text, path, problems);
  const named = spread ? [spread] : segments.flatMap((s) => ('parameter' in s ? [s.parameter] : []));
  for (const name of named) {
    const message = whyNotUsable(name, parameters, guard, spread !== undefined);
    if (message) problems.push({ path, message });
  }
  return [spread ? { kind: 'spread', parameter: spread } : { kind: 'element', segments }];
}

function parseSegments(text: string, path: readonly PropertyKey[], problems: ToolProblem[]): Segment[] {
  const segments: Segment[] = [];
  for (const [token, parameter] of text.matchAll(TOKEN)) {
    if (parameter !== undefined) segments.push({ parameter });
    else if (token === '{{' || token === '}}') segments.push({ text: token[0]! });
    else if (token === '{' || token === '}') {
      problems.push({ path, message: `a lone "${token}"; write it twice to mean the character` });
    } else segments.push({ text: token });
  }
  return segments;
}

function whyNotUsable(
  name: string,
  parameters: Parameters,
  guard: string | null,
  spread: boolean,
): string | null {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name]! : null;
  if (!parameter) return `there is no parameter "${name}"`;
  if (parameter.type === 'list' && !spread) return `"${name}" is a list; write it alone, as {${name}...}`;
  if (parameter.type !== 'list' && spread) return `"${name}" is not a list`;
  if (!spread && name !== guard && !isAlwaysThere(parameter)) {
    return `"${name}" may be missing; use it under "when: ${name}", or give it a default`;
  }
  return null;
}

/** An optional list that is missing is an empty one. */
function isAlwaysThere(parameter: Parameter): boolean {
  return parameter.required || parameter.default !== undefined;
}

/** A parameter that reaches nothing would be shown to the approver and mean nothing. */
function unusedParameters(parts: readonly TemplatePart[], parameters: Parameters): string[] {
  const used = new Set(parts.flatMap(parametersOf));
  return Object.keys(parameters).filter((name) => !used.has(name));
}

function parametersOf(part: TemplatePart): string[] {
  if (part.kind === 'spread') return [part.parameter];
  if (part.kind === 'when') return [part.parameter, ...part.parts.flatMap(parametersOf)];
  return part.segments.flatMap((segment) => ('parameter' in segment ? [segment.parameter] : []));
}
