import { policyLimits } from '../limits.ts';
import type { Policy } from './policy.ts';
import {
  type ApprovalFacts,
  type ApproverRoles,
  approvalFacts,
  type Quorum,
  seatsFilled,
  seatsOf,
  suits,
} from './quorum.ts';

/** The approvals that turn a denial into a permission. */
export interface Lacking {
  /** How many more people must approve; as few as it takes. */
  readonly missing: number;
  /** Who of those who could approve would bring it forward; null where each of them would. */
  readonly people: readonly string[] | null;
}

export interface LackingAsked {
  /** The policies that read who has approved. */
  readonly policies: readonly Policy[];
  readonly quorums: readonly Quorum[];
  readonly approvers: readonly ApproverRoles[];
  /** Who could approve besides. */
  readonly others: readonly ApproverRoles[];
  /** What the policies say if they are told this of the approvals. */
  readonly allows: (facts: ApprovalFacts) => boolean;
}

/**
 * Pure. Null where the policies allow it as it is, and where no approval would make them. What they ask of the approvals is a set of
 * quorums: those of the file that are not met and that they name, and what they say themselves of numbers, roles and names.
 */
export function lackingFor(asked: LackingAsked): Lacking | null {
  const { approvers, others } = asked;
  const allows = (wanted: readonly Quorum[]) => {
    const people = peopleFor(wanted, asked).chosen.map((one, i) => asWanted(wanted, one, i));
    return asked.allows(approvalFacts(asked.quorums, [...approvers, ...people]));
  };
  if (allows([])) return null;
  const missing = (wanted: readonly Quorum[]) => peopleFor(wanted, asked).chosen.length;
  const unmet = unmetOf(asked)
    .map((one) => ({ one, missing: missing([one]) }))
    .sort((a, b) => a.missing - b.missing)
    .map(({ one }) => one);
  const wanted = smallest(unmet, allows);
  if (wanted === null) return null;
  const { chosen, useful } = peopleFor(wanted, asked);
  return { missing: chosen.length, people: useful.length === others.length ? null : useful };
}

/** A person as these quorums want one: what this one has besides must not be what makes the policies allow it. */
function asWanted(wanted: readonly Quorum[], { name, roles }: ApproverRoles, nth: number): ApproverRoles {
  const rows = wanted.flatMap(({ each }) => each);
  return {
    name: rows.some(({ of }) => of?.includes(name)) ? name : `?${nth}`,
    roles: roles.filter((one) => rows.some(({ role }) => role === one)),
  };
}

/** One that is enough alone, with the fewest people first; otherwise all, without each that is not needed. */
function smallest(
  unmet: readonly Quorum[],
  allows: (wanted: readonly Quorum[]) => boolean,
): readonly Quorum[] | null {
  const alone = unmet.find((one) => allows([one]));
  if (alone) return [alone];
  if (!allows(unmet)) return null;
  return unmet.reduceRight<readonly Quorum[]>((kept, one) => {
    const without = kept.filter((other) => other !== one);
    return allows(without) ? without : kept;
  }, unmet);
}

/** What could still be lacking. What a policy says itself, without a quorum of the file, is a quorum like any other. */
function unmetOf({ policies, quorums, approvers, others }: LackingAsked): Quorum[] {
  const reads = (name: keyof ApprovalFacts) => policies.some((one) => one.reads?.includes(name) ?? true);
  // A policy that compares the quorums in another way than by their names may mean any.
  const named = new Set(policies.flatMap((one) => one.quorums));
  const is_any = policies.some(
    (one) => one.reads === null || (one.reads.includes('quorums') && one.quorums.length === 0),
  );
  const own: Quorum['each'][] = [];
  if (reads('approvals'))
    for (let any = approvers.length + 1; any <= policyLimits.seats; any += 1) own.push([{ any }]);
  if (reads('approver_roles'))
    for (const role of new Set(others.flatMap(({ roles }) => roles))) own.push([{ any: 1, role }]);
  if (reads('approvers')) for (const { name } of others) own.push([{ any: 1, of: [name] }]);
  return [
    ...quorums.filter(({ name }) => is_any || named.has(name)),
    ...own.slice(0, policyLimits.quorums).map((each) => ({ name: '', each })),
  ].filter(({ each }) => seatsFilled(each, approvers) < seatsOf(each));
}

/** As few people as fill these quorums with those who have approved, and all who would fill a seat. People are made up where none can. */
function peopleFor(
  wanted: readonly Quorum[],
  { approvers, others }: Pick<LackingAsked, 'approvers' | 'others'>,
): { readonly chosen: readonly ApproverRoles[]; readonly useful: readonly string[] } {
  const rows = wanted.flatMap(({ each }) => each);
  const filled = (people: readonly ApproverRoles[]) =>
    wanted.reduce((sum, { each }) => sum + seatsFilled(each, people), 0);
  const groups = groupsOf(rows, others);
  const before = filled(approvers);
  const useful = groups.filter(([one]) => filled([...approvers, one!]) > before).flat();
  const chosen: ApproverRoles[] = [];
  const all = wanted.reduce((sum, { each }) => sum + seatsOf(each), 0);
  // A person who is made up may suit seats of several quorums, so people who are there come first.
  for (const left of [groups.map((group) => [...group]), madeUp(rows, approvers)])
    for (let now = filled([...approvers, ...chosen]); now < all; ) {
      const gains = left.map(([one]) => (one ? filled([...approvers, ...chosen, one]) - now : 0));
      const most = Math.max(0, ...gains);
      if (most === 0) break;
      chosen.push(left[gains.indexOf(most)]!.shift()!);
      now += most;
    }
  return { chosen, useful: useful.map(({ name }) => name).sort() };
}

/** People who suit the same seats stand for each other. */
function groupsOf(
  rows: readonly Quorum['each'][number][],
  people: readonly ApproverRoles[],
): ApproverRoles[][] {
  const groups = new Map<string, ApproverRoles[]>();
  for (const one of people) {
    const key = rows.map((seat) => Number(suits(seat, one))).join('');
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

/** People for seats that none of those who are there can fill. */
function madeUp(
  rows: readonly Quorum['each'][number][],
  approvers: readonly ApproverRoles[],
): ApproverRoles[][] {
  const roles = [...new Set(rows.flatMap(({ role }) => role ?? []))];
  const named = [...new Set(rows.flatMap(({ of }) => of ?? []))].filter((name) =>
    approvers.every((one) => one.name !== name),
  );
  const nameless = Array.from({ length: policyLimits.seats }, (_, i) => ({ name: `?${i}`, roles }));
  return [...named.map((name) => [{ name, roles }]), nameless];
}
