import { canonicalText, type Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import {
  type ClientFile,
  GATE,
  type PlacedServer,
  readClientFile,
  rewriteClientFile,
} from '../../hook/client-file.ts';
import type { Keyturn } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { type ClientEntry, clientEntryOf, isGate, startDifferences } from './client-entry.ts';
import { gateEntry } from './mcp-config.ts';

type Imported = Result<'mcp import'>['servers'][number];

/** A server of the client as it was read: with the entry that it comes to, or with what speaks against it. */
interface Read {
  readonly placed: PlacedServer;
  readonly server: string;
  readonly entry: ClientEntry | null;
  readonly problem: string | null;
}

/**
 * Moves the servers of a client behind the gate, in two steps with a human between them: first they are written into keyturn.yaml, without a
 * sandbox, and nothing is started; once a human has accepted them, they are taken out of the client, which gets the gate in their place.
 */
export function importFrom(call: Call): Promise<Answer> {
  const [given = ''] = call.operands;
  const { move, dryRun: is_dry = false } = call.options;
  const file = readClientFile(given);
  return writingHere(call, async (keyturn) =>
    move === undefined ? copied(keyturn, file, is_dry) : moved(keyturn, file, move, is_dry),
  );
}

function copied(keyturn: Keyturn, file: ClientFile, is_dry: boolean): Answer {
  const known = new Set(Object.keys(keyturn.config.servers));
  const all = readAll(file);
  const servers = all.map((one) =>
    checked(one, (entry) => {
      if (known.has(one.server)) return requireSame(keyturn, one.server, entry);
      requireAlone(one, all);
      if (!is_dry) keyturn.host.configureServer(one.server, entry);
    }),
  );
  const is = (server: string) => (is_dry && !known.has(server) ? 'would be' : 'is');
  return {
    result: { servers: servers.map(imported), moved: null } satisfies Result<'mcp import'>,
    lines: [
      ...servers.flatMap((one) =>
        one.problem === null
          ? [
              `[OK] ${named(one.placed)} ${is(one.server)} ${one.server} in keyturn.yaml. Next: keyturn mcp accept ${one.server} --reason "..."`,
              ...startLines(one),
            ]
          : [problemLine(one)],
      ),
      'Their entries have no sandbox: give each one in keyturn.yaml before you accept it.',
      'The client still starts them itself. Once you have accepted them: keyturn mcp import FILE --move AGENT',
    ],
  };
}

/** What a human would not see from the name: in which folder it starts, and which values are now in the clear in keyturn.yaml. */
function startLines({ entry }: Read): string[] {
  if (entry === null || 'url' in entry) return [];
  const names = Object.keys(entry.env ?? {});
  return [
    ...(entry.cwd === undefined ? [] : [`  It starts in ${visible(entry.cwd)}`]),
    ...(names.length === 0
      ? []
      : [
          `  In the clear in keyturn.yaml: ${names.map(visible).join(', ')}. Of a secret, put the value into .keyturn/executor.yaml and its name under secrets, in place of env.`,
        ]),
  ];
}

/** Only what a human accepted, and what the client starts in the same way: the agent would lose the others. */
async function moved(keyturn: Keyturn, file: ClientFile, agent: string, is_dry: boolean): Promise<Answer> {
  await requireAgent(keyturn, agent);
  const accepted = (await keyturn.mcp.servers()).servers.flatMap(({ server, status }) =>
    status === 'accepted' ? [server] : [],
  );
  const servers = readAll(file).map((one) =>
    checked(one, (entry) => {
      if (!accepted.includes(one.server))
        refuse('MCP_SERVER_UNACCEPTED', `It stays in the client: no human accepted it as ${one.server}.`);
      requireSame(keyturn, one.server, entry);
    }),
  );
  const gone = servers.flatMap(({ placed, problem }) => (problem === null ? [placed] : []));
  const stays = servers.filter(({ problem }) => problem !== null).map(problemLine);
  if (gone.length === 0)
    return {
      result: { servers: servers.map(imported), moved: null } satisfies Result<'mcp import'>,
      lines: [...stays, `${visible(file.path)} stays as it is.`],
    };
  const gate = gateEntry(keyturn, agent);
  const into = listsForGate(file, gone);
  const now = file.without(gone, gate, into);
  const backup = is_dry ? null : rewriteClientFile(file, now);
  const result: Result<'mcp import'> = {
    servers: servers.map(imported),
    moved: {
      ...{ file: file.path, backup },
      removed: gone.map(({ from, project }) => ({ from, project })),
      added: into.size === 0 ? null : { ...gate, projects: [...into] },
    },
  };
  const [off, on] = is_dry ? ['would be taken out of', 'would get'] : ['was taken out of', 'has'];
  return {
    result,
    lines: [
      ...stays,
      ...gone.map((one) => `[OK] ${named(one)} ${off} ${visible(file.path)}`),
      ...[...into].map(
        (project) =>
          `${project === null ? 'The client' : `The project ${visible(project)}`} ${on} the gate: ${[gate.command, ...gate.args].map(visible).join(' ')}`,
      ),
      ...(backup === null ? [] : [`What the file said before: ${visible(backup)}`]),
    ],
  };
}

async function requireAgent(keyturn: Keyturn, agent: string): Promise<void> {
  const known = (await keyturn.people.list()).principals.find(({ name }) => name === agent);
  if (known?.kind !== 'agent' || known.status !== 'active')
    refuse(
      'PRINCIPAL_UNKNOWN',
      `"${agent}" is no agent that is enrolled here. \`keyturn mcp config ${agent}\` enrols one.`,
    );
}

/** Each list that loses a server gets the gate, unless it keeps one. Another server under the name of the gate would be lost. */
function listsForGate(file: ClientFile, gone: readonly PlacedServer[]): ReadonlySet<string | null> {
  const stay = file.servers.filter((one) => !gone.includes(one));
  const of = (project: string | null) => stay.filter((one) => one.project === project);
  const lists = [...new Set(gone.map(({ project }) => project))];
  const without = lists.filter((project) => !of(project).some(({ server }) => isGate(server)));
  const taken = without.flatMap((project) => of(project).filter(({ from }) => from === GATE));
  if (taken.length > 0)
    refuse('MCP_CONFIG_MALFORMED', `The client has another server of the name ${named(taken[0]!)}.`);
  return new Set(without);
}

function readAll(file: ClientFile): readonly Read[] {
  return file.servers.map((placed) => {
    const server = placed.from
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 32);
    try {
      return { placed, server, entry: clientEntryOf(placed), problem: null };
    } catch (error) {
      return { placed, server, entry: null, problem: problemOf(error) };
    }
  });
}

