import { isIdBeginning, isUuid } from '../../canonical/uuid.ts';
import { visible } from '../../canonical/visible.ts';
import type { Result } from '../../keyturn.ts';
import { isReasonCode, type ReasonCode, Refusal, refuse, remarks } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { agentPlanNamed, nextCommand } from '../conversation.ts';
import { provenBy, whoActs } from '../human.ts';
import { meantBy } from '../operand.ts';
import { type Opened, writing } from '../project.ts';
import { say } from '../say.ts';

/**
 * A conversation, one turn for each command. Standard output is what the user is to be shown and nothing else; where the
 * conversation stands goes to standard error. Words are relayed as they were said: a yes here is the consent of the user,
 * and never an approval.
 */

type AgentTurn = Result<'conversations.ask'>;
type AgentAnswer = Result<'conversations.get'>;

export function ask(call: Call): Promise<Answer> {
  const [utterance = ''] = call.operands;
  const { correlation, thread, language, packet } = call.options;
  return writing(call, async (keyturn) => {
    const user_id = await userOf(keyturn, call);
    const correlation_id = correlation && (await conversationMeant(keyturn, correlation));
    const turn = await (await spokenBy(keyturn, user_id)).ask({
      user_id,
      utterance,
      ...(correlation_id !== undefined && { correlation_id }),
      ...(thread !== undefined && { thread_id: thread }),
      ...(language !== undefined && { language }),
    });
    const answer = await told(call, keyturn, turn);
    return packet ? { ...answer, lines: packetLines(turn) } : answer;
  });
}

export function answer(call: Call): Promise<Answer> {
  const [named = '', text = ''] = call.operands;
  const { turn } = call.options;
  return writing(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const user_id = await userOf(keyturn, call);
    const asked = turn === undefined ? {} : { question_turn_id: turn };
    return told(
      call,
      keyturn,
      await (await spokenBy(keyturn, user_id)).answer({ correlation_id, user_id, text, ...asked }),
    );
  });
}

export function confirm(call: Call): Promise<Answer> {
  const [named = '', text = ''] = call.operands;
  const { language, plan, step } = call.options;
  return writing(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const user_id = await userOf(keyturn, call);
    if (plan === undefined) return unnamed(call, keyturn, { correlation_id, user_id });
    const conversation = await keyturn.conversations.status({ correlation_id });
    const answered = await (await spokenBy(keyturn, user_id)).confirm({
      correlation_id,
      plan_id: agentPlanNamed(conversation, plan),
      user_id,
      text,
      ...(language !== undefined && { language }),
      ...(step !== undefined && { step_id: step }),
    });
    return told(call, keyturn, answered);
  });
}

/** Words that name no prompt could be meant for another one. They count for none, and the one of now is shown. */
async function unnamed(
  call: Call,
  keyturn: Opened,
  who: { readonly correlation_id: string; readonly user_id: string },
): Promise<Answer> {
  const { correlation_id } = who;
  const conversation = await keyturn.conversations.status({ correlation_id });
  const command = nextCommand(keyturn, conversation);
  const how = command === null ? 'Nothing waits for words now.' : `The command is: ${command}`;
  if (conversation.next === null || conversation.next.act === 'answer')
    refuse('CLARIFICATION_NEEDED', `No prompt is open. ${how}`);
  const answer = await told(call, keyturn, await keyturn.conversations.get(who));
  const refusal = new Refusal('CLARIFICATION_NEEDED', `The words name no prompt with --plan. ${how}`);
  return { ...answer, refusal };
}

export function resume(call: Call): Promise<Answer> {
  const [named = ''] = call.operands;
  const { user: user_id } = call.options;
  return writing(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const who = user_id === undefined ? {} : { user_id };
    const spoken = await spokenBy(keyturn, user_id);
    return told(call, keyturn, await spoken.resume({ correlation_id, ...who }));
  });
}

export function undo(call: Call): Promise<Answer> {
  const [named = ''] = call.operands;
  return writing(call, async (keyturn) => {
    const correlation_id = await meantBy(keyturn, 'conversation', named);
    const user_id = await userOf(keyturn, call);
    return told(call, keyturn, await (await spokenBy(keyturn, user_id)).undo({ correlation_id, user_id }));
  });
}

/**
 * A caller may name a new conversation as it likes, so what fits none is its name. Only an id that Keyturn made is meant by its beginning:
 * `chat-1` is not the beginning of `chat-17`.
 */
