import type { Engine } from '../policy/engine.ts';
import type { Store } from '../store/store.ts';
import { SILENT, type Telemetry } from '../telemetry.ts';

/** The same store, with a span around each commit: which kinds of facts, and how many. */
export function observedStore(store: Store, telemetry: Telemetry): Store {
  if (telemetry === SILENT) return store;
  return {
    ...store,
    commit: (commit) =>
      telemetry.span(
        'commit',
        async () => {
          const receipt = await store.commit(commit);
          for (const { kind } of commit.events) telemetry.count('entry', { kind });
          return receipt;
        },
        ({ entries }) => ({ entries: entries.length, kinds: commit.events.map(({ kind }) => kind) }),
      ),
  };
}

/** The same policies; each answer is counted. */
export function observedEngine(engine: Engine, telemetry: Telemetry): Engine {
  if (telemetry === SILENT) return engine;
  return {
    ...engine,
    decide: (request) => {
      const decision = engine.decide(request);
      telemetry.count('decision', { allowed: decision.allowed, code: decision.code ?? 'OK' });
      return decision;
    },
  };
}
