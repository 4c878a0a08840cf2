import { type RequestOptions, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { guardedLookup, requireTarget } from '../../network/address.ts';
import { Refusal } from '../../refusal.ts';

export interface Post {
  readonly url: string;
  readonly allow: readonly string[];
  readonly timeout_s: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** The status of the answer. Nothing is read of its body, no redirect is followed, and no connection is used twice. */
export function post({ url: text, allow, timeout_s, headers, body, signal }: Post): Promise<number> {
  const url = new URL(text);
  requireTarget(url, allow);
  const ask = url.protocol === 'https:' ? requestTls : request;
  const late = AbortSignal.timeout(timeout_s * 1000);
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    lookup: guardedLookup(url, allow),
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'keyturn',
      ...headers,
    },
    signal: AbortSignal.any([signal, late]),
  };
  return new Promise((done, failed) => {
    const sent = ask(url, options, (answer) => {
      done(answer.statusCode ?? 0);
      answer.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error instanceof Refusal) return failed(error);
      const why = late.aborted ? `no answer within ${timeout_s} s` : (error.code ?? 'unknown');
      failed(new Refusal('NOTIFY_FAILED', `${url.hostname} was not reached: ${why}.`, { why }));
    });
    sent.end(body);
  });
}
