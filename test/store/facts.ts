import { randomUUID } from 'node:crypto';
import { sha256 } from '../../src/canonical/digest.ts';
import { keyPairFromSeed, sign } from '../../src/canonical/ed25519.ts';
import { isUuid } from '../../src/canonical/uuid.ts';
import { kidOf } from '../../src/capability/key.ts';
import { mint } from '../../src/capability/token.ts';
import {
  type Body,
  type ControlProof,
  type Drafted,
  type Event,
  isControlled,
  type SignedKind,
} from '../../src/event/event.ts';
import { originOf, proposalOf, signerOf } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { type FactKind, signDecided, signFact, type Unsigned } from '../../src/identity/fact.ts';
import { signedAt } from '../support/signed.ts';
import { decisionFor, madeToken, POLICY } from './decisions.ts';

/** Facts for tests of a store, signed with keys that follow from the names, in a ledger that begins with `begun()`. */

const PROJECT = '5b8f2c1e-9d64-4a0e-8a55-3f0c7d1b2e90';
export const ORIGIN = originOf(PROJECT, 'default');
export const DIGEST = 'ab'.repeat(32);
/** The snapshot that `activated` makes active unless told. */
export { POLICY };

const EXPIRES = '2030-01-15T12:00:00.000Z';

export const seedOf = (name: string) => Buffer.alloc(32, name);
export const keyOf = (name: string) => keyPairFromSeed(seedOf(name)).public_key;
const AT = new Date('2026-01-15T12:00:00.000Z');

/** Made by the key of `signs`, which is that of `by` unless told; `key` is the key that the act claims, which a test may forge. */
export function act<K extends SignedKind>(
  kind: K,
  subject: string,
  facts: object,
  by: string,
  {
    key,
    tenant = 'default',
    signs = by,
    at = AT,
    control = 'control',
  }: {
    key?: string | undefined;
    tenant?: string | undefined;
    signs?: string | undefined;
    at?: Date | undefined;
    /** Whose key signs what stands beside. */
    control?: string | undefined;
  } = {},
): Event<K> {
  const signer = {
    ...signerOf(by, keyOf(signs), seedOf(signs)),
    ...(key === undefined ? {} : { public_key: key }),
  };
  const origin = originOf(PROJECT, tenant);
  const acted = signedAt(origin, kind, subject, facts as never, signer, at);
  return (isControlled(acted) ? decided([acted as never], control, origin)[0] : acted) as Event<K>;
}

/** One commit of the control plane with this key, whatever proof of it these had before. */
export function decided(drafted: readonly Drafted[], control = 'control', origin = ORIGIN): Event[] {
  const bare = drafted.map((one) => {
    const {
      control_key: _,
      control_signature: __,
      control_covers: ___,
      ...body
    } = one.body as unknown as ControlProof;
    return isControlled(one) ? ({ ...one, body } as unknown as Drafted) : one;
  });
  return signDecided(origin, bare, signerOf(control, keyOf(control), seedOf(control)));
}

export function begun(): Event<'system.initialised'> {
  const body = { project_id: PROJECT, ledger_key: keyOf('ledger'), version: '0.1.0' };
  return { kind: 'system.initialised', subject: 'system', body };
}

export function enrolled(name: string, by = name, key?: string, tenant?: string): Event<'key.enrolled'> {
  const facts = { principal: 'human', credential: keyCredential(keyOf(name)), own: null, roles: [] };
  return act('key.enrolled', name, facts, by, { key, tenant });
}

export function enrolledAgent(
  name: string,
  by: string,
  public_key: string | null = null,
): Event<'key.enrolled'> {
  const credential = public_key === null ? null : keyCredential(public_key);
  return act('key.enrolled', name, { principal: 'agent', credential, own: null, roles: [] }, by);
}

export function revoked(name: string, by: string): Event<'key.revoked'> {
  return act('key.revoked', name, { reason: 'left' }, by);
}

