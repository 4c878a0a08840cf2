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
  /** A secret that makes one session, once, within five minutes. */
  link(): string;
  /** `bound`: the session has a second secret. */
  open(link: string, bound: boolean): Opened;
  /** For somebody who showed elsewhere who they are. Such a session has both secrets. */
  openFor(name: string): Opened;
  /** Whose session it is now; undefined where it is none. */
  of(shown: SessionShown): Pick<Session, 'name'> | undefined;
}

export function sessionsOf(now: () => number = Date.now): Sessions {
  const links = new Map<Digest, number>();
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
    link: () => {
      const link = fresh();
      links.set(sha256(link), now() + LINK_MS);
      return link;
    },
    open: (link, bound) => {
      const digest = sha256(link);
      const until = links.get(digest);
      links.delete(digest);
      if (until === undefined || until <= now()) refuse('LINK_SPENT');
      return opened(null, bound ? fresh() : null);
    },
    openFor: (name) => opened(name, fresh()),
    of: ({ secret, page }) => {
      const found = sessions.get(sha256(secret));
      if (found === undefined || found.until <= now()) return undefined;
      return found.page === null || (page !== null && sha256(page) === found.page) ? found : undefined;
    },
  };
}
