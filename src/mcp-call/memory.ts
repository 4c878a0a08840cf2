import { Recent } from '../canonical/recent.ts';
import { mcpLimits } from '../limits.ts';
import type { Accepted } from './accepted.ts';
import type { ServerEntries } from './entry.ts';
import type { KnownStart } from './known-start.ts';
import type { ServerOffer } from './offer.ts';

/** What a process remembers of servers. No decision rests on it alone: rows, objects and files are looked at each time. */
export interface ServerMemory {
  /** By the digest of what a human accepted. */
  readonly accepted: Recent<string, Accepted>;
  /** By the name of the server. */
  readonly starts: Recent<string, KnownStart>;
  /** By the entries of keyturn.yaml, and by what is accepted of them. */
  offer: { readonly entries: ServerEntries; readonly accepted: string; readonly offer: ServerOffer } | null;
}

export function serverMemory(): ServerMemory {
  return { accepted: new Recent(mcpLimits.servers), starts: new Recent(mcpLimits.servers), offer: null };
}
