import { refuse } from '../refusal.ts';

/** The names under which a service can be reached, as a `Host` header has them. */
export function hostsOf(host: string, port: number): ReadonlySet<string> {
  const literal = host.includes(':') ? `[${host}]` : host;
  return new Set(['localhost', '127.0.0.1', '[::1]', literal].map((one) => `${one}:${port}`));
}

/** A page of another site can have our address under its own name: its requests then name that. */
export function requireHost({ headers }: Request, hosts: ReadonlySet<string>): void {
  if (!hosts.has((headers.get('host') ?? '').toLowerCase())) refuse('HOST_UNKNOWN');
}

const OWN_PAGES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Refuses what a page of another origin asks for. A program sends neither header. */
export function requireOwnPage({ headers }: Request, hosts: ReadonlySet<string>): void {
  const origin = headers.get('origin');
  if (origin !== null && !(origin.startsWith('http://') && hosts.has(origin.slice('http://'.length))))
    refuse('ORIGIN_FOREIGN');
  const site = headers.get('sec-fetch-site');
  if (site !== null && !OWN_PAGES.has(site)) refuse('ORIGIN_FOREIGN');
}
