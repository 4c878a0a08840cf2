import { basename } from 'node:path';
import { canonicalText, type Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import {
  type ClientFile,
  type ClientServer,
  readClientFile,
  rewriteClientFile,
} from '../../hook/client-file.ts';
import type { Keyturn } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { thisProgram } from './hook.ts';
import { gateEntry } from './mcp-config.ts';
import { programAt } from './mcp-servers.ts';

type Imported = Result<'mcp import'>['servers'][number];

/**
 * Moves the servers of a client behind the gate, in two steps with a human between them: first they are written into keyturn.yaml, without a
 * sandbox, and nothing is started; once a human has accepted them, they are taken out of the client, which gets the gate in their place.
 */
export function importFrom(call: Call): Promise<Answer> {
  const [given = ''] = call.operands;
  const { move, dryRun: is_dry = false } = call.options;
  const file = readClientFile(given);
  return writingHere(call, (keyturn) =>
    move === undefined ? copied(keyturn, file, is_dry) : moved(keyturn, file, move, is_dry),
  );
}

async function copied(keyturn: Keyturn, file: ClientFile, is_dry: boolean): Promise<Answer> {
  const servers = [...file.servers].map(([from, one]) =>
    attempted(from, (server) => {
      const entry = entryOf(one);
      if (!is_dry) keyturn.host.configureServer(server, entry);
    }),
  );
  const result: Result<'mcp import'> = { servers, moved: null };
  const done = is_dry ? 'would be' : 'is';
  const lines = servers.map(({ server, from, problem }) =>
    problem === null
      ? `[OK] ${visible(from)} ${done} ${server} in keyturn.yaml. Next: keyturn mcp accept ${server} --reason "..."`
      : `[ERROR] ${visible(from)}: ${visible(problem)}`,
  );
  return {
    result,
    lines: [
      ...lines,
      'Their entries have no sandbox: give each one in keyturn.yaml before you accept it. What stands under env is in the clear there.',
      'The client still starts them itself. Once you have accepted them: keyturn mcp import FILE --move AGENT',
    ],
  };
}

/** Only what a human accepted, and what the client starts in the same way: the agent would lose the others. */
async function moved(keyturn: Keyturn, file: ClientFile, agent: string, is_dry: boolean): Promise<Answer> {
  const known = (await keyturn.people.list()).principals.find(({ name }) => name === agent);
  if (known?.kind !== 'agent' || known.status !== 'active')
    refuse(
      'PRINCIPAL_UNKNOWN',
      `"${agent}" is no agent that is enrolled here. \`keyturn mcp config ${agent}\` enrols one.`,
    );
  const accepted = (await keyturn.mcp.servers()).servers.flatMap(({ server, status }) =>
    status === 'accepted' ? [server] : [],
  );
  const servers = [...file.servers].map(([from, one]) =>
    attempted(from, (server) => {
      const entry = entryOf(one);
      if (!accepted.includes(server))
        refuse('MCP_SERVER_UNACCEPTED', `It stays in the client: no human accepted it as ${server}.`);
      if (!isSameServer(entry, keyturn.config.servers[server]))
        refuse('MCP_SERVER_CHANGED', `It stays in the client: ${server} in keyturn.yaml is another server.`);
    }),
  );
  const removed = servers.flatMap(({ from, problem }) => (problem === null ? [from] : []));
  const stays = servers.flatMap(({ from, problem }) =>
    problem === null ? [] : [`[ERROR] ${visible(from)}: ${visible(problem)}`],
  );
  if (removed.length === 0)
    return {
      result: { servers, moved: null } satisfies Result<'mcp import'>,
      lines: [...stays, `${visible(file.path)} stays as it is.`],
    };
  const has_gate = [...file.servers].some(([from, one]) => !removed.includes(from) && isGate(one));
  if (!has_gate && file.servers.has('keyturn') && !removed.includes('keyturn'))
    refuse('MCP_CONFIG_MALFORMED', 'The client has another server of the name "keyturn".');
  const added = has_gate ? null : gateEntry(keyturn, agent);
  const now = file.without(new Set(removed), added);
  const backup = is_dry ? null : rewriteClientFile(file, now);
  const result: Result<'mcp import'> = { servers, moved: { file: file.path, backup, removed, added } };
  const [off, on] = is_dry ? ['would be taken out of', 'would get'] : ['was taken out of', 'has'];
  return {
    result,
    lines: [
      ...stays,
      ...removed.map((from) => `[OK] ${visible(from)} ${off} ${visible(file.path)}`),
      ...(added
        ? [`The client ${on} the gate: ${[added.command, ...added.args].map(visible).join(' ')}`]
        : []),
      ...(backup === null ? [] : [`What the file said before: ${visible(backup)}`]),
    ],
  };
}

/** Of one server of the client: what refuses it is told of it alone. */
function attempted(from: string, act: (server: string) => void): Imported {
  const server = from
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32);
  try {
    act(server);
    return { server, from, problem: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { server, from, problem: `${error.code}: ${error.message}` };
  }
}

function entryOf(given: ClientServer) {
  const {
    command,
    args = [],
    env,
    url,
    headers,
    http_headers,
    env_http_headers,
    bearer_token_env_var,
  } = given;
  if (typeof url === 'string') {
    const shown = { ...Object(headers), ...Object(http_headers), ...Object(env_http_headers) };
    if (Object.keys(shown).length > 0 || bearer_token_env_var !== undefined)
      refuse(
        'MCP_CONFIG_MALFORMED',
        'It has headers, which may hold a secret. Put that into .keyturn/executor.yaml, and add it by hand: keyturn mcp add NAME --bearer SECRET -- URL',
      );
    return { url };
  }
  if (typeof command !== 'string' || !Array.isArray(args))
    return refuse('MCP_CONFIG_MALFORMED', 'It has no command.');
  if (isGate(given)) refuse('MCP_CONFIG_MALFORMED', 'It is the gate itself. Leave it in the client.');
  return {
    executable: programAt(command),
    args: args.map(String),
    ...(typeof env === 'object' && env !== null && { env }),
    sandbox: 'none',
  };
}

/** The program and its arguments, or the URL: a sandbox, a user and secrets are the human's. */
function isSameServer(wanted: object, known: object | undefined): boolean {
  const part = (entry: object) => {
    const { executable = null, args = [], url = null } = entry as Record<string, Json>;
    return canonicalText({ executable, args, url });
  };
  return known !== undefined && part(wanted) === part(known);
}

/** As `mcp config` prints it, now or in an earlier version. Behind itself a gate would ask itself without an end. */
function isGate({ command, args = [] }: ClientServer): boolean {
  if (typeof command !== 'string' || !Array.isArray(args)) return false;
  const words = [command, ...args.map(String)];
  const program = words[words.indexOf('mcp') - 1];
  return program !== undefined && (basename(program) === 'keyturn' || program === thisProgram()[1]);
}
