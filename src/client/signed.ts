/** A key that signs requests, as RFC 9421 has it. Where the key is, this does not know. */
export interface RequestSigner {
  /** Who is enrolled with the key. */
  readonly name: string;
  /** The ledger that the requests are for, such as `keyturn/PROJECT/TENANT`: a signature says nothing to another one. */
  readonly ledger: string;
  /** An Ed25519 signature as base64. */
  sign(bytes: Uint8Array): Promise<string> | string;
}

type Headers = Readonly<Record<string, string>>;

/** The headers of a POST, with those of its signature. `url` is where it goes: the address is signed as well. */
export async function signedHeaders(
  { name, ledger, sign }: RequestSigner,
  url: string,
  body: string,
  headers: Headers,
): Promise<Headers> {
  const { host, pathname, search } = new URL(url);
  const bytes = new TextEncoder().encode(body);
  const digest = base64Of(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  const all: Headers = { ...headers, 'content-digest': `sha-256=:${digest}:` };
  const derived: Headers = {
    '@method': 'POST',
    '@authority': host,
    '@path': pathname,
    '@query': search === '' ? '?' : search,
  };
  const values = { ...derived, ...all };
  const created = Math.floor(Date.now() / 1000);
  const nonce = crypto.randomUUID();
  const covered = Object.keys(values).map((one) => `"${one}"`);
  const params = `(${covered.join(' ')});created=${created};nonce="${nonce}";keyid="${name}";alg="ed25519";tag="${ledger}"`;
  const lines = Object.entries(values).map(([one, value]) => `"${one}": ${value}`);
  const base = new TextEncoder().encode([...lines, `"@signature-params": ${params}`].join('\n'));
  return { ...all, 'signature-input': `keyturn=${params}`, signature: `keyturn=:${await sign(base)}:` };
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
