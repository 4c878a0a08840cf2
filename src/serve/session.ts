import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';

const LINK_MS = 5 * 60_000;
const SESSION_MS = 12 * 3_600_000;
/** More windows than one person has. The oldest goes. */
const SESSIONS = 64;

/** Sessions of the person whose account the service runs in. They live in this process, and end with it. */
export interface Sessions {
  /** A secret that makes one session, once, within five minutes. */
  link(): string;
  open(link: string): { readonly secret: string; readonly expires_at: string };
  has(secret: string): boolean;
}

export function sessionsOf(now: () => number = Date.now): Sessions {
  const links = new Map<Digest, number>();
  const sessions = new Map<Digest, number>();
  const fresh = () => randomBytes(32).toString('base64url');
  return {
    link: () => {
      const link = fresh();
      links.set(sha256(link), now() + LINK_MS);
      return link;
    },
    open: (link) => {
      const digest = sha256(link);
      const until = links.get(digest);
      links.delete(digest);
      if (until === undefined || until <= now()) refuse('LINK_SPENT');
      const secret = fresh();
      const expires = now() + SESSION_MS;
      if (sessions.size >= SESSIONS) sessions.delete(sessions.keys().next().value!);
      sessions.set(sha256(secret), expires);
      return { secret, expires_at: new Date(expires).toISOString() };
    },
    has: (secret) => (sessions.get(sha256(secret)) ?? 0) > now(),
  };
}
