import { decodeUtf8, parseJson } from '../canonical/json.ts';
import { openSealed } from '../canonical/sealed.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { parsePacket } from '../finder/packet.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { Refusal } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { goals } from './contracts.ts';

/** What was said in a conversation. The ledger has only digests of it; the words are objects that can be erased. */
export interface SaidLine {
  readonly seq: number;
  readonly at: string;
  readonly kind: 'GOAL' | 'ANSWER' | 'CONFIRMATION' | 'QUESTION' | 'REFUSAL';
  /** Null when it was erased. */
  readonly text: string | null;
  /** How the answer to a prompt was read. */
  readonly read_as: 'YES' | 'NO' | 'AMBIGUOUS' | null;
}

/** Oldest first. */
export async function talkOf(context: AgentContext, correlation_id: string): Promise<SaidLine[]> {
  const talk: SaidLine[] = [];
  for (const { bytes } of await context.journey.store.entriesOf(`agent:${correlation_id}`)) {
    const entry = openEntry(bytes);
    const event = parseEvent(entry);
    if (event.kind === 'agent.received') talk.push(...(await turnOf(context, entry, event)));
    if (event.kind === 'agent.confirmed') talk.push(await confirmationOf(context, entry, event));
  }
  return talk;
}

type Place = Pick<Entry, 'seq' | 'at'>;

/** What the user said, and what the finder said to it where that is for the user. */
async function turnOf(
  context: AgentContext,
  { seq, at }: Place,
  { body }: Event<'agent.received'>,
): Promise<SaidLine[]> {
  const goal = await objectIn(context, body.goal, goals.open);
  const answer = goal?.normalized_intent.answer ?? null;
  const kind = answer === null ? 'GOAL' : 'ANSWER';
  const text = answer?.text ?? goal?.raw_user_utterance ?? null;
  const said: SaidLine = { seq, at, kind, text, read_as: null };
  if (body.packet_kind !== 'CLARIFY' && body.packet_kind !== 'REFUSE') return [said];
  const packet = await objectIn(context, body.finder_packet, (bytes) =>
    parsePacket(parseJson(bytes, bytes.length)),
  );
  if (packet?.kind === 'CLARIFY') return [said, replied({ seq, at }, 'QUESTION', packet.question)];
  if (packet?.kind === 'REFUSE') return [said, replied({ seq, at }, 'REFUSAL', packet.message)];
  return [said, replied({ seq, at }, body.packet_kind === 'CLARIFY' ? 'QUESTION' : 'REFUSAL', null)];
}

function replied({ seq, at }: Place, kind: 'QUESTION' | 'REFUSAL', text: string | null): SaidLine {
  return { seq, at, kind, text, read_as: null };
}

async function confirmationOf(
  context: AgentContext,
  { seq, at }: Place,
  { body }: Event<'agent.confirmed'>,
): Promise<SaidLine> {
  const words = body.text === null ? null : await objectIn(context, body.text, openSealed);
  const text = words === null ? null : decodeUtf8(words, words.length);
  return { seq, at, kind: 'CONFIRMATION', text, read_as: body.answer };
}

/** The goal of the newest turn, in the words of the user; null when it was erased. */
export async function goalText(context: AgentContext, digest: string): Promise<string | null> {
  return (await objectIn(context, digest, goals.open))?.raw_user_utterance ?? null;
}

/** A stored object; null when it was removed. */
async function objectIn<T>(
  { journey }: AgentContext,
  digest: string,
  open: (bytes: Uint8Array) => T,
): Promise<T | null> {
  try {
    return open(await journey.store.object(digest));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}
