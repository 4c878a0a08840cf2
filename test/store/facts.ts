import { randomUUID } from 'node:crypto';
import type { Event } from '../../src/event/event.ts';

/** Facts for tests of a store. The signatures are of the right shape only: a store does not verify them, callers do. */

export const DIGEST = 'ab'.repeat(32);
const SIGNATURE = Buffer.alloc(64, 1).toString('base64');
const EXPIRES = '2030-01-15T12:00:00.000Z';

export const keyOf = (name: string) => Buffer.alloc(32, name).toString('base64');

const signed = (by: string, key = keyOf(by)) => ({
  by,
  key,
  signed_at: '2026-01-15T12:00:00.000Z',
  signature: SIGNATURE,
});

export function enrolled(name: string, by = name, key = keyOf(by)): Event<'key.enrolled'> {
  const body = { principal: 'human' as const, public_key: keyOf(name), ...signed(by, key) };
  return { kind: 'key.enrolled', subject: name, body };
}

export function enrolledAgent(name: string, by: string): Event<'key.enrolled'> {
  return {
    kind: 'key.enrolled',
    subject: name,
    body: { principal: 'agent', public_key: null, ...signed(by) },
  };
}

export function revoked(name: string, by: string): Event<'key.revoked'> {
  return { kind: 'key.revoked', subject: name, body: { reason: 'left', ...signed(by) } };
}

export function proposed(subject: string = randomUUID()): Event<'intent.proposed'> {
  return {
    kind: 'intent.proposed',
    subject,
    body: {
      hash: DIGEST,
      effect_digest: DIGEST,
      registry_digest: DIGEST,
      effect: 'tool',
      tool: 'deploy',
      approvals_needed: 1,
      proposer: 'planner',
      proposer_kind: 'agent',
      expires_at: EXPIRES,
    },
  };
}

export function granted(subject: string, by: string, key = keyOf(by)): Event<'approval.granted'> {
  const body = { hash: DIGEST, effect_digest: DIGEST, expires_at: EXPIRES, ...signed(by, key) };
  return { kind: 'approval.granted', subject, body };
}

export function denied(subject: string, by: string): Event<'approval.denied'> {
  return { kind: 'approval.denied', subject, body: { hash: DIGEST, reason: 'no', ...signed(by) } };
}

export function claimed(
  subject: string,
  execution_id: string = randomUUID(),
  attempt = 1,
): Event<'execution.claimed'> {
  const executor = { host: 'here', boot_id: 'boot', pid: 1, started: '1' };
  const digests = { hash: DIGEST, effect_digest: DIGEST, registry_digest: DIGEST };
  const body = { execution_id, attempt, ...digests, tool: 'deploy', reports: null, executor };
  return { kind: 'execution.claimed', subject, body };
}

export function finished(
  subject: string,
  execution_id: string,
  result: 'success' | 'failure' | 'partial',
  attempt = 1,
): Event<'execution.finished'> {
  const capture = { digest: DIGEST, bytes: 0, truncated: false };
  return {
    kind: 'execution.finished',
    subject,
    body: {
      execution_id,
      attempt,
      tool: 'deploy',
      result,
      reason_code: null,
      exit_code: 0,
      signal: null,
      started_at: '2026-01-15T12:00:00.000Z',
      finished_at: '2026-01-15T12:00:01.000Z',
      stdout: capture,
      stderr: capture,
      reports: {},
    },
  };
}

export function resolved(
  subject: string,
  execution_id: string,
  outcome: 'happened' | 'did_not_happen',
  by: string,
): Event<'execution.resolved'> {
  const body = { execution_id, attempt: 1, outcome, reason: 'looked', ...signed(by) };
  return { kind: 'execution.resolved', subject, body };
}

export function retried(
  subject: string,
  after: string,
  attempt: number,
  by: string,
): Event<'retry.authorised'> {
  return {
    kind: 'retry.authorised',
    subject,
    body: { attempt, after, hash: DIGEST, reason: 'again', ...signed(by) },
  };
}

export function refused(subject: string): Event<'execution.refused'> {
  return { kind: 'execution.refused', subject, body: { hash: DIGEST, reason_code: 'APPROVAL_MISSING' } };
}

export function erased(digest: string, by: string): Event<'object.erased'> {
  return { kind: 'object.erased', subject: digest, body: { reason: 'secret', ...signed(by) } };
}
