import { randomUUID } from 'node:crypto';
import { sha256 } from '../../src/canonical/digest.ts';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import type { Body, Event, SignedKind } from '../../src/event/event.ts';
import { originOf, signAct, signerOf, signProposal } from '../../src/identity/act.ts';

/** Facts for tests of a store, signed with keys that follow from the names, in a ledger that begins with `begun()`. */

const PROJECT = '5b8f2c1e-9d64-4a0e-8a55-3f0c7d1b2e90';
export const ORIGIN = originOf(PROJECT, 'default');
export const DIGEST = 'ab'.repeat(32);
/** The snapshot that `activated` makes active unless told. */
export const POLICY = 'bc'.repeat(32);
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
  return signAct(originOf(PROJECT, tenant), kind, subject, facts as never, signer, AT);
}

export function begun(): Event<'system.initialised'> {
  const body = { project_id: PROJECT, ledger_key: keyOf('ledger'), version: '0.1.0' };
  return { kind: 'system.initialised', subject: 'system', body };
}

export function enrolled(name: string, by = name, key?: string, tenant?: string): Event<'key.enrolled'> {
  const facts = { principal: 'human', public_key: keyOf(name), roles: [] };
  return act('key.enrolled', name, facts, by, { key, tenant });
}

export function enrolledAgent(
  name: string,
  by: string,
  public_key: string | null = null,
): Event<'key.enrolled'> {
  return act('key.enrolled', name, { principal: 'agent', public_key, roles: [] }, by);
}

export function revoked(name: string, by: string): Event<'key.revoked'> {
  return act('key.revoked', name, { reason: 'left' }, by);
}

export function assigned(name: string, roles: string[], by: string): Event<'role.assigned'> {
  return act('role.assigned', name, { roles, reason: 'joined' }, by);
}

/** The name stands for a control key: the last one that was added signs capabilities. */
export function controlled(name: string, by: string): Event<'control_key.added'> {
  return act('control_key.added', 'system', { public_key: keyOf(name), reason: 'rotated' }, by);
}

export function activated(
  by: string,
  snapshot = POLICY,
  replaces: string | null = snapshot === POLICY ? null : POLICY,
): Event<'policy.activated'> {
  return act('policy.activated', 'system', { snapshot, replaces, policies: 1, reason: 'better' }, by);
}

type Target = Pick<Body<'system.frozen'>, 'scope' | 'name'>;
const EVERYTHING: Target = { scope: 'system', name: '' };

export function frozen(by: string, target = EVERYTHING): Event<'system.frozen'> {
  return act('system.frozen', 'system', { ...target, reason: 'looking into it' }, by);
}

export function unfrozen(by: string, target = EVERYTHING): Event<'system.unfrozen'> {
  return act('system.unfrozen', 'system', { ...target, reason: 'it was nothing' }, by);
}

/** To the key of `delegate`, for everything that `proposed` asks for, for long. */
export function delegation(
  subject: string,
  by: string,
  delegate: string,
  over: Partial<Body<'delegation.granted'>> = {},
): Event<'delegation.granted'> {
  const facts = {
    delegate,
    delegate_key: keyOf(delegate),
    actions: ['tool:*'],
    approves: true,
    expires_at: '2026-02-15T12:00:00.000Z',
    delegation: null,
    reason: 'while away',
  };
  return act('delegation.granted', subject, { ...facts, ...over }, by);
}

export function takenBack(subject: string, by: string): Event<'delegation.revoked'> {
  return act('delegation.revoked', subject, { reason: 'back again' }, by);
}

export function proposed(
  subject: string = randomUUID(),
  over: Partial<Body<'intent.proposed'>> = {},
): Event<'intent.proposed'> {
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
      proposer_signature: null,
      proposer_key: null,
      account: null,
      on_behalf_of: null,
      actions: ['tool:deploy'],
      alternates: [],
      replaces: null,
      contents: [],
      expires_at: EXPIRES,
      ...over,
    },
  };
}

/** Really signed by `by`, whoever is named as the proposer. */
export function signedBy(by: string): Pick<Body<'intent.proposed'>, 'proposer_signature' | 'proposer_key'> {
  const signer = signerOf(by, keyOf(by), seedOf(by));
  const proposer_signature = signProposal(ORIGIN, DIGEST, signer);
  return { proposer_signature, proposer_key: signer.public_key };
}

