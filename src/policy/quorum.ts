import * as z from 'zod';
import { NAME_FORM } from '../canonical/form.ts';
import { fieldLimits, policyLimits } from '../limits.ts';
import { readDocument } from './document.ts';
import type { PolicyContext } from './request.ts';
import { QUORUM_FILE } from './source.ts';

/** Who must have approved: so many people, perhaps of these names, perhaps with this role. */
export interface Seats {
  readonly any: number;
  readonly of?: readonly string[] | undefined;
  readonly role?: string | undefined;
}

export interface Quorum {
  readonly name: string;
  readonly each: readonly Seats[];
}

export interface ApproverRoles {
  readonly name: string;
  readonly roles: readonly string[];
}

const name = z.string().regex(NAME_FORM, 'is not a name: a-z, 0-9, dot, dash, underscore');

const names = z
  .array(name)
  .min(1)
  .max(fieldLimits.listed)
  .refine((all) => new Set(all).size === all.length, 'names a person twice');

const seats = z
  .strictObject({ any: z.int().min(1).max(policyLimits.seats), of: names.optional(), role: name.optional() })
  .refine(({ any, of }) => of === undefined || of.length >= any, 'asks for more people than it names');

const each = z
  .array(seats)
  .min(1)
  .max(policyLimits.seats)
  .refine(
    (all) => all.reduce((sum, { any }) => sum + any, 0) <= policyLimits.seats,
    `has more than ${policyLimits.seats} seats`,
  );

/** Told apart by its key, so that the message is about what was meant. */
const quorum = z.record(z.string(), z.unknown()).transform((value, context): readonly Seats[] => {
  const parsed =
    'each' in value
      ? z
          .strictObject({ each })
          .transform((of) => of.each)
          .safeParse(value)
      : seats.transform((one) => [one]).safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues)
    context.addIssue({ code: 'custom', path: [...path], message });
  return z.NEVER;
});

const quorumFile = z
  .record(name, quorum)
  .refine(
    (all) => Object.keys(all).length <= policyLimits.quorums,
    `has more than ${policyLimits.quorums} quorums`,
  )
  .nullable();

/** The quorums of a file, sorted by name. A file of comments has none. */
export function parseQuorums(text: string | null): readonly Quorum[] {
  if (text === null) return [];
  const found = readDocument(QUORUM_FILE, text, quorumFile) ?? {};
  return Object.entries(found)
    .map(([name, each]) => ({ name, each }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Names of the quorums that these people make, sorted. */
export function quorumsMet(quorums: readonly Quorum[], approvers: readonly ApproverRoles[]): string[] {
  const people = distinct(approvers);
  return quorums.filter(({ each }) => fills(each, people)).map(({ name }) => name);
}

export type ApprovalFacts = Pick<PolicyContext, 'approvals' | 'approvers' | 'approver_roles' | 'quorums'>;

/** What a policy is told about the approvals. */
export function approvalFacts(
  quorums: readonly Quorum[],
  approvers: readonly ApproverRoles[],
): ApprovalFacts {
  const people = distinct(approvers);
  return {
    approvals: people.length,
    approvers: people.map((person) => person.name).sort(),
    approver_roles: [...new Set(people.flatMap(({ roles }) => roles))].sort(),
    quorums: quorumsMet(quorums, people),
  };
}

/** Two approvals of one person count once. */
function distinct(approvers: readonly ApproverRoles[]): ApproverRoles[] {
  return [...new Map(approvers.toReversed().map((person) => [person.name, person])).values()];
}

function fills(each: readonly Seats[], people: readonly ApproverRoles[]): boolean {
  return seatsFilled(each, people) === seatsOf(each);
}

export function seatsOf(each: readonly Seats[]): number {
  return each.reduce((sum, { any }) => sum + any, 0);
}

/** One person fills one seat. Who has two roles may be needed in the other one, so people move over when they can. */
export function seatsFilled(each: readonly Seats[], people: readonly ApproverRoles[]): number {
  const rows = each.flatMap((seat) => Array<Seats>(seat.any).fill(seat));
  const seated = new Map<ApproverRoles, number>();
  const seat = (row: number, asked: Set<ApproverRoles>): boolean => {
    for (const person of people) {
      if (asked.has(person) || !suits(rows[row]!, person)) continue;
      asked.add(person);
      const taken = seated.get(person);
      if (taken === undefined || seat(taken, asked)) {
        seated.set(person, row);
        return true;
      }
    }
    return false;
  };
  return rows.filter((_, row) => seat(row, new Set())).length;
}

export function suits({ of, role }: Seats, person: ApproverRoles): boolean {
  return (
    (of === undefined || of.includes(person.name)) && (role === undefined || person.roles.includes(role))
  );
}
