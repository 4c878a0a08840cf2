import fc from 'fast-check';
import { expect } from 'vitest';
import type { Body, Event } from '../../src/event/event.ts';
import { FoldedLedger } from '../../src/fold/ledger.ts';
import { issues } from '../../src/gate/system.ts';
import { openEntry } from '../../src/ledger/entry.ts';
import { aimed } from './aimed.ts';
import { codesOfFold } from './codes.ts';
import {
  type Answer,
  claims,
  deepVerified,
  deepVerifiedWith,
  forgetting,
  type Objects,
  objectsOf,
  onSqlite,
  type StoreJudges,
  sealed,
  storeJudges,
  type Times,
} from './judges.ts';
import { KINDS } from './kinds.ts';
import { lived } from './lived.ts';
import { isInLook, lookedAt } from './look.ts';
import { choosingSignedAgain, isSignedAgain, mutant } from './mutants.ts';
import { inProof, intentsIn, isAboutIntent, isInProof, proofOf } from './proofs.ts';
import { type Single, singlesOf } from './search.ts';
import { UNREACHED } from './unreached.ts';

/** Who has entries alone, such as those of an export without objects, and who has the objects that they name as well. */
const WITHOUT_OBJECTS = { forgetting };
const ON_SQLITE = storeJudges(onSqlite);
export const JUDGES = { deepVerified, deepVerifiedWith, ...WITHOUT_OBJECTS, ...ON_SQLITE };
const OF_OBJECTS = [
  ...['DECISION_MISSING', 'DECISION_MISMATCH', 'DECISION_STALE'],
  ...['OBJECT_MISSING', 'CAPABILITY_WIDENED', 'CAPABILITY_KEY_UNKNOWN'],
  ...['CAPABILITY_FORGED', 'CAPABILITY_MALFORMED', 'CAPABILITY_ALGORITHM'],
];

/** What all judges refused: how often for each reason, and which kinds of events. */
class Reached {
  readonly codes = new Map<string, number>();
  readonly kinds = new Set<string>();

  add(events: readonly Event[], answer: Answer): void {
    const code = answer?.code ?? 'taken';
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (answer) this.kinds.add(events[answer.seq]!.kind);
  }

  print(what: string): void {
    const codes = [...this.codes].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
    const left = KINDS.filter((kind) => !this.kinds.has(kind));
    const kinds = left.length === 0 ? `all ${KINDS.length}` : `all but ${left.join(', ')}`;
    console.info(`${what}: ${codes.join(', ')}\nrefused kinds: ${kinds}`);
  }
}

/** So many ledgers that differ by chance from a good one in one thing: every judge refuses the same entry, or none does. */
export async function expectOneAnswer(
  count: number,
  stores: Partial<StoreJudges> = ON_SQLITE,
): Promise<void> {
  const reached = new Reached();
  const good = lived();
  const objects = objectsOf(good);
  const numbers = fc.array(fc.nat(), { minLength: 4, maxLength: 4 });
  let [again, judged] = [0, 0];
  const judge = async (numbers: readonly number[]) => {
    const chosen = judged++ % 2 === 0 ? choosingSignedAgain(good, numbers) : numbers;
    if (isSignedAgain(good, chosen)) again += 1;
    const events = mutant(good, chosen);
    reached.add(events, await answerOfAll({ events, objects }, chosen[1]!, stores));
  };
  await fc.assert(fc.asyncProperty(numbers, judge), { numRuns: count });
  expect(again * 2).toBeGreaterThanOrEqual(judged);
  reached.print(`${count} ledgers by chance, ${again} of them edited and signed again with real keys`);
}

/**
 * One ledger at least that is refused at an entry of each kind, and one for each code that the source of the fold has: every judge
 * refuses the same entry. `all` takes every pair of kind and code that a single change leads to, and not only as many as are needed.
 */
