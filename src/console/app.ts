import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Client, createClient } from '../client/client.ts';
import type { Result } from '../keyturn.ts';
import { type Cell, cellOf, useCell } from './cell.ts';
import { idle, whenIdle } from './clock.ts';
import { pageSecret } from './enter.ts';
import { type KeptHere, keptIn } from './kept.ts';
import { followLedger, type HeardEntry, type LiveState } from './live.ts';
import { isSame, type Prefetched } from './looked.ts';
import { hasLapsed, isOpenWord, OPEN_WORDS, type OrderedQueue, ordering, type WaitingMap } from './order.ts';
import { type Trouble, troubleOf } from './trouble.ts';
import type { Person, QueueItem } from './types.ts';

export type { Intent, Person, QueueItem, ShownEffect } from './types.ts';

/** The person who uses this page, and the passkey that they sign with here. */
export interface Me {
  readonly name: string;
  readonly key: string;
  readonly label: string;
  readonly credential_id: string;
  readonly rp_id: string;
  readonly can_sync: boolean;
}

export interface KnownWorld {
  readonly origin: string;
  readonly people: readonly Person[];
  readonly freezes: Result<'system.get'>['freezes'];
  readonly shadow: Result<'system.get'>['shadow'];
  readonly executors: Result<'system.get'>['executors'];
  readonly policy: string | null;
}

export interface App {
  readonly api: Client;
  readonly live: Cell<LiveState>;
  readonly world: Cell<KnownWorld>;
  readonly queue: Cell<WaitingMap>;
  readonly inOrder: (queue: WaitingMap, name: string | null) => OrderedQueue;
  readonly route: Cell<string>;
  readonly ticked: Cell<ReadonlySet<string>>;
  readonly kept: KeptHere;
  /** By intent: what is drawn next is drawn at once. */
  readonly prefetched: Map<string, Prefetched>;
  /** Who the person says that they are, where several could be. */
  readonly chosen: Cell<string | null>;
  onEntry(listener: (entry: HeardEntry | null) => void): () => void;
  again(): void;
  /** Settles once the first answers are known: people, and the queue. */
  readonly first: Promise<void>;
  /** To be called once they were drawn. */
  onDrawn(): void;
}

const NOTHING: KnownWorld = { origin: '', people: [], freezes: [], shadow: [], executors: [], policy: null };
const OF_WORLD =
  /^(system|key|credential|role|token|policy|executor|delegation|control_key|simulation)\.|^mcp\.(accepted|removed)$/;
const OF_INTENT = /^[0-9a-f]{8}-/;

export const AppContext = createContext<App>(null as unknown as App);
export const useApp = (): App => useContext(AppContext);

