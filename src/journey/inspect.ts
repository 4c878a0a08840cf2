import { isSigned, parseEvent } from '../event/event.ts';
import { verifyAct } from '../identity/act.ts';
import { movesPrincipal, nextPrincipal, type Principal, requireHuman } from '../identity/principal.ts';
import type { Entry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';

/** The name of a ledger. Every signature covers it, and its heads are signed under it. */
export function originOf(project_id: string, tenant: string): string {
  return `keyturn/${project_id}/${tenant}`;
}

/**
 * What a deep verification asks of each entry, in the order of the ledger: that it is a fact of the closed union, and
 * that every act was signed by a human who was enrolled at that moment, with their key.
 */
export class Inspector {
  #origin: string | null = null;
  readonly #principals = new Map<string, Principal>();

  /** Known once the first entry was seen. */
  get origin(): string {
    return this.#origin ?? refuse('LEDGER_BROKEN', 'The ledger does not begin with its initialisation.');
  }

  readonly inspect = (entry: Entry): void => {
    const event = parseEvent(entry);
    if (event.kind === 'system.initialised') {
      if (entry.seq !== 0) refuse('LEDGER_BROKEN', 'The ledger begins twice.');
      this.#origin = originOf(event.body.project_id, entry.tenant);
    }
    if (isSigned(event)) {
      // The first human vouches for themselves: everything else in the ledger rests on that key.
      const founding = event.kind === 'key.enrolled' && this.#principals.size === 0;
      if (founding && (event.body.by !== event.subject || event.body.key !== event.body.public_key)) {
        refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
      }
      if (!founding) requireHuman(this.#principals.get(event.body.by) ?? null, event.body.key);
      verifyAct(this.origin, event);
    }
    if (movesPrincipal(event)) {
      const before = this.#principals.get(event.subject) ?? null;
      this.#principals.set(event.subject, nextPrincipal(before, event, entry.at));
    }
  };
}
