import type { HttpBindings } from '@hono/node-server';
import type { Keyturn } from '../keyturn.ts';
import type { Metrics } from './metrics.ts';

/** Bytes that are made as they are read. */
export interface Flow {
  readonly pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>;
  readonly cancel?: () => void;
  /** Ends the connection in the middle of the answer: its reader must not take the part that came for all of it. */
  readonly cut: (error: unknown) => void;
}

/** Were the stream itself to fail, the HTTP server would print the error on stderr. */
export function flowing({ pull, cancel = () => {}, cut }: Flow, highWaterMark: number): ReadableStream {
  return new ReadableStream<Uint8Array>(
    { pull: (controller) => pull(controller).catch(cut), cancel },
    { highWaterMark },
  );
}

/** A verb tells the log of its failure itself. For what is no verb, `entry_point` says what failed. */
export function cutting(
  { keyturn, metrics }: { readonly keyturn: Keyturn; readonly metrics: Metrics },
  { outgoing }: HttpBindings,
  entry_point: string | null,
): Flow['cut'] {
  return (error) => {
    // Its reader has left.
    if (outgoing.destroyed) return;
    metrics.refused(error);
    const failed = () => Promise.reject(error);
    if (entry_point !== null)
      void keyturn.host.telemetry
        .span('request', failed, { about: { kind: 'stream', entry_point } })
        .catch(() => {});
    outgoing.destroy();
  };
}

/** Ends what counts, once its answer was written or its connection is gone. An answer that waits behind others of its connection hears only from the socket. */
export function untilRead({ incoming: { socket }, outgoing }: HttpBindings, end: () => void): () => void {
  const over = () => {
    socket.off('close', over);
    end();
  };
  // As many as a client sends at once without waiting for answers. Each is taken off when its answer is over.
  socket.setMaxListeners(0);
  socket.once('close', over);
  outgoing.once('close', over);
  if (socket.destroyed || outgoing.destroyed) over();
  return over;
}
