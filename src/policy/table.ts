import * as z from 'zod';
import { visible } from '../canonical/visible.ts';
import { fieldLimits, limits, policyLimits } from '../limits.ts';
import { turnsOf } from '../turns.ts';
import { readDocument } from './document.ts';
import { openEngine } from './engine.ts';
import { approvalFacts, type Quorum } from './quorum.ts';
import {
  ACTIONS,
  BLANK,
  type Decision,
  type PolicyContext,
  type PolicyRequest,
  type PolicyResource,
  type PolicySimulation,
  timeContext,
} from './request.ts';
import type { PolicySet } from './set.ts';
import { contextShape, resourceShape, simulationShape } from './shape.ts';
import { TABLE_FILE } from './source.ts';

const text = z.string().max(policyLimits.file_bytes);
const person = z.strictObject({ name: text, roles: z.array(text).default([]) });

/** A row that asks for more than anything lives would let a policy that can never deny look as if it did. */
const LIVES = {
  life_s: z.int().min(0).max(limits.intent_ttl_s),
  ttl_s: z.int().min(0).max(limits.capability_ttl_s),
};

/** One expected decision. What a row does not say has the value that gives the least authority, see BASE. */
const row = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(fieldLimits.line_chars)
      .refine((name) => visible(name) === name, 'has an invisible character'),
    action: z.enum(ACTIONS),
    principal: person.extend({ kind: z.enum(['human', 'agent', 'user']), enrolled_by: text.default('') }),
    /** A simulation where the action is access, and a tool or a plan where it is not. */
    resource: z
      .union([z.strictObject(resourceShape).partial(), z.strictObject(simulationShape).partial()])
      .default({}),
    /** Fills in approvals, approvers, approver_roles and quorums. */
    approvers: z.array(person).optional(),
    context: z
      .strictObject({ ...contextShape, ...LIVES })
      .partial()
      .default({}),
    expect: z.enum(['allow', 'deny']),
    /** One of the policies that must have decided. */
    by: z.string().optional(),
  })
  .refine(
    ({ approvers, context }) => approvers === undefined || APPROVAL_FACTS.every((fact) => !(fact in context)),
    'says who approved twice: under approvers and under context',
  );

const APPROVAL_FACTS = ['approvals', 'approvers', 'approver_roles', 'quorums'] as const;

const table = z
  .array(row)
  .max(policyLimits.tests)
  .refine((rows) => new Set(rows.map(({ name }) => name)).size === rows.length, 'has a name twice');

type Row = z.infer<typeof row>;

/** The rows of a table, or a refusal with the place of what is wrong. */
export function rowsOf(tests_yaml: string): Row[] {
  return readDocument(TABLE_FILE, tests_yaml, table);
}

export interface TableResult {
  readonly name: string;
  readonly expected: { readonly allowed: boolean; readonly by: string | null };
  readonly got: Decision;
  readonly passed: boolean;
}

/** Asks the policies every question of the table. Refuses a table that cannot be read. */
export async function runTable(set: PolicySet, tests_yaml: string): Promise<TableResult[]> {
  const rows = rowsOf(tests_yaml);
  const engine = await openEngine(set);
  const results: TableResult[] = [];
  const turns = turnsOf();
  for (const row of rows) {
    const others = turns();
    if (others) await others;
    const got = engine.decide(requestOf(row, set.quorums));
    const expected = { allowed: row.expect === 'allow', by: row.by ?? null };
    results.push({ name: row.name, expected, got, passed: isExpected(expected, got) });
  }
  return results;
}

/** A denial because a policy is broken is not the denial that the test expects. */
function isExpected({ allowed, by }: TableResult['expected'], got: Decision): boolean {
  if (got.allowed !== allowed || got.code === 'POLICY_ERROR') return false;
  return by === null || got.policies.some(({ id }) => id === by);
}

function requestOf(
  { action, principal, resource, approvers, context }: Row,
  quorums: readonly Quorum[],
): PolicyRequest {
  const what = resourceOf(action, resource);
  const name = what.kind === 'plan' ? 'plan' : `${what.kind}:${what.name}`;
  return {
    action,
    principal,
    resource: what,
    context: {
      ...BASE,
      action: name,
      requested_actions: [name],
      ttl_s: action === 'grant' ? TTL_S : 0,
      scope_network: what.network,
      scope_writes: what.writes,
      unconfined: !what.sandboxed,
      ...(approvers === undefined ? {} : approvalFacts(quorums, approvers)),
      ...given(context),
    },
  };
}

/** A tool runs itself, and what is protected is elevated, unless the row says something else. */
function resourceOf(action: Row['action'], resource: Row['resource']): PolicyRequest['resource'] {
  const { name = RESOURCE.name, protected: reached = [] } = resource;
  const follows = { elevated: reached.length > 0 };
  if (action === 'access')
    return { ...SIMULATION, ...follows, ...given<PolicySimulation>(resource as Partial<PolicySimulation>) };
  // A client runs its own tool, and not Keyturn: nothing is known of a sandbox.
  const base = action === 'pass' ? { ...RESOURCE, kind: 'client' as const, sandboxed: false } : RESOURCE;
  const found = { ...base, ...follows, ...given<PolicyResource>(resource as Partial<PolicyResource>) };
  return found.kind !== 'plan' && resource.tools === undefined ? { ...found, tools: [name] } : found;
}

/** A partial value without the keys that were not given. */
function given<T extends object>(value: { [K in keyof T]?: T[K] | undefined }): Partial<T> {
  return value as Partial<T>;
}

const TTL_S = 300;

const RESOURCE: PolicyResource = {
  kind: 'tool',
  name: 'example',
  sandboxed: true,
  network: false,
  writes: [],
  protected: [],
  undo: 'exact',
  elevated: false,
  tools: [],
  categories: [],
};

const SIMULATION: PolicySimulation = {
  ...RESOURCE,
  kind: 'simulation',
  version: 1,
  family: 'example',
  risk: 'LOW',
  impactful: false,
  side_effecting: false,
  irreversible: false,
};

/** Wednesday, 7 January 2026, noon UTC; two humans; no approval. */
const BASE: PolicyContext = {
  ...BLANK,
  ...timeContext(new Date('2026-01-07T12:00:00.000Z')),
  goal: 'An example',
  action: 'tool:example',
  requested_actions: ['tool:example'],
  proposer: 'proposer',
  proposer_kind: 'agent',
  life_s: 3600,
  humans: 2,
  environment: 'development',
  pace_minute: 0,
  pace_hour: 0,
  pace_day: 0,
};
