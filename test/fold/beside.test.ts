import { describe, expect, it } from 'vitest';
import type { Event, EventKind } from '../../src/event/event.ts';
import { restsOn } from '../../src/fold/decided.ts';
import { append, EMPTY_TREE } from '../../src/ledger/merkle.ts';
import { granted, issued, proposed } from '../store/facts.ts';
import { governance } from '../store/place.ts';
import { objectsOf, sealed } from './judges.ts';
import { id, lived } from './lived.ts';
import { JUDGES } from './one-answer.ts';

/** What SECURITY.md says under "What stands beside the signature of a human". */

const { deepVerified, deepVerifiedWith } = JUDGES;

const rootOf = (events: readonly Event[]) =>
  sealed(events).reduce((tree, { hash }) => append(tree, hash), EMPTY_TREE).frontier;

/** The first entry of that kind that names what is changed, and a ledger in which it says something else. */
function changed(kind: EventKind, member: string, to: (value: never) => unknown) {
  const good = lived();
  const seq = good.findIndex(
    ({ kind: one, body }) => one === kind && (body as Record<string, unknown>)[member] !== null,
  );
  const { body, ...event } = good[seq]!;
  const value = to((body as Record<string, unknown>)[member] as never);
  const events = good.with(seq, { ...event, body: { ...body, [member]: value } } as Event);
  return { good, seq, events, objects: objectsOf(good) };
}

const ACCOUNT = () => ({ host: 'elsewhere', machine: null, uid: 7, user: 'eve' });
const FEWER_ROLES = (approvers: readonly object[]) => approvers.map((one) => ({ ...one, roles: [] }));

describe('what stands beside a signature', () => {
  it('is taken by a deep verification as fewer roles of who approved an order', async () => {
    const { good, events, objects } = changed('order.given', 'approvers', FEWER_ROLES);
    expect(events).not.toEqual(good);
    expect(await deepVerified(events, objects)).toBeNull();
    expect(await deepVerifiedWith(events, objects)).toBeNull();
    expect(rootOf(events)).not.toEqual(rootOf(good));
  });

  it('is taken as fewer approvers of an order, and what is issued still names as many as are needed', async () => {
    const [bo, ada] = ['bo', 'ada'].map((name) => ({ name, roles: [] }));
    const proposal = [
      ...governance('ada', 'bo'),
      proposed(id(1), { approvals_needed: 2 }),
      granted(id(1), 'bo'),
      granted(id(1), 'ada'),
    ];
    const [order] = issued(id(1), 'ada', { approvers: [bo!], ordinal: 1 });
    const [, issue] = issued(id(1), 'ada', { approvers: [bo!, ada!], ordinal: 1 });
    const [, fewer] = issued(id(1), 'ada', { approvers: [bo!], ordinal: 1 });
    expect(await deepVerified([...proposal, order!, issue!], new Map())).toBeNull();
    const seq = proposal.length + 1;
    const answer = await deepVerified([...proposal, order!, fewer!], new Map());
    expect(answer).toEqual({ seq, code: 'APPROVAL_MISSING' });
  });

  it.each(['approval.granted', 'order.given', 'break_glass.used', 'execution.claimed'] as const)(
    'is refused as another decision, where the objects are there: %s',
    async (kind) => {
      const other = lived()
        .map(restsOn)
        .find((digest) => digest !== null);
      const { seq, events, objects } = changed(kind, 'decision', (now: string) =>
        now === other ? 'ef'.repeat(32) : other,
      );
      const answer = await deepVerifiedWith(events, objects);
      expect(answer?.seq).toBe(seq);
      expect(['DECISION_MISMATCH', 'DECISION_MISSING', 'OBJECT_MISSING']).toContain(answer?.code);
    },
  );

  it('is refused as other policies of a claim, and as others whom an issued capability counted', async () => {
    const claim = changed('execution.claimed', 'policy', () => 'ef'.repeat(32));
    expect(await deepVerified(claim.events, claim.objects)).toEqual({
      seq: claim.seq,
      code: 'DECISION_STALE',
    });
    const issue = changed('capability.issued', 'approvers', FEWER_ROLES);
    expect(await deepVerified(issue.events, issue.objects)).toEqual({
      seq: issue.seq,
      code: 'SIGNATURE_INVALID',
    });
  });

  it('is taken as another account of an approval', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'approval.granted');
    const { body, ...event } = good[seq]!;
    const events = good.with(seq, { ...event, body: { ...body, account: ACCOUNT() } } as Event);
    expect(await deepVerified(events, objectsOf(good))).toBeNull();
  });
});
