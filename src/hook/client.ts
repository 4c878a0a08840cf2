import { resolve } from 'node:path';
import { TITLE_FORM } from '../canonical/form.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import { parseJson } from '../canonical/json.ts';
import type { Request } from '../keyturn.ts';
import { hookLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { GATE } from './client-file.ts';

/** The programs in which agents work, and how each of them asks a hook before it runs a tool. */
export type HookClient = Request<'tools.pass'>['client'];

export const CLIENTS = ['claude-code', 'codex', 'gemini-cli'] as const satisfies readonly HookClient[];

export interface HookDialect {
  /** The event before a tool runs. */
  readonly event: string;
  /** Its tool that runs a command line, which stands in `command`. */
  readonly shell: string;
  /** Members of its input that name the folder of the command, where it is not that of the session. */
  readonly folder: readonly string[];
  /** The settings, beneath the project or beneath the home of the account. */
  readonly settings: string;
  /** How its settings name how long the hook may take. */
  readonly timeout: number;
  /** What its settings say so that a hook which cannot answer is a no. */
  readonly closed: JsonObject;
  /** The first version that reads it; null where there is no such setting. */
  readonly closed_since: string | null;
  /** What a person has to know who installs it. */
  readonly plain: readonly string[];
  /** The answer that runs another command in place of the one that was asked for; null where only a no is safe. */
  readonly rewritten: ((input: JsonObject, command: string, why: string) => JsonObject) | null;
}

const LATE = 'If the hook takes too long, this client runs the tool anyway. No setting changes that.';
const rewritten = (input: JsonObject, permissionDecisionReason: string): JsonObject => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    permissionDecisionReason,
    updatedInput: input,
  },
});

export const DIALECTS: Readonly<Record<HookClient, HookDialect>> = {
  'claude-code': {
    event: 'PreToolUse',
    shell: 'Bash',
    folder: [],
    settings: '.claude/settings.json',
    timeout: hookLimits.timeout_s,
    closed: { onFailure: 'block' },
    closed_since: '2.1.295',
    plain: [
      'A hook that fails or is late is a no (onFailure: block), from Claude Code 2.1.295 on. Before that one that is late is a yes.',
      'Who runs Claude Code in this folder can edit the settings: what must hold against the agent itself belongs into managed settings.',
    ],
    // A human takes longer than the two minutes that a command has unless told.
    rewritten: (input, command, why) => rewritten({ ...input, command, timeout: hookLimits.command_ms }, why),
  },
  codex: {
    event: 'PreToolUse',
    shell: 'Bash',
    folder: [],
    settings: '.codex/hooks.json',
    timeout: hookLimits.timeout_s,
    closed: {},
    closed_since: null,
    plain: [
      LATE,
      'Codex runs a hook only after you trusted it with /hooks, and again after each change; until then nothing is asked.',
      'It has to be a Codex that takes a rewritten input from a hook. An older one runs the command as the agent wrote it.',
      'Codex asks about a command, and not about what the agent types into it while it runs (write_stdin): let no policy pass one that starts a shell or an interpreter.',
    ],
    rewritten: (input, command, why) => rewritten({ ...input, command }, why),
  },
  'gemini-cli': {
    event: 'BeforeTool',
    shell: 'run_shell_command',
    folder: ['dir_path', 'directory'],
    settings: '.gemini/settings.json',
    timeout: hookLimits.timeout_s * 1000,
    closed: {},
    closed_since: null,
    plain: [
      LATE,
      'In a folder that you did not trust Gemini CLI asks no hook, and with --skip-trust none of this project: then only one in the settings of your account (--home) is asked.',
      'The agent is told no, and which command to run to wait for the result.',
    ],
    rewritten: null,
  },
};

/** One call, as a client tells its hook. */
export interface AskedCall {
  readonly tool: string;
  readonly input: JsonObject;
  readonly cwd: string | null;
}

/** What cannot be read whole is no call: nothing is guessed. */
export function callOfHook(client: HookClient, bytes: Uint8Array): AskedCall {
  const said = objectIn(parseJson(bytes, hookLimits.input_bytes), 'It');
  const { hook_event_name, tool_name, tool_input, cwd = null } = said;
  const { event } = DIALECTS[client];
  if (hook_event_name !== event)
    refuse('HOOK_INPUT_MALFORMED', `The event is not "${event}", which ${client} has before a tool.`);
  if (typeof tool_name !== 'string' || !TITLE_FORM.test(tool_name))
    refuse('HOOK_INPUT_MALFORMED', '"tool_name" is not the name of a tool.');
  requireOwn(client, tool_name, said.mcp_context ?? null);
  const input = objectIn(tool_input, '"tool_input"');
  return { tool: tool_name, input, cwd: folderIn(client, cwd, input) };
}

/** The tools of a server `keyturn_evil` begin with those words, too. Gemini CLI tells which server a tool is of. */
function requireOwn(client: HookClient, tool: string, mcp_context: Json): void {
  if (client !== 'gemini-cli' || !tool.startsWith(`mcp_${GATE}_`)) return;
  const { server_name } = objectIn(mcp_context, '"mcp_context"');
  if (server_name !== GATE)
    refuse('HOOK_INPUT_MALFORMED', `The tool "${tool}" has a name of ${GATE}, and is of another server.`);
}

/** Where a command would run. */
function folderIn(client: HookClient, cwd: Json, input: JsonObject): string | null {
  if (cwd !== null && typeof cwd !== 'string') return refuse('HOOK_INPUT_MALFORMED', '"cwd" is not a text.');
  const named = DIALECTS[client].folder.map((member) => input[member]).find((one) => one !== undefined);
  if (named === undefined) return cwd;
  if (typeof named !== 'string' || cwd === null)
    return refuse('HOOK_INPUT_MALFORMED', 'The folder of the command is not told.');
  return resolve(cwd, named);
}

function objectIn(value: Json | undefined, what: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  return refuse('HOOK_INPUT_MALFORMED', `${what} is not an object.`);
}
