import type { JsonObject } from '../../src/canonical/json.ts';
import { type Event, type EventKind, parseEvent } from '../../src/event/event.ts';
import { neededDecision } from '../../src/fold/decided.ts';
import { issuedToken } from '../../src/fold/issued.ts';
import { FoldedLedger, foldEntry, verifierOf } from '../../src/fold/ledger.ts';
import { verifiedBefore } from '../../src/identity/verified.ts';
import { GENESIS, openEntry } from '../../src/ledger/entry.ts';
import { Refusal } from '../../src/refusal.ts';
import { ORIGIN } from '../store/facts.ts';
import { claims, type Objects, requireDecisionIn, requireTokenIn, sealed } from './judges.ts';
import { timeOf } from './lived.ts';
import { editsOf } from './mutants.ts';

/** A ledger that differs in one entry, where the fold refuses it. */
export interface Single {
  readonly kind: EventKind;
  readonly code: string;
  readonly events: readonly Event[];
}

/**
 * Every ledger that differs in one thing from a good one, looked at by the fold alone: each event of the ledger at each place (dropped,
 * repeated, moved), and each edit of each event, signed again and not. Of those that are refused, the shortest for each kind and code.
 */
export function singlesOf(good: readonly Event[], objects: Objects): Single[] {
  const found = new Map<string, Single>();
  const ledger = new FoldedLedger({ is_whole: true });
  const entries = sealed(good);
  const elsewhere = good.map((event) => ({ event, claimed: claims(event) }));
  for (const [seq, { bytes }] of entries.entries()) {
    const edits = editsOf(good[seq]!).map((event) => ({ event, claimed: null }));
    for (const { event, claimed } of [...elsewhere.filter((_, i) => i !== seq), ...edits]) {
      const code = codeOf({ ledger, objects, seq }, event, claimed);
      const name = `${event.kind} ${code}`;
      if (code === null || found.has(name)) continue;
      const events = [...good.slice(0, seq), event, ...good.slice(seq, seq + AFTER)];
      found.set(name, { kind: event.kind, code, events });
    }
    ledger.take(openEntry(bytes));
  }
  return [...found.values()];
}

/** How many entries follow the one that is refused. */
const AFTER = 2;

interface Place {
  readonly ledger: FoldedLedger;
  readonly objects: Objects;
  readonly seq: number;
}

/** Why the fold refuses this event at this place; null where it takes it. What has its claims is a good event, as it was signed. */
function codeOf(
  { ledger, objects, seq }: Place,
  told: Event,
  claimed: readonly string[] | null,
): string | null {
  try {
    const event = claimed ? told : parseEvent(told);
    const is_verified = claimed !== null && seq > 0;
    const verify = verifierOf('default', seq > 0 ? ORIGIN : null);
    const verified = is_verified ? verifiedBefore(event) : verify(event);
    const { kind, subject, body } = event;
    const facts = {
      kind,
      subject,
      body: body as JsonObject,
      claims: claimed ?? claims(event),
      prev: GENESIS,
    };
    const entry = { seq, tenant: 'default', at: timeOf(seq), ...facts };
    const needed = neededDecision(ledger, event);
    const issued = issuedToken(ledger, event);
    foldEntry(ledger, { entry, event: verified }, seq === 0 ? null : timeOf(seq - 1));
    if (needed) requireDecisionIn(objects, needed);
    if (issued) requireTokenIn(objects, issued);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
