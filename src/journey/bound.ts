import { type Digest, sha256 } from '../canonical/digest.ts';
import {
  canonicalBytesOfParsed,
  canonicalText,
  isSameJson,
  type Json,
  type JsonObject,
  parseJson,
} from '../canonical/json.ts';
import { limits } from '../limits.ts';
import type { PlanBound, PlanEffect } from '../plan/model.ts';
import { fixedPart, fixedPartOf, type ToolBound } from '../tool/effect.ts';
import type { Effect } from './derived.ts';

/**
 * What a simulation is when a human activates it: everything that decides what its yes would run, but for the values that
 * users give. The activation signs the digest of this value. It is derived again at each dispatch; the attacker changes a
 * script, its interpreter, an entry of the registry or a file of SQL after the human looked at them.
 */
export interface Bound {
  readonly format: 'keyturn-bound/1';
  readonly simulation: string;
  readonly version: number;
  readonly definition: Digest;
  /** Null for a template: its steps have theirs. */
  readonly effect: EffectBound | null;
  readonly steps: readonly BoundPart[];
  /** Null where nothing undoes it, and where what is bound is itself an undo. */
  readonly undone_by: BoundPart | 'plan:rollback' | null;
}

/** Another simulation that belongs to what was activated, as it was registered then. */
export interface BoundPart {
  readonly simulation: string;
  readonly version: number;
  readonly definition: Digest;
  readonly effect: EffectBound;
}

export type EffectBound = ToolBound | PlanBound;

export interface SealedBound {
  readonly value: Bound;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

export function sealBound(value: Bound): SealedBound {
  const bytes = canonicalBytesOfParsed(value as unknown as Json);
  return { value, bytes, digest: sha256(bytes) };
}

/** The store has checked the bytes against the digest that a human signed. */
export function openBound(bytes: Uint8Array): Bound {
  return parseJson(bytes, bytes.length) as unknown as Bound;
}

/** Where two values differ, as paths such as `effect.executables[0].sha256`. Empty when they are the same. */
export function differences(before: unknown, now: unknown): string[] {
  const found = differingPaths(before as Json, now as Json, '');
  const more = found.length - limits.named_differences;
  return more > 0 ? [...found.slice(0, limits.named_differences), `and ${more} more`] : found;
}

function differingPaths(before: Json | undefined, now: Json | undefined, at: string): string[] {
  if (isSameJson(before ?? null, now ?? null)) return [];
  if (Array.isArray(before) && Array.isArray(now) && before.length === now.length)
    return before.flatMap((one, i) => differingPaths(one, now[i], `${at}[${i}]`));
  if (isObject(before) && isObject(now))
    return [...new Set([...Object.keys(before), ...Object.keys(now)])]
      .sort()
      .flatMap((key) => differingPaths(before[key], now[key], at === '' ? key : `${at}.${key}`));
  return [at];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Pure: in what the effect of an intent is not a call of what was activated. An effect is fixed by the hash of its intent, so
 * this holds for every later look at it.
 */
export function effectDiffers(bound: EffectBound, effect: Effect): string[] {
  if (bound.kind === 'tool')
    return effect.kind === 'tool' ? differences(fixedPartOf(bound), fixedPart(effect)) : ['kind'];
  return effect.kind === 'plan' ? planDiffers(bound, effect) : ['kind'];
}

/** The file whose text the action runs, or whose content it writes. */
function fileTaken(action: PlanEffect['actions'][number]): string | undefined {
  if (action.action_type === 'SQL_EXECUTE') return action.operation.query_file;
  if (action.action_type !== 'FILE_CREATE') return undefined;
  return 'content_file' in action.operation ? action.operation.content_file : undefined;
}

function planDiffers({ pipelines, files }: PlanBound, { actions }: PlanEffect): string[] {
  const changes = actions.flatMap((action) => action.changes);
  return actions.flatMap((action) => {
    if (action.action_type === 'PIPELINE_RUN') {
      const known = pipelines.find(({ name }) => name === action.target);
      const same = known !== undefined && canonicalText(known.steps) === canonicalText(action.steps);
      return same ? [] : [`pipelines.${action.target}`];
    }
    const path = fileTaken(action);
    if (path === undefined) return [];
    // What an earlier action makes of the file is what the plan itself says.
    const first = changes.find((change) => change.path === path)?.before;
    const found = first === 'unknown' || first === undefined ? first : (first?.sha256 ?? null);
    const known = files.find((one) => one.path === path);
    return known !== undefined && known.sha256 === found ? [] : [`files.${path}`];
  });
}