export function assigned(
  name: string,
  roles: string[],
  by: string,
  replaces: string[] = [],
): Event<'role.assigned'> {
  return act('role.assigned', name, { roles, replaces, reason: 'joined' }, by);
}

/** The name stands for a control key: the last one that was added signs capabilities. */
export function controlled(
  name: string,
  by: string,
  replaces: string | null = null,
): Event<'control_key.added'> {
  const facts = { public_key: keyOf(name), replaces: replaces && keyOf(replaces), reason: 'rotated' };
  return act('control_key.added', 'system', facts, by);
}

export function uncontrolled(name: string, by: string): Event<'control_key.revoked'> {
  return act('control_key.revoked', 'system', { public_key: keyOf(name), reason: 'stolen' }, by);
}

/** The name stands for the key of a host, which runs what is ordered for "here" unless told. */
export function hosted(
  name: string,
  by: string,
  as = 'here',
  replaces: Body<'executor.added'>['replaces'] = null,
): Event<'executor.added'> {
  return act(
    'executor.added',
    'system',
    { public_key: keyOf(name), name: as, labels: [], replaces, reason: 'a machine' },
    by,
  );
}

/** Stated by the executor whose key follows from this name. */
export function stated<K extends FactKind<'executor'>>(
  fact: Unsigned<'executor', K>,
  host = 'host',
): Event<K> {
  return signFact(ORIGIN, 'executor', fact, signerOf(host, keyOf(host), seedOf(host)));
}

export function activated(
  by: string,
  snapshot = POLICY,
  replaces: string | null = snapshot === POLICY ? null : POLICY,
): Event<'policy.activated'> {
  return act('policy.activated', 'system', { snapshot, replaces, policies: 1, reason: 'better' }, by);
}

const FROZEN_AT = AT.toISOString();
type Target = Pick<Body<'system.frozen'>, 'scope' | 'name'>;
const EVERYTHING: Target = { scope: 'system', name: '' };

export function frozen(by: string, target = EVERYTHING): Event<'system.frozen'> {
  return act('system.frozen', 'system', { ...target, reason: 'looking into it' }, by);
}

/** What ada froze when the clock of a test stood, unless told. */
export function unfrozen(
  by: string,
  target = EVERYTHING,
  lifts: Body<'system.unfrozen'>['lifts'] = { by: 'ada', at: FROZEN_AT },
): Event<'system.unfrozen'> {
  return act('system.unfrozen', 'system', { ...target, lifts, reason: 'it was nothing' }, by);
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
    grant: null,
    expires_at: '2026-02-15T12:00:00.000Z',
    delegation: null,
    reason: 'while away',
  };
  return act('delegation.granted', subject, { ...facts, ...over }, by);
}

export function takenBack(subject: string, by: string): Event<'delegation.revoked'> {
  return act('delegation.revoked', subject, { reason: 'back again' }, by);
}

/** What the proposer of each of these was told. */
export const RECEIPT = 'r'.repeat(43);

/** The proposer takes it back, with the receipt; or signs with this key. */
export function withdrew(
  subject: string,
  over: Partial<Body<'intent.withdrawn'>> = {},
): Event<'intent.withdrawn'> {
  const body = { hash: DIGEST, by: 'planner', reason: 'too late', receipt: RECEIPT };
  return {
    kind: 'intent.withdrawn',
    subject,
    body: { ...body, proposer_signature: null, proposer_key: null, ...over },
  };
}

/** A human proposed another intent in its place. */
export function replacedBy(subject: string, replacement: string, by: string): Event<'intent.replaced'> {
  return act('intent.replaced', subject, { hash: DIGEST, replacement, replacement_hash: DIGEST }, by);
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
      tools: [over.tool ?? 'deploy'],
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
      undoes: null,
      contents: [],
      receipt: sha256(RECEIPT),
      expires_at: EXPIRES,
      ...over,
    },
  };
}

