import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { canonicalText, type JsonObject } from '../canonical/json.ts';
import type { Face, Result, Signer } from '../keyturn.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { type AskedCall, callOfHook, DIALECTS, type HookClient } from './client.ts';

/** Who asks, and where what waits is waited for. */
export interface HookCaller {
  readonly client: HookClient;
  /** The agent, as it is enrolled. */
  readonly name: string;
  /** With a key the proposer is proven. */
  readonly signer: Signer | null;
  readonly face: Face;
  /** The folder of the project. */
  readonly root: string;
  /** The command that waits for an intent, as a shell takes it. */
  readonly waiting: (intent_id: string) => string;
}

/** The tool of tools.yaml by which a project lets commands of a shell be turned and run. */
export const SHELL = 'shell';

/**
 * What a hook prints for one call; null for a yes in silence. A command of the shell waits for a human where the project registered a tool
 * for it. All else the policies let through, or refuse: then the client runs it, and not Keyturn.
 */
export async function hookAnswer(caller: HookCaller, bytes: Uint8Array): Promise<string | null> {
  const asked = callOfHook(caller.client, bytes);
  if (await isOwnWait(caller, asked)) return null;
  const shell = asked.tool === DIALECTS[caller.client].shell ? await shellOf(caller.face) : null;
  return shell === null ? passed(caller, asked) : proposed(caller, asked, shell);
}

async function passed({ face, name, client }: HookCaller, { tool, input }: AskedCall): Promise<null> {
  const { code, words } = await face.tools.pass({ issuer: name, client, tool, arguments: input });
  if (code !== null) throw new Refusal(code as ReasonCode, words);
  return null;
}

async function proposed(caller: HookCaller, asked: AskedCall, shell: ShellTool): Promise<string> {
  const { client, face, name, signer } = caller;
  const { intent_id } = await face.mcp.call({
    issuer: name,
    ...(signer && { signer }),
    declared_goal: goalOf(asked.input, client),
    effect: { kind: 'tool', tool: SHELL, arguments: valuesOf(caller, asked, shell) },
    is_only_proposed: true,
  });
  const command = caller.waiting(intent_id);
  const { rewritten } = DIALECTS[client];
  const why = `A human has to turn the key: keyturn turn ${intent_id}.`;
  if (rewritten === null)
    return refuse('APPROVAL_MISSING', `NOT RUN yet. ${why} Run this for its result: ${command}`);
  return canonicalText(rewritten(asked.input, command, `${why} The command waits for it.`));
}

/** In the words of the agent, where it says why. */
function goalOf({ description }: JsonObject, client: HookClient): string {
  const said = typeof description === 'string' ? description.replace(/\s+/g, ' ').trim().slice(0, 500) : '';
  return said === '' ? `Run a command for ${client}` : said;
}

type ShellTool = Result<'tools.list'>['tools'][number];

/** Null where the project registered none. One that would not hold a command is a no, and not as if there were none. */
export async function shellOf(face: Face): Promise<ShellTool | null> {
  const { tools } = await face.tools.list();
  const shell = tools.find(({ name }) => name === SHELL) ?? null;
  if (shell === null) return null;
  const { sandbox, parameters } = shell;
  if (sandbox === 'none') refuse('HOOK_SHELL_UNFIT', 'The tool "shell" has no sandbox.');
  if (parameters.command?.type !== 'string')
    refuse('HOOK_SHELL_UNFIT', 'The tool "shell" has no parameter "command" of type string.');
  if (parameters.folder !== undefined && parameters.folder.type !== 'path')
    refuse('HOOK_SHELL_UNFIT', 'The parameter "folder" of the tool "shell" is no path.');
  return shell;
}

function valuesOf({ root }: HookCaller, { input, cwd }: AskedCall, { parameters }: ShellTool): JsonObject {
  const { command } = input;
  if (typeof command !== 'string') return refuse('HOOK_INPUT_MALFORMED', '"command" is not a text.');
  const folder = cwd === null ? '' : relative(root, real(cwd));
  if (folder === '..' || folder.startsWith('../'))
    refuse('HOOK_SHELL_UNFIT', `${cwd} is outside of the project.`);
  if (parameters.folder !== undefined) return { command, folder: folder === '' ? '.' : folder };
  if (folder !== '')
    refuse('HOOK_SHELL_UNFIT', `The tool "shell" has no parameter "folder", and the command is for ${cwd}.`);
  return { command };
}

function real(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return refuse('HOOK_INPUT_MALFORMED', `The folder ${folder} cannot be found.`);
  }
}

/**
 * The command that waits for an intent only reads: it would wait for itself if it were proposed. It prints the output of that intent, so it
 * has to be one of the agent's own: `face` knows no other.
 */
async function isOwnWait(
  { client, face, waiting }: HookCaller,
  { tool, input: { command } }: AskedCall,
): Promise<boolean> {
  if (tool !== DIALECTS[client].shell || typeof command !== 'string') return false;
  const intent_id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(command)?.[0];
  if (intent_id === undefined || command !== waiting(intent_id)) return false;
  return face.intents.get({ intent_id }).then(
    () => true,
    () => false,
  );
}
