import { describe, expect, it } from 'vitest';
import { type ApprovalRequest, approvalExpiry, requireMayApprove } from '../../src/approval/approval.ts';
import type { Principal } from '../../src/identity/principal.ts';
import { principalWith } from '../support/principal.ts';
import { expectRefusal } from '../support/refusal.ts';

const now = new Date('2026-01-15T12:00:00.000Z');
const human = (name: string, over: Partial<Principal> = {}): Principal => principalWith(name, 'k', over);
const request = (over: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  hash: 'aa',
  approved_hash: 'aa',
  is_own: true,
  has_expired: false,
  approver: human('ada'),
  humans: 1,
  ...over,
});

describe('an approval', () => {
  it('of one’s own proposal is allowed while one human is enrolled', () => {
    expect(() => requireMayApprove(request())).not.toThrow();
  });

  it('of one’s own proposal is refused from the second human on', async () => {
    const humans = 2;
    await expectRefusal('SELF_APPROVAL', () => requireMayApprove(request({ humans })));
    expect(() => requireMayApprove(request({ humans, is_own: false, approver: human('bob') }))).not.toThrow();
  });

  it('by an agent is refused', () =>
    expectRefusal('NOT_HUMAN', () =>
      requireMayApprove(request({ approver: human('bot', { kind: 'agent' }) })),
    ));

  it('of another hash is refused', () =>
    expectRefusal('HASH_MISMATCH', () => requireMayApprove(request({ hash: 'ab' }))));

  it('of an expired intent is refused', () =>
    expectRefusal('INTENT_EXPIRED', () => requireMayApprove(request({ has_expired: true }))));

  it('expires, and never after its intent', async () => {
    expect(approvalExpiry(now, 60, '2026-01-15T13:00:00.000Z')).toBe('2026-01-15T12:01:00.000Z');
    expect(approvalExpiry(now, 7200, '2026-01-15T13:00:00.000Z')).toBe('2026-01-15T13:00:00.000Z');
    for (const ttl_s of [0, -1, Number.NaN, 1e9]) {
      await expectRefusal('TIME_MALFORMED', () => approvalExpiry(now, ttl_s, '2026-01-15T13:00:00.000Z'));
    }
  });
});
