import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import type { Keyturn } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { drawShown } from '../draw.ts';
import { actAs, whoActs } from '../human.ts';

import { painter } from '../paint.ts';
import { reading, readingHere, writing, writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { table } from '../table.ts';
import { pairsOf } from './propose.ts';

type Looked = Awaited<ReturnType<Keyturn['host']['lookAtServer']>>;

export function add(call: Call): Promise<Answer> {
  const [name = '', program = '', ...args] = call.operands;
  const entry = /^https?:\/\//.test(program)
    ? remoteEntryOf(program, args, call.options)
    : { executable: programAt(program), args, ...entryOf(call.options) };
  return writingHere(call, async (keyturn) => {
    keyturn.host.configureServer(name, entry);
    return lookAndAccept(keyturn, name, call.options);
  });
}

export function accept(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  return writingHere(call, (keyturn) => lookAndAccept(keyturn, name, call.options));
}

async function lookAndAccept(keyturn: Keyturn, name: string, options: Options): Promise<Answer> {
  const by = await whoActs(keyturn, options.as);
  const looked = await keyturn.host.lookAtServer(name);
  const result: Result<'mcp accept'> = await actAs(
    keyturn,
    by,
    (signer) => keyturn.mcp.accept({ looked, reason: options.reason!, signer }),
    (columns) => screen(looked, columns),
  );
  return {
    result,
    lines: [
      `[OK] ${result.by} accepted the MCP server ${result.server} with ${counted(result.tools, 'tool')}`,
      result.shadow === 0
        ? 'Nothing of it runs until a human turns the key for a call, or grants some.'
        : `SHADOW MODE: calls of ${result.shadow} of them pass WITHOUT AN APPROVAL, and are recorded.`,
    ],
  };
}

/** All of it: every definition in the words of the server, then what the signature means. */
function screen({ shown, changes }: Looked, columns: number): string[] {
  return [
    ...drawShown(shown, { paint: painter(true), columns }),
    ...(changes.length === 0
      ? []
      : ['', 'Changed since it was accepted:', ...changes.map(({ what }) => `  ${visible(what)}`)]),
    '',
    'Your signature accepts how it is started and these definitions. What a definition says is the word of the server.',
  ];
}

export function diff(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  return readingHere(call, async (keyturn) => {
    const { digest, replaces, changes } = await keyturn.host.lookAtServer(name);
    const result: Result<'mcp diff'> = {
      server: name,
      accepted: replaces,
      now: digest,
      changes: [...changes],
    };
    if (replaces === null) return { result, lines: ['No human has accepted it yet.'] };
    if (changes.length === 0) return { result, lines: ['Nothing changed since it was accepted.'] };
    return { result, lines: changes.flatMap(changeLines), is_long: true };
  });
}

function changeLines({ what, before, now }: Looked['changes'][number]): string[] {
  const side = (mark: string, text: string | null) =>
    (text ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${mark} ${visible(line)}`);
  const word = before === null ? 'new' : now === null ? 'gone' : 'changed';
  return [`${visible(what)} is ${word}:`, ...side('-', before), ...side('+', now)];
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.mcp.servers();
    if (result.servers.length === 0) return { result, lines: ['keyturn.yaml names no MCP server.'] };
    const rows = result.servers.map(({ server, status, tools, shadow, by, accepted_at }) => [
      server,
      status,
      String(tools),
      shadow === 0 ? '' : `SHADOW: ${shadow} pass without an approval`,
      by ?? '',
      accepted_at ?? '',
    ]);
    return { result, lines: table(['SERVER', 'STATUS', 'TOOLS', 'MODE', 'ACCEPTED BY', 'AT'], rows) };
  });
}

export function remove(call: Call): Promise<Answer> {
  const [server = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, by, (signer) => keyturn.mcp.remove({ server, reason, signer }));
    return { result, lines: [`[OK] ${result.by} took back what was accepted of ${result.server}`] };
  });
}

/** The program as a path: what is started must not follow the PATH of the process that starts it. */
export function programAt(program: string): string {
  if (isAbsolute(program)) return program;
  if (program.includes('/')) return resolve(program);
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return realpathSync.native(folder) === folder ? path : join(realpathSync.native(folder), program);
    } catch {
      // It is not there.
    }
  }
  return refuse('EXECUTABLE_MISSING', `There is no program "${visible(program)}" on the PATH.`);
}

function remoteEntryOf(
  url: string,
  more: readonly string[],
  { scope = [], env = [], secret = [], runAs, bearer, allow = [] }: Options,
): object {
  if (more.length > 0 || env.length > 0 || runAs !== undefined || scope.length > 0)
    refuse('USAGE', 'A server at a URL takes --secret HEADER=SECRET, --bearer SECRET and --allow NETWORK.');
  return {
    url,
    ...(secret.length > 0 && { secrets: Object.fromEntries(pairsOf(secret)) }),
    ...(bearer !== undefined && { bearer }),
    ...(allow.length > 0 && { allow }),
  };
}

function entryOf({ scope = [], env = [], secret = [], runAs }: Options): object {
  const pairs = (of: readonly string[]) => Object.fromEntries(pairsOf(of));
  return {
    ...(env.length > 0 && { env: pairs(env) }),
    ...(secret.length > 0 && { secrets: pairs(secret) }),
    ...(runAs !== undefined && { run_as: runAs }),
    sandbox: sandboxOf(scope),
  };
}

function sandboxOf(scope: readonly string[]): object | 'none' {
  if (scope.includes('unconfined')) return 'none';
  const of = (kind: string) =>
    scope.filter((one) => one.startsWith(`${kind}=`)).map((one) => resolve(one.slice(kind.length + 1)));
  const known = scope.every((one) => one === 'network' || one === 'nothing' || /^(read|write)=./.test(one));
  if (!known) refuse('USAGE', '--scope takes read=PATH, write=PATH, network, unconfined or nothing here.');
  return { network: scope.includes('network'), read: of('read'), write: of('write') };
}
