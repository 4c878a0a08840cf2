import type { Digest } from '../canonical/digest.ts';
import { type JsonObject, parseJson } from '../canonical/json.ts';
import { openSealed } from '../canonical/sealed.ts';
import { type Event, isOneOf, parseEvent } from '../event/event.ts';
import { requireTold } from '../gate/asked.ts';
import { EXECUTION_KINDS, type RunStatus } from '../gate/execution.ts';
import { INTENT_KINDS, next } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import { type Envelope, openEnvelope } from '../intent/envelope.ts';
import type { Entry } from '../ledger/entry.ts';
import { type DecisionRecord, openDecision } from '../policy/replay.ts';
import { refuse } from '../refusal.ts';
import { changesBetween } from './changes.ts';
import { entrySentence } from './words.ts';

/**
 * The story of an intent, from its entries and the objects that they name: the same from the store of a project and from a
 * file that an auditor was given. It reads no clock and no store, and believes no entry more than its reader did: the caller
 * has verified them.
 */

/** Why the bytes of an object cannot be shown: an entry says that it was removed, it is lost, or the file came without. */
export type Absence = 'erased' | Expired | 'missing' | 'left out';

/** A gc removed it. */
export interface Expired {
  readonly expired: {
    readonly at: string;
    readonly by: string;
    /** Where its bytes were put before. */
    readonly archive?: { readonly file: string; readonly sha256: Digest } | undefined;
  };
}

export function isAbsent(found: object | Absence): found is Absence {
  return typeof found === 'string' || 'expired' in found;
}

/** The bytes under a digest, checked against it. */
export type ReadObject = (digest: Digest) => Promise<Uint8Array | Absence>;

/** One fact in words, and what the policies said to it. */
export interface Told {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  readonly words: string;
  readonly decision: (DecisionRecord['decision'] & { readonly snapshot: Digest }) | null;
}

export interface Story {
  readonly intent: IntentState;
  /** Goal, arguments and what would run, as the human approved them. */
  readonly asked: { readonly envelope: Envelope; readonly effect: JsonObject } | Absence;
  readonly told: readonly Told[];
  /** Where each run left the intent. */
  readonly left: readonly LeftBy[];
  /** What each run printed, by digest; null where it printed nothing. */
  readonly outputs: readonly Output[];
  /** What it asks for differently than the intent that it replaces; null when that one is not at hand. */
  readonly changes: readonly string[] | null;
}

export interface LeftBy {
  readonly execution_id: string;
  readonly status: RunStatus;
}

export interface Output {
  readonly execution_id: string;
  readonly stdout: Digest | null;
  readonly stderr: Digest | null;
}

/** `before` are the entries of the intent that this one replaces, where they are at hand. */
export async function tellIntent(
  entries: readonly Entry[],
  read: ReadObject,
  before: readonly Entry[] = [],
): Promise<Story> {
  const { intent, left } = folded(entries);
  if (intent === null) refuse('INTENT_NOT_FOUND');
  const asked = await askedIn(intent, read);
  return {
    intent,
    asked,
    told: await tellEntries(entries, read),
    left: [...left].map(([execution_id, status]) => ({ execution_id, status })),
    outputs: entries.flatMap((entry) => outputOf(parseEvent(entry))),
    changes: await changesOf(intent, asked, folded(before).intent, read),
  };
}

export async function tellEntries(entries: readonly Entry[], read: ReadObject): Promise<Told[]> {
  const told: Told[] = [];
  for (const { seq, at, kind, body } of entries)
    told.push({
      seq,
      at,
      kind,
      words: entrySentence({ kind, body }),
      decision: await decisionIn(body, read),
    });
  return told;
}

/** What a run printed, as text; or why that is not there. */
export type Printed = { readonly stdout: string; readonly stderr: string } | { readonly absent: Absence };

