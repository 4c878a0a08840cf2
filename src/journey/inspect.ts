import type { Digest } from '../canonical/digest.ts';
import { type Event, isSigned, parseEvent, type SignedKind } from '../event/event.ts';
import { claimsOf } from '../gate/claims.ts';
import { requireInOrder, requireItsPlace } from '../gate/ledger-time.ts';
import { movesIntent, next } from '../gate/next.ts';
import type { Simulation } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import { movesSystem, newSystem, nextSystem, type System } from '../gate/system.ts';
import { originOf, verifyAct } from '../identity/act.ts';
import { requireAuthority } from '../identity/authority.ts';
import {
  type Authorities,
  type Delegation,
  movesDelegation,
  nextDelegation,
} from '../identity/delegation.ts';
import { movesPrincipal, nextPrincipal, type Principal, requireFreshKey } from '../identity/principal.ts';
import { type Entry, sealEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import { requireGrounds } from '../store/grounds.ts';
import type { Row, RowName, Rows } from '../store/row.ts';
import { AgentInspector } from './inspect-agent.ts';
import type { ReadEntry } from './read-entry.ts';

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
  #system: System | null = null;
  #at: string | null = null;
  readonly #principals = new Map<string, Principal>();
  readonly #delegations = new Map<string, Delegation>();
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

  simulation(id: string): Simulation | null {
    return this.#agents.simulation(id);
  }

  /** Keys, policies and freezes, as their signed entries tell it. */
  get system(): System {
    return this.#system ?? refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.');
  }

  readonly authorities: Authorities = {
    principal: (name) => this.#principals.get(name) ?? null,
    delegation: (id) => this.#delegations.get(id) ?? null,
  };

  readonly #agents = new AgentInspector({
    authorities: this.authorities,
    intent: (intent_id) => this.intent(intent_id),
    policy: () => this.#system?.policy ?? null,
  });

  readonly inspect = (entry: Entry): void => {
    this.take({ entry, event: parseEvent(entry), hash: null });
  };

  take({ entry, event, hash }: Omit<ReadEntry, 'hash'> & { readonly hash: Digest | null }): void {
    requireInOrder(this.#at, event, entry.at);
    this.#at = entry.at;
    if (event.kind === 'system.initialised') this.#begin(event, entry);
    if (isSigned(event)) this.#requireSigned(event, entry, hash ?? sealEntry(entry).hash);
    requireClaims(event, entry);
    requireItsPlace(event, entry.seq, entry.at);
    if (movesSystem(event)) this.#system = nextSystem(this.system, event, entry.at);
    if (movesPrincipal(event)) {
      const before = this.#principals.get(event.subject) ?? null;
      requireFreshKey(this.#principals.values(), event);
      this.#principals.set(event.subject, nextPrincipal(before, event, entry.at));
    }
    if (movesDelegation(event)) {
      const before = this.#delegations.get(event.subject) ?? null;
      this.#delegations.set(event.subject, nextDelegation(before, event, entry.at, this.authorities));
    }
    if (GROUNDED.has(event.kind)) requireGrounds(this.#rows(entry.tenant), event, entry.at);
    if (movesIntent(event)) {
      const before = this.#intents.get(event.subject) ?? null;
      this.#intents.set(event.subject, next(before, event, entry.at));
    }
    this.#agents.inspect(event, entry);
  }

  #begun() {
    return this.#genesis ?? refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.');
  }

  #begin({ body }: Event<'system.initialised'>, { seq, tenant }: Entry): void {
    if (seq !== 0) refuse('LEDGER_BROKEN', 'The ledger begins twice.');
    this.#genesis = { origin: originOf(body.project_id, tenant), ledger_key: body.ledger_key };
    this.#system = newSystem(this.#genesis.origin);
  }

  /** What was folded so far, as the store would see it. */
  #rows(tenant: string): Rows {
    const states: Partial<Record<RowName, (key: string) => unknown>> = {
      system: () => this.#system,
      principal: (key) => this.#principals.get(key),
      delegation: (key) => this.#delegations.get(key),
      intent: (key) => this.#intents.get(key),
    };
    const row = <N extends RowName>(name: N, key: string): Row<N> | null => {
      const state = states[name]?.(key);
      return state ? ({ name, key, seq: 0, state } as Row<N>) : null;
    };
    return { tenant, row, principals: () => [...this.#principals.values()] };
  }

  #requireSigned(event: Event<SignedKind>, { seq, at }: Entry, hash: Digest): void {
    // Only the second entry may vouch for itself: everything else rests on that key. A later one that does is a forgery.
    const founding = seq === 1 && event.kind === 'key.enrolled';
    if (founding && (event.body.by !== event.subject || event.body.key !== event.body.public_key)) {
      refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
    }
    if (!founding) requireAuthority(this.authorities, event, at);
    if (this.#verified.has(hash)) return;
    verifyAct(this.origin, event);
    if (this.#verified.size >= REMEMBERED) this.#verified.clear();
    this.#verified.add(hash);
  }
}

/** How many signatures a process that lives long remembers. */
const REMEMBERED = 100_000;

/** What rests on more than its own intent: a deep verification looks at the same grounds as the commit did. */
const GROUNDED: ReadonlySet<string> = new Set<Event['kind']>([
  'intent.proposed',
  'intent.delegated',
  'approval.granted',
  'capability.issued',
  'execution.claimed',
]);

/** Without its claims an entry could stand twice, and nothing would be unique about it. */
function requireClaims(event: Event, { claims }: Entry): void {
  for (const claim of claimsOf(event))
    if (!claims.includes(claim)) refuse('LEDGER_BROKEN', `It did not take the claim ${claim}.`);
}
