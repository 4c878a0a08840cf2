import type { Event } from '../event/event.ts';
import { REHEARSED } from '../identity/draft.ts';
import type { Engine } from '../policy/engine.ts';
import type { Commit, Receipt, Store } from '../store/store.ts';
import { type Facts, SILENT, type Telemetry } from '../telemetry.ts';
import type { Report } from './record.ts';

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
        {
          about: { kinds: commit.events.map(({ kind }) => kind) },
          end: (receipt) => sizesOf(commit, receipt),
        },
      ),
  };
}

function sizesOf({ objects = [] }: Commit, { entries }: Receipt): Facts {
  const bytes = [...entries.map((entry) => entry.bytes), ...objects].reduce(
    (sum, { length }) => sum + length,
    0,
  );
  const seq = entries.at(-1)?.seq;
  return { entries: entries.length, objects: objects.length, bytes, seq };
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

interface About {
  readonly intent_id: string;
}

/** A run, asked for by a human at a terminal or by the agent core. */
export function observedRun(
  telemetry: Telemetry,
  { intent_id }: About,
  act: () => Promise<Report>,
): Promise<Report> {
  return telemetry.span('run', act, {
    about: { intent_id },
    end: ({ result, reason_code, execution_id, capability_id }) => ({
      result,
      code: reason_code ?? 'OK',
      execution_id,
      capability_id,
    }),
  });
}

export function observedGrant<T extends { readonly ordered: Event<'order.given'> }>(
  telemetry: Telemetry,
  { intent_id }: About,
  act: () => Promise<T>,
): Promise<T> {
  return telemetry.span('grant', act, {
    about: { intent_id },
    end: ({ ordered }) => ({ capability_id: ordered.body.order_id }),
  });
}

/** What is refused is counted with the name of what was asked for, and with nothing else. A rehearsal that comes to its end was not refused. */
export function tellingRefusal<T>(telemetry: Telemetry, name: string, act: () => T): T {
  const tell = (error: unknown): never => {
    if (error !== REHEARSED) telemetry.refused(name, error);
    throw error;
  };
  try {
    const answer = act();
    return answer instanceof Promise ? (answer.catch(tell) as T) : answer;
  } catch (error) {
    return tell(error);
  }
}
