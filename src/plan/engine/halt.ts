import { Refusal, refuse } from '../../refusal.ts';

/** What ends a run from outside: the caller (Ctrl-C, a freeze) or the plan's own time. A halt always stops it. */
export interface Halt {
  readonly signal: AbortSignal;
  /** The reason to stop; null while there is none. */
  reason(): Refusal | null;
  end(): void;
}

export function startHalt(abort: AbortSignal | undefined, timeout_ms: number): Halt {
  const halt = new AbortController();
  const deadline = performance.now() + timeout_ms;
  const cancel = () => halt.abort();
  // Also when the signal came before we began to listen.
  if (abort?.aborted) cancel();
  abort?.addEventListener('abort', cancel, { once: true });
  const timer = setTimeout(cancel, timeout_ms);
  return {
    signal: halt.signal,
    reason: () => {
      if (abort?.aborted) return new Refusal('PLAN_CANCELLED');
      // Read from the clock: while a file is being edited no timer fires.
      return performance.now() >= deadline ? new Refusal('PLAN_TIMED_OUT') : null;
    },
    end: () => {
      clearTimeout(timer);
      abort?.removeEventListener('abort', cancel);
    },
  };
}

/** The time of one action within the run. */
export interface ActionWatch {
  readonly signal: AbortSignal;
  /** Refuses when the action is late or the run must stop. */
  proceed(): void;
  /** What the failure of this action really was: a killed child says only that it was killed. */
  explain(error: unknown): unknown;
  end(): void;
}

export function startWatch(halt: Halt, timeout_ms: number): ActionWatch {
  const late = new AbortController();
  const deadline = performance.now() + timeout_ms;
  const timer = setTimeout(() => late.abort(), timeout_ms);
  const isLate = () => performance.now() >= deadline;
  return {
    // Made only for those who ask: most actions have no child to end.
    get signal() {
      return AbortSignal.any([halt.signal, late.signal]);
    },
    proceed: () => {
      const reason = halt.reason();
      if (reason) throw reason;
      if (isLate()) refuse('ACTION_TIMED_OUT', `It took longer than ${timeout_ms} ms.`, { timeout_ms });
    },
    explain: (error) => {
      const reason = halt.reason();
      if (reason) return reason;
      return isLate() && late.signal.aborted
        ? new Refusal('ACTION_TIMED_OUT', `It took longer than ${timeout_ms} ms.`, { timeout_ms })
        : error;
    },
    end: () => clearTimeout(timer),
  };
}
