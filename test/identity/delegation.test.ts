import { describe, expect, it } from 'vitest';
import { keyPairFromSeed } from '../../src/canonical/ed25519.ts';
import type { Body, Event } from '../../src/event/event.ts';
import {
  type Authorities,
  covers,
  type Delegation,
  nextDelegation,
  requireHolds,
} from '../../src/identity/delegation.ts';
import type { Principal } from '../../src/identity/principal.ts';
import { limits } from '../../src/limits.ts';
import { principalWith } from '../support/principal.ts';
import { expectRefusal } from '../support/refusal.ts';

const AT = '2026-01-15T12:00:00.000Z';
const keyOf = (name: string) => keyPairFromSeed(Buffer.alloc(32, name)).public_key;
const idOf = (name: string) => `d-${name}`;

/** From `by` to `to`, named after its delegate. */
function granted(by: string, to: string, over: Partial<Body<'delegation.granted'>> = {}) {
  const body = {
    delegate: to,
    delegate_key: keyOf(to),
    actions: ['tool:*'],
    approves: true,
    grant: null,
    expires_at: '2026-02-15T12:00:00.000Z',
    delegation: null,
    reason: 'away',
    by,
    key: keyOf(by),
    signed_at: AT,
    signature: '',
    ...over,
  };
  return { kind: 'delegation.granted', subject: idOf(to), body } as Event<'delegation.granted'>;
}

const person = (name: string, kind: Principal['kind'] = 'agent'): Principal =>
  principalWith(name, keyOf(name), { kind }, AT);

/** A chain from Ada over the others, and the principals in it. */
function chain(...names: string[]) {
  const delegations = new Map<string, Delegation>();
  const principals = new Map([
    ['ada', person('ada', 'human')],
    ...names.map((name) => [name, person(name)] as const),
  ]);
  const authorities: Authorities = {
    principal: (name) => principals.get(name) ?? null,
    delegation: (id) => delegations.get(id) ?? null,
  };
  for (const [i, to] of names.entries()) {
    const by = names[i - 1] ?? 'ada';
    const event = granted(by, to, { delegation: i === 0 ? null : idOf(by) });
    delegations.set(idOf(to), nextDelegation(null, event, AT, authorities));
  }
  return { authorities, delegations, principals };
}

describe('a delegation', () => {
  it('can be passed on a few times, and every link names the human at the root', async () => {
    const names = Array.from({ length: limits.delegation_depth }, (_, i) => `agent${i}`);
    const { authorities } = chain(...names);
    const last = requireHolds(authorities, idOf(names.at(-1)!), AT);
    expect(last).toMatchObject({ root: { by: 'ada', key: keyOf('ada') }, chain: ['ada', ...names] });
    await expectRefusal('DELEGATION_WIDENED', () => chain(...names, 'one-more'));
  });

  it('ends, and within the longest time that a delegation may hold', async () => {
    const { authorities } = chain('bot');
    const until = (ms: number) => {
      const expires_at = new Date(Date.parse(AT) + ms).toISOString();
      return () => nextDelegation(null, granted('ada', 'bot', { expires_at }), AT, authorities);
    };
    await expectRefusal('DELEGATION_EXPIRED', until(0));
    await expectRefusal('TIME_MALFORMED', until(limits.delegation_ttl_s * 1000 + 1));
    expect(until(limits.delegation_ttl_s * 1000)().status).toBe('active');
  });

  it('covers what it names, and beginnings that end with a star', () => {
    const of = (...actions: string[]) =>
      nextDelegation(null, granted('ada', 'bot', { actions }), AT, chain().authorities);
    expect(covers(of('tool:deploy'), ['tool:deploy'])).toBe(true);
    expect(covers(of('tool:deploy'), ['tool:deploy-all'])).toBe(false);
    expect(covers(of('tool:deploy'), ['tool:deploy', 'plan'])).toBe(false);
    expect(covers(of('tool:*'), ['tool:deploy', 'tool:backup'])).toBe(true);
    expect(covers(of('tool:*'), ['plan'])).toBe(false);
    expect(covers(of('tool:*', 'plan'), ['plan', 'tool:deploy'])).toBe(true);
  });

  it('approves where it is for a number of uses', async () => {
    const grant = { uses: 1, bounds: 'a'.repeat(64) };
    const give = (approves: boolean) => {
      const event = granted('ada', 'bot', { grant, approves, expires_at: '2026-01-15T13:00:00.000Z' });
      return nextDelegation(null, event, AT, chain().authorities);
    };
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give(false));
    expect(give(true)).toMatchObject({ grant, approves: true });
  });

  it('holds no longer when a link was taken back, ended, or lost its key', async () => {
    const far = '2026-02-15T12:00:00.000Z';
    const holds = (change: (made: ReturnType<typeof chain>) => void, at = AT) => {
      const made = chain('one', 'two');
      change(made);
      return () => requireHolds(made.authorities, idOf('two'), at);
    };
    expect(holds(() => undefined)()).toMatchObject({ delegate: 'two' });
    await expectRefusal(
      'DELEGATION_UNKNOWN',
      holds(({ delegations }) => delegations.delete(idOf('two'))),
    );
    await expectRefusal(
      'DELEGATION_UNKNOWN',
      holds(({ delegations }) => delegations.delete(idOf('one'))),
    );
    await expectRefusal(
      'DELEGATION_EXPIRED',
      holds(() => undefined, far),
    );
    const revoke = ({ delegations }: ReturnType<typeof chain>) =>
      delegations.set(idOf('one'), { ...delegations.get(idOf('one'))!, status: 'revoked' });
    await expectRefusal('DELEGATION_REVOKED', holds(revoke));
    const change = (name: string, over: Partial<Principal>) => (made: ReturnType<typeof chain>) =>
      made.principals.set(name, { ...made.principals.get(name)!, ...over });
    await expectRefusal('KEY_REVOKED', holds(change('one', { status: 'revoked' })));
    await expectRefusal('KEY_REVOKED', holds(change('two', { credentials: person('other').credentials })));
    await expectRefusal('DELEGATION_REVOKED', holds(change('ada', { status: 'revoked' })));
    await expectRefusal('DELEGATION_REVOKED', holds(change('ada', { kind: 'agent' })));
  });
});
