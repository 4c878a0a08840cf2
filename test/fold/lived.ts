import { sign } from '../../src/canonical/ed25519.ts';
import type { Body, Event, EventKind } from '../../src/event/event.ts';
import { restsOn } from '../../src/fold/decided.ts';
import { signerOf, withdrawalOf } from '../../src/identity/act.ts';
import { accessed, confirmed, moved, planned, received, STEP, step } from '../gate/agent-story.ts';
import { asked, changed, dispatchOf, endOf, goal, of, told, waived } from '../store/agent-facts.ts';
import { added, heldKey, heldPasskey, lost, signedWith } from '../store/credential-facts.ts';
import { decisionFor } from '../store/decisions.ts';
import {
  act,
  activated,
  assigned,
  broken,
  capabilityOf,
  claimed,
  controlled,
  DIGEST,
  decided,
  delegation,
  denied,
  enrolled,
  enrolledAgent,
  erased,
  finished,
  frozen,
  granted,
  hosted,
  issued,
  keyOf,
  ORIGIN,
  objectExpired,
  ordered,
  POLICY,
  proposed,
  refused,
  replacedBy,
  resolved,
  retried,
  revoked,
  seedOf,
  signedBy,
  stated,
  submitted,
  takenBack,
  tokenAdded,
  tokenRevoked,
  uncontrolled,
  unfrozen,
  withdrawn,
  withdrew,
} from '../store/facts.ts';
import { governance, NOON } from '../store/place.ts';
import { softPasskey } from '../support/passkey.ts';

/** A ledger that could have been written, one entry a second, with every kind of event. */

export const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
export const timeOf = (seq: number) => new Date(Date.parse(NOON) + seq * 1000).toISOString();
const NEWER = 'cd'.repeat(32);
/** What ada signs with besides her first key. */
export const PHONE = softPasskey({ label: 'Phone' });
export const [SECOND, TOUCHED] = [heldKey('ada-second'), heldPasskey(PHONE)];
const by = (name: string, roles: string[] = []) => ({ approvers: [{ name, roles }] });

/** Every state machine moves in it. */
export function lived(): Event[] {
  const [a, b, c, d, e] = [id(1), id(2), id(3), id(4), id(5)] as const;
  const [first, second, third] = [id(11), id(12), id(13)] as const;
  const one = { ...goal('goal-1'), intent_id: id(6), execution_id: id(16) };
  const core = { proposer: 'agent-core', ...signedBy('agent-core') };
  const events = [
    ...governance('ada', 'bo', 'cy'),
    enrolledAgent('agent-core', 'ada', keyOf('agent-core')),
    assigned('bo', ['ops'], 'ada'),
    enrolled('di', 'bo'),
    assigned('di', ['auditor'], 'bo'),
    added('ada', SECOND),
    added('ada', TOUCHED),
    lost('ada', keyOf('ada-second'), 'bo'),
    tokenAdded('agent-core', id(41), 'ada'),
    tokenAdded('agent-core', id(42), 'bo'),
    tokenRevoked('agent-core', id(41), 'bo'),
    delegation(id(21), 'ada', 'planner'),
    proposed(a),
    granted(a, 'bo'),
    ...issued(a, 'ada', by('bo', ['ops'])),
    claimed(a, first),
    finished(a, first, 'failure'),
    retried(a, first, 2, 'ada'),
    ...issued(a, 'ada', { attempt: 2, ordinal: 2, ...by('bo', ['ops']) }),
    claimed(a, second, 2),
    finished(a, second, 'partial', 2),
    resolved(a, second, 'happened', 'bo', 'partial', 2),
    proposed(b),
    submitted(b, 'planner', id(21)),
    ...issued(b, 'planner', {
      delegation: id(21),
      ordinal: 3,
      expires_at: '2026-02-15T12:00:00.000Z',
      ...by('ada'),
    }),
    takenBack(id(21), 'ada'),
    proposed(c),
    signedWith(denied(c, 'ada'), TOUCHED),
    proposed(d),
    granted(d, 'cy'),
    broken(d, 'ada'),
    broken(d, 'bo'),
    ...issued(d, 'ada', { ordinal: 4, ...by('cy') }),
    withdrawn(d, 'ada'),
    revoked('cy', 'ada'),
    proposed(e),
    ...refusals(e),
    changed('Draft'),
    changed('Active'),
    ...[
      received(),
      planned({ steps: [step(one.step_id)] }),
      moved(STEP, 'PENDING', 'WAITING_CONFIRM'),
      moved(null, 'CREATED', 'WAITING_CONFIRM'),
      confirmed('YES'),
      moved(STEP, 'WAITING_CONFIRM', 'READY'),
      accessed('ALLOW'),
      moved(null, 'WAITING_CONFIRM', 'READY'),
      moved(null, 'READY', 'IN_PROGRESS'),
    ].map((event) => of(one, event)),
    proposed(one.intent_id, core),
    granted(one.intent_id, 'bo'),
    ...issued(one.intent_id, 'ada', { ordinal: 1, ...by('bo', ['ops']) }),
    dispatchOf(one),
    claimed(one.intent_id, one.execution_id),
    finished(one.intent_id, one.execution_id, 'success'),
    endOf(one, 'SUCCEEDED'),
    proposed(id(7)),
    granted(id(7), 'bo'),
    signedWith(granted(id(7), 'ada'), TOUCHED),
    ...issued(id(7), 'ada', { ordinal: 5, ...by('bo', ['ops']) }),
    claimed(id(7), third),
    proposed(id(31)),
    withdrew(id(31)),
    proposed(id(32), core),
    withdrew(id(32), signedBack(id(32), 'agent-core')),
    proposed(id(33)),
    proposed(id(34), { replaces: id(33), proposer: 'ada', proposer_kind: 'human', ...signedBy('ada') }),
    replacedBy(id(33), id(34), 'ada'),
    ...planRun(id(8), id(18)),
    ...denials(id(9)),
    ...turned(id(35), id(19)),
    ...others(),
  ];
  return [
    ...events,
    ...inTheirPlace(events.length),
    controlled('newer', 'bo'),
    uncontrolled('newer', 'ada'),
    activated('ada', NEWER),
    ...removals(events),
  ];
}

