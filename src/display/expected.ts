import type { Json } from '../canonical/json.ts';
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

const order = (known: ActKnown, approves: boolean): ActRow | null =>
  // What an order is bound to beside the effect is covered by a digest, which only the service makes.
  ['scope', 'conditions', 'tool_category'].some((name) => known[name] !== undefined)
    ? null
    : {
        kind: 'order.given',
        subject: String(known.intent_id),
        // A grant shows who is to run it. A turn shows only what the effect is bound to.
        same: ['hash', 'attempt', 'effect_digest', 'action', ...(approves ? [] : ['audience'])],
        ...(approves && { given: ['audience'] }),
        fixed: {
          bounds: null,
          holder: known.holder ?? null,
          delegation: known.delegation ?? null,
          ...(!approves && { approves_until: null }),
        },
        free: ['order_id', 'expires_at', 'lapses_at', ...(approves ? ['approves_until'] : [])],
        at_most_s: lifeOf(known, approves),
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
    free: ['attempt'],
  }),
  'runs.retry': ({ intent_id, alternate }) => ({
    kind: 'retry.authorised',
    subject: String(intent_id),
    same: ['reason'],
    ...(alternate !== undefined && { fixed: { tool: alternate } }),
    free: ['attempt', 'after', 'hash', 'effect_digest', ...(alternate === undefined ? ['tool'] : [])],
  }),
  'runs.breakGlass': ({ intent_id }) => ({
    kind: 'glass.broken',
    subject: String(intent_id),
    same: ['hash', 'reason'],
    free: ['attempt'],
  }),
  'plans.rollback': ({ checkpoints, except }) => ({
    kind: 'rollback.claimed',
    subject: null,
    same: ['execution_id', 'reason'],
    fixed: { checkpoints: checkpoints ?? [], except: [...new Set((except ?? []) as string[])] },
    free: ['round'],
  }),
  'system.freeze': (known) => freeze('system.frozen', known),
  'system.unfreeze': (known) => freeze('system.unfrozen', known),
  'system.addExecutor': () => ({
    kind: 'executor.added',
    subject: 'system',
    same: ['public_key', 'name', 'labels', 'reason'],
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
  'people.revoke': ({ name }) => ({ kind: 'key.revoked', subject: String(name), same: ['reason'] }),
  'people.assign': ({ name }) => ({
    kind: 'role.assigned',
    subject: String(name),
    same: ['roles', 'reason'],
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
  // What bounds the arguments of a grant is covered by a digest, which only the service makes.
  'agents.delegate': ({ grant, ttl_s }) =>
    grant !== undefined || typeof ttl_s !== 'number'
      ? null
      : {
          kind: 'delegation.granted',
          subject: null,
          same: ['delegate', 'delegate_key', 'actions', 'approves', 'reason'],
          fixed: { grant: null, delegation: null },
          free: ['expires_at'],
          at_most_s: { expires_at: ttl_s },
        },
  'agents.revokeDelegation': ({ delegation_id }) => ({
    kind: 'delegation.revoked',
    subject: String(delegation_id),
    same: ['reason'],
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
  if (row === null) return null;
  const { kind, subject, same, given = [], fixed = {}, free = [], at_most_s } = row;
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
  };
}
