import { decodeUtf8, parseJson } from '../canonical/json.ts';
import { openSealed } from '../canonical/sealed.ts';
import type { Entry, Keyturn } from '../keyturn.ts';
import { Refusal } from '../refusal.ts';
import type { Result } from './schema.ts';

/** What was said in a conversation. The ledger has only digests of it; the words are objects that can be erased. */

type Said = NonNullable<Result<'agent status'>['conversations'][number]['talk']>[number];

export async function talkOf(keyturn: Keyturn, correlation_id: string): Promise<Said[]> {
  const talk: Said[] = [];
  for (const entry of await keyturn.story(`agent:${correlation_id}`)) {
    if (entry.kind === 'agent.received') talk.push(...(await turnOf(keyturn, entry)));
    if (entry.kind === 'agent.confirmed') talk.push(await confirmationOf(keyturn, entry));
  }
  return talk;
}

interface Goal {
  readonly raw_user_utterance: string;
  readonly normalized_intent: { readonly answer: { readonly text: string } | null };
}

/** What the user said, and what the finder said to it where that is for the user. */
async function turnOf(keyturn: Keyturn, { seq, at, body }: Entry): Promise<Said[]> {
  const { goal, finder_packet, packet_kind } = body as Record<string, string>;
  const heard = await stored<Goal>(keyturn, goal!);
  const answer = heard?.normalized_intent.answer ?? null;
  const kind = answer === null ? 'GOAL' : 'ANSWER';
  const text = answer?.text ?? heard?.raw_user_utterance ?? null;
  const said: Said = { seq, at, kind, text, read_as: null };
  if (packet_kind !== 'CLARIFY' && packet_kind !== 'REFUSE') return [said];
  const packet = await stored<{ question?: string; message?: string }>(keyturn, finder_packet!);
  const reply = packet?.question ?? packet?.message ?? null;
  const is_question = packet_kind === 'CLARIFY';
  return [said, { seq, at, kind: is_question ? 'QUESTION' : 'REFUSAL', text: reply, read_as: null }];
}

async function confirmationOf(keyturn: Keyturn, { seq, at, body }: Entry): Promise<Said> {
  const { answer, text: digest } = body as { answer: Said['read_as']; text: string | null };
  const sealed = digest === null ? null : await objectIn(keyturn, digest);
  const bytes = sealed === null ? null : openSealed(sealed);
  const text = bytes === null ? null : decodeUtf8(bytes, bytes.length);
  return { seq, at, kind: 'CONFIRMATION', text, read_as: answer };
}

/** A stored object, or null when it was removed. */
export async function stored<T>(keyturn: Keyturn, digest: string): Promise<T | null> {
  const bytes = await objectIn(keyturn, digest);
  return bytes === null ? null : (parseJson(bytes, bytes.length) as T);
}

async function objectIn(keyturn: Keyturn, digest: string): Promise<Uint8Array | null> {
  try {
    return await keyturn.object(digest);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

const READ: Readonly<Record<NonNullable<Said['read_as']>, string>> = {
  YES: 'a yes',
  NO: 'a no',
  AMBIGUOUS: 'neither a clear yes nor a clear no',
};

export function talkWords({ kind, text, read_as }: Said): string {
  const words = text === null ? 'words that are not stored any more' : `"${text}"`;
  switch (kind) {
    case 'GOAL':
      return `the user asked for ${words}`;
    case 'ANSWER':
      return `the user answered ${words}`;
    case 'CONFIRMATION':
      return `the user said ${words} to the prompt: ${READ[read_as!]}`;
    case 'QUESTION':
      return `the question was ${words}`;
    case 'REFUSAL':
      return `it was refused: ${words}`;
  }
}
