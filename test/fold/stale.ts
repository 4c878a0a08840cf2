import type { Body, Event, SignedKind } from '../../src/event/event.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { changed, stood } from '../store/agent-facts.ts';
import { added, heldKey, lost } from '../store/credential-facts.ts';
import {
  act,
  activated,
  assigned,
  broken,
  claimed,
  controlled,
  DIGEST,
  delegation,
  denied,
  enrolledAgent,
  erased,
  finished,
  frozen,
  granted,
  hosted,
  issued,
  keyOf,
  ordered,
  proposed,
  replacedBy,
  resolved,
  retried,
  revoked,
  signedBy,
  submitted,
  takenBack,
  tokenAdded,
  tokenRevoked,
  uncontrolled,
  unfrozen,
  withdrawn,
} from '../store/facts.ts';
import { governance } from '../store/place.ts';
import { id, planRun, timeOf, undoing } from './lived.ts';

/** An act that was drawn up and waits for its signature, and what another human does meanwhile to what the signer saw. */
interface Stale {
  readonly before?: readonly Event[];
  readonly meanwhile: readonly Event[];
  readonly act: Event;
  readonly code: ReasonCode;
}

const [A, B, C] = [id(1), id(2), id(3)];
const begins = governance('ada', 'bo', 'cy');
const N = begins.length;
const by = { approvers: [{ name: 'bo', roles: [] }] };
const OTHER = 'cd'.repeat(32);
const alternate = { tool: 'backup', effect_digest: OTHER };
const turned = (over = {}) => [
  proposed(A, { alternates: [alternate], ...over }),
  granted(A, 'bo'),
  ...issued(A, 'ada', by),
  claimed(A, B),
];
/** Of an object that the store of these events keeps. */
const stored = granted(A, 'bo').body.decision;
const waiting = turned().slice(0, -1);
const failed = [...turned(), finished(A, B, 'failure')];
/** It ran, failed, and another human turned to an alternate that the intent names. */
const retriedOther = [claimed(A, B), finished(A, B, 'failure'), retried(A, B, 2, 'bo', alternate)];
const server = (accepted: string, replaces: string | null) =>
  act('mcp.accepted', 'mcp:files', { server: 'files', accepted, replaces, tools: 1, reason: 'x' }, 'bo');
const edit = { replaces: A, proposer: 'ada', proposer_kind: 'human', ...signedBy('ada') } as const;
const plan = planRun(A, B, 1);
const planUpTo = (kind: Event['kind']) => plan.slice(0, plan.findIndex((one) => one.kind === kind) + 1);
const serverGone = (name: string) =>
  act('mcp.removed', 'mcp:files', { server: 'files', accepted: DIGEST, reason: 'x' }, name);
const FIRST = { name: 'first', labels: [] };
const rollback = plan.find(({ kind }) => kind === 'rollback.claimed')!;
const rolled = (undoes: Body<'rollback.claimed'>['undoes']) => undoing(A, B, undoes);
const again = act('system.frozen', 'system', { scope: 'system', name: '', reason: 'again' }, 'bo');
const head = (seq: number) =>
  act('head.accepted', 'system', { seq, kept_size: 3, forgets: true, reason: 'x' }, 'ada');

