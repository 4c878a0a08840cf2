import type { Digest } from '../canonical/digest.ts';
import { type Event, isSigned, parseEvent } from '../event/event.ts';
import { movesIntent, next } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import { originOf, verifyAct } from '../identity/act.ts';
import { movesPrincipal, nextPrincipal, type Principal, requireHuman } from '../identity/principal.ts';
import { type Entry, sealEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';

/**
 * What a deep verification asks of each entry, in the order of the ledger: that it is a fact of the closed union, that
 * every act was signed by a human who was enrolled at that moment, that every intent went the way of the state machine,
 * and that each run took its claim. Memory grows with the number of intents.
 *
 * It can also be given only part of a ledger: the first two entries, everything about one intent, and the keys of
 * everybody who signed.
 */
export class Inspector {
  #genesis: { readonly origin: string; readonly ledger_key: string } | null = null;
  readonly #principals = new Map<string, Principal>();
  readonly #intents = new Map<string, IntentState>();
  readonly #verified: Set<Digest>;

  /** `verified` remembers entries, by hash, whose signature was found good: the same bytes are not verified again. */
  constructor(verified: Set<Digest> = new Set()) {
    this.#verified = verified;
  }

  get origin(): string {
    return this.#begun().origin;
  }

  get ledger_key(): string {
    return this.#begun().ledger_key;
  }

  intent(intent_id: string): IntentState | null {
    return this.#intents.get(intent_id) ?? null;
  }

  readonly inspect = (entry: Entry): void => {
    const event = parseEvent(entry);
    if (event.kind === 'system.initialised') this.#begin(event, entry);
    if (isSigned(event)) this.#requireSigned(event, entry);
    requireClaims(event, entry);
    if (movesPrincipal(event)) {
      const before = this.#principals.get(event.subject) ?? null;
      this.#principals.set(event.subject, nextPrincipal(before, event, entry.at));
    }
    if (movesIntent(event)) {
      const before = this.#intents.get(event.subject) ?? null;
      this.#intents.set(event.subject, next(before, event, entry.at));
    }
  };

  #begun() {
    return this.#genesis ?? refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.');
  }

  #begin({ body }: Event<'system.initialised'>, { seq, tenant }: Entry): void {
    if (seq !== 0) refuse('LEDGER_BROKEN', 'The ledger begins twice.');
    this.#genesis = { origin: originOf(body.project_id, tenant), ledger_key: body.ledger_key };
  }

  #requireSigned(event: Extract<Event, { body: { signature: string } }>, entry: Entry): void {
    const { seq } = entry;
    // Only the second entry may vouch for itself: everything else rests on that key. A later one that does is a forgery.
    const founding = seq === 1 && event.kind === 'key.enrolled';
    if (founding && (event.body.by !== event.subject || event.body.key !== event.body.public_key)) {
      refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
    }
    if (!founding) requireHuman(this.#principals.get(event.body.by) ?? null, event.body.key);
    const { hash } = sealEntry(entry);
    if (this.#verified.has(hash)) return;
    verifyAct(this.origin, event);
    this.#verified.add(hash);
  }
}

/** Without its claim an entry could stand twice, and nothing would be unique about it. */
function requireClaims({ kind, subject, body }: Event, { claims }: Entry): void {
  const claim =
    kind === 'intent.proposed'
      ? `intent:${subject}`
      : kind === 'execution.claimed'
        ? `execution:${subject}:${body.attempt}`
        : kind === 'rollback.claimed'
          ? `rollback:${body.execution_id}:${body.round}`
          : null;
  if (claim !== null && !claims.includes(claim))
    refuse('LEDGER_BROKEN', `It did not take the claim ${claim}.`);
}
