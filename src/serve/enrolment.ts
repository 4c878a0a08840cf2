import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import {
  type Draft,
  type Passkey,
  type Proof,
  type Registration,
  type ServiceState,
  verifyEnrolment,
} from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Site } from './guard.ts';

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

/** What is kept of an enrolment, as JSON. */
interface EnrolmentRecord {
  readonly enrolment_id: string;
  readonly expires_at: string;
  /** As base64url. Never one of an act: it is random. */
  readonly challenge: string;
  /** Random, so that no authenticator puts the new passkey in the place of another one of the same name. */
  readonly user_id: string;
  readonly rp_id: string;
  /** Null until the first touch. */
  passkey: Passkey | null;
}

export interface OpenEnrolment<C extends Ceremony = Ceremony> extends Readonly<EnrolmentRecord> {
  readonly ceremony: C;
  /** The first touch. */
  made(answer: Registration): Passkey;
}

/** By the secret of its link, a browser goes on with an enrolment. */
export interface LinkedEnrolments<C extends Ceremony> {
  /** Keeps what the act did to it. Refused where another request changed it meanwhile. */
  withSecret<T>(secret: string, act: (enrolment: OpenEnrolment<C>) => Promise<T>): Promise<T>;
}

/** A ceremony of which everything can be written down: any service goes on with it. */
export interface KeptCeremony extends Ceremony {
  kept(): object;
}

/** Passkeys that are being enrolled. Every service of the ledger knows them. */
export interface Enrolments<C extends KeptCeremony> extends LinkedEnrolments<C> {
  /** The secret is for the browser of the person, by a link. */
  open(ceremony: C): Promise<{ readonly secret: string; readonly enrolment: OpenEnrolment<C> }>;
  withId<T>(enrolment_id: string, act: (enrolment: OpenEnrolment<C>) => Promise<T>): Promise<T>;
  all(): Promise<readonly OpenEnrolment<C>[]>;
  drop(enrolment_id: string): Promise<void>;
}

/** `revive` makes a ceremony from what it kept. */
export function enrolmentsOf<C extends KeptCeremony>(
  state: ServiceState,
  site: Pick<Site, 'rp_id' | 'origin'>,
  revive: (kept: object) => C,
): Enrolments<C> {
  const missing = () => refuse('ENROLMENT_UNKNOWN');
  const opened = (text: string): OpenEnrolment<C> => {
    const { ceremony, ...record } = JSON.parse(text) as EnrolmentRecord & { ceremony: object };
    return enrolmentOf(record, revive(ceremony), site);
  };
  const all = async () =>
    (await state.list('enrolment')).map(({ key, value }) => ({ key, value, enrolment: opened(value) }));
  const named = async (wanted: string) =>
    (await all()).find(({ enrolment }) => enrolment.enrolment_id === wanted) ?? missing();
  const change = async <T>(key: string, from: string, act: (one: OpenEnrolment<C>) => Promise<T>) => {
    const enrolment = opened(from);
    const done = await act(enrolment);
    const to = textOf(enrolment);
    const is_kept = to === from || (await state.swap('enrolment', key, { from, to }));
    // What is enrolled is in the ledger, whatever is kept here.
    if (!is_kept && enrolment.ceremony.status() !== 'enrolled')
      refuse('ACT_CHANGED', 'Another request went on with this enrolment.');
    return done;
  };
  return {
    open: async (ceremony) => {
      const secret = randomBytes(32).toString('base64url');
      const enrolment = freshEnrolment(ceremony, site, new Date(Date.now() + webLimits.enrolment_ms));
      const row = { key: sha256(secret), value: textOf(enrolment), ttl_ms: webLimits.enrolment_ms };
      await state.put('enrolment', row, webLimits.enrolments);
      return { secret, enrolment };
    },
    withSecret: async (secret, act) => {
      const key = sha256(secret);
      return change(key, (await state.get('enrolment', key)) ?? missing(), act);
    },
    withId: async (wanted, act) => {
      const { key, value } = await named(wanted);
      return change(key, value, act);
    },
    all: async () => (await all()).map(({ enrolment }) => enrolment),
    drop: async (wanted) => void (await state.take('enrolment', (await named(wanted)).key)),
  };
}

function textOf<C extends KeptCeremony>({ made: _, ceremony, ...record }: OpenEnrolment<C>): string {
  return JSON.stringify({ ...record, ceremony: ceremony.kept() });
}

export function freshEnrolment<C extends Ceremony>(
  ceremony: C,
  site: Pick<Site, 'rp_id' | 'origin'>,
  until: Date,
): OpenEnrolment<C> {
  const { rp_id } = site;
  if (rp_id === null)
    refuse('PASSKEY_ORIGIN', 'A passkey needs a service at localhost, or one with --public-url https://….');
  const random = () => randomBytes(32).toString('base64url');
  const expires_at = until.toISOString();
  const record = { challenge: random(), user_id: random(), rp_id, passkey: null };
  return enrolmentOf({ enrolment_id: randomUUID(), expires_at, ...record }, ceremony, site);
}

function enrolmentOf<C extends Ceremony>(
  record: EnrolmentRecord,
  ceremony: C,
  { origin }: Pick<Site, 'origin'>,
): OpenEnrolment<C> {
  const { challenge, rp_id } = record;
  const enrolment = {
    ...record,
    ceremony,
    made: (answer: Registration) => {
      if (enrolment.passkey !== null)
        refuse('PASSKEY_INVALID', 'The passkey of this enrolment was made before.');
      const { label } = ceremony;
      enrolment.passkey = verifyEnrolment(answer, { challenge, rp_id, origins: [origin], label });
      return enrolment.passkey;
    },
  };
  return enrolment;
}
