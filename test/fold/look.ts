import type { Event } from '../../src/event/event.ts';
import { History } from '../../src/fold/history.ts';
import { VerifiedEntries } from '../../src/fold/ledger.ts';
import { ReadEntries } from '../../src/fold/read.ts';
import type { SealedEntry } from '../../src/ledger/entry.ts';
import { Refusal } from '../../src/refusal.ts';
import { ORIGIN } from '../store/facts.ts';
import { isAboutIntent } from './proofs.ts';

/** What the gate's own look at one intent refuses these entries with, or at none; null where it takes them. */
export function lookedAt(entries: readonly SealedEntry[], intent_id?: string): string | null {
  try {
    const read = new ReadEntries('default', ORIGIN, new VerifiedEntries());
    for (const entry of entries) read.append(entry);
    if (intent_id !== undefined) read.tell('intent', intent_id, new Map());
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
}

/** Whether that look folds an event: what holds for every intent, and what is about the one. */
export function isInLook(event: Event, intent_id: string | undefined): boolean {
  return History.tells(event.kind) || (isAboutIntent(event) && event.subject === intent_id);
}
