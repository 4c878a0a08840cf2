import type { Json, JsonObject } from '../canonical/json.ts';
import { hasInexactNumber, isDeeperThan } from '../canonical/scan.ts';
import { explain, isReasonCode, type Result } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { questionsOf } from './input.ts';
import { isObject } from './message.ts';
import type { ClientInput } from './offered.ts';
import { withoutOwnMarks } from './own-marks.ts';

type Ended = Result<'intents.result'>;

/** The result of `tools/call`: content for a model. */
export type CallResult = JsonObject & { readonly content: Json };

export function text(words: string, is_error: boolean): CallResult {
  return { content: [{ type: 'text', text: words }], ...(is_error && { isError: true }) };
}

/** A call that waits. It is an error for the model, because nothing ran; text only, since it fits no outputSchema. */
export function notRunYet(
  { intent_id, status_word }: Pick<Ended, 'intent_id' | 'status_word'>,
  link: string | null,
  refused: string | null = null,
): CallResult {
  const grant = refused === null ? '' : ` A grant covers this tool and was not used: ${refused}.`;
  const where = link === null ? '' : ` The human can look at it here: ${link}.`;
  return text(
    `NOT RUN yet: it is ${status_word}. A human has to turn the key: keyturn turn ${intent_id}.${where}${grant} ` +
      `Ask keyturn_wait with {"id": "${intent_id}"} for its result. Calling the tool again with the same arguments asks for the same thing.`,
    true,
  );
}

/** The call was sent. It is an error for the model for the same reason as above, and other words, because what waits did nothing. */
function itRuns(intent_id: string): CallResult {
  return text(
    `IT RUNS: the call was sent, and its result is not there yet. Do not call the tool again. Ask keyturn_wait with {"id": "${intent_id}"} for its result.`,
    true,
  );
}

/** Whether a human has to act before anything is sent. */
export function waitsForHuman({ status_word }: Pick<Ended, 'status_word'>): boolean {
  return status_word === 'waiting' || status_word === 'approved' || status_word === 'approval expired';
}

/** Whether the run is over, as far as it gets: after IN DOUBT and STUCK only a human goes on. */
export function hasAnswer({ is_over, status_word }: Pick<Ended, 'is_over' | 'status_word'>): boolean {
  return is_over || status_word === 'IN DOUBT' || status_word === 'STUCK';
}

/** Who asks the client for input, and what the client can answer. Null where no question is passed on. */
export interface AskingServer {
  readonly server: string;
  readonly input: ClientInput | null;
}

/** What a model is told of an intent that runs, that is over, or that a human must settle. `effect` is its kind. */
export function callAnswer(
  ended: Ended,
  effect: 'tool' | 'plan' | 'mcp',
  asking: AskingServer | null = null,
): CallResult {
  const { intent_id, status_word, reason, run } = ended;
  if (status_word === 'rejected') return text(`NOT RUN: a human rejected it: ${reason ?? ''}`, true);
  if (status_word === 'withdrawn') return text(`NOT RUN: it was withdrawn: ${reason ?? ''}`, true);
  if (status_word === 'expired') return text('NOT RUN: no human approved it in time, and it expired.', true);
  if (status_word === 'replaced')
    return text(`NOT RUN: a human proposed something else in its place (${ended.replaced_by}).`, true);
  if (run === null) return text(`NOT RUN: it is ${status_word}.`, true);
  if (status_word === 'running') return itRuns(intent_id);
  const printed = 'absent' in run.output ? { stdout: '', stderr: '' } : run.output;
  const is_silent = printed.stdout === '' && printed.stderr === '';
  if (status_word === 'IN DOUBT')
    return text(
      `IN DOUBT: it was sent, and what it did is not known. It is never sent again; a human has to settle it (keyturn resolve ${run.execution_id}).`,
      true,
    );
  if (status_word === 'STUCK')
    return text(
      `STUCK: taking it back restored only a part. A human has to look at it (keyturn show ${intent_id}).`,
      true,
    );
  if (status_word === 'happened' && is_silent)
    return text(
      'It HAPPENED: a human settled that it did. What it answered is not known. Do not call it again.',
      true,
    );
  if (status_word === 'failed' && run.result !== 'failure' && is_silent)
    return text('It DID NOT HAPPEN: a human settled that it did not.', true);
  const is_error = status_word !== 'succeeded' && status_word !== 'happened';
  if (effect === 'mcp') return ofServer(printed.stdout, is_error, asking);
  const said = [printed.stdout, printed.stderr].filter((one) => one !== '').join('\n');
  return text(said === '' ? `It ${status_word}.` : said, is_error);
}

