import { codeOf } from '../canonical/code.ts';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText, type Json } from '../canonical/json.ts';
import { isTold, type ToldIntent } from '../intent/told.ts';
import { limits } from '../limits.ts';
import type { Block, Shown } from './shown.ts';

/**
 * What a human signs, made again where they look: in a page, or at a terminal far from the service. A service that draws up another act
 * than was shown is refused where it is shown.
 */

/** What is expected to be signed, from what was shown and asked for. */
export interface ExpectedAct {
  readonly kind: string;
  /** Null where the act itself gives the id that it is about. */
  readonly subject: string | null;
  /** Where it follows from what one signature covers beside it and stands before it. */
  readonly subjectOf?: (before: JsonMembers) => Json;
  /** Members that are known, each with its value. */
  readonly fixed: Readonly<Record<string, Json>>;
  /** Members that the service chooses: ids and times. They are drawn beside the button once they are known. */
  readonly free: readonly string[];
  /** It holds for so long from when it is drawn up: `expires_at` follows. */
  readonly ttl_s?: number;
  /** Times among `free`: none is later than so many seconds after it is drawn up. */
  readonly at_most_s?: Readonly<Record<string, number>>;
  /** Members that follow from those in `free`: of this act, and of what one signature covers beside it and stands before it; or from when it is drawn up. */
  readonly follows?: (free: JsonMembers, before: JsonMembers, at: string) => JsonMembers;
}

/** What a proposer signs, which is no act: it says who asks, or takes back what was asked, and allows nothing. */
export interface ExpectedOfProposer extends Pick<ExpectedAct, 'fixed' | 'free'> {
  readonly format: 'keyturn-proposal/1' | 'keyturn-withdrawal/1';
}

export interface ActSigning {
  readonly origin: string;
  readonly by: string;
  readonly key: string;
  /** When the service says that it drew the act up. The deadline follows from it. */
  readonly at: string;
}

export interface RebuiltAct {
  readonly text: string;
  readonly digest: Digest;
  readonly free: Readonly<Record<string, Json>>;
}

/** In what the act of the service differs, in one word. */
export interface OtherAct {
  readonly differs: string;
}

type JsonMembers = Readonly<Record<string, Json>>;

/**
 * The statement, made again from what was shown. Of the text that came from the service only ids and times that the service alone can know are
 * taken over; every other difference is told. The digest is of the text that was made here.
 */
export function rebuiltAct(
  theirs: string,
  expected: ExpectedAct | ExpectedOfProposer,
  { by, key, at, origin }: ActSigning,
  before: JsonMembers = {},
): RebuiltAct | OtherAct {
  const parsed = membersIn(theirs);
  const told = parsed && ('format' in expected ? parsed : membersOf(parsed.body));
  if (!parsed || !told) return { differs: 'its form' };
  const missing = expected.free.find((name) => told[name] === undefined);
  if (missing !== undefined) return { differs: missing };
  const free = Object.fromEntries(expected.free.map((name) => [name, told[name]!]));
  const known = { ...expected.fixed, ...free };
  if ('format' in expected)
    return sameAs(theirs, parsed, { format: expected.format, origin, ...known }, free);
  const { kind, subject, subjectOf, ttl_s, at_most_s = {}, follows } = expected;
  const late = Object.entries(at_most_s).find(
    ([name, s]) => !isWithin(free[name], Date.parse(at) + s * 1000),
  );
  if (late) return { differs: late[0] };
  const until = ttl_s !== undefined && { expires_at: new Date(Date.parse(at) + ttl_s * 1000).toISOString() };
  const deadline = new Date(Date.parse(at) + limits.act_wait_s * 1000).toISOString();
  const body = { ...known, ...follows?.(free, before, at), ...until, by, key, signed_at: at, deadline };
  const about = subjectOf?.(before) ?? subject ?? String(parsed.subject);
  return sameAs(theirs, parsed, { format: 'keyturn-act/1', origin, kind, subject: about, body }, free);
}

/**
 * Whether an act was drawn up now, by the clock of who signs it. One of a time to come could be kept back and committed then: its deadline is
 * counted from when it says that it was drawn up.
 */
