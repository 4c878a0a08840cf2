import { visible } from '../../canonical/visible.ts';
import type { AgentAnswer, AgentTurn, Keyturn } from '../../keyturn.ts';
import { isReasonCode, type ReasonCode, Refusal } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { whoActs } from '../human.ts';
import { writing } from '../project.ts';
import { say } from '../say.ts';

/**
 * A conversation, one turn for each command. Standard output is what the user is to be shown and nothing else; where the
 * conversation stands goes to standard error. Words are relayed as they were said: a yes here is the consent of the user,
 * and never an approval.
 */

export function ask(call: Call): Promise<Answer> {
  const [utterance = ''] = call.operands;
  const { correlation, thread, language, packet } = call.options;
  return writing(call, async (keyturn) => {
    const turn = await keyturn.agent.ask({
      user_id: await userOf(keyturn, call),
      utterance,
      ...(correlation !== undefined && { correlation_id: correlation }),
      ...(thread !== undefined && { thread_id: thread }),
      ...(language !== undefined && { language }),
    });
    return packet ? { ...told(call, turn), lines: packetLines(turn) } : told(call, turn);
  });
}

export function answer(call: Call): Promise<Answer> {
  const [correlation_id = '', text = ''] = call.operands;
  return writing(call, async (keyturn) => {
    const user_id = await userOf(keyturn, call);
    return told(call, await keyturn.agent.answer({ correlation_id, user_id, text }));
  });
}

export function confirm(call: Call): Promise<Answer> {
  const [correlation_id = '', text = ''] = call.operands;
  const { language, step } = call.options;
  return writing(call, async (keyturn) => {
    const user_id = await userOf(keyturn, call);
    const answered = await keyturn.agent.confirm({
      correlation_id,
      user_id,
      text,
      ...(language !== undefined && { language }),
      ...(step !== undefined && { step_id: step }),
    });
    return told(call, answered);
  });
}

export function resume(call: Call): Promise<Answer> {
  const [correlation_id = ''] = call.operands;
  const { user: user_id } = call.options;
  return writing(call, async (keyturn) =>
    told(call, await keyturn.agent.resume({ correlation_id, ...(user_id !== undefined && { user_id }) })),
  );
}

export function undo(call: Call): Promise<Answer> {
  const [correlation_id = ''] = call.operands;
  return writing(call, async (keyturn) => {
    const user_id = await userOf(keyturn, call);
    return told(call, await keyturn.agent.undo({ correlation_id, user_id }));
  });
}

/** Whose words these are. The core asks the policies whether that user may. */
async function userOf(keyturn: Keyturn, { options }: Call): Promise<string> {
  return options.user ?? whoActs(keyturn, undefined);
}

function told(call: Call, answered: AgentAnswer | AgentTurn): Answer {
  if (!call.options.json) say(2, standing(answered));
  const refusal = refusalOf(answered);
  const answer = { result: answered, lines: linesOf(answered) };
  return refusal === null ? answer : { ...answer, refusal };
}

/** What the user is to be shown. */
function linesOf(answered: AgentAnswer | AgentTurn): string[] {
  const next = answered.kind === 'OUTCOME' ? answered.next : null;
  const news = 'news' in answered ? answered.news : [];
  return [
    answered.user_visible_text,
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

/** For whoever relays the conversation: which one it is, and what it waits for. */
function standing(answered: AgentAnswer): string[] {
  const { correlation_id } = answered;
  const next = nextCommand(answered);
  const shown = `Conversation: ${correlation_id} (${answered.kind}, ${answered.reason_code})`;
  return (next === null ? [shown] : [shown, `Next: ${next}`]).map(visible);
}

function nextCommand(answered: AgentAnswer): string | null {
  const waits = answered.kind === 'OUTCOME' ? answered.next : answered;
  const of = answered.correlation_id;
  switch (waits?.kind) {
    case 'CONFIRM':
      return `keyturn agent confirm ${of} --step ${waits.step_id} "…"`;
    case 'CLARIFY':
      return `keyturn agent answer ${of} "…" (${waits.allowed_answer_formats.join(' or ')})`;
    case 'AWAITS_APPROVER':
      return `keyturn approve ${waits.intent_id}, then keyturn agent resume ${of}`;
    case 'PAUSED':
      return `keyturn agent resume ${of}`;
    default:
      return null;
  }
}

/** Exit 0 says that it was done, or that the conversation goes on. Anything else is a no. */
function refusalOf(answered: AgentAnswer): Refusal | null {
  const { kind, reason_code, user_visible_text } = answered;
  const refused = (otherwise: ReasonCode) =>
    new Refusal(isReasonCode(reason_code) ? reason_code : otherwise, user_visible_text);
  switch (kind) {
    case 'REFUSED':
      return refused('CLARIFICATION_NEEDED');
    case 'CANCELLED':
      return refused('CONFIRMATION_DECLINED');
    case 'MISSING_SIMULATION':
      return refused('SIMULATION_NOT_REGISTERED');
    case 'CONFIRM':
      return reason_code === 'CONFIRMATION_AMBIGUOUS' ? refused('CONFIRMATION_AMBIGUOUS') : null;
    case 'OUTCOME':
      return reason_code === 'STEP_SUCCEEDED' ? null : refused('RUN_FAILED');
    default:
      return null;
  }
}
