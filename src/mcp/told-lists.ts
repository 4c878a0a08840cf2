import { setInterval } from 'node:timers/promises';
import { mcpLimits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import type { McpCaller } from './call.ts';
import { listTools } from './listed.ts';

export const LISTS = ['tools', 'prompts', 'resources'] as const;
export type ListName = (typeof LISTS)[number];

interface Seen {
  readonly tools: Uint8Array;
  /** Which servers pass what on, besides their tools. */
  readonly passes: string;
}

/**
 * What a client was last told of. An entry tells what a human accepted; an edit of tools.yaml or keyturn.yaml is found by looking. A
 * change counts when it is seen twice, since the entry that tells of it may be on its way.
 */
export class ToldLists {
  readonly #caller: McpCaller;
  #told: Seen | null = null;

  constructor(caller: McpCaller) {
    this.#caller = caller;
  }

  /** The client has been told of all that is so now. */
  async renew(): Promise<void> {
    this.#told = await seenBy(this.#caller);
  }

  /** Until the signal. */
  async follow(tell: (lists: readonly ListName[]) => void, signal: AbortSignal): Promise<void> {
    let before = this.#told;
    for await (const _ of setInterval(mcpLimits.list_look_ms, null, { signal, ref: false })) {
      const told = this.#told;
      const now = await seenBy(this.#caller);
      if (now === null) continue;
      const is_settled = told === this.#told && before !== null && changed(before, now).length === 0;
      before = now;
      if (!is_settled || told === null) continue;
      this.#told = now;
      const lists = changed(told, now);
      if (lists.length > 0) tell(lists);
    }
  }
}

function changed(before: Seen, now: Seen): readonly ListName[] {
  if (before.passes !== now.passes) return LISTS;
  const is_same = before.tools === now.tools || Buffer.compare(before.tools, now.tools) === 0;
  return is_same ? [] : ['tools'];
}

/** Who may not ask any more is told nothing. */
const NO_CALLER: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['KEY_REVOKED', 'PRINCIPAL_UNKNOWN']);

/** A list that cannot be made is another one, too: who asks is told why. Null where the caller is none any more. */
async function seenBy(caller: McpCaller): Promise<Seen | null> {
  try {
    const [{ bytes: tools }, { passes }] = await Promise.all([
      listTools(caller, true),
      caller.face.mcp.tools(),
    ]);
    return { tools, passes: JSON.stringify(passes) };
  } catch (error) {
    if (error instanceof Refusal && NO_CALLER.has(error.code)) return null;
    return { tools: Buffer.from(error instanceof Refusal ? error.code : 'INTERNAL'), passes: '' };
  }
}