/** Out of its sealed objects. */
export async function readOutput(
  output: Pick<Output, 'stdout' | 'stderr'>,
  read: ReadObject,
): Promise<Printed> {
  const stdout = await readSealed(output.stdout, read);
  if (isAbsent(stdout)) return { absent: stdout };
  const stderr = await readSealed(output.stderr, read);
  return isAbsent(stderr) ? { absent: stderr } : { stdout: printedText(stdout), stderr: printedText(stderr) };
}

export async function readSealed(digest: Digest | null, read: ReadObject): Promise<Uint8Array | Absence> {
  if (digest === null) return new Uint8Array();
  const bytes = await read(digest);
  return isAbsent(bytes) ? bytes : openSealed(bytes);
}

/** What is not UTF-8 is replaced: the bytes themselves are an object of the store. */
export function printedText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

interface Folded {
  readonly intent: IntentState | null;
  /** By execution. */
  readonly left: ReadonlyMap<string, RunStatus>;
}

function folded(entries: readonly Entry[]): Folded {
  let intent: IntentState | null = null;
  const left = new Map<string, RunStatus>();
  for (const entry of entries) {
    const event = parseEvent(entry);
    if (isOneOf(INTENT_KINDS, event)) intent = next(intent, event, entry.at);
    if (isOneOf(EXECUTION_KINDS, event)) left.set(event.body.execution_id, intent!.status as RunStatus);
  }
  return { intent, left };
}

async function askedIn(state: IntentState, read: ReadObject): Promise<Story['asked']> {
  const bytes = await read(state.hash);
  if (isAbsent(bytes)) return bytes;
  const envelope = openEnvelope(bytes);
  requireTold(envelope, state);
  // All choices, because a human is shown all of them.
  for (const { effect_digest } of state.choices) {
    const choice = await read(effect_digest);
    if (isAbsent(choice)) return choice;
  }
  const sealed = await read(state.effect_digest);
  if (isAbsent(sealed)) return sealed;
  return { envelope, effect: effectIn(sealed) };
}

/** The digest of an effect may be of anything where a hostile ledger names it. */
function effectIn(sealed: Uint8Array): JsonObject {
  const value = parseJson(sealed, sealed.length);
  const effect = isObject(value) ? value.effect : undefined;
  if (!isObject(effect) || (effect.kind !== 'tool' && effect.kind !== 'plan' && effect.kind !== 'mcp'))
    refuse('SHAPE_INVALID', 'The effect is none that this version of Keyturn knows.');
  return effect;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function changesOf(
  { replaces }: IntentState,
  asked: Story['asked'],
  before: IntentState | null,
  read: ReadObject,
): Promise<string[] | null> {
  if (replaces === null) return [];
  if (before === null) return null;
  const bytes = await read(before.hash);
  if (!isAbsent(bytes) && !isAbsent(asked)) return changesBetween(openEnvelope(bytes), asked.envelope);
  return bytes === 'left out' || asked === 'left out' ? null : ['one of the two is not stored any more'];
}

function outputOf(event: Event): Output[] {
  if (event.kind !== 'execution.finished') return [];
  const { execution_id, stdout, stderr } = event.body;
  return [{ execution_id, stdout: stdout.digest, stderr: stderr.digest }];
}

/** A decision that was erased is gone with the goal that it was made from, and gc removes old ones. The story goes on without it. */
async function decisionIn(body: Entry['body'], read: ReadObject): Promise<Told['decision']> {
  const { decision: digest, outcome } = body as { decision?: unknown; outcome?: unknown };
  const bytes = typeof digest === 'string' ? await read(digest) : 'missing';
  if (isAbsent(bytes)) return null;
  const { decision, snapshot } = openDecision(bytes);
  // The policies did not permit it by themselves, and did not say no either: another human has to sign it.
  const words = outcome === 'AP_REQUIRED' ? 'An approver has to sign it first.' : decision.words;
  return { ...decision, words, snapshot };
}