/** An error of the protocol that the server answered a call with, in its words; null where it answered with a result. */
export function protocolErrorOf({ run }: Ended): ProtocolError | null {
  if (run?.result !== 'failure' || 'absent' in run.output) return null;
  const value = jsonIn(run.output.stdout);
  if (!isObject(value) || 'content' in value || 'isError' in value || 'resultType' in value) return null;
  const { code, message, data } = withoutOwnMarks(value);
  if (typeof code !== 'number' || typeof message !== 'string') return null;
  return { code, message, ...(data !== undefined && { data }) };
}

export interface ProtocolError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** What a server answered in shadow mode, marked as such with what the gate would have done. */
export function passedAnswer(passed: Result<'mcp.pass'>): CallResult {
  const { shadow_id, would, would_code, result, reason_code, answer } = passed;
  const mark = { 'keyturn/shadow': { shadow_id, would, would_code } };
  if (result === 'partial')
    return {
      ...text(`It was sent, and what it did is not known: ${reason_code}. It is not sent again.`, true),
      _meta: mark,
    };
  const given = ofServer(answer, result === 'failure');
  return { ...given, _meta: { ...(isObject(given._meta) ? given._meta : {}), ...mark } };
}

/** The result as the server gave it, with whatever is in it that we do not know. */
function ofServer(stdout: string, is_error: boolean, asking: AskingServer | null = null): CallResult {
  const value = withoutOwnMarks(jsonIn(stdout) ?? null);
  const questions = isObject(value) && asking ? questionsOf(value, asking.server, asking.input) : null;
  if (questions !== null) return questions;
  const wanted = isObject(value) ? inputWanted(value) : null;
  if (wanted !== null) return wanted;
  if (isObject(value) ? !isResult(value) : stdout !== '' && !is_error) return noResult(stdout);
  if (isObject(value) && Array.isArray(value.content)) return withOwnNumbers(value as CallResult, stdout);
  return is_error
    ? text(`The server answered with an error: ${stdout}`, true)
    : withOwnNumbers({ content: [], ...(isObject(value) ? value : {}) }, stdout);
}

function noResult(stdout: string): CallResult {
  return text(`The server answered with what is no result of a tool. In its words: ${stdout}`, true);
}

/** A number with more digits than are kept here is given to the model in the words of the server, too: it might act on another number. */
function withOwnNumbers(result: CallResult, stdout: string): CallResult {
  if (!hasInexactNumber(stdout)) return result;
  const words = `[keyturn] Numbers of this result have too many digits and were rounded. In the words of the server: ${stdout}`;
  return { ...result, content: [...(result.content as Json[]), { type: 'text', text: words }] };
}

/**
 * The server wants something of a person first. The gate does not answer for the person: a client may accept such a question by default or by a hook. Links
 * are offered, and nothing else is passed on.
 */
function inputWanted(value: JsonObject): CallResult | null {
  const links = linksIn(value.resultType === 'input_required' ? value.inputRequests : value.data);
  if (value.resultType !== 'input_required' && links.length === 0) return null;
  const offered =
    links.length === 0 ? '' : ` The server offers these links to your user: ${links.join(' ')}.`;
  return text(
    `NOT DONE: the server asks for input first, which the gate does not give.${offered} In the words of the server: ${JSON.stringify(value)}`,
    true,
  );
}

function linksIn(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(linksIn);
  if (!isObject(value)) return [];
  const is_link = value.mode === 'url' && typeof value.url === 'string' && /^https:\/\//.test(value.url);
  return is_link ? [value.url as string] : Object.values(value).flatMap(linksIn);
}

/** Clients give up on a result of another shape. Content of an unknown kind is a result, too. */
function isResult({ content = [], structuredContent = {}, isError = false }: JsonObject): boolean {
  const is_list =
    Array.isArray(content) && content.every((one) => isObject(one) && typeof one.type === 'string');
  return is_list && isObject(structuredContent) && typeof isError === 'boolean';
}

/** Undefined for what is no JSON, or nested deeper than can be written again: a run that an earlier version recorded may hold that. */
export function jsonIn(stdout: string): Json | undefined {
  if (isDeeperThan(stdout, mcpLimits.message_depth)) return undefined;
  try {
    return JSON.parse(stdout) as Json;
  } catch {
    return undefined;
  }
}

/** The same call was answered before, and the answer may not have been read. */
export function asRecorded(result: CallResult, intent_id: string): CallResult {
  const note = {
    type: 'text',
    text: `[keyturn] This is the recorded result of ${intent_id}. It did not run again.`,
  };
  const content = Array.isArray(result.content) ? [...result.content, note] : [note];
  return {
    ...result,
    content,
    _meta: { ...(isObject(result._meta) ? result._meta : {}), 'keyturn/recorded': intent_id },
  };
}

/** A refusal is for the model to read: what was refused, and what can be done. */
export function refusedCall(error: unknown): CallResult {
  const { code, message } = error instanceof Refusal ? error : new Refusal('INTERNAL');
  const advice = isReasonCode(code) ? ` ${explain(code).advice}` : '';
  return text(`NOT RUN: ${code}. ${message}${advice}`, true);
}
