/** The value below which this share of the values lies. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** The lower quartile: whatever else the machine does can only add to a time. */
export function usual(times: readonly number[]): number {
  return quantile(times, 0.25);
}

/** For ratios of two times that were taken one after the other: what disturbs a round disturbs both, so either side of it is as likely. */
export function median(ratios: readonly number[]): number {
  return quantile(ratios, 0.5);
}

/** What only one in twenty exceeds. */
export function p95(times: readonly number[]): number {
  return quantile(times, 0.95);
}

/** What only one in a hundred exceeds. */
export function p99(times: readonly number[]): number {
  return quantile(times, 0.99);
}

/** How long an act takes, in milliseconds. */
export async function timed(act: () => unknown): Promise<number> {
  const from = process.hrtime.bigint();
  await act();
  return Number(process.hrtime.bigint() - from) / 1e6;
}
