import type { JsonObject } from '../canonical/json.ts';
import { Cancelled, type Entry, type Face, type Keyturn, type Result, type Signer } from '../keyturn.ts';
import { limits, mcpLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import {
  asRecorded,
  type CallResult,
  callAnswer,
  notRunYet,
  type ProtocolError,
  passedAnswer,
  protocolErrorOf,
  refusedCall,
  text,
  waitsForHuman,
} from './answer.ts';
import type { Questions } from './input.ts';
import { linked, linkingServer } from './linked.ts';
import { badCall, isObject, rpcOf } from './message.ts';
import { type CallEffect, type ClientInput, offeredAs } from './offered.ts';
import { type Hear, heard, hearRun } from './progress.ts';

/** Who calls, and what they can do. */
export interface McpCaller {
  readonly name: string;
  /** With a key the proposer is proven, and grants apply. */
  readonly signer: Signer | null;
  readonly face: Face;
  /** The agent core, where this entry point offers it. */
  readonly ask: Keyturn['conversations']['ask'] | null;
  /** Where a human can look at an intent; null where no service runs. */
  readonly link: (intent_id: string) => Promise<string | null>;
  readonly hold_ms: number;
  readonly hear?: Hear | undefined;
  /** The entries of the ledger from now on. */
  readonly entries?: ((signal: AbortSignal) => Promise<AsyncIterable<Told>>) | undefined;
  /**
   * How many requests wait for an intent here, and how many clients watch a resource. A call is taken back when the last of them cancels: a
   * lost request may have been sent again.
   */
  readonly holders: Map<string, number>;
  /** The servers that this process started work for other callers as well. */
  readonly has_others?: boolean | undefined;
}

type Told = Pick<Entry, 'kind' | 'subject'>;

/** What one client wants to be told. */
export interface WantedNotices {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly logging: boolean;
  /** Resources by the uri that the client gave. */
  readonly uris: { has(uri: string): boolean };
}

export interface ToolCallOptions {
  /** Ends the wait, and nothing else. */
  readonly signal: AbortSignal;
  /** Stops what runs here. */
  readonly abort?: AbortSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** Told which intent the call became, as soon as that is known. */
  readonly onBegun?: ((intent_id: string) => void) | undefined;
  /** What the client can answer, and has answered, to questions of a server. */
  readonly input?: ClientInput | null | undefined;
  /** Offers the link to an intent that waits: by a message of its own, or by what is returned as the answer. */
  readonly offerLink?: ((intent_id: string, url: string) => Questions | null) | undefined;
  /** Refuses a message that does not fit the tool that it calls. */
  readonly check?: ((definition: JsonObject, values: JsonObject) => void) | undefined;
}

/** How far a call has come. */
export interface Called {
  readonly result: CallResult;
  /** The intent, where one was made; and whether this is its last word. */
  readonly intent_id: string | null;
  readonly is_final: boolean;
  /** The error of the protocol that is answered in place of the result. */
  readonly error?: ProtocolError | null;
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
    options.check?.(offered.definition, values);
    if (offered.effect === null) return await callOwn(caller, name, values, options);
    const { asks = null } = offered;
    const effect = offered.effect(values, options.input);
    if (offered.is_shadow) return await passTool(caller, name, effect, options);
    const begun = await beginTool(caller, name, effect, options);
    return await held(caller, begun, { ...options, asks }, caller.hold_ms);
  } catch (error) {
    if (options.signal.aborted || rpcOf(error) !== null) throw error;
    return only(refusedCall(error));
  }
}

/** Proposes a call, or finds the same one; runs it where a grant covers it. */
export async function beginTool(
  { face, name, signer }: McpCaller,
  tool: string,
  effect: CallEffect,
  { abort, onProgress, onBegun }: ToolCallOptions,
  {
    declared_goal = `Call ${tool} for an agent`,
    answers,
  }: { readonly declared_goal?: string; readonly answers?: string } = {},
): Promise<Result<'mcp.call'>> {
  return face.mcp.call({
    issuer: name,
    ...(signer && { signer }),
    ...heard(onProgress),
    declared_goal,
    effect,
    ...(answers !== undefined && { answers }),
    ...(abort && { abort }),
    ...(onBegun && { onBegun }),
  });
}

/** In shadow mode: it is sent without an approval, and says so. */
async function passTool(
  caller: McpCaller,
  tool: string,
  effect: CallEffect,
  { abort, onProgress }: ToolCallOptions,
): Promise<Called> {
  const { face, name, signer } = caller;
  const passed = await face.mcp.pass({
    issuer: name,
    ...(signer && { signer }),
    ...heard(onProgress),
    declared_goal: `Call ${tool} for an agent`,
    effect,
    ...(abort && { abort }),
  });
  const links = await linkingServer(caller, { effect: 'mcp', tool });
  return only(linked(passedAnswer(passed), links));
}