export async function expectEachRefused(
  { all }: { readonly all: boolean },
  stores: Partial<StoreJudges> = ON_SQLITE,
): Promise<void> {
  const reached = new Reached();
  const good = lived();
  const objects = objectsOf(good);
  const singles = singlesOf(good, objects);
  for (const { kind, code, events } of all ? singles : enough(singles)) {
    const answer = await answerOfAll({ events, objects }, 0, stores);
    expect({ code: answer?.code, kind: events[answer?.seq ?? 0]!.kind }).toEqual({ code, kind });
    reached.add(events, answer);
  }
  for (const { code, events, times } of aimed()) {
    const answer = await answerOfAll(
      { events, objects: objectsOf(events), ...(times && { times }) },
      0,
      stores,
    );
    expect(answer).toEqual({ code, seq: events.length - 1 });
    reached.add(events, answer);
  }
  reached.print(`${all ? 'every' : 'each'} refusal by aim`);
  const codes = codesOfFold();
  const unreached = codes.filter((code) => !reached.codes.has(code));
  expect(unreached).toEqual(Object.keys(UNREACHED).sort());
  expect([...reached.codes.keys()].filter((code) => !codes.some((one) => one === code))).toEqual([]);
  console.info(`reached codes: ${reached.codes.size} of ${codes.length}`);
  for (const [code, why] of Object.entries(UNREACHED)) console.info(`not reached: ${code}, ${why}`);
  expect(KINDS.filter((kind) => !reached.kinds.has(kind))).toEqual([]);
}

/** The shortest for each code, and then for each kind that has none yet: rather for what it means than for its form. */
function enough(singles: readonly Single[]): Single[] {
  const chosen = new Map<string, Single>();
  const kinds = new Set<string>();
  const byMeaning = (one: Single) => Number(OF_FORM.has(one.code));
  for (const one of singles) if (!chosen.has(one.code)) chosen.set(one.code, one);
  for (const { kind } of chosen.values()) kinds.add(kind);
  const others = singles
    .toSorted((a, b) => byMeaning(a) - byMeaning(b))
    .filter(({ kind }) => !kinds.has(kind) && kinds.add(kind));
  return [...chosen.values(), ...others];
}

const OF_FORM: ReadonlySet<string> = new Set([
  'LEDGER_BROKEN',
  'SHAPE_INVALID',
  'SIGNATURE_INVALID',
  'CLAIM_TAKEN',
  'TRANSITION_ILLEGAL',
]);

interface Told {
  readonly events: readonly Event[];
  readonly objects: Objects;
  readonly times?: Times;
}

/**
 * What the judges who have everything say. All others say the same. Those who have the objects may refuse an earlier entry than the others,
 * for its decision or its token, and for nothing else.
 */
async function answerOfAll(
  { events, objects, times }: Told,
  any: number,
  stores: Partial<StoreJudges>,
): Promise<Answer> {
  const bare = await deepVerified(events, objects, times);
  const answer = await deepVerifiedWith(events, objects, times);
  for (const [name, judge] of Object.entries(WITHOUT_OBJECTS))
    expectSame(name, await judge(events, objects, times), bare);
  for (const [name, judge] of Object.entries(stores)) {
    const found = await judge(events, objects, times);
    if (!isOfTheStore(found, events)) expectSame(name, found, answer);
  }
  if (answer?.seq !== bare?.seq) {
    expect(OF_OBJECTS).toContain(answer?.code);
    expect(answer!.seq).toBeLessThan(bare?.seq ?? Number.POSITIVE_INFINITY);
  }
  await expectSameProof(events, bare, any, times);
  expectSameLook(events, bare, any, times);
  return answer;
}

function expectSame(name: string, found: Answer, expected: Answer): void {
  expect({ name, seq: found?.seq ?? null }).toEqual({ name, seq: expected?.seq ?? null });
}

/** Whether the bytes that an entry removes are there, only a store can say: a ledger has no bytes. */
function isOfTheStore(found: Answer, events: readonly Event[]): boolean {
  return found?.code === 'OBJECT_MISSING' && /^object\./.test(events[found.seq]!.kind);
}

/** Entries that end with the one that is refused, and which of them are in the part of the ledger that is judged. */
interface Part {
  readonly upTo: readonly Event[];
  readonly isShown: (event: Event) => boolean;
  readonly times: Times | undefined;
}