/** By a human who saw the run as `undoes` says. */
export function undoing(
  subject: string,
  execution_id: string,
  undoes: Body<'rollback.claimed'>['undoes'],
): Event<'rollback.claimed'> {
  const executor = { host: 'here', boot_id: 'boot', pid: 1, started: '1' };
  const undo = {
    execution_id,
    round: 1,
    checkpoints: [],
    except: [],
    undoes,
    executor,
    reason: 'not wanted',
  };
  return stated(act('rollback.claimed', subject, undo, 'ada'));
}

/** A plan that is stopped, taken back, and whose backups go. */
export function planRun(subject: string, execution_id: string, ordinal = 6): Event[] {
  return [
    proposed(subject, { effect: 'plan' }),
    granted(subject, 'bo'),
    ...issued(subject, 'ada', { ordinal, ...by('bo') }),
    claimed(subject, execution_id, 1, { reports: 'agent_outputs/reports/one' }),
    stated({ kind: 'execution.checkpointed', subject, body: { execution_id, manifest: DIGEST } }),
    stated({ kind: 'execution.announced', subject, body: { execution_id, journal: DIGEST } }),
    act('execution.stopped', subject, { execution_id, reason: 'the wrong one' }, 'bo'),
    stated({
      kind: 'violation.detected',
      subject,
      body: { execution_id, reason_code: 'FROZEN', decision: null, revoked: [] },
    }),
    finished(subject, execution_id, 'partial'),
    undoing(subject, execution_id, { status: 'partial', manifest: DIGEST, journal: DIGEST }),
    stated({
      kind: 'rollback.finished',
      subject,
      body: { execution_id, round: 1, result: 'complete', report: DIGEST },
    }),
    act('backups.expired', subject, { execution_id, bytes: 1, gives_up_undo: false, reason: 'full' }, 'ada'),
  ];
}

/** One signature approves and orders it. */
function turned(subject: string, execution_id: string): Event[] {
  return [
    proposed(subject),
    ...issued(subject, 'bo', { approves_until: timeOf(86_400), ordinal: 7, ...by('bo', ['ops']) }),
    claimed(subject, execution_id, 1, { decision: decisionFor(claimBy('bo', subject)) }),
    finished(subject, execution_id, 'success'),
  ];
}

const claimBy = (name: string, subject: string) =>
  ({ kind: 'execution.claimed', subject, by: name, policy: POLICY }) as const;

const no = (kind: EventKind, subject: string) => ({
  reason_code: 'POLICY_DENIED' as const,
  decision: decisionFor({ kind, subject, by: 'ada', policy: POLICY, allowed: false }),
});

/** By the gate and by the policies, of an intent that is known and of one that is not. */
function refusals(subject: string): Event[] {
  const run = refused(subject);
  return [
    run,
    { ...run, body: { ...run.body, ...no(run.kind, subject) } },
    { kind: 'intent.refused', subject, body: no('intent.refused', subject) },
    { kind: 'intent.refused', subject: id(10), body: { reason_code: 'SHAPE_INVALID', decision: null } },
  ];
}

