import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Keyturn } from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import { HOLD_MS, type McpCaller } from '../../mcp/call.ts';
import { linkTo } from '../../mcp/link.ts';
import { entriesFromNow } from '../../mcp/notices.ts';
import { serveStdio } from '../../mcp/stdio.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { folderOf } from '../project.ts';

/** Where `mcp config` keeps the key of an agent. */
export function agentKeyOf(keyturn: Keyturn, agent: string): string {
  return join(keyturn.layout.own, 'agents', `${agent}.key`);
}

/** Until the client closes its end. Nothing but messages goes to standard output, and the project is opened by the first that needs it. */
export async function serve(call: Call): Promise<Answer> {
  let opened: Promise<Keyturn> | null = null;
  let caller: Promise<McpCaller> | null = null;
  const open = () => {
    opened ??= Keyturn.open({ at: folderOf(call) });
    // A project that cannot be opened now is tried again by the next request.
    opened.catch(() => {
      opened = null;
    });
    caller ??= opened.then((keyturn) => callerOf(keyturn, call));
    caller.catch(() => {
      caller = null;
    });
    return caller;
  };
  try {
    await serveStdio({ input: process.stdin, output: process.stdout, open });
  } finally {
    await (await (opened as Promise<Keyturn> | null))?.close();
  }
  return { result: { stopped: true }, lines: [] };
}

async function callerOf(keyturn: Keyturn, { options }: Call): Promise<McpCaller> {
  const name = options.as ?? (await onlyAgent(keyturn));
  const own = agentKeyOf(keyturn, name);
  const path = options.agentKey ?? (existsSync(own) ? own : null);
  return {
    name,
    signer: path !== null ? Keyturn.agentSigner(name, path) : null,
    face: keyturn.as({ name, account: keyturn.host.account }),
    // The agent core answers users, and an enrolled agent is none.
    ask: (await isAgent(keyturn, name)) ? null : keyturn.conversations.ask,
    link: consoleOf(keyturn),
    hold_ms: holdFrom(options.hold),
    holders: new Map(),
    hear: keyturn.host.hearServers,
    entries: (signal) => entriesFromNow(keyturn.ledger, signal),
  };
}

async function isAgent(keyturn: Keyturn, name: string): Promise<boolean> {
  const { principals } = await keyturn.people.list();
  return principals.some((one) => one.name === name && one.kind === 'agent');
}

/** A client sees what its agent proposed and nothing else, so it has to be clear which agent that is. */
async function onlyAgent(keyturn: Keyturn): Promise<string> {
  const { principals } = await keyturn.people.list();
  const names = principals
    .filter(({ kind, status }) => kind === 'agent' && status === 'active')
    .map(({ name }) => name);
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return only;
  return refuse(
    'PROPOSER_AMBIGUOUS',
    only === undefined
      ? 'No agent is enrolled: keyturn mcp config AGENT enrols one.'
      : `Start keyturn mcp with --as, and which agent this client is: ${names.join(' or ')}.`,
  );
}

/** In the console of the service that runs for this project on this host; null while none does. */
function consoleOf({ layout }: Keyturn): McpCaller['link'] {
  let known: { readonly address: Promise<string | null>; readonly at_ms: number } | null = null;
  return async (intent_id) => {
    if (known === null || performance.now() - known.at_ms > cliLimits.address_kept_ms)
      known = { address: addressAt(layout.serve_socket), at_ms: performance.now() };
    const address = await known.address;
    return address === null ? null : linkTo(address, intent_id);
  };
}

async function addressAt(socket: string): Promise<string | null> {
  if (!existsSync(socket)) return null;
  const { askLocally } = await import('../../serve/local.ts');
  const late = new Promise<null>((done) => void setTimeout(done, cliLimits.address_ms, null).unref());
  const asked = askLocally(socket, '/v1/address', {}).then((told) => (told as { address: string }).address);
  return Promise.race([asked, late]).catch(() => null);
}

/** How long a call is held, in seconds as they are typed. */
export function holdFrom(text: string | undefined): number {
  if (text === undefined) return HOLD_MS;
  const hold_ms = /^[0-9]{1,3}(\.[0-9]{1,3})?$/.test(text) ? Number(text) * 1000 : Number.NaN;
  return hold_ms <= HOLD_MS ? hold_ms : refuse('USAGE', `--hold takes seconds, ${HOLD_MS / 1000} at most.`);
}
