import { useEffect, useState } from 'preact/hooks';

export function useNow(every_ms: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

/** At most so long after it was wished for. */
const IDLE_MS = 200;

/** Does something once the page has nothing to draw. Returns how to leave it. */
export function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === 'function') {
    const id = requestIdleCallback(work, { timeout: IDLE_MS });
    return () => cancelIdleCallback(id);
  }
  // Safari has none.
  const timer = setTimeout(work, IDLE_MS / 4);
  return () => clearTimeout(timer);
}

export const idle = (): Promise<void> => new Promise((done) => void whenIdle(done));
