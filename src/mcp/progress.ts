import type { JsonObject } from '../canonical/json.ts';
import { type Face, RUN_PROGRESS } from '../keyturn.ts';
import { isObject } from './message.ts';

type Tell = (params: JsonObject) => void;

export interface ServerNotice {
  readonly method: string;
  readonly params: JsonObject;
}

/** Tells what servers say unasked, and how far runs in this process have come. Returns how to end that. */
export type Hear = (tell: (server: string, message: ServerNotice) => void) => () => void;

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
    if (isObject(params)) tell(params);
  } catch {
    // What a tool prints is no progress.
  }
}

/** What the run of an intent tells on its way, where it runs in this process. Returns how to end that once all of it was told. */
export function hearRun(
  { face, hear }: { readonly face: Face; readonly hear?: Hear | undefined },
  intent_id: string,
  tell: Tell,
): () => Promise<void> {
  let mine: unknown = null;
  let last = Promise.resolve();
  const end = hear?.((_server, { method, params: { execution_id, told } }) => {
    if (method !== RUN_PROGRESS) return;
    last = last.then(async () => {
      if (mine !== execution_id) mine = (await face.intents.result({ intent_id })).run?.execution_id;
      if (mine === execution_id && isObject(told)) tell(told);
    });
  });
  return () => {
    end?.();
    return last.catch(() => {});
  };
}
