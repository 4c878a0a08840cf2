import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';

const LINK_MS = 5 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More windows than one person has. The oldest goes. */
const SESSIONS = 64;

/** What a browser shows of a session. */
export interface SessionShown {
  readonly secret: string;
  /** The second secret, which only the page has: a browser sends a cookie to every port of localhost. */
  readonly page: string | null;
}

interface Opened extends SessionShown {
  readonly expires_at: string;
}

interface Session {
  readonly until: number;
  /** The digest of the second secret; null for a session that has none. */
  readonly page: Digest | null;
  /** Whose it is; null for the person in whose account the service runs. */
  readonly name: string | null;
}

/** Sessions of people. They live in this process, and end with it. */
export interface Sessions {
  /** A secret that makes one session, once, within five minutes: of this human, or of whoever has it. */
  link(name?: string): string;
  /** `bound`: the session has a second secret. That of a named human always has. */
  open(link: string, bound: boolean): Opened;
  /** Whose session it is now; undefined where it is none. */
  of(shown: SessionShown): Pick<Session, 'name'> | undefined;
}

export function sessionsOf(now: () => number = Date.now): Sessions {
  const links = new Map<Digest, { readonly until: number; readonly name: string | null }>();
  const sessions = new Map<Digest, Session>();
  const fresh = () => randomBytes(32).toString('base64url');
  const opened = (name: string | null, page: string | null): Opened => {
    const secret = fresh();
    const until = now() + SESSION_MS;
    if (sessions.size >= SESSIONS) sessions.delete(sessions.keys().next().value!);
    sessions.set(sha256(secret), { until, page: page === null ? null : sha256(page), name });
    return { secret, page, expires_at: new Date(until).toISOString() };
  };
  return {
    link: (name) => {
      const link = fresh();
      for (const [key, { until }] of links) if (until <= now()) links.delete(key);
      links.set(sha256(link), { until: now() + LINK_MS, name: name ?? null });
      return link;
    },
    open: (link, bound) => {
      const digest = sha256(link);
      const found = links.get(digest);
      links.delete(digest);
      if (found === undefined || found.until <= now()) refuse('LINK_SPENT');
      const { name } = found;
      return opened(name, bound || name !== null ? fresh() : null);
    },
    of: ({ secret, page }) => {
      const found = sessions.get(sha256(secret));
      if (found === undefined || found.until <= now()) return undefined;
      return found.page === null || (page !== null && sha256(page) === found.page) ? found : undefined;
    },
  };
}
