import type { Route } from './route.ts';

/** By what a caller shows who it is. `nothing` where a secret in the body does as well. */
export type ShownBy = 'token' | 'session' | 'signature' | 'executor' | 'nothing';

/** What one request shows: all members of one of these. */
const REQUIRED: Readonly<Record<ShownBy, object>> = {
  token: { token: [] },
  session: { session: [], page: [] },
  signature: { signature: [], signature_input: [] },
  executor: { executor: [], signature_input: [] },
  nothing: {},
};

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description });

export const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'A token of an agent.' },
  session: {
    ...{ type: 'apiKey', in: 'cookie', name: 'keyturn_session' },
    description:
      'The cookie that POST /v1/session sets. It counts only beside the second secret of the session.',
  },
  page: header(
    'Keyturn-Page',
    'The second secret of a session, which POST /v1/session answers. A POST or DELETE also has `Origin` or `Sec-Fetch-Site: same-origin`, which a browser sends by itself.',
  ),
  signature: header(
    'Signature',
    'By HTTP Message Signatures (RFC 9421), with the Ed25519 key of an agent or a human. docs/http.md says what is covered. A body needs `Content-Digest`.',
  ),
  signature_input: header(
    'Signature-Input',
    'What the signature covers, with `created`, `keyid`, `nonce`, `alg` and `tag`, the ledger.',
  ),
  executor: header('Signature', 'The same with the key of an executor: keyid is `executor:` and that key.'),
};

export function securityOf(shown: readonly ShownBy[]): object[] {
  return shown.map((one) => REQUIRED[one]);
}

/** Where nothing else is said. */
export const ANY: readonly ShownBy[] = ['token', 'session', 'signature'];

/** For what has a proof of its own, or is about a human. */
export const NO_TOKEN: readonly ShownBy[] = ['session', 'signature'];

/** A token signs nothing, and a session asks for nothing but reads, acts and what is looked at before an act. */
export function shownAt({ verb: { kind, open_to }, is_act, is_look }: Route): ShownBy[] {
  const takes_token =
    open_to !== 'people' && (kind === 'read' || (kind === 'write' && open_to !== 'delegate'));
  const takes_session = kind === 'read' || is_act || is_look;
  return ANY.filter((one) => (one !== 'token' || takes_token) && (one !== 'session' || takes_session));
}
