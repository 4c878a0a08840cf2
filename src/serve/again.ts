import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Keyturn } from '../keyturn.ts';
import { limits } from '../limits.ts';
import type { WebAnswer } from './answer.ts';
import { untilRead } from './flow.ts';
import type { Metrics } from './metrics.ts';
import type { Answering, CallerQuota } from './quota.ts';

/** An answer that the same request gets again while nothing was written and its time is not over. */
export interface Lasting {
  readonly told: WebAnswer;
  /** Under which name the caller is counted. */
  readonly who: string;
  /** The verb. */
  readonly entry_point: string;
  /** What `keyturn.host.written` said before anything was looked at. */
  readonly written: number;
  readonly from: Date;
  readonly until: Date;
}

const lasting = new WeakMap<Response, Lasting>();

export function markLasting(response: Response, how: Lasting): Response {
  lasting.set(response, how);
  return response;
}

/** Who asks for the same again and again is told what was told, after one look at the store. */
export interface Again {
  /** False where it has to be answered anew. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  keep(incoming: IncomingMessage, response: Response): void;
}

export function againOf(
  keyturn: Keyturn,
  { quota, metrics }: { readonly quota: CallerQuota; readonly metrics: Metrics },
): Again {
  const kept = new Map<string, Lasting>();
  // Every header counts, so whatever was asked of them before holds now.
  const keyOf = ({ url, rawHeaders }: IncomingMessage) => `${url}\n${rawHeaders.join('\n')}`;
  /** Begins to answer what lasts; null where it is made anew. Whatever stands against it is told there. */
  const begun = ({ told, written, from, until, who }: Lasting): Answering | null => {
    const now = keyturn.host.now();
    if (now < from || now >= until) return null;
    let answering: Answering | null = null;
    try {
      if (keyturn.host.written() !== written) return null;
      answering = quota.answering(who);
      answering.hold(Number(told.headers['content-length'] ?? 0));
      quota.take(who);
      return answering;
    } catch {
      answering?.end();
      return null;
    }
  };
  return {
    answer: (incoming, outgoing) => {
      if (kept.size === 0 || incoming.method !== 'GET') return false;
      const from_ms = performance.now();
      const found = kept.get(keyOf(incoming));
      if (found === undefined) return false;
      const answering = begun(found);
      if (answering === null) {
        kept.clear();
        return false;
      }
      untilRead({ incoming, outgoing }, answering.end);
      const { entry_point, told } = found;
      const { status, headers, text } = told;
      outgoing.writeHead(status, headers);
      outgoing.end(text);
      metrics.answered('read', status, (performance.now() - from_ms) / 1000);
      const about = { kind: 'read', entry_point };
      void keyturn.host.telemetry.span('request', async () => told, { about, end: () => ({ status }) });
      return true;
    },
    keep: (incoming, response) => {
      const how = lasting.get(response);
      if (how === undefined || incoming.method !== 'GET') return;
      if (kept.size >= limits.kept_answers) kept.clear();
      kept.set(keyOf(incoming), { ...how, told: withLength(how.told) });
    },
  };
}

/** An answer that says its length is sent in one piece. */
function withLength(told: WebAnswer): WebAnswer {
  if (told.text === null) return told;
  return { ...told, headers: { ...told.headers, 'content-length': String(Buffer.byteLength(told.text)) } };
}