interface HoldOptions extends Pick<ToolCallOptions, 'signal' | 'onProgress' | 'input' | 'offerLink'> {
  /** The server whose questions are passed on. */
  readonly asks?: string | null;
}

/** Waits for the end of an intent for so long, and says how far it has come. */
export async function held(
  caller: McpCaller,
  {
    intent_id,
    how,
    refused = null,
  }: Pick<Result<'mcp.call'>, 'intent_id' | 'how'> & { readonly refused?: string | null },
  { signal, onProgress, input, offerLink, asks = null }: HoldOptions,
  hold_ms: number,
): Promise<Called> {
  const { face, link } = caller;
  // Once: the same call again waits for the same human.
  const url = how === 'proposed' && offerLink ? await link(intent_id) : null;
  const question = url === null ? null : offerLink!(intent_id, url);
  if (question !== null) return { result: question, intent_id, is_final: false };
  const allTold = onProgress ? hearRun(caller, intent_id, onProgress) : async () => {};
  const intent = await face.intents.get({ intent_id });
  const { effect } = intent;
  const links = await linkingServer(caller, intent);
  const answered = (ended: Result<'intents.result'>): Called => {
    // Without a handshake a server that may ask the client talks to it: its errors are errors there.
    const asking = asks === null || input === undefined ? null : { server: asks, input };
    const error = asking && effect === 'mcp' ? protocolErrorOf(ended) : null;
    const result = linked(callAnswer(ended, effect, asking), links);
    return {
      result: how === 'again' ? asRecorded(result, intent_id) : result,
      intent_id,
      is_final: ended.is_over,
      error,
    };
  };
  const late = AbortSignal.timeout(hold_ms);
  try {
    const ended = await face.intents.waitFor({ intent_id, signal: AbortSignal.any([signal, late]) });
    await allTold();
    return answered(ended);
  } catch (error) {
    // Held until here: node ends the timer of a signal that only another signal refers to.
    if (!(late.aborted || signal.aborted) || signal.reason instanceof Cancelled) throw error;
    // A client that says no more may still read: what ran under a grant has its answer by now.
    const now = await face.intents.result({ intent_id });
    if (!waitsForHuman(now)) return answered(now);
    return { result: notRunYet(now, await link(intent_id), refused), intent_id, is_final: false };
  } finally {
    void allTold();
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
      return held(caller, { intent_id: textOf(values, 'id'), how: 'same' }, options, caller.hold_ms);
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
      const read = await face.plans.read({ plan: JSON.stringify(values.plan) });
      if ('problems' in read) return only(text(`NOT PROPOSED: ${JSON.stringify(read.problems)}`, true));
      const effect = { kind: 'plan' as const, ...read.spec };
      const declared_goal = textOf(values, 'goal');
      const asked = effect as unknown as CallEffect;
      const begun = await beginTool(caller, name, asked, options, { declared_goal });
      return held(caller, begun, options, caller.hold_ms);
    }
    default: {
      if (caller.ask === null) return refuse('NOT_FOR_AGENTS');
      const { proposal } = values as { proposal?: never };
      const told = await caller.ask({
        user_id: caller.name,
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

/** The same of what a client cancelled: what runs in another process of this host is asked to stop. */
export async function takeBackOrStop(caller: McpCaller, intent_id: string, reason: string): Promise<void> {
  try {
    await takeBack(caller, intent_id, reason);
  } catch (error) {
    const { run } = await caller.face.intents.result({ intent_id });
    if (!(error instanceof Refusal) || run === null || run.result !== null) throw error;
    const { execution_id } = run;
    const { asked } = await caller.face.runs.cancel({ execution_id });
    if (!asked) throw error;
  }
}

async function pending({ face, name }: McpCaller): Promise<CallResult> {
  const lines: string[] = [];
  for (let at: { cursor?: string } | null = {}; at !== null; ) {
    const asked = { status_word: 'waiting' as const, proposer: name, limit: limits.page_rows, ...at };
    const { intents, next }: Result<'intents.list'> = await face.intents.list(asked);
    lines.push(
      ...intents.map(({ intent_id, tool, expires_at }) => `${intent_id} ${tool}, until ${expires_at}`),
    );
    at = next === null ? null : { cursor: next };
  }
  return text(lines.length === 0 ? 'Nothing of yours waits for a human.' : lines.join('\n'), false);
}

async function oneOf(caller: McpCaller, intent_id: string): Promise<CallResult> {
  const { face, link } = caller;
  const intent = await face.intents.get({ intent_id });
  const found = await face.intents.result({ intent_id });
  if (waitsForHuman(found)) return notRunYet(found, await link(intent_id));
  return linked(callAnswer(found, intent.effect), await linkingServer(caller, intent));
}

/** How long a call is held for a client that knows no tasks. */
export const HOLD_MS: number = mcpLimits.hold_ms;
