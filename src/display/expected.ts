import type { Json, JsonObject } from '../canonical/json.ts';
import { type Bounds, type BoundsAsked, sealBounds } from '../capability/bounds.ts';
import { serverSubject } from '../gate/server.ts';
import { keyCredential } from '../identity/credential.ts';
import { type GrantPin, sealGrantBounds } from '../identity/grant.ts';
import { limits } from '../limits.ts';
import type { ExpectedAct } from './signed.ts';

/** The request of an act, with what was shown of what it is about. */
export type ActKnown = Readonly<Record<string, Json | undefined>>;

/** Where the subject is `null`, the body says what the act is about, and the service adds the id of its intent. */
interface ActRow {
  readonly kind: string;
  readonly subject: string | null;
  /** Members of the statement that are known. Where one is not, there is nothing to compare. */
  readonly same: readonly string[];
  /** Members that the service chooses where the request does not say. */
  readonly given?: readonly string[];
  readonly fixed?: Readonly<Record<string, Json>>;
  readonly free?: readonly string[];
  readonly at_most_s?: Readonly<Record<string, number>>;
  readonly follows?: ExpectedAct['follows'];
}

const seconds = (asked: Json | undefined, most: number): number => (typeof asked === 'number' ? asked : most);

/** How long it may live: as long as was shown or asked for, and never longer than anything of its kind. */
const lifeOf = ({ ttl_s, approval_ttl_s }: ActKnown, approves: boolean): Record<string, number> => {
  const life = seconds(ttl_s, limits.capability_ttl_s);
  return {
    expires_at: life,
    lapses_at: life,
    ...(approves && { approves_until: seconds(approval_ttl_s, limits.approval_ttl_s) }),
  };
};

/** What an order is bound to beside the effect is covered by a digest. Null where what was shown does not say what it covers. */
const boundsOf = (known: ActKnown): Pick<ActRow, 'fixed' | 'follows'> | null => {
  if (['scope', 'conditions', 'tool_category'].every((name) => known[name] === undefined))
    return { fixed: { bounds: null } };
  const bounds = known.bounds as unknown as Bounds | undefined;
  if (bounds === undefined) return null;
  const digestIn = (order_id: Json | undefined) =>
    sealBounds(known as BoundsAsked, bounds, String(order_id))?.digest ?? null;
  return { follows: ({ order_id }) => ({ bounds: digestIn(order_id) }) };
};

const order = (known: ActKnown, approves: boolean): ActRow | null => {
  const bounds = boundsOf(known);
  if (bounds === null) return null;
  return {
    kind: 'order.given',
    subject: String(known.intent_id),
    // A grant shows who is to run it. A turn shows only what the effect is bound to.
    same: ['hash', 'attempt', 'effect_digest', 'action', ...(approves ? [] : ['audience'])],
    ...(approves && { given: ['audience'] }),
    free: ['order_id', 'expires_at', 'lapses_at', ...(approves ? ['approves_until'] : [])],
    at_most_s: lifeOf(known, approves),
    ...bounds,
    fixed: {
      ...bounds.fixed,
      holder: known.holder ?? null,
      delegation: known.delegation ?? null,
      ...(!approves && { approves_until: null }),
    },
  };
};

/** What bounds the arguments of a grant is covered by a digest, with the definitions of its tools. Null where these were not shown. */
const grantOf = ({ grant, pins }: ActKnown): Json | null => {
  if (pins === undefined) return null;
  const { uses, arguments: schema } = grant as { uses: number; arguments?: JsonObject };
  return { uses, bounds: sealGrantBounds(schema, pins as unknown as readonly GrantPin[]).digest };
};

/** Null where the key is no Ed25519 key: a passkey is enrolled by its own page. */
const enrolled = ({ name, principal, public_key, roles }: ActKnown): ActRow | null =>
  public_key === undefined
    ? null
    : {
        kind: 'key.enrolled',
        subject: String(name),
        same: [],
        fixed: {
          principal: principal!,
          credential: public_key === null ? null : (keyCredential(String(public_key)) as unknown as Json),
          roles: roles ?? [],
        },
      };

const freeze = (kind: string, { scope }: ActKnown): ActRow => ({
  kind,
  subject: 'system',
  same: ['scope', 'reason'],
  ...(scope === 'system' ? { fixed: { name: '' } } : { given: ['name'] }),
});

