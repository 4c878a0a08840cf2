import { basename, isAbsolute, resolve } from 'node:path';
import { canonicalText, type Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import type { ClientServer } from '../../hook/client-file.ts';
import type { Keyturn } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import { thisProgram } from './hook.ts';
import { programAt } from './mcp-servers.ts';

/** What keyturn.yaml gets for a server of a client. A sandbox, a user and secrets are the human's. */
export type ClientEntry =
  | { readonly url: string }
  | {
      readonly executable: string;
      readonly args: readonly string[];
      readonly cwd?: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly sandbox: 'none';
    };

type Known = Keyturn['config']['servers'][string];

/** Refused where the client would start or ask the server in a way that keyturn.yaml cannot say: nothing is left out in silence. */
export function clientEntryOf(given: ClientServer, project: string | null): ClientEntry {
  const url = given.httpUrl ?? given.url;
  return typeof url === 'string' ? remoteOf(given, url) : programOf(given, project);
}

function remoteOf(given: ClientServer, url: string): ClientEntry {
  const { type = 'http', headers, http_headers, env_http_headers, bearer_token_env_var } = given;
  if (type === 'sse')
    cannot(
      'It speaks HTTP with SSE, the transport of 2024. Keyturn asks servers over Streamable HTTP only: if this one has a URL for that, add it by hand: keyturn mcp add NAME -- URL',
    );
  if (!['http', 'streamable-http', 'streamableHttp'].includes(String(type)))
    cannot(`Its type is "${visible(String(type))}", which is not spoken here.`);
  const shown = { ...Object(headers), ...Object(http_headers), ...Object(env_http_headers) };
  if (Object.keys(shown).length > 0 || bearer_token_env_var !== undefined)
    cannot(
      'It has headers, which may hold a secret. Put that into .keyturn/executor.yaml, and add it by hand: keyturn mcp add NAME --bearer SECRET -- URL',
    );
  refuseVariables([url]);
  return { url };
}

function programOf(given: ClientServer, project: string | null): ClientEntry {
  const { command, args = [], env } = given;
  if (typeof command !== 'string' || !Array.isArray(args))
    return cannot('It has neither a command nor a URL that is read here.');
  if (isGate(given)) cannot('It is the gate itself. Leave it in the client.');
  for (const one of ['envFile', 'env_vars'] as const)
    if (given[one] !== undefined)
      cannot(`It takes variables from outside its entry (${one}). Add it by hand, with --env or --secret.`);
  const values = Object.entries<unknown>(Object(env)).map(([name, value]) => [name, String(value)] as const);
  const words = args.map(String);
  const cwd = folderOf(given, project);
  refuseVariables([command, ...words, ...(cwd === null ? [] : [cwd]), ...values.map(([, value]) => value)]);
  return {
    executable: command.includes('/') ? resolve(cwd ?? '.', command) : programAt(command),
    args: words,
    ...(cwd !== null && { cwd }),
    ...(values.length > 0 && { env: Object.fromEntries(values) }),
    sandbox: 'none',
  };
}

/** Claude Code starts the servers of a project in it. Of another relative path only the client knows where it begins. */
function folderOf({ cwd }: ClientServer, project: string | null): string | null {
  if (cwd === undefined || cwd === null) return project;
  if (typeof cwd !== 'string') return cannot('Its cwd is no path.');
  if (project !== null) return resolve(project, cwd);
  if (!isAbsolute(cwd))
    cannot(`Its cwd "${visible(cwd)}" is relative. Write the whole path into the client.`);
  return cwd;
}

/** The client would put a value in its place, and the gate starts a server with the words as they stand. */
function refuseVariables(words: readonly string[]): void {
  const [found] = words.flatMap((word) => /\$\{[^}]*\}|\$[A-Za-z_]\w*/.exec(word)?.[0] ?? []);
  if (found !== undefined)
    cannot(
      `It has ${visible(found)}, which its client replaces and Keyturn does not. Write the value, or add it by hand: keyturn mcp add NAME --secret VARIABLE=SECRET -- COMMAND`,
    );
}

function cannot(words: string): never {
  return refuse('MCP_CONFIG_MALFORMED', words);
}

/** In what the server of keyturn.yaml is started in another way: empty where it is the same. A variable may have become a secret. */
export function startDifferences(wanted: ClientEntry, known: Known, root: string): string[] {
  if ('url' in wanted || 'url' in known)
    return 'url' in wanted && 'url' in known && wanted.url === known.url ? [] : ['url'];
  const is_same = (one: Json, other: Json) => canonicalText(one) === canonicalText(other);
  return [
    ...(wanted.executable === known.executable ? [] : ['executable']),
    ...(is_same([...wanted.args], [...known.args]) ? [] : ['args']),
    ...(resolve(root, wanted.cwd ?? '.') === resolve(root, known.cwd) ? [] : ['cwd']),
    ...Object.entries(wanted.env ?? {}).flatMap(([name, value]) =>
      known.env[name] === value || Object.hasOwn(known.secrets, name) ? [] : [`env ${name}`],
    ),
  ];
}

/** As `mcp config` prints it, now or in an earlier version. Behind itself a gate would ask itself without an end. */
export function isGate({ command, args = [] }: ClientServer): boolean {
  if (typeof command !== 'string' || !Array.isArray(args)) return false;
  const words = [command, ...args.map(String)];
  const program = words[words.indexOf('mcp') - 1];
  return program !== undefined && (basename(program) === 'keyturn' || program === thisProgram()[1]);
}