/** Of one server of the client: what refuses it is told of it alone. */
function checked(read: Read, check: (entry: ClientEntry) => void): Read {
  if (read.entry === null) return read;
  try {
    check(read.entry);
    return read;
  } catch (error) {
    return { ...read, problem: problemOf(error) };
  }
}

function problemOf(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  return `${error.code}: ${error.message}`;
}

function requireSame(keyturn: Keyturn, server: string, entry: ClientEntry): void {
  const parts = startDifferences(entry, keyturn.config.servers[server]!, keyturn.layout.root);
  if (parts.length > 0)
    refuse(
      'MCP_SERVER_CHANGED',
      `It stays in the client: ${server} in keyturn.yaml is another server (${parts.map(visible).join(', ')}). Rename one of them if both are needed.`,
    );
}

/** Two servers that would have one name here: which of them is meant, only a human can say. */
function requireAlone({ placed, server, entry }: Read, all: readonly Read[]): void {
  const text = (one: ClientEntry) => canonicalText(one as unknown as Json);
  const others = all.filter(
    (one) => one.server === server && one.entry !== null && text(one.entry) !== text(entry!),
  );
  if (others.length > 0)
    refuse(
      'MCP_CONFIG_MALFORMED',
      `${others.map((one) => named(one.placed)).join(' and ')} would be ${server} in keyturn.yaml, too, and differs. Rename ${named(placed)} or the other in the client, and import again.`,
    );
}

function imported({ placed: { from, project }, server, problem }: Read): Imported {
  return { server, from, project, problem };
}

function problemLine({ placed, problem }: Read): string {
  return `[ERROR] ${named(placed)}: ${visible(problem!)}`;
}

function named({ from, project }: PlacedServer): string {
  return project === null ? visible(from) : `${visible(from)} (project ${visible(project)})`;
}
