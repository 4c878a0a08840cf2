import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { visible } from '../../canonical/visible.ts';
import { shellOf } from '../../hook/answer.ts';
import { CLIENTS, DIALECTS, type HookClient } from '../../hook/client.ts';
import { hookCommand, hookEntry, installHook, readHook, removeHook } from '../../hook/settings.ts';
import { type SwitchedOff, settingsFiles, switchedOff } from '../../hook/switched-off.ts';
import type { Keyturn } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { table } from '../table.ts';
import { thisProgram } from './hook.ts';
import { agentKeyOf } from './mcp.ts';
import { keyWarning } from './mcp-config.ts';

export function install(call: Call): Promise<Answer> {
  const client = clientIn(call);
  const name = call.options.as ?? refuse('USAGE', 'Name the agent with --as.');
  return readingHere(call, async (keyturn) => {
    const known = (await keyturn.people.list()).principals.find((one) => one.name === name);
    if (known?.kind !== 'agent' || known.status !== 'active')
      refuse(
        'PRINCIPAL_UNKNOWN',
        `"${name}" is no agent that is enrolled here. \`keyturn mcp config ${name}\` enrols one.`,
      );
    const { root } = keyturn.layout;
    const file = settingsOf(call, client, root);
    const words = [...thisProgram(), 'hook', '--client', client, '--project', root, '--as', name];
    const changed = installHook(client, file, hookEntry(client, hookCommand(words)));
    const result: Result<'hook install'> = { client, settings: file, changed };
    const off = switchedOff(client, { file, files: filesOf(call, client, root) });
    const asks = changed
      ? `[OK] ${client} asks Keyturn before each tool: ${visible(file)}`
      : `${client} asks Keyturn already.`;
    const done = off === null ? [asks] : [`The hook is in ${visible(file)}.`, offLine(client, off)];
    return {
      result,
      lines: [
        ...done,
        ...keyWarning(name, agentKeyOf(keyturn, name)),
        ...(await shellStatus(keyturn)).lines,
        ...DIALECTS[client].plain,
      ],
    };
  });
}

export function remove(call: Call): Promise<Answer> {
  const client = clientIn(call);
  return readingHere(call, async (keyturn) => {
    const file = settingsOf(call, client, keyturn.layout.root);
    const changed = removeHook(client, file);
    const result: Result<'hook remove'> = { client, settings: file, changed };
    const done = changed
      ? `[OK] ${client} no longer asks Keyturn: ${visible(file)}`
      : `There is no hook of Keyturn in ${visible(file)}.`;
    return { result, lines: [done] };
  });
}

export function status(call: Call): Promise<Answer> {
  return readingHere(call, async (keyturn) => {
    const clients = CLIENTS.map((client) => statusOf(call, client, keyturn.layout.root));
    const { has_shell: shell, lines } = await shellStatus(keyturn);
    const result: Result<'hook status'> = { clients, shell };
    const rows = clients.map(({ client, settings, installed, fails_closed, switched_off: off, code }) => [
      client,
      code ?? (installed && off === null ? 'asks' : `does not ask${off === null ? '' : ` (${off.member})`}`),
      installed && off === null
        ? fails_closed
          ? `no, since ${DIALECTS[client as HookClient].closed_since}`
          : 'yes, if it is late'
        : '',
      visible(settings),
    ]);
    return {
      result,
      lines: [
        ...table(['CLIENT', 'HOOK', 'FAILS OPEN', 'SETTINGS'], rows),
        ...clients.flatMap(({ client, installed, switched_off: off }) =>
          installed && off !== null ? [offLine(client, off)] : [],
        ),
        ...lines,
      ],
    };
  });
}

function offLine(client: string, { member, file }: SwitchedOff): string {
  return `WARNING: ${client} does not ask: ${member} in ${visible(file)} keeps it from asking any hook that stands here.`;
}

function filesOf({ options }: Call, client: HookClient, root: string): readonly string[] {
  const named = options.settings === undefined ? null : resolve(options.settings);
  return settingsFiles(client, { root, home: homedir(), named });
}

function statusOf(call: Call, client: HookClient, root: string): Result<'hook status'>['clients'][number] {
  const file = settingsOf(call, client, root);
  const facts = { client, settings: file };
  try {
    // A file that --settings names is looked at for every client: what stands in it is for one.
    const own = readHook(client, file).own.filter((one) =>
      JSON.stringify(one).includes(` --client ${client} `),
    );
    const { closed } = DIALECTS[client];
    const fails_closed =
      Object.keys(closed).length > 0 && own.length > 0 && JSON.stringify(own).includes('"onFailure":"block"');
    const switched_off = switchedOff(client, { file, files: filesOf(call, client, root) });
    return { ...facts, installed: own.length > 0, fails_closed, switched_off, code: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ...facts, installed: false, fails_closed: false, switched_off: null, code: error.code };
  }
}

/** What becomes of a command, loudly: either it is held, or only the policies stand between. */
async function shellStatus(
  keyturn: Keyturn,
): Promise<{ readonly has_shell: boolean; readonly lines: string[] }> {
  const POLICIES =
    'All other tools of the client run as the client runs them: the policies let each through or refuse it (action "pass"), and what they say is recorded. Without a policy that permits it, each is refused: docs/hook.md has two to copy.';
  try {
    const has_shell = (await shellOf(keyturn)) !== null;
    const line = has_shell
      ? 'Commands of the shell wait for a human, and run once, in the sandbox of the tool "shell".'
      : 'WARNING: tools.yaml has no tool "shell", so no command is held for a human. docs/hook.md has one to copy.';
    return { has_shell, lines: [line, POLICIES] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const line = `WARNING: every command is refused: ${visible(error.message)} (${error.code})`;
    return { has_shell: false, lines: [line, POLICIES] };
  }
}

function clientIn({ operands: [client] }: Call): HookClient {
  return CLIENTS.find((one) => one === client) ?? refuse('USAGE', 'Name a client.');
}

function settingsOf({ options }: Call, client: HookClient, root: string): string {
  if (options.settings !== undefined) return resolve(options.settings);
  return join(options.home ? homedir() : root, DIALECTS[client].settings);
}
