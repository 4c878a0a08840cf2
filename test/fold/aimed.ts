import type { Body, Event } from '../../src/event/event.ts';
import { limits } from '../../src/limits.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { accessed, confirmed, moved, planned, received, STEP, step } from '../gate/agent-story.ts';
import { FLAGS, signedBy as madeBy, touched } from '../identity/authenticator.ts';
import { asked, changed, dispatchOf, type Goal, goal, of } from '../store/agent-facts.ts';
import { added, type Held, heldKey, heldPasskey, signedWith } from '../store/credential-facts.ts';
import { decisionFor, madeToken, tokenText } from '../store/decisions.ts';
import {
  act,
  broken,
  claimed,
  DIGEST,
  delegation,
  denied,
  finished,
  frozen,
  granted,
  issued,
  issuedUnder,
  keyOf,
  ORIGIN,
  ordered,
  POLICY,
  proposed,
  replacedBy,
  revoked,
  signedBy,
  stated,
  submitted,
  tokenAdded,
  uncontrolled,
} from '../store/facts.ts';
import { governance, NOON } from '../store/place.ts';
import type { Times } from './judges.ts';
import { id, PHONE, planRun, shadowed, TOUCHED, timeOf } from './lived.ts';

/** A ledger whose last entry is refused for this reason, and when each entry was written, where that is not one second apart. */
export interface Aimed {
  readonly code: ReasonCode;
  readonly events: readonly Event[];
  readonly times?: Times;
}

/** What no single edit of the one ledger leads to: it takes several entries that belong together. */
export function aimed(): Aimed[] {
  return [
    ...ofRuns(),
    ...ofTimes(),
    ...ofClocks(),
    ...ofPeople(),
    ...ofConversations(),
    ...ofServers(),
    ...ofTokens(),
    ...ofTouches(),
  ];
}

const [A, B] = [id(1), id(2)];
const by = (name: string) => ({ approvers: [{ name, roles: [] }] });
const begins = () => governance('ada', 'bo');
const approves = () => [proposed(A), granted(A, 'bo')];
/** The time of the entry that comes so many places after these. */
const timeAfter = (events: readonly Event[], places = 0) => timeOf(events.length + places);

const FREEZE = { scope: 'system', name: '', reason: 'looking into it' } as const;

function ofRuns(): Aimed[] {
  const ready = [...begins(), ...approves()];
  const run = planRun(A, B, 1);
  const upTo = (kind: Event['kind']) => run.slice(0, run.findIndex((one) => one.kind === kind) + 1);
  const stuck = { execution_id: B, round: 1, result: 'stuck', report: DIGEST } as const;
  const stops = act('execution.stopped', A, { execution_id: B, reason: 'once more' }, 'ada');
  const expires = { execution_id: B, bytes: 1, gives_up_undo: false, reason: 'once more' };
  const other = { replaces: A, proposer: 'ada', proposer_kind: 'human', ...signedBy('ada') } as const;
  return [
    { code: 'FROZEN', events: [...ready, frozen('ada'), ordered(A, 'ada', by('bo'))] },
    {
      code: 'CONTROL_KEY_REVOKED',
      events: [...ready, ...issued(A, 'ada', by('bo')), uncontrolled('control', 'ada'), claimed(A, B)],
    },
    // A proof has what is about the system: a freeze about anything else would hold, and be in none.
    { code: 'SHAPE_INVALID', events: [...ready, act('system.frozen', 'elsewhere', FREEZE, 'ada')] },
    ...[{ tool: 'other' }, { reports: 'agent_outputs/one' }].map((other) => ({
      code: 'TRANSITION_ILLEGAL' as const,
      events: [...ready, ...issued(A, 'ada', by('bo')), claimed(A, B, 1, other)],
    })),
    { code: 'FROZEN_ALREADY', events: [...begins(), frozen('ada'), frozen('bo')] },
    {
      code: 'CAPABILITY_WRONG_AUDIENCE',
      events: [
        ...ready,
        ...issued(A, 'ada', { ...by('bo'), audience: `${ORIGIN}/elsewhere` }),
        claimed(A, B),
      ],
    },
    {
      code: 'CAPABILITY_TOO_MANY',
      events: [
        ...ready,
        ...Array.from({ length: limits.outstanding_capabilities }, (_, n) =>
          issued(A, 'ada', { ...by('bo'), capability_id: id(50 + n), ordinal: null }),
        ).flat(),
        ordered(A, 'ada', { ...by('bo'), order_id: id(90) }),
      ],
    },
    {
      code: 'ORDER_OPEN',
      events: [...ready, ...[50, 51].map((n) => ordered(A, 'ada', { ...by('bo'), order_id: id(n) }))],
    },
    {
      code: 'UNDO_UNDER_WAY',
      events: [...begins(), proposed(A, { undoes: id(9) }), proposed(B, { undoes: id(9) })],
    },
    {
      code: 'UNDONE_BEFORE',
      events: [
        ...begins(),
        proposed(A, { undoes: id(9) }),
        granted(A, 'bo'),
        ...issued(A, 'ada', by('bo')),
        claimed(A, B),
        finished(A, B, 'success'),
        proposed(id(8), { undoes: id(9) }),
      ],
    },
    { code: 'EDIT_NOT_DUE', events: [...ready, proposed(B, other), replacedBy(A, B, 'ada')] },
    { code: 'RUN_STOPPED', events: [...begins(), ...upTo('execution.stopped'), stops] },
    { code: 'BACKUPS_EXPIRED', events: [...begins(), ...run, act('backups.expired', A, expires, 'bo')] },
    {
      code: 'ROLLBACK_STUCK',
      events: [
        ...begins(),
        ...upTo('rollback.claimed'),
        stated({ kind: 'rollback.finished', subject: A, body: stuck }),
        ordered(A, 'ada', { ...by('bo'), order_id: B }),
      ],
    },
  ];
}

