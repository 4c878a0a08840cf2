/** Which executors an order waits for, by name or label. What none takes in time lapses. */
export interface WaitsFor {
  readonly executor: string;
  readonly enrolled: number;
  /** How many of them said lately that they run. */
  readonly running: number;
  /** Whether this host is one of them, so that it can be run by hand here. */
  readonly is_here: boolean;
}

/** No executor is enrolled that could take the order. */
export function hasNoExecutor(waits_for: WaitsFor | null): waits_for is WaitsFor {
  return waits_for !== null && waits_for.enrolled === 0;
}

/** Some could take the order, and none of them runs. An order that this host can run by hand does not count as waiting. */
export function isUnserved(waits_for: WaitsFor | null): waits_for is WaitsFor {
  return waits_for !== null && waits_for.enrolled > 0 && waits_for.running === 0 && !waits_for.is_here;
}
