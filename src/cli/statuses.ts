/** The stored states of an intent, as `list --status` takes them and `--json` prints them. */
export const STATUSES = [
  'proposed',
  'rejected',
  'approved',
  'claimed',
  'succeeded',
  'failed',
  'partial',
  'happened',
  'rolled_back',
  'rolling_back',
  'undone',
  'stuck',
] as const;