/** What was good and has ended. */
function ofTimes(): Aimed[] {
  const ready = [...begins(), ...approves()];
  const late = { scope: 'system', name: '', reason: 'late', deadline: NOON };
  const early = { scope: 'system', name: '', reason: 'early' };
  const to_come = { at: new Date('2030-01-01T00:00:00.000Z') };
  const ends = { ...by('bo'), expires_at: timeAfter(ready, 2) };
  return [
    { code: 'ACT_LATE', events: [...begins(), act('system.frozen', 'system', late, 'ada')] },
    {
      code: 'MADE_IN_FUTURE',
      events: [
        ...begins(),
        frozen('ada'),
        act(
          'system.unfrozen',
          'system',
          { ...early, lifts: { by: 'ada', at: timeAfter(begins()) } },
          'ada',
          to_come,
        ),
      ],
    },
    {
      code: 'APPROVAL_EXPIRED',
      events: [...begins(), proposed(A), approvedUntil(timeAfter(begins(), 2)), ordered(A, 'ada', by('bo'))],
    },
    {
      code: 'INTENT_EXPIRED',
      events: [
        ...begins(),
        proposed(A, { expires_at: timeAfter(begins(), 2) }),
        granted(A, 'bo'),
        ordered(A, 'ada', { ...by('bo'), expires_at: timeAfter(begins(), 2) }),
      ],
    },
    {
      code: 'INTENT_EXPIRED',
      events: [
        ...begins(),
        proposed(A, { expires_at: timeAfter(begins(), 2) }),
        granted(A, 'bo'),
        broken(A, 'ada'),
      ],
    },
    { code: 'CAPABILITY_EXPIRED', events: [...ready, ...issued(A, 'ada', ends), claimed(A, B)] },
    {
      code: 'ORDER_LAPSED',
      events: [
        ...ready,
        ordered(A, 'ada', { ...by('bo'), lapses_at: timeAfter(ready, 1) }),
        issuedUnder(A, by('bo')),
      ],
    },
    {
      code: 'DELEGATION_EXPIRED',
      events: [...begins(), delegation(B, 'ada', 'planner', { expires_at: NOON })],
    },
  ];
}

function approvedUntil(expires_at: string): Event {
  const decision = decisionFor({ kind: 'approval.granted', subject: A, by: 'bo', policy: POLICY });
  const facts = { hash: DIGEST, effect_digest: DIGEST, decision, account: null, expires_at };
  return act('approval.granted', A, facts, 'bo');
}

