import * as z from 'zod';
import { DIGEST_FORM } from '../canonical/form.ts';
import { visible } from '../canonical/visible.ts';
import { describeIssue } from '../event/event.ts';
import { capabilityLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { isPlainPath } from './scope.ts';

const label = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, 'is not a plain name');

/** Full hours in UTC. From 22 to 6 goes over midnight. */
const hours = z
  .strictObject({ from: z.int().min(0).max(23), to: z.int().min(1).max(24) })
  .refine(({ from, to }) => from !== to, 'is no time or all day: say which');

export const conditionsSchema = z.strictObject({
  not_before: z.iso.datetime({ precision: 3 }).optional(),
  environment: label.optional(),
  host: label.optional(),
  hours: hours.optional(),
  /** What each file must be: its SHA-256, or `null` where there must be none. */
  files: z
    .record(
      z.string().refine((path) => isPlainPath(path) && path !== '/' && path !== '.', 'is not a plain path'),
      z.string().regex(DIGEST_FORM, 'is not a digest').nullable(),
    )
    .refine(
      (files) => Object.keys(files).length <= capabilityLimits.files,
      `names more than ${capabilityLimits.files} files`,
    )
    .optional(),
});

/** What must hold when it runs. What is not named is not asked. */
export interface Conditions {
  readonly not_before?: string | undefined;
  readonly environment?: string | undefined;
  readonly host?: string | undefined;
  readonly hours?: Hours | undefined;
  readonly files?: Readonly<Record<string, string | null>> | undefined;
}

export interface Hours {
  readonly from: number;
  readonly to: number;
}

/** What the executor knows about itself. */
export interface ExecutorFacts {
  readonly now: Date;
  readonly environment: string;
  readonly host: string;
  /** The SHA-256 of a file as it is now, or `null` when there is none. */
  fileDigest(path: string): string | null;
}

export function parseConditions(value: unknown): Conditions {
  const conditions = conditionsSchema.safeParse(value);
  if (!conditions.success)
    refuse('CAPABILITY_MALFORMED', `The conditions are not valid: ${describeIssue(conditions.error)}`);
  return conditions.data;
}

/** The first condition that is not met, in words, or `null`. */
export function unmetCondition(conditions: Conditions, facts: ExecutorFacts): string | null {
  const { not_before, environment, host, hours, files = {} } = conditions;
  // Negated, so that a clock that gives no time meets nothing.
  if (not_before !== undefined && !(facts.now.getTime() >= Date.parse(not_before)))
    return `It is not yet ${not_before}.`;
  if (environment !== undefined && facts.environment !== environment)
    return `It is for the environment ${shown(environment)}, and this is ${shown(facts.environment)}.`;
  if (host !== undefined && facts.host !== host)
    return `It is for the host ${shown(host)}, and this is ${shown(facts.host)}.`;
  if (hours !== undefined && !isHourIn(hours, facts.now.getUTCHours()))
    return `It is for the hours from ${hours.from} to ${hours.to} (UTC).`;
  const drifted = Object.entries(files).find(([path, digest]) => facts.fileDigest(path) !== digest);
  return drifted ? `The file ${shown(drifted[0])} is not what it was when this was granted.` : null;
}

function shown(text: string): string {
  return visible(JSON.stringify(text.slice(0, 256)));
}

function isHourIn({ from, to }: Hours, hour: number): boolean {
  return from < to ? from <= hour && hour < to : hour >= from || hour < to;
}

/** Whether each outer condition is still there, equal or stricter. */
export function narrowerConditions(inner: Conditions, outer: Conditions): boolean {
  return (
    isLater(inner.not_before, outer.not_before) &&
    isKept(inner.environment, outer.environment) &&
    isKept(inner.host, outer.host) &&
    areFewer(inner.hours, outer.hours) &&
    Object.entries(outer.files ?? {}).every(([path, digest]) => inner.files?.[path] === digest)
  );
}

function isKept(inner: string | undefined, outer: string | undefined): boolean {
  return outer === undefined || inner === outer;
}

function isLater(inner: string | undefined, outer: string | undefined): boolean {
  return outer === undefined || (inner !== undefined && Date.parse(inner) >= Date.parse(outer));
}

function areFewer(inner: Hours | undefined, outer: Hours | undefined): boolean {
  if (outer === undefined) return true;
  if (inner === undefined) return false;
  return DAY.every((hour) => !isHourIn(inner, hour) || isHourIn(outer, hour));
}

const DAY: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour);

/** Both together: a condition that is named again replaces the earlier one. Whether that is narrower is another question. */
export function joinedConditions(outer: Conditions, added: Conditions): Conditions {
  const files = outer.files || added.files ? { files: { ...outer.files, ...added.files } } : {};
  return { ...outer, ...added, ...files };
}
