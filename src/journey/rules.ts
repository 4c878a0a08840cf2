import { randomBytes } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import type { ResourceScope } from '../capability/scope.ts';
import { type ApprovalsNow, approvalsNow } from '../gate/approvals.ts';
import { frozenFor } from '../gate/freeze.ts';
import { isOwnRequest, mayBeOwn } from '../gate/signers.ts';
import type { Approval, IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import { isIdentifiedAs } from '../identity/account.ts';
import { HUMAN_ASSURANCE_LEVEL } from '../identity/assurance.ts';
import type { Authorities } from '../identity/delegation.ts';
import { IDLE, rateOf } from '../identity/pace.ts';
import { isLive, type Principal } from '../identity/principal.ts';
import { pendingAt, quotaKey, UNUSED } from '../identity/quota.ts';
import type { Envelope } from '../intent/envelope.ts';
import { isWithin } from '../intent/path.ts';
import { plainTerms } from '../intent/term.ts';
import { serverClaims, type ToolDefinition } from '../mcp-call/definition.ts';
import { clientSaid } from '../mcp-call/effect.ts';
import type { Engine } from '../policy/engine.ts';
import { type Quorum, quorumsMet } from '../policy/quorum.ts';
import { type DecisionRecord, recordOf, sealDecision } from '../policy/replay.ts';
import {
  type Decision,
  type PolicyAction,
  type PolicyCall,
  type PolicyContext,
  type PolicyRequest,
  type PolicyResource,
  timeContext,
} from '../policy/request.ts';
import { refuse } from '../refusal.ts';
import { authoritiesFor, type Context, humansNow, namedIn } from './context.ts';
import type { Effect } from './derived.ts';
import { knownIn } from './extent.ts';
import { actionOf, callsOf, pathsIn, writesOf } from './reach.ts';
import { resourceOf } from './resource.ts';

/** A decision of the active policies, sealed with everything that it was made from. */
export interface Ruling {
  readonly decision: Decision;
  readonly snapshot: Digest;
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/** What is asked of the policies. */
export interface Matter {
  readonly action: PolicyAction;
  readonly principal: Principal;
  readonly delegated?: boolean;
  readonly state: IntentState;
  readonly envelope: Envelope;
  readonly effect: Effect;
  readonly system: System;
  readonly now: Date;
  /** Where the signed entries were read: roles are then taken from them and not from a row, which an attacker may have written. */
  readonly authorities?: Authorities;
  /** The capability that is asked for. */
  readonly grant?: {
    readonly action: string;
    readonly ttl_s: number;
    readonly scope: ResourceScope;
  };
  readonly running_s?: number;
  readonly waited_s?: number;
}

/** Asks the active policies. The answer is kept whatever it is: a denial is a fact, too. */
export async function rule(context: Context, matter: Matter): Promise<Ruling> {
  const snapshot = matter.system.policy ?? refuse('POLICY_MISSING');
  const engine = await context.rules(snapshot);
  const request = await questionAbout(context, matter, engine);
  const decision = engine.decide(request);
  const nonce = randomBytes(16).toString('base64');
  const record = recordOf(engine, request, decision, { subject: matter.state.intent_id, nonce });
  return rulingOf(snapshot, record);
}

/** Sealed when it is first needed: most of what a watch asks is never recorded. */
function rulingOf(snapshot: Digest, record: DecisionRecord): Ruling {
  let sealed: ReturnType<typeof sealDecision> | null = null;
  const seal = () => {
    sealed ??= sealDecision(record);
    return sealed;
  };
  return {
    decision: record.decision,
    snapshot,
    get digest() {
      return seal().digest;
    },
    get bytes() {
      return seal().bytes;
    },
  };
}

/** How many capabilities they were issued lately. */
export async function paceOf(
  { store }: Context,
  name: string,
  now: Date,
): Promise<Pick<PolicyContext, 'pace_minute' | 'pace_hour' | 'pace_day'>> {
  const { minute, hour, day } = rateOf((await store.find('pace', name)) ?? IDLE, now);
  return { pace_minute: minute, pace_hour: hour, pace_day: day };
}

/** Refuses with the code of the denial and the words of the policies that gave it. */
export function requireAllowed({ decision }: Ruling): void {
  if (decision.code !== null)
    refuse(decision.code, decision.words, { policies: decision.policies.map(({ id }) => id).join(', ') });
}

/** What these policies are asked. */
export async function questionAbout(
  context: Context,
  matter: Matter,
  { set: { quorums } }: Engine,
): Promise<PolicyRequest> {
  const { action, principal, state, effect } = matter;
  const authorities = matter.authorities ?? (await authoritiesFor(context, namedIn(state)));
  const resource = resourceOf(context, effect, state.tool);
  const approvals = approvalsNow(state, { now: matter.now, authorities });
  // Together: a server is asked once for each, and none of them waits for another.
  const [proposed, pace, humans] = await Promise.all([
    proposedOf(context, matter),
    paceOf(context, matter.delegated ? principal.name : state.proposer, matter.now),
    humansNow(context),
  ]);
  return {
    action,
    principal: {
      kind: principal.kind,
      name: principal.name,
      roles: principal.roles,
      enrolled_by: principal.enrolled_by,
    },
    resource,
    // A literal that begins with a spread gets a hidden class of its own each time in V8, which takes 60 us here: one name stands first.
    context: {
      humans,
      ...askedOf(context, matter),
      ...approvedOf(state, approvals, rolesOf(authorities), quorums),
      ...grantOf(context, matter, resource),
      ...proposed,
      ...momentOf(context, matter, authorities),
      ...pace,
    },
  };
}

type Part<K extends keyof PolicyContext> = Pick<PolicyContext, K>;

function askedOf(
  context: Context,
  { state, envelope, effect, delegated }: Matter,
): Part<
  | 'goal'
  | 'calls'
  | 'server'
  | 'tool'
  | 'server_claims'
  | 'client_said'
  | 'requested_actions'
  | 'scope'
  | 'prohibitions'
  | 'proposer'
  | 'proposer_kind'
  | 'proposer_verified'
  | 'user_verified'
  | 'same_account'
  | 'delegated'
  | 'life_s'
  | 'attempt'
> {
  const { constraints, requested_actions } = envelope;
  const known = knownIn(context);
  return {
    goal: envelope.declared_goal,
    requested_actions,
    scope: plainTerms(constraints.scope, known),
    prohibitions: plainTerms(constraints.prohibitions, known),
    ...calledBy(effect),
    proposer: state.proposer,
    proposer_kind: state.proposer_kind,
    proposer_verified: state.proposer_verified,
    user_verified:
      state.proposer_verified &&
      state.on_behalf_of !== null &&
      isIdentifiedAs(state.account, state.on_behalf_of),
    // A delegate that proposes with its own key is asked by many: the human who delegated it is only one of them.
    same_account: (!delegated || !state.proposer_verified) && mayBeOwn(state, context.account),
    delegated: delegated ?? false,
    life_s: Math.ceil((Date.parse(envelope.expiry) - Date.parse(envelope.created_at)) / 1000),
    attempt: state.attempt,
  };
}

/** What is called, as policies see it. */
function calledBy(effect: Effect): Part<'calls' | 'server' | 'tool' | 'server_claims' | 'client_said'> {
  if (effect.kind !== 'mcp') {
    const calls = callsOf(effect).map(({ tool, arguments: values }) => ({ tool, arguments: values }));
    return { calls, server: '', tool: '', server_claims: [], client_said: '' };
  }
  const { called, server, tool, definition, arguments: given } = effect;
  // A policy that declares an argument which it cannot read denies the call.
  const values = Object.entries(given).filter(([, value]) => isReadable(value));
  return {
    calls: [{ tool: called, arguments: Object.fromEntries(values) as PolicyCall['arguments'] }],
    server,
    tool,
    server_claims: serverClaims(definition as ToolDefinition),
    client_said: clientSaid(effect.input),
  };
}

export function isReadable(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** How sure it is that the human was there. */
const ASSURANCE: Readonly<Record<Approval['assurance'], number>> = {
  ...HUMAN_ASSURANCE_LEVEL,
  delegation: 1,
};

function approvedOf(
  state: IntentState,
  { counted, approvers: names }: ApprovalsNow,
  rolesIn: (name: string) => readonly string[],
  quorums: readonly Quorum[],
): Part<'approvals' | 'approvers' | 'approver_roles' | 'quorums' | 'assurance' | 'self_approved'> {
  const approvers = names.map((name) => ({ name, roles: rolesIn(name) }));
  return {
    approvals: names.length,
    approvers: names,
    approver_roles: [...new Set(approvers.flatMap(({ roles }) => roles))].sort(),
    quorums: quorumsMet(quorums, approvers),
    assurance: Math.min(...(counted.length ? counted.map((each) => ASSURANCE[each.assurance]) : [0])),
    self_approved:
      names.some((name) => isOwnRequest(state, name)) ||
      counted.some(({ delegation, account }) => delegation === null && mayBeOwn(state, account)),
  };
}

function rolesOf(authorities: Authorities) {
  return (name: string) => authorities.principal(name)?.roles ?? [];
}

function grantOf(
  context: Context,
  { effect, grant }: Matter,
  { network: wired, sandboxed }: PolicyResource,
): Part<'action' | 'ttl_s' | 'scope_network' | 'scope_writes' | 'unconfined'> {
  const { network, write, unconfined } = grant?.scope ?? NOTHING;
  const planned = grant !== undefined && effect.kind === 'plan';
  // A token names folders where it cannot name every path; a policy is asked about every path.
  const writes = planned
    ? writesOf(effect).filter((path) => write.some((one) => isWithin(path, one)))
    : write;
  return {
    action: grant?.action ?? actionOf(effect),
    ttl_s: grant?.ttl_s ?? 0,
    // The steps of a pipeline run as the registry says: a scope does not make them narrower.
    scope_network: network || (planned && wired),
    scope_writes: pathsIn(context, writes),
    unconfined: unconfined || (planned && !sandboxed),
  };
}

/** How much its source proposes. What is drafted in the same commit does not count yet. */
async function proposedOf(
  { store }: Context,
  { action, state, now }: Matter,
): Promise<Part<'pending' | 'proposed_minute' | 'proposed_hour' | 'proposed_day'>> {
  const found = action === 'submit' ? await store.find('quota', quotaKey(state)) : null;
  const quota = found ?? UNUSED;
  const { minute, hour, day } = rateOf(quota.pace, now);
  return {
    pending: pendingAt(quota, now.toISOString()),
    proposed_minute: minute,
    proposed_hour: hour,
    proposed_day: day,
  };
}

const NOTHING = { network: false, write: [], unconfined: false } as const;

function momentOf(
  context: Context,
  { state, system, now, running_s = 0, waited_s = 0 }: Matter,
  { principal }: Authorities,
): Part<'environment' | 'hour' | 'weekday' | 'epoch_s' | 'running_s' | 'waited_s' | 'frozen'> {
  return {
    environment: context.environment,
    ...timeContext(now),
    running_s,
    waited_s,
    frozen:
      frozenFor(state, {
        freezes: system.freezes,
        tenant: context.store.tenant,
        at: now.toISOString(),
        isLiveKey: (name, key) => isLive(principal(name), key),
      }) !== null,
  };
}
