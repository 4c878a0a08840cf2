import { type App, type Me, meAmong } from './app.ts';
import { mayI } from './deciding.ts';
import { lookAt, type Prefetched } from './looked.ts';
import { isNarrow, screenOf } from './order.ts';
import type { QueueItem } from './types.ts';

const aboutOf = (hash: string, me: Me | null) => `${hash} ${me?.key ?? ''}`;

/** Asks for a proposal and for whether it may be decided on, at once. */
export function prefetch(
  app: Pick<App, 'api' | 'prefetched'>,
  me: Me | null,
  { intent_id, hash }: Pick<QueueItem, 'intent_id' | 'hash'>,
): Prefetched {
  const known = app.prefetched.get(intent_id);
  if (known) return known;
  const asked: Prefetched = {
    looked: lookAt(app.api, intent_id),
    may: me && mayI(app, me, { intent_id, hash }),
    about: aboutOf(hash, me),
  };
  const forget = () => app.prefetched.get(intent_id) === asked && app.prefetched.delete(intent_id);
  asked.looked?.catch(forget);
  asked.may?.catch(forget);
  app.prefetched.set(intent_id, asked);
  return asked;
}

export function takeLooked(app: Pick<App, 'api' | 'prefetched' | 'queue'>, me: Me | null, intent_id: string) {
  const listed = app.queue.get()?.get(intent_id);
  const asked = listed ? prefetch(app, me, listed) : null;
  const looked = asked?.looked ?? lookAt(app.api, intent_id);
  if (asked) asked.looked = null;
  return looked;
}

/** An answer about another hash than the one that is drawn, or about another person, is none. */
export function takeMay(app: Pick<App, 'api' | 'prefetched'>, me: Me, intent_id: string, hash: string) {
  const asked = app.prefetched.get(intent_id);
  const may = asked?.about === aboutOf(hash, me) ? asked.may : null;
  app.prefetched.delete(intent_id);
  return may ?? mayI(app, me, { intent_id, hash });
}

/** Asks for the proposal that is drawn first, so that the first screen is drawn once, with all that it says. */
export async function askFirst(app: App): Promise<void> {
  await app.first;
  const { me, name } = meAmong(app.world.get().people, app.chosen.get());
  const queue = app.queue.get();
  const { current } = screenOf(app.route.get(), app.inOrder(queue, name), isNarrow());
  const item = queue?.get(current ?? '');
  if (!item) return;
  const { looked, may } = prefetch(app, me, item);
  await Promise.all([looked, may]);
}