/** For each kind that is signed: what makes it stale, and with which code it is refused; or why nothing that was shown can change. */
export const ROWS: { readonly [K in SignedKind]: readonly Stale[] | string } = {
  'key.enrolled': [
    {
      meanwhile: [enrolledAgent('scout', 'bo')],
      act: enrolledAgent('scout', 'ada'),
      code: 'PRINCIPAL_EXISTS',
    },
  ],
  'key.revoked': [{ meanwhile: [revoked('cy', 'bo')], act: revoked('cy', 'ada'), code: 'KEY_REVOKED' }],
  'credential.added': [
    { meanwhile: [revoked('cy', 'bo')], act: added('cy', heldKey('cy-2')), code: 'KEY_REVOKED' },
  ],
  'credential.revoked': [
    {
      meanwhile: [lost('cy', keyOf('cy'), 'bo')],
      act: lost('cy', keyOf('cy'), 'ada'),
      code: 'KEY_REVOKED',
    },
  ],
  'token.added': [
    {
      meanwhile: [revoked('planner', 'bo')],
      act: tokenAdded('planner', id(41), 'ada'),
      code: 'KEY_REVOKED',
    },
  ],
  'token.revoked': [
    {
      before: [tokenAdded('planner', id(41), 'ada')],
      meanwhile: [tokenRevoked('planner', id(41), 'bo')],
      act: tokenRevoked('planner', id(41), 'ada'),
      code: 'KEY_REVOKED',
    },
  ],
  'role.assigned': [
    {
      meanwhile: [assigned('cy', ['auditor'], 'bo')],
      act: assigned('cy', ['ops'], 'ada'),
      code: 'ACT_CHANGED',
    },
  ],
  'control_key.added': [
    {
      meanwhile: [controlled('newer', 'bo', 'control')],
      act: controlled('newest', 'ada', 'control'),
      code: 'CONTROL_KEY_REVOKED',
    },
  ],
  'control_key.revoked': [
    {
      meanwhile: [uncontrolled('control', 'bo')],
      act: uncontrolled('control', 'ada'),
      code: 'CONTROL_KEY_REVOKED',
    },
  ],
  'executor.added': [
    { meanwhile: [hosted('host-2', 'bo')], act: hosted('host-2', 'ada'), code: 'KEY_ENROLLED_TWICE' },
    {
      meanwhile: [hosted('host-2', 'bo', 'other')],
      act: hosted('host-2', 'ada'),
      code: 'ACT_CHANGED',
    },
    {
      before: [hosted('host-2', 'bo', 'first')],
      meanwhile: [hosted('host-2', 'cy', 'second', FIRST)],
      act: hosted('host-2', 'ada', 'third', FIRST),
      code: 'ACT_CHANGED',
    },
  ],
  'executor.revoked': [
    {
      meanwhile: [act('executor.revoked', 'system', { public_key: keyOf('host'), reason: 'x' }, 'bo')],
      act: act('executor.revoked', 'system', { public_key: keyOf('host'), reason: 'x' }, 'ada'),
      code: 'EXECUTOR_REVOKED',
    },
  ],
  'policy.activated': [
    { meanwhile: [activated('bo', OTHER)], act: activated('ada', 'ef'.repeat(32)), code: 'POLICY_REPLACED' },
  ],
  'system.frozen': [{ meanwhile: [frozen('bo')], act: frozen('ada'), code: 'FROZEN_ALREADY' }],
  'system.unfrozen': [
    {
      before: [frozen('bo')],
      meanwhile: [unfrozen('cy', undefined, { by: 'bo', at: timeOf(N) })],
      act: unfrozen('ada', undefined, { by: 'bo', at: timeOf(N) }),
      code: 'NOT_FROZEN',
    },
    {
      before: [frozen('bo')],
      meanwhile: [unfrozen('bo', undefined, { by: 'bo', at: timeOf(N) }), again],
      act: unfrozen('ada', undefined, { by: 'bo', at: timeOf(N) }),
      code: 'ACT_CHANGED',
    },
    // A head that forgets freezes everything, for another reason than the one that was seen.
    {
      before: [frozen('bo')],
      meanwhile: [head(N + 1)],
      act: unfrozen('ada', undefined, { by: 'bo', at: timeOf(N) }),
      code: 'ACT_CHANGED',
    },
  ],
  'head.accepted': [{ meanwhile: [frozen('bo')], act: head(N), code: 'DECISION_STALE' }],
  'clock.accepted': [
    {
      meanwhile: [frozen('bo')],
      act: act('clock.accepted', 'system', { seq: N, now: timeOf(N), reason: 'x' }, 'ada'),
      code: 'DECISION_STALE',
    },
  ],
  'mcp.accepted': [
    {
      meanwhile: [server(OTHER, null)],
      act: act(
        'mcp.accepted',
        'mcp:files',
        { server: 'files', accepted: DIGEST, replaces: null, tools: 1, reason: 'x' },
        'ada',
      ),
      code: 'MCP_SERVER_CHANGED',
    },
  ],
  'mcp.removed': [
    {
      before: [server(DIGEST, null)],
      meanwhile: [serverGone('bo')],
      act: serverGone('ada'),
      code: 'MCP_SERVER_UNKNOWN',
    },
    {
      before: [server(DIGEST, null)],
      meanwhile: [server(OTHER, DIGEST)],
      act: serverGone('ada'),
      code: 'MCP_SERVER_CHANGED',
    },
  ],
  'delegation.granted': 'who was revoked meanwhile uses no delegation: each use looks at the key',
  'delegation.revoked': [
    {
      before: [delegation(id(21), 'ada', 'planner')],
      meanwhile: [takenBack(id(21), 'bo')],
      act: takenBack(id(21), 'ada'),
      code: 'DELEGATION_REVOKED',
    },
  ],
  'intent.replaced': [
    {
      before: [proposed(A), proposed(B, edit)],
      meanwhile: [granted(A, 'bo')],
      act: replacedBy(A, B, 'ada'),
      code: 'EDIT_NOT_DUE',
    },
  ],
  'intent.delegated': [
    {
      before: [delegation(id(21), 'ada', 'planner'), proposed(A)],
      meanwhile: [takenBack(id(21), 'ada')],
      act: submitted(A, 'planner', id(21)),
      code: 'DELEGATION_REVOKED',
    },
    {
      before: [delegation(id(21), 'ada', 'planner'), proposed(A)],
      meanwhile: [],
      act: submitted(A, 'planner', id(21), { effect_digest: OTHER }),
      code: 'ACT_CHANGED',
    },
  ],
  'approval.granted': [
    { before: [proposed(A)], meanwhile: [denied(A, 'bo')], act: granted(A, 'cy'), code: 'INTENT_REJECTED' },
    // A retry turned to an alternate that the intent names: another effect than the one that was seen.
    {
      before: waiting,
      meanwhile: retriedOther,
      act: granted(A, 'cy'),
      code: 'ACT_CHANGED',
    },
  ],
  'approval.denied': [
    {
      before: waiting,
      meanwhile: [claimed(A, B)],
      act: denied(A, 'ada'),
      code: 'RUN_IN_DOUBT',
    },
  ],
  'order.given': [
    {
      before: waiting,
      meanwhile: retriedOther,
      act: ordered(A, 'ada', { ...by, order_id: C }),
      code: 'CAPABILITY_INTENT_CHANGED',
    },
  ],
  'capability.revoked': [
    {
      before: waiting,
      meanwhile: [withdrawn(A, 'bo')],
      act: withdrawn(A, 'ada'),
      code: 'CAPABILITY_REVOKED',
    },
  ],
  'break_glass.used': [
    {
      before: waiting,
      meanwhile: retriedOther,
      act: broken(A, 'ada'),
      code: 'TRANSITION_ILLEGAL',
    },
  ],
  'execution.stopped': [
    {
      before: turned(),
      meanwhile: [finished(A, B, 'failure')],
      act: act('execution.stopped', A, { execution_id: B, reason: 'x' }, 'ada'),
      code: 'STOP_NOT_DUE',
    },
  ],
  'execution.resolved': [
    {
      before: turned(),
      meanwhile: [finished(A, B, 'partial')],
      act: resolved(A, B, 'did_not_happen', 'ada'),
      code: 'ACT_CHANGED',
    },
  ],
  'retry.authorised': [
    {
      before: failed,
      meanwhile: [retried(A, B, 2, 'bo')],
      act: retried(A, B, 2, 'ada'),
      code: 'RETRY_NOT_DUE',
    },
    // Its files stood when the human looked, and were taken back meanwhile.
    {
      before: [...planUpTo('execution.announced'), finished(A, B, 'failure')],
      meanwhile: [
        rolled({ status: 'failed', manifest: DIGEST, journal: DIGEST }),
        plan.find(({ kind }) => kind === 'rollback.finished')!,
      ],
      act: retried(A, B, 2, 'ada'),
      code: 'ACT_CHANGED',
    },
  ],
  'rollback.claimed': [
    {
      before: planUpTo('rollback.claimed').slice(0, -1),
      meanwhile: [rollback],
      act: rollback,
      code: 'CLAIM_TAKEN',
    },
    // It was in doubt when the human looked, and its executor told the end of it meanwhile.
    {
      before: planUpTo('execution.announced'),
      meanwhile: [finished(A, B, 'failure')],
      act: rolled({ status: 'claimed', manifest: DIGEST, journal: DIGEST }),
      code: 'ACT_CHANGED',
    },
    // It stands as it did, and did more than was shown.
    {
      before: planUpTo('execution.checkpointed'),
      meanwhile: [plan.find(({ kind }) => kind === 'execution.announced')!],
      act: rolled({ status: 'claimed', manifest: DIGEST, journal: null }),
      code: 'ACT_CHANGED',
    },
  ],
  'backups.expired': [
    {
      before: planUpTo('execution.finished'),
      meanwhile: plan.filter(({ kind }) => kind.startsWith('rollback.')),
      act: act(
        'backups.expired',
        A,
        { execution_id: B, bytes: 1, gives_up_undo: true, reason: 'full' },
        'ada',
      ),
      code: 'TRANSITION_ILLEGAL',
    },
  ],
  'ledger.archived': 'entries never change',
  'object.erased': [
    // It was ordered when the human looked, and runs by now.
    {
      before: turned({ alternates: [{ tool: 'backup', effect_digest: stored }] }).slice(0, -1),
      meanwhile: [claimed(A, B)],
      act: erased(stored, 'ada', [{ subject: A, stops: true, undo: null }]),
      code: 'ACT_CHANGED',
    },
  ],
  'object.expired': 'the bytes of a digest never change',
  'simulation.changed': [
    {
      before: [changed('Draft'), changed('Active')],
      meanwhile: [changed('Deprecated', 'bo')],
      act: changed('Active', 'ada', { from: stood('Active') }),
      code: 'ACT_CHANGED',
    },
    { meanwhile: [changed('Draft', 'bo')], act: changed('Draft'), code: 'SIMULATION_CHANGE_ILLEGAL' },
  ],
  'slo.waived': 'figures are of a time that is over',
};

/** Each with the ledger in which its act is stale, and, where something happened meanwhile, the one without that. */
export const STALE = Object.entries(ROWS).flatMap(([kind, rows]) =>
  typeof rows === 'string'
    ? []
    : rows.map(({ before = [], meanwhile, act: one, code }, n) => ({
        ...{ kind, n, code },
        stale: [...begins, ...before, ...meanwhile, one],
        current: meanwhile.length > 0 ? [...begins, ...before, one] : null,
      })),
);
