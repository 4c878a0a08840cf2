import { isIP } from 'node:net';
import { refuse } from '../refusal.ts';

/** Where a service is reached. Given at its start; no header of a request changes it. */
export interface Site {
  /** As a `Host` header has them. */
  readonly hosts: ReadonlySet<string>;
  /** The pages that may ask, as an `Origin` header has them. */
  readonly origins: ReadonlySet<string>;
  /** The one that links lead to, and that passkeys are made for. */
  readonly origin: string;
  /** The host name that passkeys are for; null where a browser makes none: at a bare address, or without TLS. */
  readonly rp_id: string | null;
  /** Whether only TLS leads there. */
  readonly is_public: boolean;
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The names under which a service can be reached on this machine, and the address that its proxy has, if it is behind one. */
export function siteOf(listens: string, port: number, public_url: string | null = null): Site {
  // A service that listens at every address of the machine, or of a container, is opened by none of them.
  const host = EVERY_ADDRESS.has(listens) ? 'localhost' : listens;
  const literal = host.includes(':') ? `[${host}]` : host;
  const near = ['localhost', '127.0.0.1', '[::1]', literal].map((one) => `${one}:${port}`);
  const pages = near.map((one) => `http://${one}`);
  if (public_url === null)
    return {
      hosts: new Set(near),
      origins: new Set(pages),
      origin: `http://${literal}:${port}`,
      rp_id: host === 'localhost' ? host : null,
      is_public: false,
    };
  const { host: far, hostname, origin } = new URL(publicUrlOf(public_url));
  return {
    hosts: new Set([...near, far, ...(far === hostname ? [`${far}:443`] : [])]),
    origins: new Set([...pages, origin]),
    origin,
    rp_id: hostname,
    is_public: true,
  };
}

/** `https://` with a host name, and nothing behind it. */
export function publicUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url?.protocol !== 'https:' ||
    url.username !== '' ||
    url.password !== '' ||
    `${url.origin}/` !== url.href
  )
    refuse('USAGE', '--public-url takes https:// with a host name, and nothing behind it.');
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
    refuse('USAGE', '--public-url takes a host name: no browser makes a passkey for an address.');
  return url.href;
}

/** A page of another site can have our address under its own name: its requests then name that. */
export function requireHost({ headers, url }: Request, { hosts }: Pick<Site, 'hosts'>): void {
  const host = (headers.get('host') ?? '').toLowerCase();
  // The first line of a request can name a host as well. That of the URL has no port where it is 80.
  const is_same = url.startsWith(`http://${host}/`) || url.startsWith(`http://${host.replace(/:80$/, '')}/`);
  if (!hosts.has(host) || !is_same) refuse('HOST_UNKNOWN');
}

const OWN_PAGES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Refuses what a page of another origin asks for. A program sends neither header. */
export function requireOwnPage({ headers }: Request, { origins }: Pick<Site, 'origins'>): void {
  const origin = headers.get('origin');
  if (origin !== null && !origins.has(origin)) refuse('ORIGIN_FOREIGN');
  const site = headers.get('sec-fetch-site');
  if (site !== null && !OWN_PAGES.has(site)) refuse('ORIGIN_FOREIGN');
}
