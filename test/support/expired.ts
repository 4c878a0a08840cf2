import { proposal } from '../../bench/facts.ts';
import type { Event } from '../../src/event/event.ts';
import type { Commit } from '../../src/store/store.ts';

/** Proposals that nothing waits for any more. */
export function expired(count: number, by = 'planner'): Commit[] {
  return Array.from({ length: count }, () => {
    const commit = proposal(1, by);
    const [{ body, ...event }] = commit.events as readonly [Event<'intent.proposed'>];
    return { ...commit, events: [{ ...event, body: { ...body, expires_at: '2020-01-15T12:00:00.000Z' } }] };
  });
}
