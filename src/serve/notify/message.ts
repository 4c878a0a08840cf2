import { sha256 } from '../../canonical/digest.ts';
import type { Entry, IntentState, NotifyEvent } from '../../keyturn.ts';

/** What a target is told: that something happened, and where to look. No goal, no argument and no output leaves with it. */
export interface Notice {
  /** The same at every attempt. */
  readonly id: string;
  readonly type: `keyturn.${NotifyEvent | 'test'}`;
  readonly timestamp: string;
  readonly data: {
    readonly text: string;
    /** It opens the service. Nothing can be approved by it. */
    readonly link: string;
    readonly intent_id: string | null;
    readonly tool: string | null;
    readonly proposer: string | null;
    readonly expires_at: string | null;
    /** Whom the policies ask to look; empty where they name no reviewer. */
    readonly reviewers: readonly string[];
  };
}

type About = Pick<IntentState, 'intent_id' | 'tool' | 'proposer' | 'expires_at'> & {
  readonly reviewers: readonly string[] | null;
};

const WORDS: Readonly<Record<NotifyEvent, string>> = {
  waiting: 'waits for a human',
  reminder: 'still waits for a human, and expires soon',
  escalation: 'has waited for long without a decision',
  decided: 'was decided',
  succeeded: 'ran',
  failed: 'failed',
  in_doubt: 'began, and how it ended is not known',
  frozen: 'Something was frozen',
};

/** A run that was killed half way: how it ended is known, and what it left is not. */
const HALF_WAY = 'was stopped or is partly done: a human has to look at what it left';

/** Of which event an entry tells, and in which words if not its own; null where it tells of none. A violation is told of with the end of its run. */
export function toldBy({
  kind,
  body,
}: Pick<Entry, 'kind' | 'body'>): Pick<Occasion, 'event' | 'words'> | null {
  const event = eventOf(kind, body);
  if (event === null) return null;
  return kind === 'execution.finished' && event === 'in_doubt' ? { event, words: HALF_WAY } : { event };
}

function eventOf(kind: Entry['kind'], body: Entry['body']): NotifyEvent | null {
  if (kind === 'intent.proposed') return 'waiting';
  if (kind === 'approval.granted' || kind === 'approval.denied') return 'decided';
  // An order for what was approved before decides nothing more.
  if (kind === 'order.given')
    return (body as { approves_until?: unknown }).approves_until === null ? null : 'decided';
  if (kind === 'system.frozen') return 'frozen';
  if (kind !== 'execution.finished') return null;
  const { result } = body as { result?: unknown };
  if (result === 'partial') return 'in_doubt';
  return result === 'success' ? 'succeeded' : 'failed';
}

/** Something to tell of. */
export interface Occasion {
  readonly event: NotifyEvent;
  readonly about: About | null;
  /** What tells it from all others of its event: an entry, an intent or a run. */
  readonly occasion: string;
  readonly at: string;
  /** Instead of those of its event. */
  readonly words?: string;
  /** Who is asked to look since; without it all are who are asked. */
  readonly added?: readonly string[];
}

export interface MessageParts extends Occasion {
  readonly origin: string;
  readonly address: string;
}

export function notificationOf(parts: MessageParts): Notice {
  const { event, about, occasion, origin, at, address } = parts;
  const words = parts.words ?? WORDS[event];
  const text = about ? `${about.tool}, proposed by ${about.proposer}, ${words}.` : `${words}.`;
  return {
    id: `msg_${sha256(`${origin}\n${event}\n${occasion}`).slice(0, 32)}`,
    type: `keyturn.${event}`,
    timestamp: at,
    data: {
      text,
      link: about ? `${address}/#intent=${about.intent_id}` : `${address}/`,
      intent_id: about?.intent_id ?? null,
      tool: about?.tool ?? null,
      proposer: about?.proposer ?? null,
      expires_at: about?.expires_at ?? null,
      reviewers: about?.reviewers ?? [],
    },
  };
}

export function testMessage(address: string, at: string): Notice {
  const text = 'This is a test of the notifications of Keyturn.';
  const nobody = { intent_id: null, tool: null, proposer: null, expires_at: null, reviewers: [] };
  return {
    id: `msg_test_${sha256(at).slice(0, 24)}`,
    type: 'keyturn.test',
    timestamp: at,
    data: { text, link: `${address}/`, ...nobody },
  };
}

/** A name could hold what a chat reads as a mention, a link or a style. */
export function slackText({ data: { text, link, reviewers } }: Notice): string {
  const plain = (one: string) =>
    one
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[*_~`|@#]/g, '\u00b7');
  const asked = reviewers.length === 0 ? '' : ` Asked to look: ${reviewers.map(plain).join(', ')}.`;
  return `${plain(text)}${asked} <${link}|Look at it>`;
}
