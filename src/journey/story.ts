import type { JsonObject } from '../canonical/json.ts';
import { showEffect } from '../display/effect.ts';
import type { Shown } from '../display/shown.ts';
import type { WaitsFor } from '../display/unserved.ts';
import type { ApprovalsMoment } from '../gate/approvals.ts';
import type { CapabilityWord } from '../gate/capability-word.ts';
import { capabilityWordOf } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { isDue, type RunWord, runWordOf } from '../gate/status-word.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { Envelope } from '../intent/envelope.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import {
  type Absence,
  isAbsent,
  type Output,
  type Printed,
  type ReadObject,
  readOutput,
  type Story,
  type Told,
  tellIntent,
} from '../story/tell.ts';
import { type ToldApprovals, toldOf, withOrder } from './approvals.ts';
import { readerOf } from './contents.ts';
import type { Context } from './context.ts';
import { review } from './review.ts';
import type { Reviewers } from './reviewers.ts';
import { frozenWords, standingNow } from './standing.ts';
import { type UndoneBy, undoerOf, undoneByOf } from './undo.ts';

/** Everything that can be told of one intent. */
export interface IntentStory {
  readonly intent: IntentState & ToldApprovals & { readonly reviewers: Reviewers };
  /**
   * Whether it is known who may sign. Otherwise no approval is counted, and `status_word` and the words of orders go by the entries of the
   * intent and the clock alone.
   */
  readonly signers_known: boolean;
  /** What was asked for; null where it is not there. */
  readonly envelope: Envelope | null;
  readonly effect: JsonObject | null;
  /** Why it is not there; null where it is. */
  readonly absent: Absence | null;
  /** What a person sees of the effect, for a plan that has not run with every change as a diff. */
  readonly shown: Shown | null;
  /** And of each effect that a human may turn to when a run fails. */
  readonly alternates: readonly Shown[];
  readonly story: readonly Told[];
  /** What it asks for differently than the intent that it replaces; null when that one is not at hand. */
  readonly changes: readonly string[] | null;
  /** Which freeze stops it, in one sentence; null where none does, of what is over, and in a file, which does not tell. */
  readonly frozen: string | null;
  /** Which executors its order waits for; null where no run is ordered that an executor would take. */
  readonly waits_for: WaitsFor | null;
  /** The intent that undoes its run; null where none does, and in a file, which does not tell. */
  readonly undone_by: UndoneBy | null;
  readonly outputs: readonly Output[];
  /** What became of each order and each run, in the words of their lists. */
  readonly capability_words: readonly {
    readonly capability_id: string;
    readonly status_word: CapabilityWord;
  }[];
  readonly run_words: readonly { readonly execution_id: string; readonly status_word: RunWord }[];
  /** Reports of finished runs that are not in the project. */
  readonly reports_missing: readonly MissingReports[];
  /** What the newest run printed; null where that was not asked for, or there was none. */
  readonly output: Printed | null;
}

export interface MissingReports {
  readonly execution_id: string;
  readonly names: readonly string[];
}

export interface StoryRequest {
  readonly intent_id: string;
  /** Also what the newest run printed. */
  readonly with_output?: boolean;
}

/** The story of an intent, as the store of this project has it. */
export async function storyOf(
  context: Context,
  { intent_id, with_output = false }: StoryRequest,
): Promise<IntentStory> {
  const { store } = context;
  const entries = await entriesOf(context, intent_id);
  const replaces = entries[0]?.body.replaces;
  const before = typeof replaces === 'string' ? await entriesOf(context, replaces) : [];
  const read = readerOf(store, [...entries, ...before]);
  const story = await tellIntent(entries, read, before);
  const asked = isAbsent(story.asked) ? null : await review(context, intent_id);
  const standing = await standingNow(context, story.intent);
  const { capability } = standing;
  const is_ordered = capability?.status === 'ordered' && capability.holder === null;
  return {
    ...told(story, toldOf(withOrder(story.intent, standing.moment)), await standing.reviewers()),
    ...wordsOf(story, standing.moment),
    signers_known: true,
    frozen: frozenWords(standing),
    undone_by: undoneByOf(await undoerOf(context, intent_id)),
    waits_for: is_ordered && isDue(story.intent) ? await standing.executors() : null,
    shown: asked?.shown ?? null,
    alternates: asked?.alternates ?? [],
    reports_missing: await missingReports(context, story.intent),
    output: with_output ? await printedLast(story, read) : null,
  };
}

