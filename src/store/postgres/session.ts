import { postgresLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Connection } from './connection.ts';
import { isLost } from './failure.ts';

/** A connection that is made when it is first needed, and again after it was lost. */
export interface Session {
  current(): Promise<Connection>;
  /** For what can be asked twice: once more on a new connection when the old one turns out to be dead. */
  read<T>(act: (connection: Connection) => Promise<T>): Promise<T>;
  /** This one is not to be used again, whatever it says of itself. */
  drop(connection: Connection): void;
  end(): Promise<void>;
}

/**
 * A firewall drops an idle connection silently. It must be found out before a write is sent:
 * afterwards it would be unknown whether the write happened.
 */
async function isDeaf(connection: Connection): Promise<boolean> {
  if (connection.quiet_ms() < postgresLimits.quiet_ms) return false;
  try {
    await connection.ask({ text: 'SELECT 1', query_timeout: postgresLimits.quiet_answer_ms });
    return false;
  } catch {
    connection.destroy();
    return true;
  }
}

export function sessionOf(connect: () => Promise<Connection>, first?: Connection): Session {
  let open: Promise<Connection> | null = first ? Promise.resolve(first) : null;
  const dropped = new WeakSet<Connection>();
  let closed = false;

  async function isDead(held: Promise<Connection>): Promise<boolean> {
    try {
      const connection = await held;
      return connection.isLost() || dropped.has(connection) || (await isDeaf(connection));
    } catch {
      return true;
    }
  }

  function drop(connection: Connection): void {
    if (dropped.has(connection)) return;
    dropped.add(connection);
    connection.destroy();
  }

  async function current(): Promise<Connection> {
    if (closed) refuse('STORE_CLOSED');
    const held = open;
    if (held !== null && !(await isDead(held))) return held;
    // Another caller that waited for the dead one may have made a new one by now.
    if (open === held) open = connect();
    return open!;
  }

  async function read<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await current();
    try {
      return await act(connection);
    } catch (error) {
      if (!connection.isLost() && !isLost(error)) throw error;
      drop(connection);
      return act(await current());
    }
  }

  async function end(): Promise<void> {
    closed = true;
    const held = open;
    open = null;
    await held?.then(
      (connection) => connection.end(),
      () => undefined,
    );
  }

  return { current, read, drop, end };
}
