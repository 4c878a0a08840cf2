import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** What was asked for and does not exist: one state for each fingerprint, for all users and requests. */
export interface Intake {
  readonly fingerprint: Digest;
  /** `told` once a user was told that it exists now. */
  readonly status: 'open' | 'told';
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
  /** In the order in which they first asked. */
  readonly users: readonly IntakeUser[];
  readonly told: readonly string[];
  /** The highest score that any packet gave it, and what the newest packet says. */
  readonly worthiness_bp: number;
  readonly category: string;
  readonly linked_draft: string | null;
  readonly packet: Digest;
}

export interface IntakeUser {
  readonly user_id: string;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
}

export const INTAKE_KINDS = ['intake.recorded', 'intake.told'] as const;

export type IntakeEvent = Event<(typeof INTAKE_KINDS)[number]>;

/** `intake:<fingerprint>`. */
export function intakeFingerprint({ kind, subject, body }: IntakeEvent): Digest {
  const fingerprint = /^intake:([0-9a-f]{64})$/.exec(subject)?.[1];
  if (fingerprint === undefined || (kind === 'intake.recorded' && body.fingerprint !== fingerprint))
    refuse('SHAPE_INVALID', `"${subject}" does not name what was asked for.`);
  return fingerprint;
}

export function nextIntake(state: Intake | null, event: IntakeEvent, at: string): Intake {
  if (event.kind === 'intake.recorded') return recorded(state, event, at);
  const { user_id } = event.body;
  if (!state?.users.some((user) => user.user_id === user_id))
    refuse('AGENT_TRANSITION_ILLEGAL', 'This user did not ask for it.');
  if (state.told.includes(user_id)) refuse('AGENT_TRANSITION_ILLEGAL', 'This user was told before.');
  return { ...state, status: 'told', told: [...state.told, user_id] };
}

function recorded(state: Intake | null, event: Event<'intake.recorded'>, at: string): Intake {
  const { user_id, packet, worthiness_bp, category, linked_draft } = event.body;
  const users = state?.users ?? [];
  const known = users.find((user) => user.user_id === user_id);
  if (!known && users.length >= limits.intake_users)
    refuse('INTAKE_LIMITED', 'So many users asked for it already.');
  const user = { user_id, count: (known?.count ?? 0) + 1, first_at: known?.first_at ?? at, last_at: at };
  return {
    fingerprint: intakeFingerprint(event),
    status: state?.status ?? 'open',
    count: (state?.count ?? 0) + 1,
    first_at: state?.first_at ?? at,
    last_at: at,
    users: known ? users.map((one) => (one === known ? user : one)) : [...users, user],
    told: state?.told ?? [],
    worthiness_bp: Math.max(worthiness_bp, state?.worthiness_bp ?? 0),
    category,
    linked_draft,
    packet,
  };
}
