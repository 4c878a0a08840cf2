import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Digest } from '../canonical/digest.ts';
import type { Body } from '../event/event.ts';
import type { Simulation } from '../finder/simulation.ts';
import { freezeOf } from '../gate/freeze.ts';
import type { System } from '../gate/system.ts';
import { isIdentifiedAs } from '../identity/account.ts';
import { AUDITOR, isAuditor } from '../identity/auditor.ts';
import type { Principal } from '../identity/principal.ts';
import { type Context, humansNow } from '../journey/context.ts';
import { provenPrincipal } from '../journey/prove-agent.ts';
import { pathsIn } from '../journey/reach.ts';
import { protectedIn } from '../journey/resource.ts';
import { paceOf } from '../journey/rules.ts';
import type { Engine } from '../policy/engine.ts';
import { recordOf, sealDecision } from '../policy/replay.ts';
import {
  BLANK,
  type Decision,
  type PolicyPrincipal,
  type PolicyRequest,
  type PolicySimulation,
  timeContext,
} from '../policy/request.ts';
import { refuse } from '../refusal.ts';
import { AGENT_CORE } from './context.ts';
import { simulationAction } from './intent.ts';

export type AccessOutcome = Body<'agent.access'>['outcome'];

/** A decision about one user and one simulation, sealed with everything that it was made from. */
export interface Access {
  readonly outcome: AccessOutcome;
  readonly access_action: string;
  readonly policy: Digest;
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/** Asks the active policies whether this user may have this simulation now. The answer is kept whatever it is. */
export async function decideAccess(
  context: Context,
  user_id: string,
  simulation: Simulation,
  now: Date,
): Promise<Access> {
  const system = await context.store.system();
  const policy = system.policy ?? refuse('POLICY_MISSING');
  const engine = await context.rules(policy);
  const request = await requestOf(context, system, user_id, simulation, now);
  const decision = engine.decide(request);
  const record = recordOf(engine, request, decision, {
    subject: `simulation:${simulation.id}`,
    nonce: randomBytes(16).toString('base64'),
  });
  return {
    outcome: outcomeOf(engine, request, decision),
    access_action: simulation.access_action,
    policy,
    ...sealDecision(record),
  };
}

/**
 * ALLOW, DENY, or an approver first. HIGH risk and what cannot be taken back always need an approver, whatever the
 * policies say; and a name that was revoked, or is an agent's, is no user.
 */
export function outcomeOf(engine: Engine, request: PolicyRequest, decision: Decision): AccessOutcome {
  const { principal, resource } = request;
  if (resource.kind !== 'simulation' || isNobody(principal)) return 'DENY';
  const risky = resource.risk === 'HIGH' || resource.irreversible;
  if (decision.allowed) return risky ? 'AP_REQUIRED' : 'ALLOW';
  return engine.awaitsApprover(request, decision) ? 'AP_REQUIRED' : 'DENY';
}

/** A user who is not enrolled has no roles. One that was revoked, is an auditor, or is enrolled as an agent, has one that says so. */
function isNobody({ kind, name, roles }: PolicyPrincipal): boolean {
  return name === AGENT_CORE || (kind === 'user' && roles.length > 0);
}

async function requestOf(
  context: Context,
  system: System,
  user_id: string,
  simulation: Simulation,
  now: Date,
): Promise<PolicyRequest> {
  // A row can be forged: a principal that the entries revoke stays revoked, whatever its row says.
  const question = questionOf(user_id, await provenPrincipal(context, user_id), simulation, now);
  return {
    action: 'access',
    principal: question.principal,
    resource: Object.assign(reachOf(context, simulation), question.resource),
    context: {
      humans: await humansNow(context),
      environment: context.environment,
      ...BLANK,
      ...question.context,
      user_verified: isIdentifiedAs(context.account, user_id),
      frozen: isFrozen(context, system, simulation, user_id),
      ...(await paceOf(context, user_id, now)),
    },
  };
}

/** What of the question follows from the ledger: who asks for what, and when. A replay builds it again. */
export function questionOf(user_id: string, known: Principal | null, simulation: Simulation, now: Date) {
  const { id, version, family, risk, impactful, side_effecting, irreversible, access_action } = simulation;
  return {
    principal: principalOf(user_id, known),
    resource: {
      kind: 'simulation' as const,
      name: id,
      version,
      family,
      risk,
      impactful,
      side_effecting,
      irreversible,
    },
    context: {
      goal: simulation.summary.en!,
      action: access_action,
      requested_actions: [access_action, simulationAction(simulation)],
      proposer: user_id,
      proposer_kind: known?.kind ?? ('agent' as const),
      ...timeContext(now),
    },
  };
}

function principalOf(name: string, known: Principal | null): PolicyPrincipal {
  if (known === null) return { kind: 'user', name, roles: [], enrolled_by: '' };
  const { kind, status, roles, enrolled_by } = known;
  if (status === 'active' && isAuditor(known)) return { kind: 'user', name, roles: [AUDITOR], enrolled_by };
  if (kind === 'human' && status === 'active') return { kind, name, roles, enrolled_by };
  return { kind: 'user', name, roles: [kind === 'agent' ? 'agent' : 'revoked'], enrolled_by };
}

type Reach = Omit<PolicySimulation, keyof ReturnType<typeof questionOf>['resource']>;

/** As far as the registration tells. What it really does is judged again when the intent is submitted and run. */
function reachOf(context: Context, { effect, irreversible }: Simulation): Reach {
  const tool = effect && 'tool' in effect ? context.registry().tools.get(effect.tool) : undefined;
  const sandbox = tool?.sandbox ?? (effect && 'tool' in effect ? 'none' : CONFINED);
  const reach = sandbox === 'none' ? { network: true, write: [] } : sandbox;
  const writes = pathsIn(
    context,
    reach.write.map((path) => resolve(context.root, path)),
  );
  const reached = protectedIn(writes);
  return {
    sandboxed: sandbox !== 'none',
    network: reach.network,
    writes,
    protected: reached,
    undo: tool?.undo ?? (effect && 'plan' in effect && !irreversible ? 'exact' : 'none'),
    elevated: reached.length > 0,
    tools: effect && 'tool' in effect ? [effect.tool] : [],
    categories: tool?.category === undefined ? [] : [tool.category],
  };
}

const CONFINED: { readonly network: boolean; readonly write: readonly string[] } = {
  network: false,
  write: [],
};

function isFrozen({ store }: Context, { freezes }: System, { effect }: Simulation, user_id: string): boolean {
  const tools = effect && 'tool' in effect ? [effect.tool] : [];
  return freezeOf(freezes, { tenant: store.tenant, agents: [AGENT_CORE, user_id], tools }) !== null;
}
