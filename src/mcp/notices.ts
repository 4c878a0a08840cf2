import type { Keyturn } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller, WantedNotices } from './call.ts';
import { ERRORS, wrong } from './message.ts';
import { isPassedNotice, passedNotice, watchPassed } from './passed.ts';
import { NoticeQueue, type ServerNotice } from './progress.ts';
import { intentUri, isOwnResource, readResource } from './resources.ts';
import { LISTS, type ListName, ToldLists } from './told-lists.ts';

/** What a client with a handshake is told unasked, where it is the only one of this process. */
export const EVERYTHING = { tools: true, prompts: true, resources: true, logging: true } as const;

/** The entries of a ledger that come from now on. */
export async function entriesFromNow({ entries, follow }: Keyturn['ledger'], signal: AbortSignal) {
  const [last] = (await entries({ limit: 1 })).entries;
  return follow({ from: (last?.seq ?? -1) + 1, signal });
}

/**
 * Tells one client what changes, until the signal: what servers say of their lists, resources and log, as far as a human accepted that it is
 * passed on; that a human accepted or removed a server, or edited tools.yaml or keyturn.yaml; and what becomes of the intents that the client
 * watches. Nothing that happens after this has resolved is missed.
 */
export async function tellChanges(
  caller: McpCaller,
  wanted: WantedNotices,
  tell: (notice: ServerNotice) => void,
  signal: AbortSignal,
): Promise<void> {
  const told = (notice: ServerNotice | null) => {
    if (notice !== null && !signal.aborted) tell(notice);
  };
  const queue = new NoticeQueue();
  const end = caller.hear?.((server, notice) => {
    if (isPassedNotice(notice))
      queue.add(async () => told(await passedNotice(caller, server, notice, wanted)));
  });
  if (end) signal.addEventListener('abort', end, { once: true });
  const lists = new ToldLists(caller);
  const tellLists = (changed: readonly ListName[]) => {
    for (const what of changed)
      if (wanted[what]) told({ method: `notifications/${what}/list_changed`, params: {} });
  };
  const entries = await caller.entries?.(signal);
  if (!entries) return;
  const following = async () => {
    for await (const { kind, subject } of entries) {
      // A new intent is not told as a change of the list of resources: each call would be one.
      const uri = intentUri(subject);
      if (wanted.uris.has(uri)) told({ method: 'notifications/resources/updated', params: { uri } });
      if (kind !== 'mcp.accepted' && kind !== 'mcp.removed') continue;
      await lists.renew();
      tellLists(LISTS);
    }
  };
  if (LISTS.some((what) => wanted[what])) {
    await lists.renew();
    void lists.follow(tellLists, signal).catch(() => {});
  }
  // A ledger that can no longer be followed fails whatever is asked next.
  void following().catch(() => {});
}

/** The resources that one client watches. */
export class WatchedResources {
  readonly #ends = new Map<string, () => Promise<void>>();

  has(uri: string): boolean {
    return this.#ends.has(uri);
  }

  get uris(): string[] {
    return [...this.#ends.keys()];
  }

  async add(caller: McpCaller, uri: string): Promise<void> {
    if (this.#ends.has(uri)) return;
    if (this.#ends.size >= mcpLimits.watched) wrong(ERRORS.params, 'Too many resources are watched.');
    const nothing = async () => {};
    if (isOwnResource(uri)) {
      // Entries of every intent come here, so nothing is told of one before it was read: it may be that of another agent.
      await readResource(caller, uri);
      if (this.#ends.size < mcpLimits.watched) this.#ends.set(uri, nothing);
      return;
    }
    // A server may tell of a change together with its answer.
    this.#ends.set(uri, nothing);
    try {
      this.#ends.set(uri, await watchPassed(caller, uri));
    } catch (error) {
      this.#ends.delete(uri);
      throw error;
    }
  }

  async remove(uri: string): Promise<void> {
    const end = this.#ends.get(uri);
    this.#ends.delete(uri);
    await end?.();
  }

  async close(): Promise<void> {
    await Promise.all(this.uris.map((uri) => this.remove(uri)));
  }
}