/** The clock was a minute fast, and a human set it right. */
function ofClocks(): Aimed[] {
  const fast =
    (from: number, to: number): Times =>
    (seq) =>
      timeOf(seq >= from && seq < to ? seq + 60 : seq);
  const set = (seq: number) =>
    act('clock.accepted', 'system', { seq, now: timeOf(seq), reason: 'fast' }, 'bo');
  const n = begins().length;
  return [
    {
      code: 'MADE_IN_FUTURE',
      events: [...begins(), ...approves(), set(n + 2), ordered(A, 'ada', by('bo'))],
      times: fast(n, n + 2),
    },
    {
      code: 'CAPABILITY_NOT_YET',
      events: [...begins(), ...approves(), ...issued(A, 'ada', by('bo')), set(n + 4), claimed(A, B)],
      times: fast(n + 2, n + 4),
    },
  ];
}

function ofPeople(): Aimed[] {
  const keys = Array.from({ length: limits.credentials }, (_, n) => added('ada', heldKey(`ada-${n}`)));
  const tokens = Array.from({ length: limits.tokens + 1 }, (_, n) =>
    tokenAdded('planner', id(60 + n), 'ada'),
  );
  const of_ada = { proposer: 'ada', proposer_kind: 'human', ...signedBy('ada') } as const;
  return [
    { code: 'SELF_APPROVAL', events: [...begins(), proposed(A, of_ada), granted(A, 'ada')] },
    { code: 'LAST_HUMAN', events: [...governance('ada'), proposed(A), revoked('ada', 'ada')] },
    { code: 'CREDENTIAL_TOO_MANY', events: [...begins(), proposed(A), ...keys] },
    { code: 'TOKEN_TOO_MANY', events: [...begins(), proposed(A), ...tokens] },
  ];
}

function ofConversations(): Aimed[] {
  const [one, other] = [goal('goal-1'), goal('goal-2')].map((each) => ({ ...each, intent_id: A })) as [
    Goal,
    Goal,
  ];
  const active = [...begins(), changed('Draft'), changed('Active')];
  const users = Array.from({ length: limits.intake_users + 1 }, (_, n) => asked(`user-${n}`));
  return [
    {
      code: 'ACCESS_AP_REQUIRED',
      events: [...active, ...talk(one, { outcome: 'AP_REQUIRED', intent_id: B }), dispatchOf(one)],
    },
    {
      code: 'ACCESS_SCOPE_VIOLATION',
      events: [...active, ...talk(one, { outcome: 'DENY' }), dispatchOf(one)],
    },
    { code: 'USER_IS_AGENT', events: [...active, ...talk(one, { user_id: 'planner' }), dispatchOf(one)] },
    {
      code: 'IDEMPOTENCY_VIOLATION',
      events: [...active, ...talk(one, {}), dispatchOf(one), ...talk(other, {}), dispatchOf(other)],
    },
    { code: 'INTAKE_LIMITED', events: [...begins(), ...users] },
  ];
}

/** A server none of whose tools pass without an approval, and a grant of one use. */
function ofServers(): Aimed[] {
  const server = { server: 'files', accepted: DIGEST, replaces: null, tools: 2, reason: 'read' };
  const expires_at = timeOf(3600);
  const once = { grant: { uses: 1, bounds: DIGEST }, expires_at };
  return [
    {
      code: 'MCP_NOT_SHADOW',
      events: [...begins(), act('mcp.accepted', 'mcp:files', server, 'ada'), shadowed()[0]!],
    },
    {
      code: 'GRANT_SPENT',
      events: [
        ...begins(),
        delegation(id(21), 'ada', 'planner', once),
        ...[A, B].flatMap((intent_id) => [
          proposed(intent_id),
          submitted(intent_id, 'planner', id(21), { expires_at }),
        ]),
      ],
    },
    {
      code: 'GRANT_BOUNDS_MALFORMED',
      events: [...begins(), delegation(id(21), 'ada', 'planner', { ...once, approves: false })],
    },
    {
      code: 'GRANT_OUTSIDE',
      events: [
        ...begins(),
        delegation(id(21), 'ada', 'planner', once),
        ...approves(),
        ordered(A, 'planner', { ...by('bo'), delegation: id(21), expires_at }),
      ],
    },
  ];
}

