import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';

const LINK_MS = 5 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More windows than one person has. The oldest goes. */
const SESSIONS = 64;

interface Opened {
  readonly secret: string;
  /** The second secret, which only the page has: a browser sends a cookie to every port of localhost. */
  readonly page: string;
  readonly expires_at: string;
}

/** Whose a session is. */
interface SessionOwner {
  /** Null for the person in whose account the service runs. */
  readonly name: string | null;
  /** The key that opened it, and with which it ends; null where a link did. */
  readonly key: string | null;
}

interface Session extends SessionOwner {
  readonly until: number;
  /** The digest of the second secret. */
  readonly page: Digest;
}

/** Sessions of people. They live in this process, and end with it. */
export interface Sessions {
  /** A secret that makes one session, once, within five minutes: of this human, or of whoever has it. */
  link(name?: string): string;
  open(link: string): Opened;
  /** A session of the human who signed for it with this key. */
  openBy(name: string, key: string): Opened;
  /** Whose session it is now; undefined where it is none. Both secrets are needed. */
  of(secret: string, page: string | null): SessionOwner | undefined;
  end(secret: string): void;
}

export function sessionsOf(now: () => number = Date.now): Sessions {
  const links = new Map<Digest, { readonly until: number; readonly name: string | null }>();
  const sessions = new Map<Digest, Session>();
  const fresh = () => randomBytes(32).toString('base64url');
  const opened = (owner: SessionOwner): Opened => {
    const [secret, page] = [fresh(), fresh()];
    const until = now() + SESSION_MS;
    if (sessions.size >= SESSIONS) sessions.delete(sessions.keys().next().value!);
    sessions.set(sha256(secret), { ...owner, until, page: sha256(page) });
    return { secret, page, expires_at: new Date(until).toISOString() };
  };
  return {
    link: (name) => {
      const link = fresh();
      for (const [key, { until }] of links) if (until <= now()) links.delete(key);
      links.set(sha256(link), { until: now() + LINK_MS, name: name ?? null });
      return link;
    },
    open: (link) => {
      const digest = sha256(link);
      const found = links.get(digest);
      links.delete(digest);
      if (found === undefined || found.until <= now()) refuse('LINK_SPENT');
      return opened({ name: found.name, key: null });
    },
    openBy: (name, key) => opened({ name, key }),
    of: (secret, page) => {
      const found = sessions.get(sha256(secret));
      if (found === undefined || found.until <= now()) return undefined;
      return page !== null && sha256(page) === found.page ? found : undefined;
    },
    end: (secret) => void sessions.delete(sha256(secret)),
  };
}
