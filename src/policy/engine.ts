import { sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';
import { argumentsAsked, type CedarArguments, schemaWith } from './arguments.ts';
import { cedarCall } from './call.ts';
import { type CedarAnswer, type CedarEngine, loadCedar } from './cedar.ts';
import { needsApprover, type Policy } from './policy.ts';
import { type DecidingPolicy, type Decision, type PolicyRequest, SCOPE_OF, type Scope } from './request.ts';
import type { PolicySet } from './set.ts';
import { allowedBy, deniedBy, notAsked, notEvaluated, notPermitted } from './words.ts';

/** Answers what one policy set allows. */
export interface Engine {
  readonly set: PolicySet;
  /** Never throws: a policy or a question that cannot be evaluated is a denial. */
  decide(request: PolicyRequest): Decision;
  /** Whether a denial of access stands only until a human approves: all that is in the way asks for an approver. */
  awaitsApprover(request: PolicyRequest, denial: Decision): boolean;
}

export async function openEngine(set: PolicySet): Promise<Engine> {
  const asker = askerOf(await loadCedar(), set);
  return {
    set,
    decide: (request) => decide(asker, request),
    awaitsApprover: (request, denial) => awaitsApprover(asker, set, request, denial),
  };
}

/** Without the forbids that an approver can lift it must be allowed: an approval cannot permit what no policy permits. */
function awaitsApprover(
  asker: Asker,
  { policies }: PolicySet,
  request: PolicyRequest,
  { code, policies: deciding }: Decision,
): boolean {
  if (request.action !== 'access' || code !== 'POLICY_DENIED') return false;
  const lifted = new Set(policies.filter(needsApprover).map(({ id }) => id));
  return (
    deciding.every(({ id }) => lifted.has(id)) &&
    judge(asker, 'approved intent', { request, called: {} }).allowed
  );
}

/** Every call must be allowed; the first denial halts. */
function decide(asker: Asker, request: PolicyRequest): Decision {
  if (!Object.hasOwn(SCOPE_OF, request.action)) return failed([], notAsked('there is no such action'));
  const asked = argumentsAsked(request, asker.types);
  if (typeof asked === 'string') return failed([], notAsked(asked));
  const allowing = new Set<string>();
  for (const called of asked) {
    const decision = decideCall(asker, { request, called });
    if (!decision.allowed) return decision;
    for (const { id } of decision.policies) allowing.add(id);
  }
  return allowed(asker.described([...allowing]));
}

interface Question {
  readonly request: PolicyRequest;
  readonly called: CedarArguments;
}

/**
 * The scope of the action decides first, then the forbids of the emergency scope; the first denial halts. Both are asked
 * in one call, because a forbid overrides every permit. Only where the emergency scope has said something does the
 * order matter: then the scope is asked alone, and what it denies is its own denial.
 */
function decideCall(asker: Asker, question: Question): Decision {
  const scope = SCOPE_OF[question.request.action];
  if (scope === 'emergency') return judge(asker, 'own emergency', question);
  const together = judge(asker, `all ${scope}`, question);
  if (!together.policies.some((policy) => policy.scope === 'emergency')) return together;
  const own = judge(asker, `own ${scope}`, question);
  return own.allowed ? together : own;
}

function judge(asker: Asker, group: Group, question: Question): Decision {
  const answer = asker.ask(group, question);
  if (answer.type === 'failure')
    return failed([], notAsked(answer.errors[0]?.message ?? 'Cedar says no more'));
  const { decision, diagnostics } = answer.response;
  // Cedar skips a policy that it cannot evaluate. Had it been a forbid, it might have been the one that matters.
  if (diagnostics.errors.length > 0) return errorIn(asker, diagnostics.errors);
  const policies = asker.described(diagnostics.reason);
  if (decision === 'allow') return allowed(policies);
  if (policies.length > 0) return denied('POLICY_DENIED', policies, deniedBy(policies));
  const { request } = question;
  return denied('POLICY_NO_PERMIT', [], notPermitted(request, SCOPE_OF[request.action]));
}

function allowed(policies: readonly DecidingPolicy[]): Decision {
  return { allowed: true, code: null, policies, words: allowedBy(policies) };
}

function errorIn(
  asker: Asker,
  errors: readonly { policyId: string; error: { message: string } }[],
): Decision {
  const policies = asker.described(errors.map(({ policyId }) => policyId));
  const first = policies[0]!;
  const { error } = errors.find(({ policyId }) => policyId === first.id)!;
  return failed(policies, notEvaluated(first, error.message));
}

function failed(policies: readonly DecidingPolicy[], words: string): Decision {
  return denied('POLICY_ERROR', policies, words);
}

function denied(
  code: NonNullable<Decision['code']>,
  policies: readonly DecidingPolicy[],
  words: string,
): Decision {
  return { allowed: false, code, policies, words };
}

/**
 * The policies of one scope alone, or together with the forbids of the emergency scope; or those without the ones that
 * an approver can lift.
 */
type Group = `own ${Scope}` | `all ${Scope}` | `approved ${Scope}`;

interface Asker {
  readonly types: PolicySet['arguments'];
  ask(group: Group, question: Question): CedarAnswer;
  /** Sorted by id. */
  described(ids: readonly string[]): DecidingPolicy[];
}

/** Cedar keeps what it has parsed under a name. The names are digests, so one name never means two things. */
function askerOf(cedar: CedarEngine, { digest, policies, arguments: types }: PolicySet): Asker {
  const schema = schemaWith(types);
  const schema_name = `keyturn ${sha256(schema)}`;
  requireParsed(cedar.preparseSchema(schema_name, schema));
  const descriptions = new Map(policies.map((policy) => [policy.id, descriptionOf(policy)]));
  const names = new Map<Group, string>();
  const nameOf = (group: Group): string => {
    const known = names.get(group);
    if (known !== undefined) return known;
    const name = `${digest} ${group}`;
    prepare(cedar, name, membersOf(policies, group));
    names.set(group, name);
    return name;
  };
  return {
    types,
    ask: (group, { request, called }) => {
      try {
        return cedar.statefulIsAuthorized(cedarCall(request, called, nameOf(group), schema_name));
      } catch (error) {
        return failureOf(error);
      }
    },
    described: (ids) => ids.toSorted().map((id) => descriptions.get(id)!),
  };
}

function membersOf(policies: readonly Policy[], group: Group): Policy[] {
  return policies.filter((policy) => {
    const { scope, effect } = policy;
    if (group.startsWith('approved') && needsApprover(policy)) return false;
    return (
      group.endsWith(` ${scope}`) ||
      (!group.startsWith('own') && scope === 'emergency' && effect === 'forbid')
    );
  });
}

function prepare(cedar: CedarEngine, name: string, policies: readonly Policy[]): void {
  const staticPolicies = Object.fromEntries(policies.map(({ id, text }) => [id, text]));
  requireParsed(cedar.preparsePolicySet(name, { staticPolicies }));
}

function requireParsed(answer: ReturnType<CedarEngine['preparsePolicySet']>): void {
  if (answer.type === 'failure') refuse('POLICY_INVALID', answer.errors[0]?.message);
}

function failureOf(error: unknown): CedarAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const problem = { message, help: null, code: null, url: null, severity: null };
  return { type: 'failure', errors: [problem], warnings: [] };
}

function descriptionOf({ id, version, scope, rationale }: Policy): DecidingPolicy {
  return { id, version, scope, rationale };
}
