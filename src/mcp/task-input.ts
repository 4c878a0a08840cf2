import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import { jsonIn } from './answer.ts';
import { beginTool, type McpCaller } from './call.ts';
import { type GoingTasks, known } from './going-tasks.ts';
import { questionsOf } from './input.ts';
import { isObject } from './message.ts';
import type { ClientInput } from './offered.ts';
import { withoutOwnMarks } from './own-marks.ts';

/** A server whose answer to the call of a task is a question to the client. */
export interface AskedInTask {
  readonly call: NonNullable<Result<'mcp.question'>['call']>;
  /** The intent that was answered with questions. */
  readonly intent_id: string;
  readonly state: string | null;
  /** The names of all of them. */
  readonly questions: readonly string[];
  /** As the client can answer them, and not answered yet; null where they are not for this client. */
  readonly open: JsonObject | null;
}

/** Null where nothing was asked, or no human accepted that this server asks. */
export async function askedInTask(
  { face }: McpCaller,
  { intent_id, run }: Result<'intents.result'>,
  input: ClientInput | null,
): Promise<AskedInTask | null> {
  const value =
    run === null || 'absent' in run.output ? null : withoutOwnMarks(jsonIn(run.output.stdout) ?? null);
  if (!isObject(value) || value.resultType !== 'input_required') return null;
  const { call } = await face.mcp.question({ intent_id });
  const { passes } = await face.mcp.tools();
  if (!passes.some(({ server, pass }) => server === call?.server && pass.includes('input'))) return null;
  const { inputRequests } = questionsOf(value, call!.server, input) ?? { inputRequests: null };
  const questions = isObject(inputRequests) ? inputRequests : {};
  const missing = Object.entries(questions).filter(([key]) => !Object.hasOwn(call!.partial, key));
  return {
    ...{ call: call!, intent_id, questions: Object.keys(questions) },
    state: typeof value.requestState === 'string' ? value.requestState : null,
    // All were answered, and the process ended before it made the call: any answer brings it about.
    open: missing.length === 0 ? emptyToNull(questions) : Object.fromEntries(missing),
  };
}

const emptyToNull = (questions: JsonObject) => (Object.keys(questions).length === 0 ? null : questions);

/** The last answer makes another call, which a human approves by itself or a grant covers. What answers no open question is not used. */
export async function answerInTask(
  caller: McpCaller,
  { call, intent_id, questions, state, open }: AskedInTask,
  { capabilities, responses: given }: ClientInput,
  going: GoingTasks,
): Promise<void> {
  const used = Object.fromEntries(
    Object.entries(given ?? {}).filter(([key, one]) => Object.hasOwn(open ?? {}, key) && isObject(one)),
  );
  if (Object.keys(used).length === 0) return;
  const isWhole = (answers: object) => questions.every((key) => Object.hasOwn(answers, key));
  let responses = { ...call.partial, ...used };
  // Another process may have got the other answers meanwhile: whichever has all of them makes the call, and it is one intent.
  if (!isWhole(responses)) responses = (await caller.face.mcp.keep({ intent_id, answers: used })).answers;
  if (!isWhole(responses)) return;
  const { server, tool } = call;
  const effect = {
    ...{ kind: 'mcp' as const, server, tool, arguments: call.arguments as JsonObject },
    input: { capabilities, responses, state },
  };
  const declared_goal = `Call ${tool} of ${server} for an agent, with what it asked for in ${intent_id}`;
  await known(going, (options) =>
    beginTool(caller, tool, effect, options, { declared_goal, answers: intent_id }),
  );
}
