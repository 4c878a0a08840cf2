import type { Keyturn } from '../keyturn.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';

const ABOUT_CLOCKS: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['CLOCK_AHEAD', 'CLOCK_BEHIND']);

/** What is wrong with the clock of this machine, or null when it fits the ledger. */
export async function wrongClock(keyturn: Keyturn): Promise<Refusal | null> {
  try {
    await keyturn.checkClock();
    return null;
  } catch (error) {
    if (error instanceof Refusal && ABOUT_CLOCKS.has(error.code)) return error;
    throw error;
  }
}
