import { respond } from './answer.ts';
import { type Flow, flowing } from './flow.ts';

/** What a verb gives its bytes to. It takes no more of them than are read. */
export type BytesTo = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/** Such as an export of a ledger: JSON Lines. */
export const STREAM_TYPE = 'application/jsonl';

interface BytesAsked extends Pick<Flow, 'cut'> {
  readonly run: (to: BytesTo) => Promise<unknown>;
  /** Refuses a caller who is none any more: a stream can outlive a session. */
  readonly recheck: () => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Called once the stream is over, or none began. */
  readonly onEnd: () => void;
}

/**
 * The bytes as they come, one piece in memory at a time. What fails before the first of them is known is a refusal like any other. From then
 * on a failure cuts the connection.
 */
export function answerBytes({ run, recheck, signal, cut, onEnd }: BytesAsked): Promise<Response> {
  return new Promise((answer, refused) => {
    const to: BytesTo = (chunks) =>
      new Promise((over, failed) => {
        const pieces = chunks[Symbol.asyncIterator]();
        const end = () => {
          void Promise.resolve(pieces.return?.()).catch(() => {});
          over();
        };
        signal.addEventListener('abort', end, { once: true });
        const next = async () => {
          await recheck();
          const piece = await pieces.next();
          // The signal ends the pieces, too: then the last one is not the end of all.
          signal.throwIfAborted();
          return piece;
        };
        const begin = async () => {
          let first: IteratorResult<Uint8Array> | null = await next();
          const pull: Flow['pull'] = async (controller) => {
            const { done, value } = first ?? (await next());
            first = null;
            if (!done) return controller.enqueue(value);
            controller.close();
            over();
          };
          const fail = (error: unknown) => {
            failed(error);
            cut(error);
          };
          answer(respond(flowing({ pull, cancel: end, cut: fail }, 1), 200, { 'content-type': STREAM_TYPE }));
        };
        begin().catch((error: unknown) => {
          failed(error);
          // Where the service stops, the verb has ended without an answer.
          refused(error);
        });
      });
    run(to).catch(refused).finally(onEnd);
  });
}
