import { isUuid } from '../canonical/uuid.ts';
import type { IntentState } from '../gate/state.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/** Shorter ones are typed by mistake. */
const PREFIX_CHARS = 4;
const PAGE = 1000;

/** The run of a plan that was asked for last, instead of an id. */
export const LAST = 'last';

/**
 * The execution that a person means: by its own id, by that of its intent (then its latest run), by the beginning of one of
 * them if it fits only one run, or as the last run of a plan.
 */
export async function findRun(context: Context, name: string): Promise<string> {
  if (isUuid(name) && (await context.store.find('execution', name))) return name;
  if (name !== LAST && (name.length < PREFIX_CHARS || !/^[0-9a-f]{1,8}(-[0-9a-f]{0,12}){0,4}$/.test(name)))
    refuse('ID_MALFORMED', 'Name an execution or an intent, by its id or the first characters of it.');
  const found = await latestRuns(context, ({ intent_id }, execution_id) =>
    name === LAST ? true : intent_id.startsWith(name) || execution_id.startsWith(name),
  );
  const chosen = name === LAST ? newest(found) : found;
  if (chosen.length > 1)
    refuse(
      'EXECUTION_AMBIGUOUS',
      `${chosen.length} runs fit: ${chosen
        .slice(0, 5)
        .map((one) => one.execution_id)
        .join(', ')}.`,
    );
  return chosen[0]?.execution_id ?? refuse('EXECUTION_NOT_FOUND', noneFor(name));
}

function noneFor(name: string): string {
  return name === LAST
    ? 'No plan has run yet.'
    : `No run of a plan has this id, or is of an intent that has it: ${name}.`;
}

interface Found {
  readonly execution_id: string;
  readonly claimed_at: string;
}

/** The latest run of each intent that is a plan and fits. */
async function latestRuns(
  context: Context,
  fits: (state: IntentState, execution_id: string) => boolean,
): Promise<Found[]> {
  const found: Found[] = [];
  for await (const state of allIntents(context)) {
    const run = state.runs.at(-1);
    if (run && run.reports !== null && fits(state, run.execution_id)) found.push(run);
  }
  return found;
}

export async function* allIntents({ store }: Context): AsyncGenerator<IntentState> {
  for (let after: string | undefined; ; ) {
    const page = await store.intents({ limit: PAGE, ...(after !== undefined && { after }) });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.intent_id;
  }
}

function newest(runs: readonly Found[]): Found[] {
  const [first] = [...runs].sort((a, b) => (a.claimed_at < b.claimed_at ? 1 : -1));
  return first ? [first] : [];
}
