import { readFileSync } from 'node:fs';
import { refuse } from '../../refusal.ts';

/** Where the server is, and how the connection to it is protected. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Undefined leaves it to PGPASSWORD and ~/.pgpass: a URL under version control holds no secret. */
  readonly password: string | undefined;
  readonly database: string;
  readonly tls: Tls | null;
}

export interface Tls {
  readonly rejectUnauthorized: boolean;
  /** The name that the certificate must have. The driver would take "localhost" where the host is a number. */
  readonly host: string;
  readonly ca?: string;
  readonly checkServerIdentity?: () => undefined;
}

/** Only then is the server the one that the URL names: any certificate of the authority passes `verify-ca`. */
export function namesHost({ rejectUnauthorized, checkServerIdentity }: Tls): boolean {
  return rejectUnauthorized && checkServerIdentity === undefined;
}

const PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert']);
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

/**
 * Reads `postgres://user@host:port/database?sslmode=…`. An unknown parameter is refused, because one that is misspelt
 * would otherwise take protection away in silence. No message repeats a part of the URL: where a password is not encoded,
 * its rest can be found in any of them.
 */
export function parseAddress(text: string): Address {
  const url = parsed(text);
  const { searchParams } = url;
  for (const name of searchParams.keys())
    if (!PARAMETERS.has(name) || searchParams.getAll(name).length > 1)
      refuse('SHAPE_INVALID', 'The store URL may have sslmode and sslrootcert, each once, and nothing else.');
  const host = hostOf(url);
  const user = decoded(url.username);
  const database = decoded(url.pathname.slice(1));
  if (/[/@]/.test(url.pathname.slice(1)))
    refuse('SHAPE_INVALID', 'The store URL has "/" or "@" where the database is named. Encode a password.');
  if (user === '' || database === '') refuse('SHAPE_INVALID', 'The store URL names a user and a database.');
  const password = url.password === '' ? undefined : decoded(url.password);
  return { host, port: Number(url.port || 5432), user, password, database, tls: tlsOf(host, searchParams) };
}

function parsed(text: string): URL {
  if (!/^postgres(ql)?:\/\//.test(text)) refuse('SHAPE_INVALID', 'A store URL begins with postgres://.');
  try {
    return new URL(text);
  } catch {
    return refuse('SHAPE_INVALID', 'The store URL cannot be read. Encode special characters of a password.');
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuse('SHAPE_INVALID', 'The store URL has a "%" that begins no encoded character.');
  }
}

/** A folder, written as `%2Frun%2Fpostgresql`, is where the socket of a server on this machine lies. */
function hostOf({ hostname }: URL): string {
  const host = decoded(hostname).replace(/^\[|\]$/g, '');
  if (host === '' || host.includes(',')) refuse('SHAPE_INVALID', 'The store URL names one host.');
  return host;
}

/** The default is the strictest, unless the bytes do not leave this machine. */
function tlsOf(host: string, parameters: URLSearchParams): Tls | null {
  const asked = parameters.get('sslmode');
  const mode = MODES.find((known) => known === (asked ?? (isLocal(host) ? 'disable' : 'verify-full')));
  if (mode === undefined) refuse('SHAPE_INVALID', `sslmode is one of ${MODES.join(', ')}.`);
  const rootcert = parameters.get('sslrootcert');
  if (mode === 'disable') {
    if (rootcert !== null) refuse('SHAPE_INVALID', 'sslrootcert does nothing where sslmode is disable.');
    return null;
  }
  if (host.startsWith('/')) refuse('SHAPE_INVALID', 'A socket on this machine has no TLS.');
  return {
    host,
    rejectUnauthorized: mode !== 'require',
    ...(rootcert === null ? {} : { ca: certificateAt(rootcert) }),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopback(host);
}

/** `127.example.org` is a name, and its owner decides where it leads. */
const isLoopback = (host: string) => /^127(\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$/.test(host);

function certificateAt(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return refuse('FILE_UNREADABLE', `The certificate at ${path} (sslrootcert) cannot be read.`, { path });
  }
}
