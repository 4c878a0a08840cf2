import { type Engine, openEngine } from '../../src/policy/engine.ts';
import type { PolicyContext, PolicyRequest } from '../../src/policy/request.ts';
import { type PolicySource, parsePolicySet } from '../../src/policy/set.ts';

/** A question with nothing special about it. */
export const QUESTION: PolicyRequest = {
  action: 'grant',
  principal: { kind: 'human', name: 'alice', roles: ['dev'], enrolled_by: 'root' },
  resource: {
    kind: 'tool',
    name: 'deploy',
    sandboxed: true,
    network: false,
    writes: ['/srv/site'],
    protected: [],
    undo: 'exact',
    elevated: false,
    tools: ['deploy'],
    categories: [],
  },
  context: {
    goal: 'Release 1.4',
    action: 'tool:deploy',
    requested_actions: ['tool:deploy'],
    scope: [],
    prohibitions: [],
    calls: [{ tool: 'deploy', arguments: {} }],
    server: '',
    tool: '',
    server_claims: [],
    client_said: '',
    proposer: 'robot',
    proposer_kind: 'agent',
    proposer_verified: true,
    user_verified: false,
    same_account: false,
    delegated: false,
    life_s: 3600,
    attempt: 1,
    humans: 3,
    approvals: 1,
    approvers: ['bob'],
    approver_roles: ['ops'],
    quorums: [],
    assurance: 1,
    self_approved: false,
    ttl_s: 300,
    scope_network: false,
    scope_writes: ['/srv/site'],
    unconfined: false,
    environment: 'development',
    hour: 12,
    weekday: 'wednesday',
    epoch_s: 1_767_787_200,
    pending: 0,
    proposed_minute: 0,
    proposed_hour: 0,
    proposed_day: 0,
    pace_minute: 0,
    pace_hour: 0,
    pace_day: 0,
    running_s: 0,
    waited_s: 0,
    frozen: false,
  },
};

/** What `access` is asked about. */
const SIMULATION: PolicyRequest['resource'] = {
  ...QUESTION.resource,
  kind: 'simulation',
  version: 1,
  family: 'deploy',
  risk: 'LOW',
  impactful: false,
  side_effecting: false,
  irreversible: false,
};

/** What an action can be asked about. */
function resourceFor(action: PolicyRequest['action']): PolicyRequest['resource'] {
  if (action === 'access') return SIMULATION;
  return action === 'pass'
    ? ({ ...QUESTION.resource, kind: 'client' } as PolicyRequest['resource'])
    : QUESTION.resource;
}

export function asking(
  action: PolicyRequest['action'],
  context: Partial<PolicyContext> = {},
  principal: Partial<PolicyRequest['principal']> = {},
): PolicyRequest {
  return {
    ...QUESTION,
    action,
    resource: resourceFor(action),
    principal: { ...QUESTION.principal, ...principal },
    context: { ...QUESTION.context, ...context },
  };
}

/** `rule('no', 'emergency', 'forbid (principal, action, resource);')` with all its annotations. */
export function rule(id: string, scope: string, body: string, version = '1'): string {
  return `@id("${id}") @version("${version}") @scope("${scope}") @rationale("Because of ${id}.")\n${body}\n`;
}

export const ANY = '(principal, action, resource)';

export function source(...texts: string[]): PolicySource {
  return { files: [{ name: 'rules.cedar', text: texts.join('\n') }], quorums: null, tests: null };
}

export async function engineOf(...texts: string[]): Promise<Engine> {
  return openEngine(await parsePolicySet(source(...texts)));
}
