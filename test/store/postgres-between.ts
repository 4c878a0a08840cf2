import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What lies between a store and its server, on this machine, until the test has ended. */
async function listening(server: Server, sockets: Set<Socket>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as { port: number }).port;
}

function kept(sockets: Set<Socket>, ...both: readonly Socket[]): void {
  for (const socket of both) {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }
}

export interface Wire {
  readonly port: number;
  /** How many connections were made. */
  made(): number;
  /** How often clients have said this since then. */
  counting(text: string): () => number;
  /** Ends every connection in which a client says this; null for none. */
  breakAt(text: string | null): void;
  /** Ends every connection. */
  cut(): void;
  /** From now on nothing passes, and neither end is told: as when a cable is pulled out. */
  pull(): void;
  /** The same for the connections that are there; others may be made. */
  forget(): void;
}

export async function wireTo(target_port: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let [made, text, pulled]: [number, string | null, number] = [0, null, 0];
  const said: Buffer[] = [];
  let listens = false;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target_port, host: '127.0.0.1', allowHalfOpen: true });
    made += 1;
    const own = made;
    const isPulled = () => own <= pulled;
    kept(sockets, client, upstream);
    const unlessPulled = (act: () => void) => () => void (isPulled() || act());
    client.on('data', (bytes) => {
      if (isPulled()) return;
      if (listens) said.push(bytes);
      if (text === null || !bytes.includes(text)) return void upstream.write(bytes);
      client.destroy();
      upstream.destroy();
    });
    upstream.on('data', (bytes) => void (isPulled() || client.write(bytes)));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on(
        'end',
        unlessPulled(() => other.end()),
      );
      one.on(
        'close',
        unlessPulled(() => other.destroy()),
      );
    }
  });
  return {
    port: await listening(server, sockets),
    made: () => made,
    counting: (what) => {
      listens = true;
      said.length = 0;
      return () => Buffer.concat(said).toString('latin1').split(what).length - 1;
    },
    breakAt: (said) => {
      text = said;
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    pull: () => {
      pulled = Number.POSITIVE_INFINITY;
    },
    forget: () => {
      pulled = made;
    },
  };
}

export interface Pooler {
  readonly port: number;
  /** From the next transaction on, every client has its other session. */
  change(): void;
  /** From now on, before each transaction. */
  changeAlways(): void;
  /** What another client says in the sessions that its clients have now. */
  say(text: string): Promise<void>;
}

const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const IDLE = 0x49;
const GOODBYE = 0x58;

/**
 * A pooler in transaction mode that knows prepared statements, as PgBouncer does: each client has two sessions of a
 * server that trusts every client, or with `shares` all of them the same two. Without `hands_on` a session begins without the
 * settings that a client asks for.
 */
export async function poolerTo(
  target_port: number,
  { hands_on, shares = false }: { hands_on: boolean; shares?: boolean },
): Promise<Pooler> {
  const sockets = new Set<Socket>();
  let current = 0;
  let is_restless = false;
  const speakers: ((text: string) => Promise<unknown>)[] = [];
  const begun = async (startup: Buffer) => {
    const sessions = [0, 1].map(() => sessionOf(target_port, startup, sockets));
    const [hello] = await Promise.all(sessions.map((session) => session.answer()));
    return { sessions, hello: hello! };
  };
  let shared: ReturnType<typeof begun> | null = null;
  const server = createServer(async (client) => {
    kept(sockets, client);
    const [startup] = (await once(client, 'data')) as [Buffer];
    const first = hands_on ? startup : startupOf(startup);
    if (shares) shared ??= begun(first);
    const { sessions, hello } = await (shared ?? begun(first));
    const parses = new Map<string, Buffer>();
    let [used, outstanding] = [current, 0];
    speakers.push(async (text) => {
      const said = sessions[used]!.answer();
      sessions[used]!.send(messageOf('Q', text));
      if (!client.destroyed) await said;
    });
    const answer = (message: Buffer) => {
      client.write(message);
      if (message[0] === 0x5a) outstanding -= 1;
    };
    const send = async (messages: readonly Buffer[]) => {
      const next = is_restless ? 1 - used : current;
      if (outstanding === 0 && used !== next && sessions[used]!.status() === IDLE) {
        used = next;
        await sessions[used]!.learn(parses);
      }
      sessions[used]!.onMessage = answer;
      for (const message of messages) {
        if (shares && message[0] === GOODBYE) continue;
        if (message[0] === 0x50) parses.set(nameOf(message), message);
        if (message[0] === 0x53 || message[0] === 0x51) outstanding += 1;
        sessions[used]!.send(message);
      }
    };
    let queue = Promise.resolve();
    const split = splitter();
    client.on('data', (bytes) => {
      const messages = split(bytes);
      queue = queue.then(() => send(messages));
    });
    client.write(hello);
  });
  return {
    port: await listening(server, sockets),
    change: () => {
      current = 1 - current;
    },
    changeAlways: () => {
      is_restless = true;
    },
    say: async (text) => {
      await Promise.all(speakers.map((speak) => speak(text)));
    },
  };
}

/** The same without options. */
function startupOf(startup: Buffer): Buffer {
  const words = startup.subarray(8).toString('latin1').split('\0');
  const kept_words = ['user', 'database'].flatMap((name) => [name, words[words.indexOf(name) + 1]!]);
  const body = Buffer.from(`\0\x03\0\0${kept_words.join('\0')}\0\0`, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

function messageOf(kind: string, text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(5, kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const nameOf = (parse: Buffer) => parse.subarray(5, parse.indexOf(0, 5)).toString();

/** Cuts a stream into messages. */
function splitter(): (bytes: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const messages: Buffer[] = [];
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const length = rest.readInt32BE(1) + 1;
      messages.push(Buffer.from(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
    return messages;
  };
}

function sessionOf(port: number, startup: Buffer, sockets: Set<Socket>) {
  const socket = connect(port, '127.0.0.1');
  kept(sockets, socket);
  const split = splitter();
  const known = new Set<string>();
  let gathered: Buffer[] | null = null;
  let done: (answer: Buffer) => void = () => {};
  let status = 0;
  const session = {
    onMessage: (_message: Buffer) => {},
    status: () => status,
    /** Everything up to where the server is ready again, kept from the client. */
    answer: () =>
      new Promise<Buffer>((resolve) => {
        gathered = [];
        done = resolve;
      }),
    send: (message: Buffer) => {
      if (message[0] === 0x50) known.add(nameOf(message));
      socket.write(message);
    },
    learn: async (parses: ReadonlyMap<string, Buffer>) => {
      const missing = [...parses].filter(([name]) => name !== '' && !known.has(name));
      const answer = session.answer();
      for (const [, parse] of missing) session.send(parse);
      socket.write(SYNC);
      await answer;
    },
  };
  socket.on('data', (bytes) => {
    for (const message of split(bytes)) {
      if (message[0] === 0x5a) status = message[5]!;
      if (gathered === null) session.onMessage(message);
      else {
        gathered.push(message);
        if (message[0] !== 0x5a) continue;
        const answer = Buffer.concat(gathered);
        gathered = null;
        done(answer);
      }
    }
  });
  socket.write(startup);
  return session;
}
