import { sha256 } from '../../src/canonical/digest.ts';
import type { Event, EventKind } from '../../src/event/event.ts';
import { type DecisionRecord, sealDecision } from '../../src/policy/replay.ts';
import { BLANK, type PolicyAction, timeContext } from '../../src/policy/request.ts';
import type { Commit, Store } from '../../src/store/store.ts';

/** Decisions that facts of a store's tests rest on. Each follows from what it is for, so that it can be made again for its event. */

/** The snapshot of policies that is active in a governed store. */
export const POLICY = 'bc'.repeat(32);

const ACTIONS: Readonly<Partial<Record<EventKind, PolicyAction>>> = {
  'intent.submitted': 'submit',
  'intent.delegated': 'submit',
  'approval.granted': 'approve',
  'order.given': 'approve',
  'capability.issued': 'grant',
  'order.denied': 'grant',
  'capability.denied': 'grant',
  'break_glass.used': 'break_glass',
  'execution.claimed': 'execute',
  'intent.refused': 'submit',
  'execution.refused': 'execute',
  'call.passed': 'pass',
  'call.blocked': 'pass',
};

export interface Decided {
  readonly kind: EventKind;
  readonly subject: string;
  readonly by: string;
  /** The active policies. */
  readonly policy: string;
  readonly allowed?: boolean;
}

export function recordFor({ kind, subject, by, policy, allowed = true }: Decided): DecisionRecord {
  const counts = { humans: 1, pace_minute: 0, pace_hour: 0, pace_day: 0 };
  return {
    format: 'keyturn-decision/1',
    snapshot: policy,
    subject,
    nonce: Buffer.alloc(16).toString('base64'),
    request: {
      action: ACTIONS[kind]!,
      principal: { kind: 'human', name: by, roles: [], enrolled_by: 'ada' },
      resource: {
        ...{ kind: 'tool', name: 'deploy', sandboxed: true, network: false, elevated: false, undo: 'none' },
        ...{ writes: [], protected: [], tools: [], categories: [] },
      },
      context: {
        ...BLANK,
        ...{ goal: 'Deploy.', action: 'tool:deploy', requested_actions: ['tool:deploy'] },
        ...{ proposer: 'planner', proposer_kind: 'agent', environment: 'default' },
        ...timeContext(new Date(0)),
        ...counts,
      },
    },
    decision: { allowed, code: allowed ? null : 'POLICY_DENIED', policies: [], words: 'As the test has it.' },
  };
}

export const decisionFor = (decided: Decided): string => sealDecision(recordFor(decided)).digest;

const TOKENS = new Map<string, Uint8Array>();

/** Keeps a token, for the commit of the event that names it by this digest. */
export function madeToken(text: string): string {
  const digest = sha256(text);
  TOKENS.set(digest, Buffer.from(text));
  return digest;
}

/** A token that was made here. */
export function tokenText(digest: string): string {
  return Buffer.from(TOKENS.get(digest)!).toString();
}

/** The bytes of the decisions and tokens that these events name, of those that were made for them here. */
export function decisionsOf(events: readonly Event[]): Uint8Array[] {
  return [...decidedIn(events), ...tokensIn(events)];
}

function tokensIn(events: readonly Event[]): Uint8Array[] {
  return events.flatMap(({ kind, body }) => {
    const token = kind === 'capability.issued' ? TOKENS.get(body.token) : undefined;
    return token ? [token] : [];
  });
}

function decidedIn(events: readonly Event[]): Uint8Array[] {
  return events.flatMap((event) => {
    const { kind, subject, body } = event;
    if (ACTIONS[kind] === undefined || !('decision' in body)) return [];
    const policy = 'policy' in body ? body.policy : POLICY;
    // A capability names its order and not the human who gave that.
    const people = 'by' in body ? [body.by] : ['ada', 'bo', 'cy', 'planner'];
    const made = [true, false].flatMap((allowed) =>
      people.map((by) => sealDecision(recordFor({ kind, subject, by, policy, allowed }))),
    );
    return made.filter(({ digest }) => digest === body.decision).map(({ bytes }) => bytes);
  });
}

/** The same store. With each fact it is given the decision that the fact rests on, as a journey would. */
export function bringingDecisions(store: Store): Store {
  const commit = (given: Commit) =>
    store.commit({ ...given, objects: [...(given.objects ?? []), ...decisionsOf(given.events)] });
  return { ...store, commit };
}
