import { randomBytes, randomUUID } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { type Draft, type Passkey, type Proof, type Registration, verifyEnrolment } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Site } from './guard.ts';

/** Time to find the phone. The second touch and the one who vouches have the two minutes of the act itself. */
const ENROLMENT_MS = 10 * 60_000;
/** More than anybody enrols at once. The oldest goes. */
const ENROLMENTS = 64;

/** What a new passkey signs for itself. */
export type ToSign = Pick<Draft, 'statements' | 'at'>;

/** What a passkey is made for, and what becomes of it. */
export interface Ceremony {
  readonly name: string;
  readonly label: string;
  /** The passkeys that this person has: none of them is made a second time. */
  known(): Promise<readonly string[]>;
  /** What the passkey signs for itself. Drawn up again, it replaces what was drawn up before. */
  draw(passkey: Passkey): Promise<ToSign>;
  /** Takes the proofs of the passkey over all that was drawn up. Resolves when there is nothing left for the browser to do. */
  prove(proofs: readonly Proof[]): Promise<void>;
  /** `signed`: the passkey has signed; another credential has to. */
  status(): 'open' | 'signed' | 'enrolled';
}

export interface OpenEnrolment<C extends Ceremony = Ceremony> {
  readonly enrolment_id: string;
  readonly ceremony: C;
  readonly expires_at: string;
  /** As base64url. Never one of an act: it is random. */
  readonly challenge: string;
  /** Random, so that no authenticator puts the new passkey in the place of another one of the same name. */
  readonly user_id: string;
  readonly rp_id: string;
  /** Null until the first touch. */
  passkey(): Passkey | null;
  /** The first touch. */
  made(answer: Registration): Passkey;
}

/** Passkeys that are being enrolled. They live in this process, and end with it. */
export interface Enrolments<C extends Ceremony> {
  /** The secret is for the browser of the person, by a link. */
  open(ceremony: C): { readonly secret: string; readonly enrolment: OpenEnrolment<C> };
  /** By the secret of its link. */
  withSecret(secret: string): OpenEnrolment<C>;
  withId(enrolment_id: string): OpenEnrolment<C>;
  all(): readonly OpenEnrolment<C>[];
  drop(enrolment_id: string): void;
}

export function enrolmentsOf<C extends Ceremony>(
  site: Pick<Site, 'rp_id' | 'origin'>,
  now: () => number = Date.now,
): Enrolments<C> {
  const kept = new Map<Digest, OpenEnrolment<C>>();
  const live = () => {
    for (const [key, { expires_at }] of kept) if (Date.parse(expires_at) <= now()) kept.delete(key);
    return kept;
  };
  const all = () => [...live().values()];
  const missing = () => refuse('ENROLMENT_UNKNOWN');
  return {
    open: (ceremony) => {
      const secret = randomBytes(32).toString('base64url');
      if (live().size >= ENROLMENTS) kept.delete(kept.keys().next().value!);
      const enrolment = enrolmentOf(ceremony, site, new Date(now() + ENROLMENT_MS));
      kept.set(sha256(secret), enrolment);
      return { secret, enrolment };
    },
    withSecret: (secret) => live().get(sha256(secret)) ?? missing(),
    withId: (wanted) => all().find(({ enrolment_id }) => enrolment_id === wanted) ?? missing(),
    all,
    drop: (wanted) => {
      const found = [...live()].find(([, { enrolment_id }]) => enrolment_id === wanted) ?? missing();
      kept.delete(found[0]);
    },
  };
}

function enrolmentOf<C extends Ceremony>(
  ceremony: C,
  { rp_id, origin }: Pick<Site, 'rp_id' | 'origin'>,
  until: Date,
): OpenEnrolment<C> {
  if (rp_id === null)
    refuse('PASSKEY_ORIGIN', 'A passkey needs a service at localhost, or one with --public-url https://….');
  const challenge = randomBytes(32).toString('base64url');
  let passkey: Passkey | null = null;
  return {
    enrolment_id: randomUUID(),
    ceremony,
    expires_at: until.toISOString(),
    challenge,
    user_id: randomBytes(32).toString('base64url'),
    rp_id,
    passkey: () => passkey,
    made: (answer) => {
      if (passkey !== null) refuse('PASSKEY_INVALID', 'The passkey of this enrolment was made before.');
      passkey = verifyEnrolment(answer, { challenge, rp_id, origins: [origin], label: ceremony.label });
      return passkey;
    },
  };
}
