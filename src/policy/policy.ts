import { NAME_FORM } from '../canonical/form.ts';
import { visible } from '../canonical/visible.ts';
import { limits } from '../limits.ts';
import { type DeclaredArgument, declaredIn } from './arguments.ts';
import type { CedarPolicy } from './cedar.ts';
import { about, type PolicyProblem } from './problem.ts';
import type { ApprovalFacts } from './quorum.ts';
import { type PolicyAction, type PolicyContext, SCOPE_OF, SCOPES, type Scope } from './request.ts';

/** One rule, as its author wrote it. */
export interface Policy {
  readonly id: string;
  readonly version: string;
  readonly scope: Scope;
  readonly rationale: string;
  readonly effect: 'permit' | 'forbid';
  /** The actions that its head names; null when it names none and so speaks of all that its scope judges. */
  readonly actions: readonly string[] | null;
  /** Names that it looks for among the quorums that are met. */
  readonly quorums: readonly string[];
  /** Attributes of the context that it reads; null when it may read any, because it uses the context as a whole. */
  readonly reads: readonly string[] | null;
  /** Whether its answer can be another one for another human. */
  readonly asks_who: boolean;
  /** Arguments of tools that it declares, and tools whose arguments it looks at. */
  readonly arguments: readonly DeclaredArgument[];
  readonly calls: readonly string[];
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** Believes nothing about the annotations yet: annotationProblems does. */
export function policyOf(file: string, line: number, text: string, json: CedarPolicy): Policy {
  const annotations: Record<string, string | null> = { ...json.annotations };
  return {
    id: annotations.id ?? '',
    version: annotations.version ?? '',
    scope: annotations.scope as Scope,
    rationale: annotations.rationale ?? '',
    effect: json.effect,
    actions: actionsOf(json.action),
    quorums: quorumsNamed(json.conditions),
    reads: contextRead(json.conditions),
    asks_who: asksWho(json),
    arguments: declaredIn(annotations.arguments ?? '') ?? [],
    calls: callsRead(json.conditions),
    file,
    line,
    text,
    annotations,
  };
}

function actionsOf(constraint: CedarPolicy['action']): string[] | null {
  if (constraint.op === 'All') return null;
  if ('slot' in constraint) return [];
  const entities = 'entities' in constraint ? constraint.entities : [constraint.entity];
  return entities.map((entity) => ('__entity' in entity ? entity.__entity.id : entity.id));
}

/** Finds `context.quorums.contains("…")` and its two sisters, at any depth. The depth is bounded by nesting.ts. */
function quorumsNamed(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = Object.entries(value).flatMap(([key, inner]) =>
    ASKS.has(key) && isContextQuorums(inner?.left) ? literalsOf(inner.right) : quorumsNamed(inner),
  );
  return [...new Set(named)];
}

const ASKS: ReadonlySet<string> = new Set(['contains', 'containsAll', 'containsAny']);

function isContextQuorums(value: unknown): boolean {
  return JSON.stringify(value) === '{".":{"left":{"Var":"context"},"attr":"quorums"}}';
}

function literalsOf(value: { Value?: unknown; Set?: { Value?: unknown }[] }): string[] {
  const values = value.Set?.map((one) => one.Value) ?? [value.Value];
  return values.filter((one) => typeof one === 'string');
}

/** Finds `context.NAME` and `context has NAME`, at any depth. The depth is bounded by nesting.ts. */
function contextRead(value: unknown): string[] | null {
  if (typeof value !== 'object' || value === null) return [];
  const names = new Set<string>();
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'Var' && inner === 'context') return null;
    const is_one = (key === '.' || key === 'has') && isContext(inner?.left) && typeof inner.attr === 'string';
    const found = is_one ? [inner.attr] : contextRead(inner);
    if (found === null) return null;
    for (const name of found) names.add(name);
  }
  return [...names];
}

function asksWho({ principal, conditions }: CedarPolicy): boolean {
  const is_kind = principal.op === 'All' || (principal.op === 'is' && !principal.in);
  return !is_kind || JSON.stringify(conditions).includes('{"Var":"principal"}');
}

function isContext(value: unknown): boolean {
  return JSON.stringify(value) === '{"Var":"context"}';
}

/** Finds `context.arguments.TOOL`, `context.arguments has TOOL` and `context has arguments.TOOL`, at any depth. */
function callsRead(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = Object.entries(value).flatMap(([key, inner]) => {
    const path = key === '.' || key === 'has' ? [inner?.attr].flat() : [];
    const at =
      isContext(inner?.left) && path[0] === 'arguments' ? 1 : isContextArguments(inner?.left) ? 0 : null;
    const found = at === null ? undefined : path[at];
    return [...(typeof found === 'string' ? [found] : []), ...callsRead(inner)];
  });
  return [...new Set(named)];
}

function isContextArguments(value: unknown): boolean {
  return JSON.stringify(value) === '{".":{"left":{"Var":"context"},"attr":"arguments"}}';
}

