import { randomUUID } from 'node:crypto';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import type { Event, SignedKind } from '../../src/event/event.ts';
import { originOf, signAct, signerOf } from '../../src/identity/act.ts';

/** Facts for tests of a store, signed with keys that follow from the names. The ledger has no project, hence its origin. */

export const DIGEST = 'ab'.repeat(32);
const EXPIRES = '2030-01-15T12:00:00.000Z';

const seedOf = (name: string) => Buffer.alloc(32, name);
export const keyOf = (name: string) => keyPairFromSeed(seedOf(name)).public_key;
const AT = new Date('2026-01-15T12:00:00.000Z');

/** The signature is really made by `by`; `key` is the key that the act claims, which a test may forge. */
function act<K extends SignedKind>(
  kind: K,
  subject: string,
  facts: object,
  by: string,
  { key, tenant = 'default' }: { key?: string | undefined; tenant?: string | undefined } = {},
): Event<K> {
  const signer = {
    ...signerOf(by, keyOf(by), seedOf(by)),
    ...(key === undefined ? {} : { public_key: key }),
  };
  return signAct(originOf('none', tenant), kind, subject, facts as never, signer, AT);
}

export function enrolled(name: string, by = name, key?: string, tenant?: string): Event<'key.enrolled'> {
  return act('key.enrolled', name, { principal: 'human', public_key: keyOf(name) }, by, { key, tenant });
}

export function enrolledAgent(name: string, by: string): Event<'key.enrolled'> {
  return act('key.enrolled', name, { principal: 'agent', public_key: null }, by);
}

export function revoked(name: string, by: string): Event<'key.revoked'> {
  return act('key.revoked', name, { reason: 'left' }, by);
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

export function granted(subject: string, by: string, key?: string): Event<'approval.granted'> {
  return act('approval.granted', subject, { hash: DIGEST, effect_digest: DIGEST, expires_at: EXPIRES }, by, {
    key,
  });
}

export function denied(subject: string, by: string): Event<'approval.denied'> {
  return act('approval.denied', subject, { hash: DIGEST, reason: 'no' }, by);
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
  return act('execution.resolved', subject, { execution_id, attempt: 1, outcome, reason: 'looked' }, by);
}

export function retried(
  subject: string,
  after: string,
  attempt: number,
  by: string,
): Event<'retry.authorised'> {
  return act('retry.authorised', subject, { attempt, after, hash: DIGEST, reason: 'again' }, by);
}

export function refused(subject: string): Event<'execution.refused'> {
  return { kind: 'execution.refused', subject, body: { hash: DIGEST, reason_code: 'APPROVAL_MISSING' } };
}

export function erased(digest: string, by: string): Event<'object.erased'> {
  return act('object.erased', digest, { reason: 'secret' }, by);
}
