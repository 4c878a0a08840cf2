import type { JsonObject } from '../canonical/json.ts';
import type { Face, Keyturn, Result, Signer } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import {
  asRecorded,
  type CallResult,
  callAnswer,
  notRunYet,
  passedAnswer,
  refusedCall,
  text,
} from './answer.ts';
import { badCall, isObject } from './message.ts';
import { type CallEffect, offeredAs } from './offered.ts';

/** Who calls through a door, and what they can do. */
export interface McpCaller {
  readonly name: string | null;
  /** With a key the proposer is proven, and grants apply. */
  readonly signer: Signer | null;
  readonly face: Face;
  /** The agent core, where this door offers it. */
  readonly ask: Keyturn['conversations']['ask'] | null;
  /** Where a human can look at an intent; null where no service runs. */
  readonly link: (intent_id: string) => string | null;
  readonly hold_ms: number;
  /** Tells what servers say unasked, where this door can pass it on. */
  readonly hear?: ((tell: (server: string, message: Notice) => void) => void) | undefined;
  /** How many requests wait for an intent here. A call is taken back when the last of them cancels: a lost request may have been sent again. */
  readonly holders: Map<string, number>;
}

interface Notice {
  readonly method: string;
  readonly params: JsonObject;
}

export interface ToolCallOptions {
  /** Ends the wait, and nothing else. */
  readonly signal: AbortSignal;
  /** Stops what runs here. */
  readonly abort?: AbortSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** Told which intent the call became, as soon as that is known. */
  readonly onBegun?: ((intent_id: string) => void) | undefined;
}

/** How far a call has come. */
export interface Called {
  readonly result: CallResult;
  /** The intent, where one was made; and whether this is its last word. */
  readonly intent_id: string | null;
  readonly is_final: boolean;
}

const only = (result: CallResult): Called => ({ result, intent_id: null, is_final: true });

/** Calls one tool by the name that the gate offers it under. What is refused is an answer for the model. */
export async function callTool(
  caller: McpCaller,
  name: string,
  values: JsonObject,
  options: ToolCallOptions,
): Promise<Called> {
  try {
    const offered = await offeredAs(caller.face, name);
    if (offered === undefined)
      return only(refusedCall(new Refusal('MCP_TOOL_UNKNOWN', `There is no tool "${name}".`)));
    if (offered.effect === null) return await callOwn(caller, name, values, options);
    if (offered.is_shadow) return await passTool(caller, name, offered.effect(values), options);
    const begun = await beginTool(caller, name, offered.effect(values), options);
    return await held(caller, begun, options.signal, caller.hold_ms);
  } catch (error) {
    if (options.signal.aborted) throw error;
    return only(refusedCall(error));
  }
}

/** Proposes a call, or finds the same one; runs it where a grant covers it. */
export async function beginTool(
  { face, name, signer }: McpCaller,
  tool: string,
  effect: CallEffect,
  { abort, onProgress, onBegun }: ToolCallOptions,
  declared_goal = `Call ${tool} for an agent`,
): Promise<Result<'mcp.call'>> {
  const begun = await face.mcp.call({
    ...(name !== null && { issuer: name }),
    ...(signer && { signer }),
    ...heard(onProgress),
    declared_goal,
    effect,
    ...(abort && { abort }),
  });
  onBegun?.(begun.intent_id);
  return begun;
}

/** In shadow mode: it is sent without an approval, and says so. */
async function passTool(
  { face, name, signer }: McpCaller,
  tool: string,
  effect: CallEffect,
  { abort, onProgress }: ToolCallOptions,
): Promise<Called> {
  const passed = await face.mcp.pass({
    ...(name !== null && { issuer: name }),
    ...(signer && { signer }),
    ...heard(onProgress),
    declared_goal: `Call ${tool} for an agent`,
    effect,
    ...(abort && { abort }),
  });
  return only(passedAnswer(passed));
}

function heard(onProgress: ToolCallOptions['onProgress']) {
  if (!onProgress) return {};
  return {
    onOutput: (chunk: Uint8Array, stream: string) => {
      if (stream === 'stderr') progressIn(chunk, onProgress);
    },
  };
}

