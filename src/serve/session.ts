import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import type { ServiceState } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

interface Opened {
  readonly secret: string;
  /** The second secret, which only the page has: a browser sends a cookie to every port of localhost. */
  readonly page: string;
  readonly expires_at: string;
}

/** Whose a session is. */
export interface SessionOwner {
  /** Null for the person in whose account the service runs. */
  readonly name: string | null;
  /** The key that opened it, or asked for its link, and with which it ends; null where neither did. */
  readonly key: string | null;
}

interface Session extends SessionOwner {
  /** The digest of the second secret. */
  readonly page: Digest;
}

/** Sessions of people, which every service of the ledger knows: by digests, of which no secret follows. */
export interface Sessions {
  /** A secret that makes one session, once, within five minutes: of this owner, or without a name. */
  link(owner?: SessionOwner): Promise<string>;
  open(link: string): Promise<Opened>;
  /** A session of the human who signed for it with this key. */
  openBy(name: string, key: string): Promise<Opened>;
  /** Whose session it is now; undefined where it is none. Both secrets are needed. */
  of(secret: string, page: string | null): Promise<SessionOwner | undefined>;
  end(secret: string): Promise<void>;
}

export function sessionsOf(state: ServiceState, now: () => number = Date.now): Sessions {
  const fresh = () => randomBytes(32).toString('base64url');
  const opened = async (owner: SessionOwner): Promise<Opened> => {
    const [secret, page] = [fresh(), fresh()];
    const session: Session = { ...owner, page: sha256(page) };
    const row = { key: sha256(secret), value: JSON.stringify(session), ttl_ms: webLimits.session_ms };
    await state.put('session', row, webLimits.sessions);
    return { secret, page, expires_at: new Date(now() + webLimits.session_ms).toISOString() };
  };
  return {
    link: async ({ name, key } = { name: null, key: null }) => {
      const link = fresh();
      const value = JSON.stringify({ name, key });
      await state.put('link', { key: sha256(link), value, ttl_ms: webLimits.link_ms }, webLimits.sessions);
      return link;
    },
    open: async (link) => {
      const found = (await state.take('link', sha256(link))) ?? refuse('LINK_SPENT');
      return opened(JSON.parse(found) as SessionOwner);
    },
    openBy: (name, key) => opened({ name, key }),
    of: async (secret, page) => {
      const found = await state.get('session', sha256(secret));
      if (found === null || page === null) return undefined;
      const { page: digest, ...owner } = JSON.parse(found) as Session;
      return sha256(page) === digest ? owner : undefined;
    },
    end: async (secret) => void (await state.take('session', sha256(secret))),
  };
}
