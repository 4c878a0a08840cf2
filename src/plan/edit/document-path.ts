import { jsonpath } from 'json-p3';
import type { Json } from '../../canonical/json.ts';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';

/** A key of an object or a place in an array. */
export type Step = string | number;

/** A path of RFC 9535. With `steps` it names one location by itself; otherwise the document must be asked. */
export interface DocumentPath {
  readonly steps: readonly Step[] | null;
  /** The one location in this document. More or less than one is refused. */
  resolve(document: Json): readonly Step[];
}

type Query = ReturnType<typeof jsonpath.compile>;
type Expression = InstanceType<typeof jsonpath.expressions.FilterExpression>;

export function compilePath(path: string): DocumentPath {
  const query = compile(path);
  guardCost(query);
  return { steps: stepsOf(query), resolve: (document) => resolve(query, document) };
}

function compile(path: string): Query {
  const environment = new jsonpath.JSONPathEnvironment({ maxRecursionDepth: editLimits.json_depth + 2 });
  // These run a regular expression of the plan in an engine that can be made to hang.
  environment.functionRegister.delete('match');
  environment.functionRegister.delete('search');
  try {
    return environment.compile(path);
  } catch (error) {
    if (!(error instanceof jsonpath.JSONPathError)) throw error;
    return malformed(error.message);
  }
}

/**
 * The attacker writes a short path that takes hours: unions multiply, descents and queries inside a filter nest. What
 * is left is linear in the document. None of it is needed to name one place.
 */
function guardCost(query: Query): void {
  for (const { selectors } of query.segments) {
    const [selector] = selectors;
    if (selectors.length !== 1 || selector === undefined) malformed('each step has exactly one selector');
    if (selector instanceof jsonpath.selectors.FilterSelector) guardFilter(selector.expression);
  }
  const descents = query.segments.filter((segment) => segment.toString().startsWith('..'));
  if (descents.length > 1) malformed('only one step may descend with ".."');
}

function guardFilter(expression: Expression): void {
  const { expressions } = jsonpath;
  if (expression instanceof expressions.RootQuery) malformed('a filter may not start again from "$"');
  if (expression instanceof expressions.RelativeQuery && !expression.path.singularQuery())
    malformed('a filter may follow one plain path only');
  if (expression instanceof expressions.LogicalExpression) guardFilter(expression.expression);
  if (expression instanceof expressions.PrefixExpression) guardFilter(expression.right);
  if (expression instanceof expressions.InfixExpression) {
    guardFilter(expression.left);
    guardFilter(expression.right);
  }
  if (expression instanceof expressions.FunctionExtension) expression.args.forEach(guardFilter);
}

/** Names and places from the start only: these need no look at the document. */
function stepsOf(query: Query): Step[] | null {
  if (!query.singularQuery()) return null;
  const steps = query.segments.map(({ selectors: [selector] }) => {
    if (selector instanceof jsonpath.selectors.NameSelector) return selector.name;
    return selector instanceof jsonpath.selectors.IndexSelector ? selector.index : -1;
  });
  return steps.some((step) => typeof step === 'number' && step < 0) ? null : steps;
}

function resolve(query: Query, document: Json): readonly Step[] {
  const [first, second] = query.lazyQuery(document as Parameters<Query['lazyQuery']>[0]);
  if (first === undefined) refuse('EDIT_TARGET_MISSING');
  if (second !== undefined) refuse('EDIT_TARGET_AMBIGUOUS');
  return first.location;
}

function malformed(what: string): never {
  return refuse('EDIT_PATH_MALFORMED', `The path cannot be used: ${what}.`);
}