/** Really signed by `by`, also where the body names another proposer. */
export function signedBy(by: string): Pick<Body<'intent.proposed'>, 'proposer_signature' | 'proposer_key'> {
  const signer = signerOf(by, keyOf(by), seedOf(by));
  const proposer_signature = sign(proposalOf(ORIGIN, DIGEST), signer.key);
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
    decision: decisionFor({ kind: 'intent.delegated', subject, by, policy: POLICY }),
  };
  return act('intent.delegated', subject, { ...facts, ...over }, by);
}

export function granted(subject: string, by: string, key?: string): Event<'approval.granted'> {
  const decision = decisionFor({ kind: 'approval.granted', subject, by, policy: POLICY });
  const facts = { hash: DIGEST, effect_digest: DIGEST, decision, account: null, expires_at: EXPIRES };
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

type OrderOrIssue = Partial<Body<'order.given'> & Body<'capability.issued'>>;

/** An order, and the capability that the control plane issues under it. `ordinal` counts those of the proposer, for all intents. */
export function issued(subject: string, by: string, over: OrderOrIssue = {}): [Event, Event] {
  return [ordered(subject, by, over), issuedUnder(subject, over, by)];
}

export function ordered(subject: string, by: string, over: OrderOrIssue = {}): Event<'order.given'> {
  const { attempt = 1 } = over;
  const facts = {
    order_id: over.capability_id ?? over.order_id ?? capabilityOf(subject, attempt),
    attempt,
    hash: over.hash ?? DIGEST,
    effect_digest: over.effect_digest ?? DIGEST,
    action: over.action ?? 'tool:deploy',
    bounds: over.bounds ?? null,
    audience: over.audience ?? `${ORIGIN}/here`,
    holder: over.holder ?? null,
    expires_at: over.expires_at ?? EXPIRES,
    lapses_at: over.lapses_at ?? over.expires_at ?? EXPIRES,
    approves_until: over.approves_until ?? null,
    delegation: over.delegation ?? null,
    account: null,
    approvers: over.approvers ?? [{ name: 'ada', roles: [] }],
    decision: over.approves_until
      ? decisionFor({ kind: 'order.given', subject, by, policy: over.policy ?? POLICY })
      : null,
  };
  return act('order.given', subject, facts, by, { control: seedOfControl(over.control_key) });
}

/** Signed by the key that follows from the name `control`, whatever key it names. */
export function issuedUnder(
  subject: string,
  over: OrderOrIssue = {},
  by = 'ada',
): Event<'capability.issued'> {
  const { attempt = 1, control_key = keyOf('control'), policy = POLICY } = over;
  const facts = {
    capability_id: over.capability_id ?? capabilityOf(subject, attempt),
    attempt,
    hash: over.hash ?? DIGEST,
    effect_digest: over.effect_digest ?? DIGEST,
    action: over.action ?? 'tool:deploy',
    token:
      over.token ??
      tokenFor(
        subject,
        { ...over, attempt, policy, control_key },
        over.capability_id ?? capabilityOf(subject, attempt),
      ),
    expires_at: over.expires_at ?? EXPIRES,
    policy,
    decision: decisionFor({ kind: 'capability.issued', subject, by, policy }),
    ordinal: over.ordinal === undefined ? 1 : over.ordinal,
    approvers: over.approvers ?? [{ name: 'ada', roles: [] }],
    break_glass: over.break_glass ?? false,
  };
  const seed = seedOfControl(control_key);
  const { key } = signerOf(seed, control_key, seedOf(seed));
  const fact = { kind: 'capability.issued', subject, body: facts } as const;
  return signFact(ORIGIN, 'control', fact, { public_key: control_key, key });
}

/** The token that an order as these facts have it asks for, signed as the entry is. */
function tokenFor(subject: string, over: OrderOrIssue, capability_id: string): string {
  // No token is about what is no intent.
  if (!isUuid(subject)) return DIGEST;
  const { control_key = keyOf('control'), expires_at = EXPIRES } = over;
  const seed = seedOfControl(control_key);
  const claims = {
    jti: capability_id,
    issuer: ORIGIN,
    audience: over.audience ?? `${ORIGIN}/here`,
    intent_id: subject,
    intent_hash: over.hash ?? DIGEST,
    effect_digest: over.effect_digest ?? DIGEST,
    attempt: over.attempt ?? 1,
    policy: over.policy ?? POLICY,
    action: over.action ?? 'tool:deploy',
    tool_category: null,
    scope: { unconfined: true, network: true, read: [], write: [], pipelines: [] },
    conditions: {},
    // A token lives an hour at most, and the facts of these tests for years.
    issued_at: new Date(Date.parse(expires_at) - 60_000).toISOString(),
    expires_at,
    holder: over.holder ?? null,
  };
  return madeToken(
    mint(claims, { kid: kidOf(control_key), key: signerOf(seed, control_key, seedOf(seed)).key }),
  );
}

const seedOfControl = (control_key?: string) =>
  CONTROL_SEEDS.find((name) => keyOf(name) === control_key) ?? 'control';

const CONTROL_SEEDS = ['control', 'newer', 'newest', 'other'];

export function withdrawn(subject: string, by: string, attempt = 1): Event<'capability.revoked'> {
  const facts = { capability_id: capabilityOf(subject, attempt), reason: 'lost' };
  return act('capability.revoked', subject, facts, by);
}

export function broken(subject: string, by: string, reason = 'fire'): Event<'break_glass.used'> {
  const decision = decisionFor({ kind: 'break_glass.used', subject, by, policy: POLICY });
  return act('break_glass.used', subject, { attempt: 1, hash: DIGEST, decision, reason }, by);
}

export function claimed(
  subject: string,
  execution_id: string = randomUUID(),
  attempt = 1,
  over: Partial<Body<'execution.claimed'>> = {},
  by = 'ada',
): Event<'execution.claimed'> {
  const executor = { host: 'here', boot_id: 'boot', pid: 1, started: '1' };
  const { policy = POLICY } = over;
  const digests = { hash: DIGEST, effect_digest: DIGEST, registry_digest: DIGEST };
  const body = {
    execution_id,
    capability_id: capabilityOf(subject, attempt),
    presented: DIGEST,
    policy,
    decision: decisionFor({ kind: 'execution.claimed', subject, by, policy }),
    attempt,
    ...digests,
    tool: 'deploy',
    reports: null,
    executor,
    ...over,
  };
  return stated({ kind: 'execution.claimed', subject, body });
}

export function finished(
  subject: string,
  execution_id: string,
  result: 'success' | 'failure' | 'partial',
  attempt = 1,
): Event<'execution.finished'> {
  const capture = { digest: DIGEST, bytes: 1, truncated: false };
  return stated({
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
  });
}

export function resolved(
  subject: string,
  execution_id: string,
  outcome: 'happened' | 'did_not_happen',
  by: string,
  settles: 'claimed' | 'partial' = 'claimed',
  attempt = 1,
): Event<'execution.resolved'> {
  const facts = { execution_id, attempt, settles, outcome, reason: 'looked' };
  return act('execution.resolved', subject, facts, by);
}

export function retried(
  subject: string,
  after: string,
  attempt: number,
  by: string,
  over: Partial<Body<'retry.authorised'>> = {},
): Event<'retry.authorised'> {
  const effect = { hash: DIGEST, effect_digest: DIGEST, tool: 'deploy' };
  const facts = { attempt, after, from: 'failed', ...effect, reason: 'again', ...over } as const;
  return act('retry.authorised', subject, facts, by);
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

export function erased(
  digest: string,
  by: string,
  needed_by: Body<'object.erased'>['needed_by'] = [],
): Event<'object.erased'> {
  return act('object.erased', digest, { needed_by, reason: 'secret' }, by);
}

/** A token whose digest follows from its id. */
export function tokenAdded(agent: string, token_id: string, by: string): Event<'token.added'> {
  return act('token.added', agent, { token_id, digest: sha256(token_id), reason: 'for the service' }, by);
}

export function tokenRevoked(agent: string, token_id: string, by: string): Event<'token.revoked'> {
  return act('token.revoked', agent, { token_id, reason: 'no longer used' }, by);
}
