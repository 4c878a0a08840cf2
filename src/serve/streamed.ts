import { respond } from './answer.ts';

/** What a verb gives its bytes to. It takes no more of them than are read. */
export type BytesTo = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/** Such as an export of a ledger: JSON Lines. */
export const STREAM_TYPE = 'application/jsonl';

interface BytesAsked {
  readonly run: (to: BytesTo) => Promise<unknown>;
  /** Refuses a caller who is none any more: a stream can outlive a session. */
  readonly recheck: () => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Called once the stream is over, or none began. */
  readonly onEnd: () => void;
}

/**
 * The bytes as they come, one piece in memory at a time. What is refused before the first of them is a refusal like any other. From then
 * on the answer breaks off: the reader has to know from the bytes themselves whether they are complete.
 */
export function answerBytes({ run, recheck, signal, onEnd }: BytesAsked): Promise<Response> {
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
          signal.throwIfAborted();
          await recheck();
          return pieces.next();
        };
        const stream = new ReadableStream<Uint8Array>({
          pull: async (controller) => {
            const { done, value } = await next().catch((error: unknown) => {
              failed(error);
              throw error;
            });
            if (!done) return controller.enqueue(value);
            controller.close();
            over();
          },
          cancel: end,
        });
        answer(respond(stream, 200, { 'content-type': STREAM_TYPE }));
      });
    run(to).catch(refused).finally(onEnd);
  });
}