/**
 * What a part of the ledger cannot know: how many capabilities its proposer was issued, how often a grant was used, who may have signed
 * nothing, where the conversation stands that it was dispatched for, which ids other stories took, what else undoes the same run, and how
 * many humans there are whom it does not show.
 */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  'LAST_HUMAN',
  'GRANT_SPENT',
  'UNDO_UNDER_WAY',
  'UNDONE_BEFORE',
]);

function isOfTheWhole(code: string, part: Part): boolean {
  const { kind } = part.upTo.at(-1)!;
  if (code === 'CLAIM_TAKEN') return isTakenOutside(part);
  if (OF_THE_WHOLE.has(code)) return true;
  if (kind === 'execution.claimed') return /^(AGENT|SIMULATION|DISPATCH)_/.test(code);
  if (kind !== 'capability.issued') return false;
  return code === 'PRINCIPAL_UNKNOWN' || (code === 'DECISION_STALE' && isOfOrdinal(part));
}

function isTakenOutside({ upTo, isShown }: Part): boolean {
  const wanted = claims(upTo.at(-1)!);
  const taker = upTo.slice(0, -1).find((event) => claims(event).some((claim) => wanted.includes(claim)));
  return taker !== undefined && !isShown(taker);
}

/** It names the policies that hold and a key that issues, so what is out of date is its ordinal. */
function isOfOrdinal({ upTo, times }: Part): boolean {
  const folded = new FoldedLedger({ is_whole: true });
  for (const { bytes } of sealed(upTo.slice(0, -1), times)) folded.take(openEntry(bytes));
  const { policy, control_key } = upTo.at(-1)!.body as Body<'capability.issued'>;
  return policy === folded.system.policy && issues(folded.system, control_key);
}

/** The same of the gate's own look at one intent, which reads every entry and folds what is about that one. */
function expectSameLook(events: readonly Event[], answer: Answer, any: number, times?: Times): void {
  const good = answer ? events.slice(0, answer.seq) : events;
  const intents = intentsIn(good);
  const intent_id = intents[any % intents.length];
  if (good.length > 1) expect(lookedAt(sealed(good, times), intent_id)).toBeNull();
  if (!answer) return;
  const last = events[answer.seq]!;
  const about = isAboutIntent(last) ? last.subject : intent_id;
  const { code } = answer;
  // What replaced an intent is another subject, which the gate does not look at.
  if (last.kind === 'intent.replaced' || !isInLook(last, about)) return;
  const upTo = events.slice(0, answer.seq + 1);
  if (isOfTheWhole(code, { upTo, isShown: (event) => isInLook(event, about), times })) return;
  const look = lookedAt(sealed(upTo, times), about);
  expect({ code, kind: last.kind, is_refused: look !== null }).toEqual({
    code,
    kind: last.kind,
    is_refused: true,
  });
}

/**
 * A proof has the entries about one intent and those that they rest on. What the whole ledger takes, a proof of it takes; and an entry that
 * the whole ledger refuses, a proof that holds it refuses.
 */
async function expectSameProof(
  events: readonly Event[],
  answer: Answer,
  any: number,
  times?: Times,
): Promise<void> {
  const good = answer ? events.slice(0, answer.seq) : events;
  const intents = intentsIn(good);
  const intent_id = intents[any % intents.length];
  if (intent_id !== undefined) expect(await proofOf(good, intent_id, times)).toBeNull();
  if (!answer) return;
  const upTo = events.slice(0, answer.seq + 1);
  const last = upTo.at(-1)!;
  const about = isAboutIntent(last) ? last.subject : intent_id;
  if (about === undefined || !isInProof(last, about)) return;
  const { code } = answer;
  if (isOfTheWhole(code, { upTo, isShown: inProof(upTo, about), times })) return;
  expect({ code, kind: last.kind, is_refused: (await proofOf(upTo, about, times)) !== null }).toEqual({
    code,
    kind: last.kind,
    is_refused: true,
  });
}
