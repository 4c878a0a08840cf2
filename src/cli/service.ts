import { type Asking, asker, type CallOptions, ServiceRefusal } from '../client/ask.ts';
import type { RequestSigner } from '../client/signed.ts';
import { cliLimits } from '../limits.ts';
import { isReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Call } from './answer.ts';

/** The address of the service that a command is for; null where it is for a project on this machine. */
export function serviceOf({ options: { service, project } }: Call): string | null {
  if (service !== undefined && project !== undefined) refuse('USAGE', 'Name either --service or --project.');
  const named = service ?? (project === undefined ? process.env.KEYTURN_SERVICE : undefined);
  return named === undefined || named === '' ? null : addressIn(named);
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Without TLS only on this machine: an attacker in between could read with the secrets of the session. */
export function addressIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || `${url.origin}/` !== url.href || !/^https?:$/.test(url.protocol))
    return refuse(
      'USAGE',
      'A service is named as https://HOST, or http://localhost:PORT, and nothing behind it.',
    );
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    refuse('USAGE', 'A service on another machine is asked over https://, or through a tunnel to localhost.');
  return url.origin;
}

/** They look at all that is stored. */
const WHOLE: ReadonlySet<string> = new Set(['/v1/ledger/verify', '/v1/ledger/verifyStore']);

/** Asks a service. Whatever is wrong with it, or on the way to it, is a refusal. */
export function askingAt(
  address: string,
  shown: Readonly<Record<string, string>>,
  signer: RequestSigner | null = null,
  answer_ms: number = cliLimits.answer_ms,
): Asking {
  const asking = asker(address, shown, signer, readJson);
  const timed = <T>(ask: (options: CallOptions) => Promise<T>, { signal }: CallOptions, most = answer_ms) =>
    ask({ signal: signal ?? AbortSignal.timeout(most) }).catch((error: unknown) => {
      throw signal?.aborted && error === signal.reason ? error : refusalOf(address, error);
    });
  return {
    ask: async (path, request, options) => {
      const most = 'proofs' in request || WHOLE.has(path) ? cliLimits.finish_ms : answer_ms;
      const answer = await timed((all) => asking.ask(path, request, all), options, most);
      return answer instanceof ReadableStream ? streamedFrom(address, answer) : answer;
    },
    open: (asked, options) => timed((all) => asking.open(asked, all), options),
    end: (options) => timed((all) => asking.end(all), options),
  };
}

/** A service that lies could answer without an end, and little that is compressed can be much. */
function readJson({ body }: Response): Promise<unknown> {
  let bytes = 0;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    transform: (part, to) => {
      bytes += part.length;
      if (bytes <= cliLimits.answer_bytes) to.enqueue(part);
      else to.error(new Error('it answers with more than any answer has'));
    },
  });
  return new Response(body?.pipeThrough(limited)).json();
}

/** What breaks off is refused as what was not answered is. */
async function* streamedFrom(address: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw refusalOf(address, error);
  }
}

const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|EPROTO)/;
/** What the system, or the HTTP client, says of a connection. */
const GONE = /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/;

function refusalOf(address: string, error: unknown): unknown {
  if (error instanceof ServiceRefusal) {
    const { code, message, facts } = error;
    return isReasonCode(code)
      ? new Refusal(code, message, { ...facts })
      : new Refusal(
          'SERVICE_FOREIGN',
          `It refuses with "${code}", which this version does not know: ${message}`,
        );
  }
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError')
    return new Refusal('SERVICE_UNREACHABLE', `${address} does not answer in time.`);
  const code = codeIn(error);
  // The fetch of Node sends again what was answered with 421, and has no body left for it.
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return new Refusal('HOST_UNKNOWN');
  if (TLS.test(code)) return new Refusal('SERVICE_TLS', `${address}: ${code}.`, { found: code });
  if (GONE.test(code))
    return new Refusal('SERVICE_UNREACHABLE', `${address} does not answer: ${code}.`, { found: code });
  return new Refusal(
    'SERVICE_FOREIGN',
    `What answers at ${address} is no Keyturn service: ${whyOf(cause) ?? message}.`,
  );
}

/** Of a request that failed, the cause says why. */
function whyOf(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.message : undefined;
}

/** The code of the cause, however deep it is. */
function codeIn(error: unknown): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? '' : codeIn(cause);
}
