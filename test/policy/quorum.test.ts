import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalFacts, parseQuorums, quorumsMet } from '../../src/policy/quorum.ts';
import { expectRefusal } from '../support/refusal.ts';

const QUORUMS = parseQuorums(`
two-humans: { any: 2 }
two-of-three: { any: 2, of: [alice, bob, carol] }
dev-and-ops: { each: [{ any: 1, role: dev }, { any: 1, role: ops }] }
two-devs-and-alice: { each: [{ any: 2, role: dev }, { any: 1, of: [alice] }] }
`);

const people = (...all: string[]) =>
  all.map((one) => {
    const [name, ...roles] = one.split(' ');
    return { name: name!, roles };
  });

describe('a quorum', () => {
  it.each([
    [[], []],
    [['alice'], []],
    [['dave', 'erin'], ['two-humans']],
    [['alice', 'alice'], []],
    [
      ['alice', 'carol'],
      ['two-humans', 'two-of-three'],
    ],
    [['alice', 'mallory'], ['two-humans']],
    [
      ['dave dev', 'erin ops'],
      ['dev-and-ops', 'two-humans'],
    ],
    [['dave dev', 'erin dev'], ['two-humans']],
    [['dave dev ops'], []],
    [
      ['dave dev ops', 'erin dev'],
      ['dev-and-ops', 'two-humans'],
    ],
    [
      ['erin dev', 'dave dev ops'],
      ['dev-and-ops', 'two-humans'],
    ],
    [
      ['alice dev', 'dave dev', 'erin dev'],
      ['two-devs-and-alice', 'two-humans'],
    ],
    [
      ['alice dev', 'dave dev', 'erin ops'],
      ['dev-and-ops', 'two-humans'],
    ],
  ])('is met or not by %j: %j', (approvers, expected) => {
    expect(quorumsMet(QUORUMS, people(...approvers))).toEqual(expected);
  });

  it('is met exactly when some way to seat the people exists', () => {
    const roles = fc.subarray(['dev', 'ops', 'law']);
    const seats = fc.array(
      fc.record({ any: fc.integer({ min: 1, max: 2 }), role: fc.constantFrom('dev', 'ops', 'law') }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.array(roles, { maxLength: 5 }), seats, (given, each) => {
        const approvers = given.map((roles, i) => ({ name: `p${i}`, roles }));
        const wanted = each.flatMap(({ any, role }) => Array<string>(any).fill(role));
        expect(quorumsMet([{ name: 'q', each }], approvers).length === 1).toBe(canSeat(wanted, given));
      }),
    );
  });

  it('tells a policy who approved, each person once and sorted', () => {
    expect(approvalFacts(QUORUMS, people('bob ops', 'alice dev ops', 'bob dev'))).toEqual({
      approvals: 2,
      approvers: ['alice', 'bob'],
      approver_roles: ['dev', 'ops'],
      quorums: ['dev-and-ops', 'two-humans', 'two-of-three'],
    });
  });
});

/** Tries every way. */
function canSeat([first, ...rest]: readonly string[], people: readonly string[][]): boolean {
  if (first === undefined) return true;
  return people.some((roles, i) => roles.includes(first) && canSeat(rest, people.toSpliced(i, 1)));
}

describe('quorums.yaml', () => {
  it('may be missing, empty, or all comments', () => {
    for (const text of [null, '', '# none', '{}']) expect(parseQuorums(text)).toEqual([]);
  });

  it.each([
    ['a list', '- { any: 2 }', /quorums\.yaml, line 1/],
    ['nobody', 'a: { any: 0 }', /a\.any/],
    ['half a person', 'a: { any: 1.5 }', /a\.any/],
    ['no number', 'a: {}', /a\.any/],
    ['a text for a number', 'a: { any: "2" }', /a\.any/],
    ['an unknown key', 'a: { any: 1, name: bob }', /nrecognized key/],
    ['both forms', 'a: { each: [{ any: 1 }], any: 1 }', /nrecognized key/],
    ['an empty list', 'a: { each: [] }', /a\.each/],
    ['a list in a list', 'a: { each: [{ each: [{ any: 1 }] }] }', /a\.each\.0/],
    ['too many seats', 'a: { any: 10 }', /a\.any/],
    ['too many seats together', 'a: { each: [{ any: 5 }, { any: 5 }] }', /more than 9 seats/],
    ['more people than it names', 'a: { any: 3, of: [alice, bob] }', /more people than it names/],
    ['a name twice', 'a: { any: 2, of: [alice, alice] }', /twice/],
    ['a name that is none', 'a: { any: 1, of: [Älice] }', /not a name/],
    ['a quorum with a bad name', 'Two Humans: { any: 2 }', /quorums\.yaml/],
    ['the same quorum twice', 'a: { any: 1 }\na: { any: 2 }', /Line 2.*twice/],
    ['an alias', 'a: &x { any: 1 }\nb: *x', /quorums\.yaml: Line 1/],
    ['a tag', 'a: !!map { any: 1 }', /tags are not accepted/],
    ['two documents', 'a: { any: 1 }\n---\nb: { any: 1 }', /quorums\.yaml/],
    ['a prototype', '__proto__: { any: 1 }', /quorums\.yaml/],
    [
      'too many',
      Array.from({ length: 65 }, (_, i) => `q${i}: { any: 1 }`).join('\n'),
      /more than 64 quorums/,
    ],
    ['too much', `#${'x'.repeat(200_000)}`, /bytes/],
  ])('is refused with %s', async (_, text, message) => {
    const refused = await expectRefusal('POLICY_INVALID', () => parseQuorums(text));
    expect(refused.message).toMatch(message);
  });
});
