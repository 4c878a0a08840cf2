import type { Peer } from '../effect/peer.ts';
import type { Secrets } from '../effect/secret.ts';
import type { Redacted } from '../effect/secret-form.ts';
import { openWebPeer } from '../network/web-peer.ts';
import { refuse } from '../refusal.ts';
import type { RemoteStart } from './accepted.ts';
import type { McpConnection } from './connection.ts';

/** Reaches a server by its URL, with the secrets of the executor. Nothing about the caller of the gate is sent along. */
export function reachServer(
  { url, allow, headers, secrets, bearer }: RemoteStart,
  values: Secrets = new Map(),
  talk: McpConnection['talk'],
): Peer {
  const redacted: Redacted[] = [];
  const secretCalled = (name: string): string => {
    const value =
      values.get(name) ??
      refuse('SECRET_MISSING', `The server needs the secret ${name}, and there is none here.`, {
        secret: name,
      });
    redacted.push({ name, value });
    return value;
  };
  const given = Object.entries(secrets).map(([header, name]) => [header, secretCalled(name)] as const);
  const own = bearer === null ? {} : { authorization: `Bearer ${secretCalled(bearer)}` };
  return openWebPeer({
    ...talk,
    url,
    allow,
    headers: { ...headers, ...Object.fromEntries(given), ...own },
    redacted,
  });
}