function progressIn(chunk: Uint8Array, tell: (params: JsonObject) => void): void {
  try {
    const params: unknown = JSON.parse(Buffer.from(chunk).toString('utf8'));
    if (isObject(params)) tell(params);
  } catch {
    // What a tool prints is no progress.
  }
}

/** Waits for the end of an intent for so long, and says how far it has come. */
export async function held(
  { face, link }: McpCaller,
  {
    intent_id,
    how,
    refused = null,
  }: Pick<Result<'mcp.call'>, 'intent_id' | 'how'> & { readonly refused?: string | null },
  signal: AbortSignal,
  hold_ms: number,
): Promise<Called> {
  const { effect } = await face.intents.get({ intent_id });
  const late = AbortSignal.timeout(hold_ms);
  try {
    const ended = await face.intents.waitFor({ intent_id, signal: AbortSignal.any([signal, late]) });
    const result = callAnswer(ended, effect);
    return {
      result: how === 'again' ? asRecorded(result, intent_id) : result,
      intent_id,
      is_final: ended.is_over,
    };
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    const now = await face.intents.result({ intent_id });
    return { result: notRunYet(now, link(intent_id), refused), intent_id, is_final: false };
  }
}

/** A tool of the gate itself. */
async function callOwn(
  caller: McpCaller,
  name: string,
  values: JsonObject,
  options: ToolCallOptions,
): Promise<Called> {
  const { face } = caller;
  switch (name) {
    case 'keyturn_wait':
      return held(caller, { intent_id: textOf(values, 'id'), how: 'same' }, options.signal, caller.hold_ms);
    case 'keyturn_status':
      return only(
        values.id === undefined ? await pending(caller) : await oneOf(caller, textOf(values, 'id')),
      );
    case 'keyturn_withdraw': {
      const intent_id = textOf(values, 'id');
      await takeBack(caller, intent_id, textOf(values, 'reason'));
      return only(text(`It was withdrawn: ${intent_id}.`, false));
    }
    case 'keyturn_plan': {
      if (!isObject(values.plan)) return badCall('"plan" has to be an object.');
      const read = await face.plans.read({ plan: Buffer.from(JSON.stringify(values.plan)), config: null });
      if ('problems' in read) return only(text(`NOT PROPOSED: ${JSON.stringify(read.problems)}`, true));
      const effect = { kind: 'plan' as const, ...read.spec };
      const begun = await beginTool(
        caller,
        name,
        effect as unknown as CallEffect,
        options,
        textOf(values, 'goal'),
      );
      return held(caller, begun, options.signal, caller.hold_ms);
    }
    default: {
      if (caller.ask === null) return refuse('NOT_FOR_AGENTS');
      const { proposal } = values as { proposal?: never };
      const told = await caller.ask({
        user_id: caller.name ?? 'mcp',
        utterance: textOf(values, 'words'),
        ...(proposal !== undefined && { proposal }),
      });
      return only(text(JSON.stringify(told), false));
    }
  }
}

function textOf(values: JsonObject, member: string): string {
  const found = values[member];
  return typeof found === 'string' ? found : badCall(`"${member}" has to be a text.`);
}

/** With the key of the caller; without one, as the agent that the entry point found out. */
export async function takeBack(
  { face, signer }: McpCaller,
  intent_id: string,
  reason: string,
): Promise<void> {
  await face.intents.withdraw({ intent_id, reason, ...(signer && { signer }) });
}

async function pending({ face, name }: McpCaller): Promise<CallResult> {
  const { intents } = await face.intents.list({
    standing: 'waiting',
    ...(name !== null && { proposer: name }),
  });
  const lines = intents.map(({ intent_id, tool, expires_at }) => `${intent_id} ${tool}, until ${expires_at}`);
  return text(lines.length === 0 ? 'Nothing of yours waits for a human.' : lines.join('\n'), false);
}

async function oneOf({ face, link }: McpCaller, intent_id: string): Promise<CallResult> {
  const { effect } = await face.intents.get({ intent_id });
  const found = await face.intents.result({ intent_id });
  const waits =
    found.standing === 'waiting' || found.standing === 'approved' || found.standing === 'approval expired';
  return waits ? notRunYet(found, link(intent_id)) : callAnswer(found, effect);
}

/** How long a call is held for a client that knows no tasks. */
export const HOLD_MS: number = mcpLimits.hold_ms;