/** An order that the policies deny. */
function denials(subject: string): Event[] {
  const decision = decisionFor({ kind: 'intent.submitted', subject, by: 'bo', policy: POLICY });
  return [
    proposed(subject),
    ...decided([
      { kind: 'intent.submitted', subject, body: { hash: DIGEST, by: 'bo', decision } },
      granted(subject, 'bo'),
    ]),
    ordered(subject, 'ada', by('bo', ['ops'])),
    {
      kind: 'order.denied',
      subject,
      body: { order_id: capabilityOf(subject), hash: DIGEST, ...no('order.denied', subject) },
    },
    {
      kind: 'capability.denied',
      subject,
      body: { hash: DIGEST, by: 'ada', ...no('capability.denied', subject) },
    },
  ];
}

/** A tool of a client that the policies let through, one that they did not, and one that was frozen. */
function clientCalls(subject: string): Event[] {
  const call = { by: 'ada', client: 'codex' as const, tool: 'Bash', call: DIGEST };
  const decision = decisionFor({ kind: 'call.passed', subject, by: 'ada', policy: POLICY });
  const frozen = { reason_code: 'FROZEN' as const, decision: null };
  return [
    { kind: 'call.passed', subject, body: { ...call, decision } },
    { kind: 'call.blocked', subject, body: { ...call, ...no('call.blocked', subject) } },
    { kind: 'call.blocked', subject, body: { ...call, ...frozen } },
  ];
}

function others(): Event[] {
  const gone = { public_key: keyOf('host-2'), reason: 'stolen' };
  return [
    hosted('host-2', 'ada'),
    act('executor.revoked', 'system', gone, 'bo'),
    act(
      'mcp.accepted',
      'mcp:files',
      { server: 'files', accepted: DIGEST, replaces: null, tools: 2, shadow: 1, reason: 'read' },
      'ada',
    ),
    ...shadowed(),
    act('mcp.removed', 'mcp:files', { server: 'files', accepted: DIGEST, reason: 'unused' }, 'bo'),
    ...clientCalls('client:ada'),
    asked('ada'),
    told('ada'),
    waived(timeOf(3600)),
  ];
}

/** A call that passed without an approval, and its end. */
export function shadowed(): Event[] {
  const subject = `shadow:${id(900)}`;
  const about = { server: 'files', tool: 'files__read' };
  return [
    stated({
      kind: 'mcp.shadowed',
      subject,
      body: {
        ...about,
        accepted: DIGEST,
        proposer: 'ada',
        verified: false,
        effect: DIGEST,
        would: 'ask',
        would_code: null,
        ruling: null,
      },
    }),
    stated({
      kind: 'mcp.shadow_ended',
      subject,
      body: {
        ...about,
        result: 'success',
        reason_code: null,
        output: { digest: null, bytes: 0, truncated: false },
      },
    }),
  ];
}

/** Two of the decisions that the store of these events keeps. */
function removals(events: readonly Event[]): Event[] {
  const [first, second] = events.map(restsOn).filter((digest) => digest !== null);
  return [objectExpired(first!, 'ada'), erased(second!, 'bo')];
}

function archivedUpTo(to: number) {
  return { from: 0, to, file: 'old.jsonl', sha256: DIGEST, bytes: 1, reason: 'full' };
}

/** Acts that are signed for one place and one time. */
function inTheirPlace(seq: number): Event[] {
  const [tool, head, clock] = [{ scope: 'tool', name: 'other' } as const, seq + 2, seq + 4];
  return [
    frozen('ada', tool),
    unfrozen('bo', tool, { by: 'ada', at: timeOf(seq) }),
    act('head.accepted', 'system', { seq: head, kept_size: 3, forgets: true, reason: 'restored' }, 'ada'),
    act('ledger.archived', 'system', archivedUpTo(head), 'ada'),
    act('clock.accepted', 'system', { seq: clock, now: timeOf(clock), reason: 'looked' }, 'ada'),
  ];
}

/** With the key of the proposer, in place of the receipt. */
function signedBack(intent_id: string, by: string): Partial<Body<'intent.withdrawn'>> {
  const statement = { origin: ORIGIN, intent_id, hash: DIGEST, reason: 'too late' };
  const proposer_signature = sign(withdrawalOf(statement), signerOf(by, keyOf(by), seedOf(by)).key);
  return { by, receipt: null, proposer_signature, proposer_key: keyOf(by) };
}
