import type * as z from 'zod';
import type { ResultOf, Signed, Verb } from '../face/verb.ts';
import type { VERBS } from '../face/verbs.ts';
import type { Draft, Proof } from '../keyturn.ts';
import type { actDraft } from '../serve/act.ts';
import type { ServedVerb } from '../serve/host-only.ts';
import { type Asking, asker, type CallOptions } from './ask.ts';
import type { RequestSigner } from './signed.ts';

/**
 * `keyturn/client`: the verbs of a service, from any program that has fetch. Of everything else only the types are imported. What
 * a service offers is known to the service: a name that it does not have is refused there (ROUTE_UNKNOWN).
 */

type Table = typeof VERBS;
type HereOf<V> = V extends Verb<z.ZodType, z.ZodType, infer H> ? H : never;
type AskedOf<V> = V extends Verb<infer I, z.ZodType, never> ? z.input<I> : never;

type Ask<V> =
  Record<never, never> extends AskedOf<V>
    ? (request?: AskedOf<V>, options?: CallOptions) => Promise<ResultOf<V>>
    : (request: AskedOf<V>, options?: CallOptions) => Promise<ResultOf<V>>;

/** A key that an act makes known signs the same statements. */
interface NewHolder {
  readonly name: string;
  readonly public_key: string;
}

/** An act of a human, in two calls. Between them the statements of the draft are signed, wherever the key is. */
interface Act<V> {
  /** Nothing is written. `key` says which of several keys signs. */
  draft(
    asked: {
      readonly request: AskedOf<V>;
      readonly by: string;
      readonly key?: string;
      readonly holder?: NewHolder;
    },
    options?: CallOptions,
  ): Promise<z.output<typeof actDraft>>;
  /** The same request, with one proof for each statement. */
  finish(
    asked: {
      readonly request: AskedOf<V>;
      readonly draft: Draft;
      readonly proofs: readonly Proof[];
      readonly holder?: NewHolder & { readonly proofs: readonly Proof[] };
    },
    options?: CallOptions,
  ): Promise<ResultOf<V>>;
}

/** The bytes as they come. Whether they are complete they say themselves: `auditExport` of `keyturn/audit` verifies an export. */
type Streamed<V> = (request?: AskedOf<V>, options?: CallOptions) => Promise<ReadableStream<Uint8Array>>;

/** Only a human does what needs a signer. What takes one or none is a call with a token, and an act with a session. */
type Call<V> = 'to' extends keyof HereOf<V>
  ? Streamed<V>
  : HereOf<V> extends Signed
    ? Act<V>
    : 'signer' extends keyof HereOf<V>
      ? Ask<V> & Act<V>
      : Ask<V>;

type Namespace<N extends string, T> = {
  readonly [W in keyof T & string as `${N}.${W}` extends ServedVerb ? W : never]: Call<T[W]>;
};

/** Every verb that a service offers, as `client.intents.propose({ … })`. */
export type Client = { readonly [N in keyof Table]: Namespace<N, Table[N]> };

export interface ClientOptions {
  /** Such as `http://localhost:7717`. */
  readonly address: string;
  /** The token of an agent. A page of the service needs none: its browser has the session. */
  readonly token?: string;
  /** The second secret of a session, for a page of the service. */
  readonly page?: string | undefined;
  /** The key of an agent or a human, in place of a token: it signs each request. */
  readonly signer?: RequestSigner;
}

export function createClient({ address, token, page, signer }: ClientOptions): Client {
  const shown = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(page !== undefined && { 'keyturn-page': page }),
  };
  return clientWith(asker(address, shown, signer ?? null));
}

/** Opens the link that `keyturn serve` prints. The session reads, and draws up and finishes acts. */
export async function openLink(link: string, options: CallOptions = {}): Promise<Client> {
  const { origin, hash } = new URL(link);
  const opened = await asker(origin, {}).open({ link: hash.replace(/^#link=/, '') }, options);
  // A browser keeps the cookie and says the origin by itself, and lets no program do either.
  const { cookie, page } = opened;
  return clientWith(asker(origin, { cookie, origin, 'keyturn-page': page }));
}

function clientWith(asking: Asking): Client {
  return named((namespace) =>
    named((verb) => {
      const ask = (request: object = {}, options: CallOptions = {}) =>
        asking.ask(`/v1/${namespace}/${verb}`, request, options);
      return Object.assign(ask, { draft: ask, finish: ask });
    }),
  ) as unknown as Client;
}

/** What the language asks of every value by itself: `await`, `JSON.stringify` and `${…}` send no request. */
const isOfLanguage = (name: string) => name === 'then' || name === 'toJSON' || name in Object.prototype;

function named<T>(make: (name: string) => T): object {
  const get = (_: object, name: string | symbol) =>
    typeof name === 'symbol' || isOfLanguage(name) ? undefined : make(name);
  return new Proxy(Object.freeze({}), { get });
}

export { type CallOptions, ServiceRefusal } from './ask.ts';
export type { RequestSigner } from './signed.ts';
