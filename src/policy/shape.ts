import * as z from 'zod';
import {
  ACTIONS,
  type PolicyContext,
  type PolicyRequest,
  type PolicyResource,
  type PolicySimulation,
} from './request.ts';

/** The shapes of requests that come back from a file or from the store. A live request is checked by Cedar's schema. */

const text = z.string();
const texts = z.array(z.string());
const count = z.int().min(0);

type Shape<T> = { [K in keyof T]-?: z.ZodType<T[K]> };

export const resourceShape: Shape<PolicyResource> = {
  kind: z.enum(['tool', 'plan', 'mcp', 'client']),
  name: text,
  sandboxed: z.boolean(),
  network: z.boolean(),
  writes: texts,
  protected: texts,
  undo: z.enum(['exact', 'compensating', 'none']),
  elevated: z.boolean(),
  tools: texts,
  categories: texts,
};

export const simulationShape: Shape<PolicySimulation> = {
  ...resourceShape,
  kind: z.literal('simulation'),
  version: z.int().min(1),
  family: text,
  risk: z.enum(['LOW', 'MEDIUM', 'HIGH']),
  impactful: z.boolean(),
  side_effecting: z.boolean(),
  irreversible: z.boolean(),
};

export const contextShape: Shape<PolicyContext> = {
  goal: text,
  action: text,
  requested_actions: texts,
  scope: texts,
  prohibitions: texts,
  calls: z.array(
    z.strictObject({
      tool: text,
      arguments: z.record(z.string(), z.union([text, z.number(), z.boolean(), texts])),
    }),
  ),
  server: text,
  tool: text,
  server_claims: texts,
  // Decisions that were recorded before there was such a member.
  client_said: text.default(''),
  proposer: text,
  proposer_kind: z.enum(['human', 'agent']),
  proposer_verified: z.boolean(),
  user_verified: z.boolean(),
  same_account: z.boolean(),
  delegated: z.boolean(),
  life_s: count,
  attempt: count,
  humans: count,
  approvals: count,
  approvers: texts,
  approver_roles: texts,
  quorums: texts,
  assurance: count,
  self_approved: z.boolean(),
  ttl_s: count,
  scope_network: z.boolean(),
  scope_writes: texts,
  unconfined: z.boolean(),
  environment: text,
  hour: z.int().min(0).max(23),
  weekday: z.enum(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']),
  epoch_s: count,
  pending: count,
  proposed_minute: count,
  proposed_hour: count,
  proposed_day: count,
  pace_minute: count,
  pace_hour: count,
  pace_day: count,
  running_s: count,
  waited_s: count,
  frozen: z.boolean(),
};

export const requestSchema: z.ZodType<PolicyRequest> = z.strictObject({
  action: z.enum(ACTIONS),
  principal: z.strictObject({
    kind: z.enum(['human', 'agent', 'user']),
    name: text,
    roles: texts,
    enrolled_by: text,
  }),
  resource: z.union([z.strictObject(resourceShape), z.strictObject(simulationShape)]),
  context: z.strictObject(contextShape),
});