async function conversationMeant(keyturn: Opened, typed: string): Promise<string> {
  if (!isIdBeginning(typed)) return typed;
  try {
    const id = await meantBy(keyturn, 'conversation', typed);
    return isUuid(id) ? id : typed;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'AGENT_TRANSITION_ILLEGAL') return typed;
    throw error;
  }
}

/** Whose words these are. The core asks the policies whether that user may. */
async function userOf(keyturn: Opened, { options }: Call): Promise<string> {
  return options.user ?? whoActs(keyturn, undefined);
}

/** At a service the key of the user signs the request with their words: the session of a login only reads. */
async function spokenBy(keyturn: Opened, user: string | undefined): Promise<Opened['conversations']> {
  return (await provenBy(keyturn, user)).conversations;
}

async function told(call: Call, keyturn: Opened, answered: AgentAnswer | AgentTurn): Promise<Answer> {
  if (!call.options.json) say(2, conversationLines(answered, await commandAfter(keyturn, answered)));
  const refusal = refusalOf(answered, call.operands.at(-1) ?? '');
  const answer = { result: answered, lines: linesOf(answered), is_plain: true };
  return refusal === null ? answer : { ...answer, refusal };
}

/** What the user is to be shown. */
function linesOf(answered: AgentAnswer | AgentTurn): string[] {
  const next = answered.kind === 'OUTCOME' ? answered.next : null;
  const news = 'news' in answered ? answered.news : [];
  return [
    answered.user_visible_text,
    ...(answered.kind === 'OUTCOME' && answered.result !== null ? answered.result.split('\n') : []),
    ...(next ? [next.user_visible_text] : []),
    ...news.map(({ wish, simulation }) => `What you asked for exists now: ${wish} (${simulation})`),
  ].map(visible);
}

/** Indented, and with nothing in it that a terminal would obey. */
function packetLines({ packet }: AgentTurn): string[] {
  return JSON.stringify(packet, null, 2)
    .split('\n')
    .map((line) => line.replace(/[^\x20-\x7e]/gu, (c) => (visible(c) === c ? c : escaped(c))));
}

function escaped(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** For the program that relays the conversation: which one it is, and what it waits for. */
function conversationLines(
  { correlation_id, kind, reason_code }: AgentAnswer,
  next: string | null,
): string[] {
  const shown = `Conversation: ${correlation_id} (${kind}, ${reason_code})`;
  return (next === null ? [shown] : [shown, `Next: ${next}`]).map(visible);
}

async function commandAfter(keyturn: Opened, answered: AgentAnswer): Promise<string | null> {
  const waits = answered.kind === 'OUTCOME' ? answered.next : answered;
  if (waits === null || !WAITING.has(waits.kind)) return null;
  const { correlation_id } = answered;
  const command = nextCommand(keyturn, await keyturn.conversations.status({ correlation_id }));
  return waits.kind === 'CLARIFY' ? `${command} (${waits.allowed_answer_formats.join(' or ')})` : command;
}

const WAITING: ReadonlySet<AgentAnswer['kind']> = new Set<AgentAnswer['kind']>([
  'CONFIRM',
  'CLARIFY',
  'AWAITS_APPROVER',
  'PAUSED',
]);

/**
 * Exit 0 says that it was done, or that the conversation goes on. Anything else is a no. What the user is shown is on
 * standard output, so the reason is not the same sentence again.
 */
function refusalOf({ kind, reason_code }: AgentAnswer, words: string): Refusal | null {
  const refused = (otherwise: ReasonCode) =>
    isReasonCode(reason_code) ? new Refusal(reason_code) : new Refusal(otherwise, meaningOf(reason_code));
  switch (kind) {
    case 'REFUSED':
      return refused('CLARIFICATION_NEEDED');
    case 'CANCELLED':
      return refused('CONFIRMATION_DECLINED');
    case 'MISSING_SIMULATION':
      return refused('SIMULATION_NOT_REGISTERED');
    case 'CONFIRM':
      return reason_code === 'CONFIRMATION_AMBIGUOUS' ? new Refusal(reason_code, unclear(words)) : null;
    case 'OUTCOME':
      return reason_code === 'STEP_SUCCEEDED' ? null : refused('RUN_FAILED');
    default:
      return null;
  }
}

function unclear(words: string): string {
  return `"${[...words].slice(0, 60).join('')}" is neither a clear yes nor a clear no. Nothing is done.`;
}

/** Other finders have codes of their own, which are not explained here. */
function meaningOf(reason_code: string): string | undefined {
  return remarks.find(({ code }) => code === reason_code)?.meaning;
}
