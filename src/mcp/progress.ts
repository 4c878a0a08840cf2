import { setTimeout as after } from 'node:timers/promises';
import type { JsonObject } from '../canonical/json.ts';
import { type Face, type Result, RUN_PROGRESS } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { isObject } from './message.ts';
import { withoutOwnMarks } from './own-marks.ts';

type Tell = (params: JsonObject) => void;

export interface ServerNotice {
  readonly method: string;
  readonly params: JsonObject;
}

/** Tells what servers say unasked, and how far runs in this process have come. Returns how to end that. */
export type Hear = (tell: (server: string, message: ServerNotice) => void) => () => void;

/** Looks at notices one after the other, so that they keep their order. A server that sends faster than that has the rest left out. */
export class NoticeQueue {
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  add(look: () => Promise<void>): void {
    if (this.#waiting >= mcpLimits.unread) return;
    this.#waiting += 1;
    this.#last = this.#last
      .then(look)
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Resolves when all that was added so far was looked at. */
  all(): Promise<void> {
    return this.#last;
  }
}

/** What a call under a grant tells on its way: a run in this request prints it. */
export function heard(onProgress: Tell | undefined) {
  if (!onProgress) return {};
  return {
    onOutput: (chunk: Uint8Array, stream: string) => {
      if (stream === 'stderr') progressIn(chunk, onProgress);
    },
  };
}

function progressIn(chunk: Uint8Array, tell: Tell): void {
  try {
    const params: unknown = JSON.parse(Buffer.from(chunk).toString('utf8'));
    if (isObject(params)) tell(withoutOwnMarks(params));
  } catch {
    // What a tool prints is no progress.
  }
}

/**
 * What the run of an intent tells on its way: all of it where it runs in this process, and numbers where it runs in another one of this host.
 * Returns how to end that once all of it was told.
 */
export function hearRun(
  { face, hear }: { readonly face: Face; readonly hear?: Hear | undefined },
  intent_id: string,
  tell: Tell,
): () => Promise<void> {
  let mine: unknown = null;
  let last = Number.NEGATIVE_INFINITY;
  const queue = new NoticeQueue();
  const end = hear?.((_server, { method, params: { execution_id, told } }) => {
    if (method !== RUN_PROGRESS) return;
    queue.add(async () => {
      if (mine !== execution_id) mine = (await face.intents.result({ intent_id })).run?.execution_id;
      if (mine !== execution_id || !isObject(told)) return;
      if (typeof told.progress === 'number') last = Math.max(last, told.progress);
      tell(withoutOwnMarks(told));
    });
  });
  const ended = new AbortController();
  const following = followElsewhere(face, intent_id, ended.signal, ({ progress, total }) => {
    if (progress <= last) return;
    last = progress;
    tell({ progress, ...(total !== null && { total }) });
  });
  return async () => {
    end?.();
    ended.abort();
    await Promise.all([queue.all(), following.catch(() => {})]);
  };
}

type Progress = NonNullable<Result<'runs.progress'>['progress']>;

async function followElsewhere(
  face: Face,
  intent_id: string,
  signal: AbortSignal,
  tell: (progress: Progress) => void,
): Promise<void> {
  let execution_id: string | undefined;
  for (;;) {
    execution_id = (await face.intents.result({ intent_id })).run?.execution_id;
    if (execution_id !== undefined) break;
    await after(mcpLimits.begun_look_ms, null, { signal, ref: false });
  }
  for (let progress_after: number | undefined; ; ) {
    const known = progress_after === undefined ? {} : { progress_after };
    const asked = { execution_id, ...known, wait_ms: mcpLimits.progress_wait_ms, signal };
    const { state, progress } = await face.runs.progress(asked);
    if (progress !== null) {
      tell(progress);
      progress_after = progress.progress;
    }
    if (state !== 'going') return;
  }
}
