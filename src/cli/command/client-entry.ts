import { basename, isAbsolute, resolve } from 'node:path';
import { canonicalText, type Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import type { ClientServer, PlacedServer } from '../../hook/client-file.ts';
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

/** What either kind of server may say besides where it is: how long the client waits, and what it shows or asks by itself. The gate needs none of it. */
const TOLD = [
  // Claude Code, Gemini CLI, VS Code.
  ...['timeout', 'description', 'trust', 'alwaysLoad', 'gallery', 'version'],
  // Clients that let calls of some tools pass unasked.
  ...['autoApprove', 'alwaysAllow'],
  // Codex.
  ...[
    'startup_timeout_sec',
    'startup_timeout_ms',
    'tool_timeout_sec',
    'required',
    'supports_parallel_tool_calls',
  ],
];
const PROGRAM: ReadonlySet<string> = new Set([...TOLD, 'type', 'command', 'args', 'env', 'cwd']);
const REMOTE: ReadonlySet<string> = new Set([...TOLD, 'type', 'url', 'httpUrl']);

/** Refused where the client would start, ask or limit the server in a way that keyturn.yaml cannot say: nothing is left out in silence. */
export function clientEntryOf({ server, project, off_by }: PlacedServer): ClientEntry {
  // What clients write for nothing: `null`, and `headers`, `excludeTools` and the like that are empty.
  const said = Object.entries(server).filter(([member, value]) => !isNothing(member, value));
  const given: ClientServer = Object.fromEntries(said);
  if (isGate(given)) cannot('It is the gate itself. Leave it in the client.');
  requireOn(given, off_by);
  const url = given.httpUrl ?? given.url;
  if (typeof url === 'string' && given.command !== undefined)
    cannot('It has a URL and a command, and which of them its client takes is not known.');
  return typeof url === 'string' ? remoteOf(given, url) : programOf(given, project);
}

const LIMITS_NOTHING = [
  'headers',
  'http_headers',
  'env_http_headers',
  'excludeTools',
  'disabled_tools',
  'disabledTools',
];

function isNothing(member: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if ((member === 'disabled' && value === false) || (member === 'enabled' && value === true)) return true;
  return LIMITS_NOTHING.includes(member) && typeof value === 'object' && Object.keys(value).length === 0;
}

/** Behind the gate the agent would have a server that its human switched off. */
function requireOn({ disabled, enabled }: ClientServer, off_by: string | null): void {
  const by = disabled === undefined ? (enabled === undefined ? off_by : 'enabled') : 'disabled';
  if (by !== null)
    cannot(
      `It is switched off in its client (${visible(by)}). Switch it on there, or add it by hand: keyturn mcp add NAME -- COMMAND`,
    );
}

/** Which tools an agent may use, how its client proves itself, where it starts: of what is not known here, no one could say what is lost. */
function requireKnown(given: ClientServer, known: ReadonlySet<string>): void {
  const others = Object.keys(given).filter((member) => !known.has(member));
  if (others.length > 0)
    cannot(
      `It has ${others.map(visible).join(', ')}, which Keyturn does not take over. Take that out of the client, or add the server by hand: keyturn mcp add NAME -- COMMAND. What an agent may call, policies and grants say.`,
    );
}

function remoteOf(given: ClientServer, url: string): ClientEntry {
  const { type = 'http', headers, http_headers, env_http_headers, bearer_token_env_var } = given;
  if (type === 'sse')
    cannot(
      'It speaks HTTP with SSE, the transport of 2024. Keyturn asks servers over Streamable HTTP only: if this one has a URL for that, add it by hand: keyturn mcp add NAME -- URL',
    );
  requireType(type, ['http', 'streamable-http', 'streamableHttp']);
  if ([headers, http_headers, env_http_headers, bearer_token_env_var].some((one) => one !== undefined))
    cannot(
      'It has headers, which may hold a secret. Put that into .keyturn/executor.yaml, and add it by hand: keyturn mcp add NAME --bearer SECRET -- URL',
    );
  requireKnown(given, REMOTE);
  if (given.url !== undefined && given.url !== url) cannot('Its url and its httpUrl differ.');
  refuseVariables([url]);
  return { url };
}

function requireType(type: unknown, known: readonly string[]): void {
  if (typeof type !== 'string' || !known.includes(type))
    cannot(`Its type is ${visible(JSON.stringify(type))}, which is not spoken here.`);
}

function programOf(given: ClientServer, project: string | null): ClientEntry {
  const { type = 'stdio', command, args = [], env = {} } = given;
  if (typeof command !== 'string') return cannot('It has neither a command nor a URL that is read here.');
  requireType(type, ['stdio']);
  for (const one of ['envFile', 'env_vars'] as const)
    if (given[one] !== undefined)
      cannot(`It takes variables from outside its entry (${one}). Add it by hand, with --env or --secret.`);
  requireKnown(given, PROGRAM);
  if (!Array.isArray(args)) return cannot('Its args are no list.');
  if (typeof env !== 'object' || Array.isArray(env)) return cannot('Its env is no list of variables.');
  const values = Object.entries<unknown>(Object(env)).map(
    ([name, value]) => [name, wordOf(value, `The variable ${name}`)] as const,
  );
  const words = args.map((one, n) => wordOf(one, `Argument ${n + 1}`));
  const cwd = folderOf(given, project);
  refuseVariables([command, ...words, ...(cwd === null ? [] : [cwd]), ...values.map(([, value]) => value)]);
  refuseHome(command, 'command');
  return {
    executable: command.includes('/') ? resolve(cwd ?? '.', command) : programAt(command),
    args: words,
    ...(cwd !== null && { cwd }),
    ...(values.length > 0 && { env: Object.fromEntries(values) }),
    sandbox: 'none',
  };
}

/** As a client gives it to the program. Of anything else a client makes what it likes. */
function wordOf(value: unknown, what: string): string {
  if (!['string', 'number', 'boolean'].includes(typeof value))
    cannot(`${visible(what)} is no text: ${visible(JSON.stringify(value))}`);
  return String(value);
}

/** A shell puts the folder of the account in its place. */
function refuseHome(path: string, member: string): void {
  if (path.startsWith('~'))
    cannot(`Its ${member} ${visible(path)} begins with ~. Write the whole path into the client.`);
}

/** Claude Code starts the servers of a project in it. Of another relative path only the client knows where it begins. */
function folderOf({ cwd }: ClientServer, project: string | null): string | null {
  if (cwd === undefined || cwd === null) return project;
  if (typeof cwd !== 'string') return cannot('Its cwd is no path.');
  refuseHome(cwd, 'cwd');
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
