import { useApp, useTold } from './app.ts';

/** The intents that run at this moment. In the ledger, a run that goes on and one whose end is not known look the same. */
export function useRunning(): ReadonlySet<string> {
  return useAlive() ?? new Set();
}

/** Whether a run goes on; null until that is known. */
export function useIsRunning(intent_id: string): boolean | null {
  return useAlive()?.has(intent_id) ?? null;
}

function useAlive(): ReadonlySet<string> | null {
  const { api } = useApp();
  const { value } = useTold(
    () => api.runs.inDoubt(),
    [],
    ({ kind }) => kind.startsWith('execution.'),
  );
  return (
    value && new Set(value.runs.filter(({ state }) => state === 'alive').map(({ intent_id }) => intent_id))
  );
}

export function shownStatus(
  { intent_id, status_word }: { readonly intent_id: string; readonly status_word: string },
  running: ReadonlySet<string>,
): string {
  return status_word === 'IN DOUBT' && running.has(intent_id) ? 'running' : status_word.toLowerCase();
}
