/** How a run stands where it can be rolled back. Apart from the shapes of events: who only looks at a run loads no schema library. */
export const UNDONE_FROM = [
  'succeeded',
  'failed',
  'partial',
  'claimed',
  'rolling_back',
  'stuck',
  'rolled_back',
] as const;