/** Everything that the page knows, and the stream that keeps it true. */
export function startApp(): App {
  const api = createClient({ address: location.origin, page: pageSecret() });
  const listeners = new Set<(entry: HeardEntry | null) => void>();
  const live = cellOf<LiveState>({ state: 'lost', since: Date.now(), seq: null });
  const world = cellOf<KnownWorld>(NOTHING);
  const queue = cellOf<WaitingMap>(null);
  const kept = keptIn(localStorage);
  const route = cellOf(location.hash.slice(1) || '/');
  addEventListener('hashchange', () => route.set(location.hash.slice(1) || '/'));
  const prefetched = new Map<string, Prefetched>();
  const tell = (entry: HeardEntry | null) => {
    if (entry === null || OF_WORLD.test(entry.kind)) prefetched.clear();
    else prefetched.delete(entry.subject);
    for (const listener of [...listeners]) listener(entry);
  };
  const worldNow = async (): Promise<KnownWorld> => {
    const [{ origin, freezes, shadow, executors, policy }, { principals }] = await Promise.all([
      api.system.get(),
      api.people.list(),
    ]);
    return { origin, freezes, shadow, executors, policy, people: principals };
  };
  const lookAtWorld = async () => world.set(await worldNow());
  /** Both at once: nothing is drawn for a person who is not known yet. */
  const askAll = () => Promise.all([worldNow(), waiting(api)]);
  const draw = ([now, open]: Awaited<ReturnType<typeof askAll>>) => {
    world.set(now);
    queue.set(new Map(open.map((one) => [one.intent_id, one])));
  };
  const lookAtAll = async () => draw(await askAll());
  const lookAtOne = async (intent_id: string) => {
    const one = await itemOf(api, intent_id, queue.get()?.get(intent_id));
    if (one === null) return;
    // After the answer: others may have come while it was awaited.
    queue.set(new Map<string, QueueItem>(queue.get()).set(intent_id, one));
  };
  const quietly = (work: Promise<unknown>) => void work.catch(() => {});
  // While the stream opens: without a session nothing is asked for.
  const early = pageSecret() === undefined ? Promise.reject(new Error('no session')) : askAll();
  const first = early.then(draw);
  quietly(first);
  let onDrawn = () => {};
  const drawn = new Promise<void>((done) => {
    onDrawn = done;
  });
  let at_open: Promise<unknown> | null = first;
  const openedAgain = async () => {
    const before =
      at_open &&
      (await at_open.then(
        () => early,
        () => null,
      ));
    at_open = null;
    // An entry may have come after the early answers, before the stream: the same answers say that none did.
    if (before) await drawn.then(idle);
    const now = await askAll();
    if (before && isSame(before, now)) return;
    draw(now);
    tell(null);
  };
  const { again } = followLedger({
    live,
    onOpen: () => quietly(openedAgain()),
    onEntry: (entry) => {
      const isAsked = ASKS.test(entry.kind) || isRouted(queue.get());
      if (OF_WORLD.test(entry.kind)) quietly((isAsked ? lookAtAll() : lookAtWorld()).then(() => tell(entry)));
      else if (OF_INTENT.test(entry.subject)) quietly(lookAtOne(entry.subject).then(() => tell(entry)));
      else tell(entry);
    },
  });
  // Who is asked to look, and which approvals count, can change by the time alone.
  setInterval(() => changesByTime(queue.get()) && quietly(lookAtAll()), LOOK_MS);
  return {
    ...{ api, live, world, queue, route, kept, again, prefetched, first, onDrawn },
    inOrder: ordering(),
    ticked: cellOf<ReadonlySet<string>>(new Set()),
    chosen: cellOf(kept.get('me')),
    onEntry: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const LOOK_MS = 30_000;
/** Who is asked to look at what waits, and which approvals count, may be another from here on. */
const ASKS = /^(policy|key|credential|role|delegation)\./;

function isRouted(queue: WaitingMap): boolean {
  return [...(queue?.values() ?? [])].some(({ reviewers }) => reviewers !== null);
}

function changesByTime(queue: WaitingMap): boolean {
  return isRouted(queue) || [...(queue?.values() ?? [])].some((one) => hasLapsed(one, Date.now()));
}

/** All that waits, what is approved and not ordered, and what has to be approved again; of each the newest 1,000. */
async function waiting(api: Client): Promise<readonly QueueItem[]> {
  const lists = await Promise.all(
    OPEN_WORDS.map((status_word) => api.intents.list({ status_word, limit: 1000 })),
  );
  return lists.flatMap(({ intents }) => intents);
}

/** One intent as the queue has it; null where it was never in the queue, and is not open. Only a list tells the goal. */
async function itemOf(
  api: Client,
  intent_id: string,
  known: QueueItem | undefined,
): Promise<QueueItem | null> {
  const intent = await api.intents.get({ intent_id }).catch(noSuchIntent);
  if (intent === null || known) return intent && { ...intent, goal: known!.goal };
  const { status_word, tool, proposer, proposed_at: since } = intent;
  if (!isOpenWord(status_word)) return null;
  const until = new Date(Date.parse(since) + 1).toISOString();
  for (let next: string | null | undefined; next !== null; ) {
    const cursor = next === undefined ? {} : { cursor: next };
    // Those of the same millisecond.
    const page = await api.intents.list({ tool, proposer, since, until, limit: 1000, ...cursor });
    const found = page.intents.find((one) => one.intent_id === intent_id);
    if (found) return found;
    next = page.next;
  }
  return { ...intent, goal: null };
}

/** Not every id that an entry is about is that of an intent. */
function noSuchIntent(error: unknown): null {
  if (troubleOf(error).code === 'INTENT_NOT_FOUND') return null;
  throw error;
}

/** The passkeys of people that can be used at this address. */
export function passkeysHere(people: readonly Person[], origin = location.origin): readonly Me[] {
  return people
    .filter(({ kind, status }) => kind === 'human' && status === 'active')
    .flatMap(({ name, credentials }) =>
      credentials.flatMap((one) =>
        one.kind === 'passkey' && one.status === 'active' && one.origins.includes(origin)
          ? [
              {
                name,
                key: one.public_key,
                label: one.label,
                credential_id: one.credential_id,
                rp_id: one.rp_id,
                can_sync: one.can_sync,
              },
            ]
          : [],
      ),
    );
}

/** The queue as this person sees it. */
export function useOrder(): OrderedQueue {
  const { queue, inOrder } = useApp();
  const { name } = useMe();
  return inOrder(useCell(queue), name);
}

interface Identified {
  readonly name: string | null;
  readonly me: Me | null;
  readonly all: readonly Me[];
}

/** Who signs in this page: who was chosen, or the only one who could. */
export function useMe(): Identified {
  const { world, chosen } = useApp();
  return meAmong(useCell(world).people, useCell(chosen));
}

export function meAmong(people: readonly Person[], wanted: string | null): Identified {
  const all = passkeysHere(people);
  const humans = people.filter(({ kind, status }) => kind === 'human' && status === 'active');
  const me =
    all.find(({ key }) => key === wanted) ??
    (wanted === null || all.length === 1 ? all[0] : undefined) ??
    null;
  return { me, all, name: me?.name ?? (humans.length === 1 ? humans[0]!.name : null) };
}

export interface AnswerState<T> {
  readonly value: T | null;
  readonly trouble: Trouble | null;
  again(): void;
}

/** What the service answers, asked again when an entry matters to it. The newest question wins. */
export function useTold<T>(
  ask: () => Promise<T>,
  deps: readonly unknown[],
  matters: (entry: HeardEntry) => boolean = () => false,
  asked_at: 'before paint' | 'when idle' = 'before paint',
): AnswerState<T> {
  const app = useApp();
  const [told, setTold] = useState<{ of: unknown; value: T | null; trouble: Trouble | null }>({
    of: null,
    value: null,
    trouble: null,
  });
  const asked = useRef(0);
  const again: () => void = useCallback(() => {
    const mine = ++asked.current;
    const tell = (next: { value: T | null; trouble: Trouble | null }) => {
      if (mine === asked.current) setTold({ of: again, ...next });
    };
    ask().then(
      (value) => tell({ value, trouble: null }),
      (error: unknown) => tell({ value: null, trouble: troubleOf(error) }),
    );
  }, deps);
  // Before the paint: what was prefetched is there, and is drawn without a frame that says nothing. A request takes a millisecond.
  useLayoutEffect(() => {
    const forget = asked_at === 'when idle' ? whenIdle(again) : again();
    return () => {
      forget?.();
      asked.current++;
    };
  }, [again]);
  useEffect(() => app.onEntry((entry) => (entry === null || matters(entry)) && again()), [again]);
  // An answer to another question is none.
  return told.of === again ? { ...told, again } : { value: null, trouble: null, again };
}