export function isDrawnNow(at: string, now_ms: number, most_s: number = limits.message_signature_s): boolean {
  return Math.abs(Date.parse(at) - now_ms) <= most_s * 1000;
}

/** No time at all ends nothing later. */
function isWithin(time: Json | undefined, latest_ms: number): boolean {
  return time === null || (typeof time === 'string' && Date.parse(time) <= latest_ms);
}

function sameAs(
  theirs: string,
  parsed: JsonMembers,
  ours: JsonMembers,
  free: JsonMembers,
): RebuiltAct | OtherAct {
  const text = canonicalText(ours);
  return text === theirs ? { text, digest: sha256(text), free } : { differs: differenceOf(parsed, ours) };
}

function membersIn(text: string): JsonMembers | null {
  try {
    return membersOf(JSON.parse(text) as Json);
  } catch {
    return null;
  }
}

function membersOf(value: Json | undefined): JsonMembers | null {
  const is_object = value !== null && typeof value === 'object' && !Array.isArray(value);
  return is_object ? (value as JsonMembers) : null;
}

function differenceOf(theirs: JsonMembers, ours: JsonMembers): string {
  const other = firstOther(without(theirs), without(ours));
  const [a, b] = [membersOf(theirs.body), membersOf(ours.body)];
  return other ?? (a && b ? firstOther(a, b) : null) ?? 'its form';
}

/** What stands around the body. */
function without({ body: _, ...rest }: JsonMembers): JsonMembers {
  return rest;
}

function firstOther(a: JsonMembers, b: JsonMembers): string | null {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const isSame = (name: string) =>
    name in a && name in b && canonicalText(a[name]!) === canonicalText(b[name]!);
  return names.find((name) => !isSame(name)) ?? null;
}

/** What identifies a proposal, computed from what is drawn of it. */
export interface SealedProposal {
  readonly hash: Digest;
  readonly effect_digest: Digest;
  /** Of what a human may turn to when a run fails: a yes covers it, too. */
  readonly alternates: readonly Digest[];
  /** What a person compares with `keyturn show`. */
  readonly code: string;
}

export function sealedProposal(
  envelope: { readonly nonce: string },
  effect: object,
  alternates: readonly object[],
): SealedProposal {
  const hash = sha256(canonicalBytes(envelope));
  const digestOf = (one: object) => sha256(canonicalBytes({ effect: one, nonce: envelope.nonce }));
  return {
    hash,
    effect_digest: digestOf(effect),
    alternates: alternates.map(digestOf),
    code: codeOf(hash),
  };
}

/** Whether what a service tells about a proposal is what was computed from it, and what its envelope says. */
export function isSealedAs(
  { hash, effect_digest, alternates }: SealedProposal,
  envelope: Parameters<typeof isTold>[0] & { readonly intent_id: string },
  intent: ToldIntent & { readonly intent_id: string; readonly hash: string },
): boolean {
  return (
    hash === intent.hash &&
    effect_digest === intent.effect_digest &&
    alternates.join() === envelope.alternates.map(({ digest }) => digest).join() &&
    envelope.intent_id === intent.intent_id &&
    isTold(envelope, intent)
  );
}

/** Diffs need the files, which only the service has: their blocks, and the alarms that were found in them, are taken from its answer. */
export function withTheirDiffs(own: Shown, theirs: Shown): Shown {
  const known = new Set(own.alarms.map(({ words }) => words));
  return {
    ...own,
    alarms: [...theirs.alarms.filter(({ words }) => !known.has(words)), ...own.alarms],
    parts: own.parts.map((part, i) => ({
      ...part,
      blocks: blocksWith(part.blocks, theirs.parts[i]?.blocks),
    })),
  };
}

/** A diff of a new file shows its content, which is then not shown twice. */
function blocksWith(own: readonly Block[], theirs: readonly Block[] = []): readonly Block[] {
  const diffs = theirs.filter(({ kind }) => kind === 'diff');
  const has_lines = diffs.some(({ hunks, left_out }) => hunks.length + left_out > 0);
  return [...own.filter(({ kind }) => kind === 'sql' || !has_lines), ...diffs];
}
