import { counted } from '../canonical/counted.ts';
import { isDigestBeginning } from '../canonical/digest.ts';
import { isIdBeginning } from '../canonical/uuid.ts';
import type { Run } from '../gate/state.ts';
import { journeyLimits } from '../limits.ts';
import type { RollbackManifest } from '../plan/rollback/manifest.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { allIntents, goalOf } from './list.ts';

/** What can be named by the beginning of its id. */
export type Findable = 'intent' | 'execution' | 'capability' | 'delegation' | 'conversation' | 'object';

export interface FindRequest {
  readonly of: Findable;
  /** The id, or its first characters. That of an object is its digest. */
  readonly id: string;
}

/** The whole id. Refused where no id begins like this, and where several do. */
export async function findId(context: Context, { of, id }: FindRequest): Promise<string> {
  if (of === 'object') return objectLike(context, id);
  if (of === 'conversation') {
    // Callers choose these ids, so one can be the beginning of another.
    if (await context.store.find('agent', id)) return id;
    if (id.length < journeyLimits.id_chars_min) refuse(UNKNOWN[of]);
  } else requireBeginning(id);
  const found = await context.store.keys(
    of === 'conversation' ? 'agent' : of,
    id,
    journeyLimits.id_candidates,
  );
  if (found.length > 1) {
    const told = found.map(async (one) => [one, await aboutOf(context, of, one)] as const);
    refuseAmbiguous(of === 'capability' ? 'capabilities' : `${of}s`, id, await Promise.all(told));
  }
  return found[0] ?? refuse(UNKNOWN[of], `No ${of} has an id that begins with "${id}".`);
}

async function objectLike({ store }: Context, beginning: string): Promise<string> {
  if (!isDigestBeginning(beginning))
    refuse(
      'HASH_MALFORMED',
      'A digest is lower-case hexadecimal: all 64 characters, or at least the first 4.',
    );
  const found = await store.objectsLike(beginning, journeyLimits.id_candidates);
  if (found.length > 1)
    refuseAmbiguous(
      'objects',
      beginning,
      found.map(({ digest, bytes }) => [digest, counted(bytes, 'byte')]),
    );
  return (
    found[0]?.digest ??
    refuse(UNKNOWN.object, `No stored object has a digest that begins with "${beginning}".`)
  );
}

const UNKNOWN: Readonly<Record<Findable, ReasonCode>> = {
  intent: 'INTENT_NOT_FOUND',
  execution: 'EXECUTION_NOT_FOUND',
  capability: 'CAPABILITY_UNKNOWN',
  delegation: 'DELEGATION_UNKNOWN',
  conversation: 'AGENT_TRANSITION_ILLEGAL',
  object: 'OBJECT_MISSING',
};

function requireBeginning(id: string): void {
  if (!isIdBeginning(id))
    refuse('ID_MALFORMED', 'An id is a lower-case UUID, or at least its first 4 characters.');
}

type Candidate = readonly [id: string, about: string];

function refuseAmbiguous(what: string, id: string, candidates: readonly Candidate[]): never {
  const shown = candidates
    .slice(0, journeyLimits.id_candidates - 1)
    .map(([one, about]) => `${one} (${about})`);
  const more = candidates.length === journeyLimits.id_candidates ? ', and more' : '';
  return refuse(
    'ID_AMBIGUOUS',
    `${shown.length}${more === '' ? '' : ' or more'} ${what} fit "${id}": ${shown.join(', ')}${more}.`,
  );
}

/** What tells the candidates apart: the goal, or who is meant. */
async function aboutOf(context: Context, of: Exclude<Findable, 'object'>, id: string): Promise<string> {
  const { store } = context;
  if (of === 'conversation') return `of ${(await store.find('agent', id))?.user_id}`;
  if (of === 'delegation') return `to ${(await store.find('delegation', id))?.delegate}`;
  const intent_id = of === 'intent' ? id : ((await store.find(of, id))?.intent_id ?? '');
  const state = await store.find('intent', intent_id);
  const goal = state && (await goalOf(context, state));
  return (goal ?? 'its goal cannot be read').slice(0, journeyLimits.shown_goal_chars);
}

/** The checkpoints of a run that are meant: each by its id, or by a beginning of it that fits only one. */
export function checkpointsMeant(
  manifest: Pick<RollbackManifest, 'checkpoints'> | null,
  named: readonly string[],
): string[] {
  return named.map((id) => {
    requireBeginning(id);
    const found = (manifest?.checkpoints ?? []).filter((one) => one.checkpoint_id.startsWith(id));
    const candidates = found.slice(0, journeyLimits.id_candidates);
    if (found.length > 1)
      refuseAmbiguous(
        'checkpoints',
        id,
        candidates.map((one) => [one.checkpoint_id, one.file_path]),
      );
    return (
      found[0]?.checkpoint_id ??
      refuse('CHECKPOINT_UNKNOWN', `No checkpoint of this run has an id that begins with "${id}".`)
    );
  });
}

/** The run of a plan that was asked for last, instead of an id. */
export const LAST = 'last';

/** The execution that a person means, or the last run of a plan. */
export async function findRun(context: Context, name: string): Promise<string> {
  return name === LAST ? lastRun(context) : runNamed(context, name);
}

/**
 * The execution that a person means: by its own id, by that of its intent (then its latest run), or by the beginning of one of
 * them if it fits only one run.
 */
export async function runNamed(context: Context, name: string): Promise<string> {
  requireBeginning(name);
  const { store } = context;
  if (await store.find('execution', name)) return name;
  const found = new Map<string, string>();
  for (const id of await store.keys('execution', name, journeyLimits.id_candidates))
    found.set(id, (await store.find('execution', id))!.intent_id);
  const intents = await store.keys('intent', name, journeyLimits.id_candidates);
  // Those that were not read may have run as well. An agent can choose ids that begin like another one.
  if (intents.length === journeyLimits.id_candidates) {
    const told = intents.map(async (id) => [id, await aboutOf(context, 'intent', id)] as const);
    refuseAmbiguous('intents', name, await Promise.all(told));
  }
  for (const id of intents) {
    const run = (await store.find('intent', id))!.runs.at(-1);
    if (run) found.set(run.execution_id, id);
  }
  if (found.size > 1) {
    const told = [...found].map(async ([id, of]) => [id, await aboutOf(context, 'intent', of)] as const);
    refuseAmbiguous('runs', name, await Promise.all(told));
  }
  const [only] = found.keys();
  return (
    only ?? refuse('EXECUTION_NOT_FOUND', `No run has this id, or is of an intent that has it: ${name}.`)
  );
}

async function lastRun(context: Context): Promise<string> {
  let last: Run | undefined;
  for await (const { runs } of allIntents(context)) {
    const run = runs.at(-1);
    if (run && run.reports !== null && (!last || run.claimed_at > last.claimed_at)) last = run;
  }
  return last?.execution_id ?? refuse('EXECUTION_NOT_FOUND', 'No plan has run yet.');
}