/** A control plane names another token than it should. */
function ofTokens(): Aimed[] {
  const ready = [...begins(), ...approves(), ordered(A, 'ada', by('bo'))];
  const good = tokenText(issuedUnder(A, by('bo')).body.token);
  const longer = issuedUnder(A, { ...by('bo'), expires_at: '2026-02-20T12:00:00.000Z' }).body.token;
  const other = issuedUnder(A, { ...by('bo'), control_key: keyOf('other') }).body.token;
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const weak = Buffer.from(JSON.stringify({ alg: 'none', typ: 'keyturn-capability+jwt', kid: '' })).toString(
    'base64url',
  );
  const forged = [header, payload, Buffer.alloc(64, 1).toString('base64url')].join('.');
  const tokens: [ReasonCode, string][] = [
    ['CAPABILITY_WIDENED', longer],
    ['CAPABILITY_KEY_UNKNOWN', other],
    ['CAPABILITY_FORGED', madeToken(forged)],
    ['CAPABILITY_MALFORMED', madeToken('no token')],
    ['CAPABILITY_ALGORITHM', madeToken([weak, payload, signature].join('.'))],
    ['OBJECT_MISSING', DIGEST],
  ];
  return tokens.map(([code, token]) => ({
    code,
    events: [...ready, issuedUnder(A, { ...by('bo'), token })],
  }));
}

/** From the question to the moment before the dispatch. */
function talk(one: Goal, access: Partial<Body<'agent.access'>>): Event[] {
  return [
    received({ user_id: access.user_id ?? 'mia' }),
    planned({ steps: [step(one.step_id)] }),
    moved(STEP, 'PENDING', 'WAITING_CONFIRM'),
    moved(null, 'CREATED', 'WAITING_CONFIRM'),
    confirmed('YES'),
    moved(STEP, 'WAITING_CONFIRM', 'READY'),
    accessed(access.outcome ?? 'ALLOW', access),
    moved(null, 'WAITING_CONFIRM', 'READY'),
    moved(null, 'READY', 'IN_PROGRESS'),
  ].map((event) => of(one, event));
}

/** A real passkey signs what no browser would have it sign. */
function ofTouches(): Aimed[] {
  const told = (code: ReasonCode, held: Held): Aimed => ({
    code,
    events: [...begins(), added('ada', TOUCHED), proposed(A), signedWith(denied(A, 'ada'), held)],
  });
  const nested = `${'['.repeat(limits.json_depth + 1)}${']'.repeat(limits.json_depth + 1)}`;
  return [
    told('PASSKEY_UNVERIFIED', heldPasskey(PHONE, { flags: FLAGS.UP })),
    told(
      'INPUT_NOT_UTF8',
      saying(() => Buffer.alloc(8, 0xff)),
    ),
    told(
      'JSON_MALFORMED',
      saying(() => '{"type":'),
    ),
    told(
      'JSON_TOO_DEEP',
      saying(() => nested),
    ),
    told(
      'JSON_BAD_NUMBER',
      saying(() => '{"n":1e999}'),
    ),
    told(
      'JSON_BAD_STRING',
      saying(() => '{"s":"\\u0000"}'),
    ),
    told(
      'JSON_NOT_PLAIN',
      saying(() => '{"__proto__":1}'),
    ),
    told(
      'JSON_DUPLICATE_KEY',
      saying((text) => text.replace('{', '{"type":"webauthn.get",')),
    ),
  ];
}

/** The client data of this touch is something else, and is signed as that. */
function saying(other: (client_data: string) => string | Buffer): Held {
  return {
    credential: PHONE.credential,
    prove: (statement) => {
      const touch = touched(Buffer.from(statement).toString());
      return madeBy(PHONE.key, {
        ...touch,
        client_data: Buffer.from(other(touch.client_data.toString()) as string),
      });
    },
  };
}
