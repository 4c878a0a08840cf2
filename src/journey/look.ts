import type { Json } from '../canonical/json.ts';
import { isAlive } from '../effect/process.ts';
import type { IntentState, Run } from '../gate/state.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { parseArgument } from '../tool/arguments.ts';
import { toolNamed } from '../tool/select.ts';
import type { Context } from './context.ts';

/** A run that started and whose end is not recorded, or that was killed half way. */
export interface InDoubt {
  readonly state: IntentState;
  readonly run: Run;
  /** Whether the process that took the claim is still at work. A tool that was killed is `dead`. */
  readonly life: 'alive' | 'dead' | 'other-host';
}

export async function inDoubt(context: Context): Promise<InDoubt[]> {
  const found = [...(await all(context, 'claimed')), ...(await all(context, 'partial'))];
  return found.flatMap((state) => {
    const run = state.runs.at(-1);
    if (!run) return [];
    return [{ state, run, life: state.status === 'partial' ? 'dead' : isAlive(run.executor) }];
  });
}

const PAGE = 500;

async function all({ store }: Context, status: IntentState['status']): Promise<IntentState[]> {
  const found: IntentState[] = [];
  for (;;) {
    const after = found.at(-1)?.intent_id;
    const page = await store.intents({ status, limit: PAGE, ...(after === undefined ? {} : { after }) });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

/** The last entries of the ledger, oldest first. */
export async function newest({ store }: Context, count: number): Promise<Entry[]> {
  const { size } = await store.tip();
  const entries: Entry[] = [];
  for await (const batch of store.entries(Math.max(0, size - count))) {
    for (const { bytes } of batch) entries.push(openEntry(bytes));
  }
  return entries;
}

/** Gives each text the type of its parameter. What has no parameter stays text, and is refused by name later. */
export function readArguments(
  { registry }: Context,
  tool: string,
  texts: ReadonlyMap<string, string>,
): Record<string, Json> {
  const { parameters } = toolNamed(registry(), tool);
  const typed = [...texts].map(([name, text]): [string, Json] => {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    return [name, parameter ? parseArgument(parameter, text, name) : text];
  });
  return Object.fromEntries(typed);
}
