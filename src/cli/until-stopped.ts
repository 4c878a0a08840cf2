const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal ends it in order. A second one does not wait for what does not end. */
export function untilStopped(): { signal: AbortSignal; letGo: () => void } {
  const stopped = new AbortController();
  const stop = () => {
    if (stopped.signal.aborted) process.exit(1);
    stopped.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return {
    signal: stopped.signal,
    letGo: () => {
      for (const name of SIGNALS) process.off(name, stop);
    },
  };
}