const REQUIRED: Readonly<Record<string, (text: string) => string | null>> = {
  id: (text) => (NAME_FORM.test(text) ? null : 'is not a name: a-z, 0-9, dot, dash, underscore'),
  version: (text) => (VERSION.test(text) ? null : 'is not a version: letters, digits, dot, dash'),
  scope: (text) => (isScope(text) ? null : `is not one of ${SCOPES.join(', ')}`),
  rationale: (text) => {
    if (text.trim() === '') return 'is blank; say why the rule is there';
    if (text.length > limits.prose_chars) return `is longer than ${limits.prose_chars} characters`;
    return visible(text) === text ? null : 'has an invisible character';
  },
};
const VERSION = /^[A-Za-z0-9][A-Za-z0-9.-]{0,31}$/;

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** What a forbid of `access` may ask for instead of saying no. */
const NEEDS = 'approver';

/** Whether an approver can lift this denial. */
export function needsApprover({ effect, annotations }: Policy): boolean {
  return effect === 'forbid' && annotations.needs === NEEDS;
}

function needsProblem({ effect, actions, annotations }: Policy): string[] {
  if (!Object.hasOwn(annotations, 'needs')) return [];
  if (annotations.needs !== NEEDS) return [`@needs is not "${NEEDS}"`];
  const is_access = actions?.length === 1 && actions[0] === 'access';
  return effect === 'forbid' && is_access ? [] : ['@needs is for a forbid of access alone'];
}

function argumentsProblem({ annotations }: Policy): string[] {
  return declaredIn(annotations.arguments ?? '') === null
    ? ['@arguments is not of the form "pay.amount: integer, pay.to: string", with types of tools.yaml']
    : [];
}

/** Without its declaration an argument is never there, and the rule would never apply. */
function undeclaredCalls({ calls, arguments: declared }: Policy): string[] {
  return calls
    .filter((name) => !declared.some(({ tool }) => tool === name))
    .map(
      (name) =>
        `reads arguments of the tool "${visible(name)}", and no @arguments declares one, such as @arguments("${visible(name)}.NAME: TYPE")`,
    );
}

/** What Cedar does not look at: who the policy is, why it is there, and whether its scope is that of its actions. */
export function annotationProblems(policy: Policy): PolicyProblem[] {
  const missing = Object.keys(REQUIRED).filter((name) => !Object.hasOwn(policy.annotations, name));
  const wrong = Object.entries(policy.annotations).flatMap(([name, text]) => {
    if (name === 'needs') return needsProblem(policy);
    if (name === 'arguments') return argumentsProblem(policy);
    const check = Object.hasOwn(REQUIRED, name) ? REQUIRED[name] : undefined;
    // Its author expects an effect.
    if (check === undefined) return [`has an annotation that means nothing: @${name}`];
    const problem = check(text ?? '');
    return problem === null ? [] : [`@${name} ${problem}`];
  });
  return [
    ...missing.map((name) => about(policy, `has no @${name}`)),
    ...[...wrong, ...undeclaredCalls(policy), ...hiddenReview(policy)].map((message) =>
      about(policy, message),
    ),
    ...scopeProblems(policy),
  ];
}

/** Whether a set names reviewers is told from its text: an escape there would hide it. */
function hiddenReview({ scope, text }: Policy): string[] {
  return scope === 'review' && !text.includes('"review"') ? ['@scope is to be written as "review"'] : [];
}

/** A rule that stands in a scope where its action is never asked about would never apply, and its author would not know. */
function scopeProblems(policy: Policy): PolicyProblem[] {
  const { actions, scope } = policy;
  if (actions === null || !isScope(scope)) return [];
  return actions
    .filter((action) => !judges(policy, action))
    .map((action) => about(policy, `has the scope ${scope}, which does not judge the action "${action}"`));
}

/** The forbids of the emergency scope are always active. An action that does not exist is Cedar's to find. */
function judges({ scope, effect }: Policy, action: string): boolean {
  if (scope === 'emergency' && effect === 'forbid') return true;
  return !Object.hasOwn(SCOPE_OF, action) || SCOPE_OF[action as PolicyAction] === scope;
}

/** Whether its head lets a policy speak of this action. */
export function speaksOf({ actions }: Policy, action: PolicyAction): boolean {
  return actions === null || actions.includes(action);
}

/** Whether the answer about an order, or about a break-glass for it, can depend on how many capabilities were issued before. */
export function readsPace(policies: readonly Policy[]): boolean {
  return policies.some(
    (policy) =>
      (policy.scope === SCOPE_OF.grant || policy.scope === SCOPE_OF.break_glass) &&
      (speaksOf(policy, 'grant') || speaksOf(policy, 'break_glass')) &&
      (policy.reads === null || policy.reads.some((name) => PACE.has(name))),
  );
}

const PACE: ReadonlySet<string> = new Set<keyof PolicyContext>(['pace_minute', 'pace_hour', 'pace_day']);

/** Those that judge whether a capability is granted. */
export function judgingGrants(policies: readonly Policy[]): Policy[] {
  return policies.filter((policy) => judges(policy, 'grant') && speaksOf(policy, 'grant'));
}

/** Whether its answer can depend on who has approved. */
export function readsApprovers({ reads }: Policy): boolean {
  return reads === null || reads.some((name) => APPROVERS.has(name));
}

const APPROVERS: ReadonlySet<string> = new Set<keyof ApprovalFacts>([
  'approvals',
  'approvers',
  'approver_roles',
  'quorums',
]);
