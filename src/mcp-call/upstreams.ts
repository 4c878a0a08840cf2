import { canonicalText } from '../canonical/json.ts';
import type { Peer } from '../effect/peer.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Surroundings, startServer } from '../tool/run.ts';
import type { Started } from './accepted.ts';
import { McpConnection, type Notification } from './connection.ts';
import { reachServer } from './remote.ts';

/** A server that runs. */
export interface Upstream {
  readonly connection: McpConnection;
  /**
   * What it defines, by the name of the tool, from a list that is under way or was asked for at `since_ms` or later: many calls at once share
   * one. Without a time another list is asked for.
   */
  definitions(since_ms?: number): Promise<ReadonlyMap<string, object>>;
  /** Counts how often the server said that its list changed. */
  changes(): number;
}

interface Known {
  readonly opening: Promise<Upstream>;
  upstream: Upstream | null;
}

interface Failure {
  readonly until_ms: number;
  readonly pause_ms: number;
  readonly words: string;
}

/**
 * The MCP servers that this process has started, each once. One that failed is started again only after a pause, which doubles until it
 * has answered something; what it was asked is never asked again.
 */
export class Upstreams {
  readonly #known = new Map<string, Known>();
  readonly #failures = new Map<string, Failure>();
  readonly #heard = new Set<(server: string, message: Notification) => void>();
  readonly #is_look: boolean;
  #is_closed = false;

  /** At a look a person of this host is told all that a server said before it failed. An agent is told no more than its last line. */
  constructor({ is_look = false }: { readonly is_look?: boolean } = {}) {
    this.#is_look = is_look;
  }

  /** Told of each message of a server that answers nothing. Returns how to end that. */
  hear(tell: (server: string, message: Notification) => void): () => void {
    this.#heard.add(tell);
    return () => this.#heard.delete(tell);
  }

  tell(server: string, message: Notification): void {
    for (const tell of this.#heard) tell(server, message);
  }

  /** `start` names everything that starting it means: another start is another process. */
  async open(server: string, start: Started['start'], around: Omit<Surroundings, 'lock'>): Promise<Upstream> {
    const key = keyOf(server, start);
    const known = this.#known.get(key);
    if (known && (known.upstream === null || known.upstream.connection.isOpen)) return known.opening;
    this.#requirePause(server);
    if (this.#is_closed) refuse('MCP_SERVER_DOWN', 'This process ends.');
    const opening = opened(start, around, this.#is_look, (message) => this.tell(server, message));
    const entry: Known = { opening, upstream: null };
    this.#known.set(key, entry);
    try {
      entry.upstream = await opening;
      void this.#judge(server, entry.upstream);
      return entry.upstream;
    } catch (error) {
      if (this.#known.get(key) === entry) this.#known.delete(key);
      this.#fail(server, error);
      throw error;
    }
  }

  /** The same where it runs already; null where it does not. */
  running(server: string, start: Started['start']): Upstream | null {
    const upstream = this.#known.get(keyOf(server, start))?.upstream ?? null;
    return upstream?.connection.isOpen ? upstream : null;
  }

  /** A server that starts and then dies at what it is asked first has failed, too. */
  async #judge(server: string, { connection }: Upstream): Promise<void> {
    if (await connection.worked) this.#failures.delete(server);
    else this.#fail(server, new Refusal('MCP_SERVER_DOWN', 'It ended before it answered anything.'));
  }

  #requirePause(server: string): void {
    const failed = this.#failures.get(server);
    if (failed && performance.now() < failed.until_ms)
      refuse(
        'MCP_SERVER_DOWN',
        `${failed.words} It is started again in ${Math.ceil((failed.until_ms - performance.now()) / 1000)} s.`,
      );
  }

  #fail(server: string, error: unknown): void {
    const before = this.#failures.get(server)?.pause_ms ?? mcpLimits.backoff_ms / 2;
    const pause_ms = Math.min(before * 2, mcpLimits.backoff_ms_most);
    const words = error instanceof Refusal ? error.message : 'It failed.';
    this.#failures.set(server, { until_ms: performance.now() + pause_ms, pause_ms, words });
  }

  close(): void {
    this.#is_closed = true;
    for (const { upstream, opening } of this.#known.values()) {
      upstream?.connection.close();
      opening.then(({ connection }) => connection.close()).catch(() => {});
    }
    this.#known.clear();
  }
}

function keyOf(server: string, start: Started['start']): string {
  return `${server} ${canonicalText(start)}`;
}

interface Listing {
  readonly begun_ms: number;
  readonly tools: Promise<ReadonlyMap<string, object>>;
  is_under_way: boolean;
}

/** The words of a server that failed. What matters is often before the last line: a stack trace ends with its least. */
function lastLines(stderr: Buffer): string[] {
  const lines = stderr
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.slice(-mcpLimits.said_lines).map((line) => line.trimEnd().slice(0, mcpLimits.said_chars));
}

async function opened(
  start: Started['start'],
  around: Omit<Surroundings, 'lock'>,
  is_look: boolean,
  notified: (message: Notification) => void,
): Promise<Upstream> {
  let newest: Listing | null = null;
  let changes = 0;
  const connection = new McpConnection((message) => {
    if (message.method === 'notifications/tools/list_changed') {
      changes += 1;
      newest = null;
    }
    notified(message);
  });
  const peer = peerOf(start, around, connection.talk);
  try {
    await connection.open(peer);
  } catch (error) {
    const said = lastLines(peer.stderr());
    peer.kill();
    const facts = is_look && said.length > 1 ? { said: said.join('\n') } : {};
    throw error instanceof Refusal && said.length > 0
      ? new Refusal(error.code, `${error.message} It says: ${said.at(-1)}`, facts)
      : error;
  }
  const list = async () => new Map((await connection.tools()).map((one) => [one.name, one]));
  return {
    connection,
    changes: () => changes,
    definitions: (since_ms = Number.POSITIVE_INFINITY) => {
      if (newest && (newest.is_under_way || newest.begun_ms >= since_ms)) return newest.tools;
      const mine: Listing = { begun_ms: performance.now(), tools: list(), is_under_way: true };
      newest = mine;
      mine.tools.then(
        () => {
          mine.is_under_way = false;
        },
        () => {
          if (newest === mine) newest = null;
        },
      );
      return mine.tools;
    },
  };
}

function peerOf(
  start: Started['start'],
  around: Omit<Surroundings, 'lock'>,
  talk: McpConnection['talk'],
): Peer {
  return start.kind === 'url' ? reachServer(start, around.secrets, talk) : startServer(start, around, talk);
}