export function submitted(
  subject: string,
  by: string,
  delegation_id: string,
  over: Partial<Body<'intent.delegated'>> = {},
): Event<'intent.delegated'> {
  const facts = {
    hash: DIGEST,
    effect_digest: DIGEST,
    delegation: delegation_id,
    approver: { by: 'ada', key: keyOf('ada') },
    expires_at: '2026-02-15T12:00:00.000Z',
    decision: DIGEST,
  };
  return act('intent.delegated', subject, { ...facts, ...over }, by);
}

export function granted(subject: string, by: string, key?: string): Event<'approval.granted'> {
  const digests = { hash: DIGEST, effect_digest: DIGEST, decision: DIGEST };
  const facts = { ...digests, account: null, expires_at: EXPIRES };
  return act('approval.granted', subject, facts, by, { key });
}

export function denied(subject: string, by: string): Event<'approval.denied'> {
  return act('approval.denied', subject, { hash: DIGEST, reason: 'no' }, by);
}

/** One for each attempt of each intent, so that the claim of a run finds what was issued for it. */
export function capabilityOf(subject: string, attempt = 1): string {
  const hex = sha256(`${subject} ${attempt}`);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** `ordinal` counts the capabilities of the proposer, whatever intents they are for. */
export function issued(
  subject: string,
  by: string,
  over: Partial<Body<'capability.issued'>> = {},
): Event<'capability.issued'> {
  const { attempt = 1 } = over;
  const facts = {
    capability_id: capabilityOf(subject, attempt),
    attempt,
    hash: DIGEST,
    effect_digest: DIGEST,
    action: 'tool:deploy',
    token: DIGEST,
    audience: 'here',
    holder: null,
    control_key: keyOf('control'),
    expires_at: EXPIRES,
    policy: POLICY,
    decision: DIGEST,
    ordinal: 1,
    approvers: [{ name: 'ada', roles: [] }],
    glass: false,
    delegation: null,
  };
  return act('capability.issued', subject, { ...facts, ...over }, by);
}

export function withdrawn(subject: string, by: string, attempt = 1): Event<'capability.revoked'> {
  const facts = { capability_id: capabilityOf(subject, attempt), reason: 'lost' };
  return act('capability.revoked', subject, facts, by);
}

export function broken(subject: string, by: string): Event<'glass.broken'> {
  return act('glass.broken', subject, { attempt: 1, hash: DIGEST, decision: DIGEST, reason: 'fire' }, by);
}

export function claimed(
  subject: string,
  execution_id: string = randomUUID(),
  attempt = 1,
  over: Partial<Body<'execution.claimed'>> = {},
): Event<'execution.claimed'> {
  const executor = { host: 'here', boot_id: 'boot', pid: 1, started: '1' };
  const digests = { hash: DIGEST, effect_digest: DIGEST, registry_digest: DIGEST };
  const body = {
    execution_id,
    capability_id: capabilityOf(subject, attempt),
    presented: DIGEST,
    policy: POLICY,
    decision: DIGEST,
    attempt,
    ...digests,
    tool: 'deploy',
    reports: null,
    executor,
    ...over,
  };
  return { kind: 'execution.claimed', subject, body };
}

export function finished(
  subject: string,
  execution_id: string,
  result: 'success' | 'failure' | 'partial',
  attempt = 1,
): Event<'execution.finished'> {
  const capture = { digest: DIGEST, bytes: 1, truncated: false };
  return {
    kind: 'execution.finished',
    subject,
    body: {
      execution_id,
      capability_id: capabilityOf(subject, attempt),
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
  const effect = { hash: DIGEST, effect_digest: DIGEST, tool: 'deploy' };
  return act('retry.authorised', subject, { attempt, after, ...effect, reason: 'again' }, by);
}

export function refused(subject: string): Event<'execution.refused'> {
  const body = {
    hash: DIGEST,
    capability_id: null,
    reason_code: 'APPROVAL_MISSING' as const,
    decision: null,
  };
  return { kind: 'execution.refused', subject, body };
}

export function objectExpired(digest: string, by: string): Event<'object.expired'> {
  return act('object.expired', digest, { bytes: 1, reason: 'old' }, by);
}

export function erased(digest: string, by: string): Event<'object.erased'> {
  return act('object.erased', digest, { reason: 'secret' }, by);
}
