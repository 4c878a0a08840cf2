/** The question that the rules answer, and the answer. */

export type Scope = 'review' | 'intent' | 'capability' | 'execution' | 'emergency';
export type PolicyAction =
  | 'review'
  | 'submit'
  | 'approve'
  | 'grant'
  | 'execute'
  | 'pass'
  | 'break_glass'
  | 'access';

export const SCOPES: readonly Scope[] = ['intent', 'capability', 'execution', 'emergency', 'review'];

/** Which scope judges an action. The forbids of the emergency scope judge every action after it. */
export const SCOPE_OF: Readonly<Record<PolicyAction, Scope>> = {
  review: 'review',
  submit: 'intent',
  approve: 'intent',
  grant: 'capability',
  execute: 'execution',
  pass: 'execution',
  break_glass: 'emergency',
  access: 'intent',
};

export const ACTIONS = Object.keys(SCOPE_OF) as readonly PolicyAction[];

export interface PolicyPrincipal {
  /** A `user` talks to the agent core and is not enrolled. Only `access` is asked about users, and never about an agent. */
  readonly kind: 'human' | 'agent' | 'user';
  readonly name: string;
  readonly roles: readonly string[];
  readonly enrolled_by: string;
}

export interface PolicyResource {
  /** `client`: a tool that the program of an agent has itself, and runs itself. Only `pass` is asked about it. */
  readonly kind: 'tool' | 'plan' | 'mcp' | 'client';
  readonly name: string;
  readonly sandboxed: boolean;
  readonly network: boolean;
  /** Relative to the project where they lie beneath it, and absolute where they do not. */
  readonly writes: readonly string[];
  readonly protected: readonly string[];
  readonly undo: 'exact' | 'compensating' | 'none';
  readonly elevated: boolean;
  readonly tools: readonly string[];
  readonly categories: readonly string[];
}

/** A simulation of the agent core, with what its effect may reach as far as its registration tells. */
export interface PolicySimulation extends Omit<PolicyResource, 'kind'> {
  readonly kind: 'simulation';
  readonly version: number;
  readonly family: string;
  readonly risk: 'LOW' | 'MEDIUM' | 'HIGH';
  readonly impactful: boolean;
  readonly side_effecting: boolean;
  readonly irreversible: boolean;
}

export type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';

/** A call of a tool, by itself or as a step of a pipeline, with every argument that it has. */
export interface PolicyCall {
  readonly tool: string;
  readonly arguments: { readonly [parameter: string]: string | number | boolean | readonly string[] };
}

/** Every field is always there, so that no policy has to ask whether it is. schema.ts says what each one means. */
export interface PolicyContext {
  readonly goal: string;
  readonly action: string;
  readonly requested_actions: readonly string[];
  readonly scope: readonly string[];
  readonly prohibitions: readonly string[];
  /** Of a tool its one call. A policy sees one of them at a time, as `arguments`. */
  readonly calls: readonly PolicyCall[];
  /** Of a call to an MCP server, or of a client to its own tool; empty for anything else. */
  readonly server: string;
  readonly tool: string;
  readonly server_claims: readonly string[];
  /** What the client answers to a server, as JSON in its own words; empty where it answers nothing. */
  readonly client_said: string;
  readonly proposer: string;
  readonly proposer_kind: 'human' | 'agent';
  readonly proposer_verified: boolean;
  readonly user_verified: boolean;
  readonly same_account: boolean;
  readonly delegated: boolean;
  readonly life_s: number;
  readonly attempt: number;
  readonly humans: number;
  readonly approvals: number;
  readonly approvers: readonly string[];
  readonly approver_roles: readonly string[];
  readonly quorums: readonly string[];
  readonly assurance: number;
  readonly self_approved: boolean;
  readonly ttl_s: number;
  readonly scope_network: boolean;
  readonly scope_writes: readonly string[];
  readonly unconfined: boolean;
  readonly environment: string;
  readonly hour: number;
  readonly weekday: Weekday;
  readonly epoch_s: number;
  readonly pending: number;
  readonly proposed_minute: number;
  readonly proposed_hour: number;
  readonly proposed_day: number;
  readonly pace_minute: number;
  readonly pace_hour: number;
  readonly pace_day: number;
  readonly running_s: number;
  readonly waited_s: number;
  readonly frozen: boolean;
}

export interface PolicyRequest {
  readonly action: PolicyAction;
  readonly principal: PolicyPrincipal;
  readonly resource: PolicyResource | PolicySimulation;
  readonly context: PolicyContext;
}

export interface DecidingPolicy {
  readonly id: string;
  readonly version: string;
  readonly scope: Scope;
  readonly rationale: string;
}

export type DenialCode = 'POLICY_DENIED' | 'POLICY_NO_PERMIT' | 'POLICY_ERROR';

export interface Decision {
  readonly allowed: boolean;
  /** Null when allowed. */
  readonly code: DenialCode | null;
  /** Which policies decided, sorted by id. */
  readonly policies: readonly DecidingPolicy[];
  /** One or two sentences for a person. */
  readonly words: string;
}

/** What holds of a question about nothing: no intent, no approval, no capability. The caller puts its facts over it. */
export const BLANK = {
  scope: [],
  prohibitions: [],
  calls: [],
  server: '',
  tool: '',
  server_claims: [],
  client_said: '',
  proposer_verified: false,
  user_verified: false,
  same_account: false,
  delegated: false,
  life_s: 0,
  attempt: 1,
  approvals: 0,
  approvers: [],
  approver_roles: [],
  quorums: [],
  assurance: 0,
  self_approved: false,
  ttl_s: 0,
  scope_network: false,
  scope_writes: [],
  unconfined: false,
  pending: 0,
  proposed_minute: 0,
  proposed_hour: 0,
  proposed_day: 0,
  running_s: 0,
  waited_s: 0,
  frozen: false,
} as const satisfies Partial<PolicyContext>;

const WEEKDAYS: readonly Weekday[] = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
];

/** Hours and days are those of UTC, so that a decision is the same on every machine. */
export function timeContext(now: Date): Pick<PolicyContext, 'hour' | 'weekday' | 'epoch_s'> {
  return {
    hour: now.getUTCHours(),
    weekday: WEEKDAYS[now.getUTCDay()]!,
    epoch_s: Math.floor(now.getTime() / 1000),
  };
}
