import type { CapabilityStatus } from '../capability/verify.ts';

/** Where an order stands now, or what was issued for it. The clock counts, and who may sign, which the stored status cannot know. */
export const CAPABILITY_WORDS = [
  'ordered',
  'lapsed',
  'issued',
  'expired',
  'void',
  'denied',
  'spent',
  'revoked',
] as const;

export type CapabilityWord = (typeof CAPABILITY_WORDS)[number];

interface Timed {
  readonly status: CapabilityStatus;
  readonly lapses_at: string;
  readonly expires_at: string;
}

/**
 * What the clock alone says of it. `lapsed`: it was not issued in time. `expired`: it was issued, and not used in time. Whether one that is
 * `ordered` or `issued` can be used, and is not `void`, `capabilityWordOf` knows.
 */
export function timedWordOf(
  { status, lapses_at, expires_at }: Timed,
  now: Date,
): Exclude<CapabilityWord, 'void'> {
  const isPast = (time: string) => Date.parse(time) <= now.getTime();
  if (status === 'ordered') return isPast(lapses_at) || isPast(expires_at) ? 'lapsed' : 'ordered';
  return status === 'issued' && isPast(expires_at) ? 'expired' : status;
}

/** The stored statuses that one can have which stands like this. */
export const STORED_AS: Readonly<Record<CapabilityWord, readonly CapabilityStatus[]>> = {
  ordered: ['ordered'],
  lapsed: ['ordered'],
  issued: ['issued'],
  expired: ['issued'],
  void: ['ordered', 'issued'],
  denied: ['denied'],
  spent: ['spent'],
  revoked: ['revoked'],
};
