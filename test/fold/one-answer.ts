import fc from 'fast-check';
import { expect } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import {
  type Answer,
  adopted,
  committed,
  deepVerified,
  deepVerifiedWith,
  forgetting,
  type Objects,
  objectsOf,
  rebuilt,
} from './judges.ts';
import { KINDS, LEFT_OUT, lived } from './lived.ts';
import { mutant } from './mutants.ts';
import { intentsIn, isAboutIntent, isInProof, proofOf } from './proofs.ts';

/** Who has entries alone, and who has the objects that they name as well. */
const WITHOUT_OBJECTS = { adopted, rebuilt };
const WITH_OBJECTS = { committed };
export const JUDGES = { deepVerified, forgetting, deepVerifiedWith, ...WITHOUT_OBJECTS, ...WITH_OBJECTS };
const OF_DECISIONS = ['DECISION_MISSING', 'DECISION_MISMATCH', 'DECISION_STALE'];

/**
 * So many ledgers that differ from a good one in one thing: every judge refuses the same entry, or none does. Those who have the objects
 * may refuse an earlier entry than the others, for its decision and for nothing else.
 */
export async function expectOneAnswer(count: number): Promise<void> {
  const reached = new Map<string, number>();
  const kinds = new Set<string>();
  const good = lived();
  const objects = objectsOf(good);
  const judge = async (numbers: readonly number[]) => {
    const events = mutant(good, numbers);
    const answer = await answerOfAll(events, objects, numbers[1]!);
    const code = answer?.code ?? 'taken';
    reached.set(code, (reached.get(code) ?? 0) + 1);
    if (answer) kinds.add(events[answer.seq]!.kind);
  };
  const spared = () => KINDS.filter((kind) => !kinds.has(kind) && !LEFT_OUT.some((left) => left === kind));
  const numbers = fc.array(fc.nat(), { minLength: 4, maxLength: 4 });
  await fc.assert(fc.asyncProperty(numbers, judge), { numRuns: count });
  // What is never refused is never judged: where chance has spared a kind, it is aimed at.
  for (const kind of count >= FULL ? spared() : []) {
    const at = good.findIndex((event) => event.kind === kind);
    for (let n = 0; n < AIMED && !kinds.has(kind); n += 1) await judge([n, at, 31 * n + 7, n]);
  }
  const codes = [...reached].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
  const left = spared();
  console.info(`${count} ledgers: ${codes.join(', ')}`);
  console.info(`refused kinds: all${left.length === 0 ? '' : ` but ${left.join(', ')}`}`);
  if (count >= FULL) expect(left).toEqual([]);
}

/** From so many on every kind must have been refused. */
const FULL = 2000;
/** How often one kind is aimed at. */
const AIMED = 100;

/** What the judges who have everything say. All others say the same. */
async function answerOfAll(events: readonly Event[], objects: Objects, any: number): Promise<Answer> {
  const bare = await deepVerified(events);
  const answer = await deepVerifiedWith(events, objects);
  expect(await forgetting(events)).toEqual(bare);
  for (const [name, judge] of Object.entries(WITHOUT_OBJECTS)) expectSame(name, await judge(events), bare);
  for (const [name, judge] of Object.entries(WITH_OBJECTS))
    expectSame(name, await judge(events, objects), answer);
  if (answer?.seq !== bare?.seq) {
    expect(OF_DECISIONS).toContain(answer?.code);
    expect(answer!.seq).toBeLessThan(bare?.seq ?? Number.POSITIVE_INFINITY);
  }
  await expectSameProof(events, bare, any);
  return answer;
}

function expectSame(name: string, found: Answer, expected: Answer): void {
  expect({ name, seq: found?.seq ?? null }).toEqual({ name, seq: expected?.seq ?? null });
}

/**
 * What a proof cannot know: how many capabilities its proposer was issued, who may have signed nothing, where the conversation stands
 * that it was dispatched for, which ids other stories took, and what the intent asks for that replaced it.
 */
const isOfTheWhole = (code: string, { kind }: Event) =>
  code === 'CLAIM_TAKEN' ||
  (kind === 'intent.replaced' && (code === 'INTENT_NOT_FOUND' || code === 'TRANSITION_ILLEGAL')) ||
  (kind === 'capability.issued' && (code === 'DECISION_STALE' || code === 'PRINCIPAL_UNKNOWN')) ||
  (kind === 'execution.claimed' && /^(AGENT|SIMULATION|DISPATCH)_/.test(code));

/**
 * A proof has the entries about one intent and those that they rest on. What the whole ledger takes, a proof of it takes; and an entry that
 * the whole ledger refuses, a proof that holds it refuses.
 */
async function expectSameProof(events: readonly Event[], answer: Answer, any: number): Promise<void> {
  const good = answer ? events.slice(0, answer.seq) : events;
  const intents = intentsIn(good);
  const intent_id = intents[any % intents.length];
  if (intent_id !== undefined) expect(await proofOf(good, intent_id)).toBeNull();
  if (!answer) return;
  const upTo = events.slice(0, answer.seq + 1);
  const last = upTo.at(-1)!;
  if (isOfTheWhole(answer.code, last)) return;
  const about = isAboutIntent(last) ? last.subject : intent_id;
  if (about === undefined || !isInProof(last, about)) return;
  const { code } = answer;
  expect({ code, kind: last.kind, is_refused: (await proofOf(upTo, about)) !== null }).toEqual({
    code,
    kind: last.kind,
    is_refused: true,
  });
}