/** The acts whose statement can be made again from what was shown and asked for. */
const ROWS: Readonly<Record<string, (known: ActKnown) => ActRow | null>> = {
  'intents.approve': ({ intent_id, ttl_s }) => ({
    kind: 'approval.granted',
    subject: String(intent_id),
    same: ['hash', 'effect_digest'],
    free: ['expires_at'],
    at_most_s: { expires_at: seconds(ttl_s, limits.approval_ttl_s) },
  }),
  'intents.reject': ({ intent_id }) => ({
    kind: 'approval.denied',
    subject: String(intent_id),
    same: ['hash', 'reason'],
  }),
  'intents.turn': (known) => order(known, true),
  'intents.grant': (known) => order(known, false),
  // An agent signs, under a delegation: what it submits, and as whose approval it counts, it looked at before.
  'intents.submit': ({ intent_id }) => ({
    kind: 'intent.delegated',
    subject: String(intent_id),
    same: ['hash', 'effect_digest', 'delegation', 'approver'],
    free: ['expires_at'],
    at_most_s: { expires_at: limits.approval_ttl_s },
  }),
  'runs.revokeCapability': () => ({
    kind: 'capability.revoked',
    subject: null,
    same: ['capability_id', 'reason'],
  }),
  'runs.stop': () => ({ kind: 'execution.stopped', subject: null, same: ['execution_id', 'reason'] }),
  'runs.resolve': () => ({
    kind: 'execution.resolved',
    subject: null,
    same: ['execution_id', 'outcome', 'reason'],
    free: ['attempt', 'settles'],
  }),
  'runs.retry': ({ intent_id, alternate }) => ({
    kind: 'retry.authorised',
    subject: String(intent_id),
    same: ['reason'],
    ...(alternate !== undefined && { fixed: { tool: alternate } }),
    free: ['attempt', 'after', 'from', 'hash', 'effect_digest', ...(alternate === undefined ? ['tool'] : [])],
  }),
  'runs.breakGlass': ({ intent_id }) => ({
    kind: 'break_glass.used',
    subject: String(intent_id),
    same: ['hash', 'reason'],
    free: ['attempt'],
  }),
  'plans.rollback': ({ checkpoints, except }) => ({
    kind: 'rollback.claimed',
    subject: null,
    same: ['execution_id', 'reason'],
    fixed: { checkpoints: checkpoints ?? [], except: [...new Set((except ?? []) as string[])] },
    given: ['undoes'],
    free: ['round'],
  }),
  'system.freeze': (known) => freeze('system.frozen', known),
  // With the freeze that was shown: of another one nothing was seen.
  'system.unfreeze': (known) => {
    const row = freeze('system.unfrozen', known);
    return { ...row, same: [...row.same, 'lifts'] };
  },
  'system.addExecutor': () => ({
    kind: 'executor.added',
    subject: 'system',
    same: ['public_key', 'name', 'labels', 'reason'],
    given: ['replaces'],
  }),
  'system.revokeExecutor': () => ({
    kind: 'executor.revoked',
    subject: 'system',
    same: ['public_key', 'reason'],
  }),
  'system.revokeControlKey': () => ({
    kind: 'control_key.revoked',
    subject: 'system',
    same: ['public_key', 'reason'],
  }),
  // The time is when it is drawn up, which is compared with the clock of who signs. The place is the next one, or it is refused.
  'system.acceptClock': () => ({
    kind: 'clock.accepted',
    subject: 'system',
    same: ['reason'],
    free: ['seq'],
    follows: (_free, _before, at) => ({ now: at }),
  }),
  'mcp.remove': ({ server }) => ({
    kind: 'mcp.removed',
    subject: serverSubject(String(server)),
    same: ['server', 'reason'],
    given: ['accepted'],
  }),
  'people.enrol': enrolled,
  'people.addCredential': ({ name }) => ({
    kind: 'credential.added',
    subject: String(name),
    same: ['credential', 'reason'],
  }),
  'people.revoke': ({ name }) => ({ kind: 'key.revoked', subject: String(name), same: ['reason'] }),
  'people.assign': ({ name }) => ({
    kind: 'role.assigned',
    subject: String(name),
    same: ['roles', 'replaces', 'reason'],
  }),
  'people.revokeCredential': ({ name }) => ({
    kind: 'credential.revoked',
    subject: String(name),
    same: ['public_key', 'reason'],
  }),
  'agents.addToken': ({ name }) => ({
    kind: 'token.added',
    subject: String(name),
    same: ['digest', 'reason'],
    free: ['token_id'],
  }),
  'agents.revokeToken': ({ name }) => ({
    kind: 'token.revoked',
    subject: String(name),
    same: ['token_id', 'reason'],
  }),
  'agents.delegate': (known) => {
    const { grant, ttl_s, delegation = null } = known;
    const given = grant === undefined ? null : grantOf(known);
    if (typeof ttl_s !== 'number' || (grant !== undefined && given === null)) return null;
    return {
      kind: 'delegation.granted',
      subject: null,
      same: ['delegate', 'delegate_key', 'actions', 'approves', 'reason'],
      fixed: { grant: given, delegation },
      free: ['expires_at'],
      at_most_s: { expires_at: ttl_s },
    };
  },
  'agents.revokeDelegation': ({ delegation_id }) => ({
    kind: 'delegation.revoked',
    subject: String(delegation_id),
    same: ['reason'],
  }),
  'policies.activate': () => ({
    kind: 'policy.activated',
    subject: 'system',
    same: ['snapshot', 'replaces', 'reason'],
    free: ['policies'],
  }),
  'conversations.waive': () => ({
    kind: 'slo.waived',
    subject: 'system',
    same: ['figures', 'until', 'reason'],
  }),
};

/** What is to be signed for this act; null where that cannot be told without the service. */
export function expectedAct(verb: string, known: ActKnown): ExpectedAct | null {
  const row = Object.hasOwn(ROWS, verb) ? ROWS[verb]!(known) : null;
  return row && actIn(row, known);
}

function actIn(row: ActRow, known: ActKnown): ExpectedAct | null {
  const { kind, subject, same, given = [], fixed = {}, free = [], at_most_s, follows } = row;
  const isKnown = (name: string) => known[name] !== undefined;
  if (!same.every(isKnown)) return null;
  const members = [...same, ...given.filter(isKnown)].map((name) => [name, known[name]!]);
  const chosen = given.filter((name) => !isKnown(name));
  return {
    kind,
    subject,
    fixed: { ...Object.fromEntries(members), ...fixed },
    free: [...free, ...chosen],
    ...(at_most_s && { at_most_s }),
    ...(follows && { follows }),
  };
}
