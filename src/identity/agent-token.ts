import { randomBytes } from 'node:crypto';
import { type Digest, sha256 } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** The token of an agent for a service. The ledger has the digest, from which the secret cannot be made. */
export interface AgentToken {
  readonly token_id: string;
  readonly digest: Digest;
  readonly added_at: string;
  readonly added_by: string;
  readonly status: 'active' | 'revoked';
}

/** As much of a principal as tokens are about. */
interface Bearer {
  readonly name: string;
  readonly kind: 'human' | 'agent';
  readonly status: 'active' | 'revoked';
  readonly tokens: readonly AgentToken[];
}

const SECRET_BYTES = 32;
const FORM = /^ktk1\.[A-Za-z0-9_-]{43}\.([a-z0-9][a-z0-9._-]{0,63})$/;

/** A new secret for this agent. It names the agent, so that a service looks at one row. */
export function makeToken(name: string): { readonly token: string; readonly digest: Digest } {
  const token = `ktk1.${randomBytes(SECRET_BYTES).toString('base64url')}.${name}`;
  return { token, digest: sha256(token) };
}

/** Whose token it says it is; null where it is none. */
export function nameInToken(token: string): string | null {
  return FORM.exec(token)?.[1] ?? null;
}

/** The token of this agent that this is now; null where it is none, or was revoked. */
export function tokenShown({ kind, status, tokens }: Bearer, token: string): AgentToken | null {
  if (kind !== 'agent' || status !== 'active') return null;
  const digest = sha256(token);
  return tokens.find((one) => one.digest === digest && one.status === 'active') ?? null;
}

/** Pure: the agent with this token. */
export function withToken<P extends Bearer>(state: P, { body }: Event<'token.added'>, at: string): P {
  const { token_id, digest, by } = body;
  requireAgent(state);
  if (state.tokens.some((one) => one.token_id === token_id || one.digest === digest))
    refuse('KEY_ENROLLED_TWICE', 'This token was added before.');
  if (state.tokens.filter((one) => one.status === 'active').length >= limits.tokens) refuse('TOKEN_TOO_MANY');
  const token = { token_id, digest, added_at: at, added_by: by, status: 'active' as const };
  return { ...state, tokens: [...state.tokens, token] };
}

/** Pure: the agent without this token. */
export function withoutToken<P extends Bearer>(state: P, token_id: string): P {
  requireAgent(state);
  const found = state.tokens.find((one) => one.token_id === token_id) ?? refuse('CREDENTIAL_UNKNOWN');
  if (found.status === 'revoked') refuse('KEY_REVOKED', 'The token was revoked before.');
  const tokens = state.tokens.map((one) => (one === found ? { ...one, status: 'revoked' as const } : one));
  return { ...state, tokens };
}

/** A human proves every act: a secret that is sent along with each request is none. */
function requireAgent({ kind, name }: Bearer): void {
  if (kind !== 'agent') refuse('TOKEN_INVALID', `"${name}" is a human. Only an agent has tokens.`);
}
