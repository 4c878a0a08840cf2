import type { JsonObject } from '../canonical/json.ts';

/**
 * What clients answered to some of the questions of a server while others are open, by intent. It outlives every process, and is no part of the
 * ledger: the last answer makes a call of all of them, which a human approves.
 */
export interface PartialAnswers {
  /** By the name of the question. */
  of(intent_id: string): Promise<JsonObject>;
  /** Durable once it resolves. Each answer is kept by itself, so two processes that add at once lose none. */
  add(intent_id: string, answers: JsonObject): Promise<void>;
  drop(intent_id: string): Promise<void>;
}