async function entriesOf({ store }: Context, subject: string): Promise<Entry[]> {
  return (await store.entriesOf(subject)).map(({ bytes }) => openEntry(bytes));
}

export interface FileStory {
  /** All that the file says about the intent, and about the one that it replaces. */
  readonly entries: readonly Entry[];
  readonly before?: readonly Entry[];
  readonly read: ReadObject;
  /** Who may sign, by the entries of the file; null where they do not tell it. */
  readonly authorities: Authorities | null;
  readonly now: Date;
  readonly with_output?: boolean;
}

/**
 * The same from a verified file, for an auditor with no project: as of the head of that file. Where the file does not tell who may sign, as
 * an archive alone that begins later, no approval is counted.
 */
export async function storyInFile({
  entries,
  before = [],
  read,
  now,
  with_output = false,
  authorities,
}: FileStory): Promise<IntentStory> {
  const story = await tellIntent(entries, read, before);
  const moment: ApprovalsMoment = { now, authorities };
  const { status_word, ...approvals } = toldOf(withOrder(story.intent, moment));
  return {
    ...told(story, { status_word, ...(authorities ? approvals : UNJUDGED) }, null),
    // Of processes a file knows nothing.
    ...wordsOf(story, moment),
    signers_known: authorities !== null,
    frozen: null,
    waits_for: null,
    undone_by: null,
    shown: shownFromFile(story),
    alternates: [],
    reports_missing: [],
    output: with_output ? await printedLast(story, read) : null,
  };
}

/** What is told where it is not known who may sign. */
const UNJUDGED = { approvers: [], missing: 0, ordered_until: null } as const;

type Words = Pick<IntentStory, 'capability_words' | 'run_words'>;

function wordsOf({ intent, left }: Story, moment: ApprovalsMoment): Words {
  const { is_running } = moment;
  return {
    capability_words: intent.capabilities.map((one) => ({
      capability_id: one.capability_id,
      status_word: capabilityWordOf(intent, one, moment),
    })),
    run_words: left.map(({ execution_id, status }) => ({
      execution_id,
      status_word: runWordOf(status, is_running),
    })),
  };
}

type ToldStory = Omit<
  IntentStory,
  | 'signers_known'
  | 'frozen'
  | 'waits_for'
  | 'undone_by'
  | 'shown'
  | 'alternates'
  | 'reports_missing'
  | 'output'
  | keyof Words
>;

function told(
  { intent, asked, told: story, outputs, changes }: Story,
  approvals: ToldApprovals,
  reviewers: Reviewers,
): ToldStory {
  const found = isAbsent(asked)
    ? { envelope: null, effect: null, absent: asked }
    : { ...asked, absent: null };
  return { intent: { ...intent, ...approvals, reviewers }, ...found, story, changes, outputs };
}

/** An effect from a file is what its digest says, and its digest may be of anything: no shape of it is relied on. */
function shownFromFile({ asked }: Story): Shown | null {
  if (isAbsent(asked)) return null;
  try {
    return showEffect(asked.effect as never);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse('SHAPE_INVALID', 'The effect is none that this version of Keyturn can show.');
  }
}

/** A run is recorded before its reports are written: where it was killed in between, they are not there. */
async function missingReports({ root }: Context, { runs }: IntentState): Promise<MissingReports[]> {
  const missing: MissingReports[] = [];
  for (const { execution_id, reports, result } of runs) {
    if (reports === null || result === null) continue;
    const names = await (await import('./plan-report.ts')).missingReports(root, reports);
    if (names.length > 0) missing.push({ execution_id, names });
  }
  return missing;
}

async function printedLast({ outputs }: Story, read: ReadObject): Promise<Printed | null> {
  const last = outputs.at(-1);
  return last ? readOutput(last, read) : null;
}
