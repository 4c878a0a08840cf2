import { type Event, parseEvent } from '../event/event.ts';
import { type NeededDecision, neededDecision, requireDecision } from '../fold/decided.ts';
import { issuedToken } from '../fold/issued.ts';
import { FoldedLedger } from '../fold/ledger.ts';
import { approvedNow } from '../gate/standing.ts';
import { openEnvelope } from '../intent/envelope.ts';
import { type Entry, openEntry } from '../ledger/entry.ts';
import { type DecisionRecord, openDecision, redecide, sameDecision } from '../policy/replay.ts';
import { SCOPE_OF } from '../policy/request.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { withSigners } from './folded.ts';
import { requireIssuedToken } from './issued-token.ts';

/** One thing that was recomputed, and what came out, again. */
export interface ReplayStep {
  readonly seq: number;
  readonly what: string;
  readonly outcome: string;
}

export interface Replay {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly steps: readonly ReplayStep[];
}

/**
 * Makes every decision on the way to one execution again, from what was stored when it was made: signatures and states from
 * the entries, policies from their snapshots and whole requests, the capability from its token. Whatever is missing or
 * comes out differently fails the replay.
 */
export async function replay(context: Context, execution_id: string): Promise<Replay> {
  const known = (await context.store.find('execution', execution_id)) ?? refuse('EXECUTION_NOT_FOUND');
  const { intent_id } = known;
  const about = await context.store.entriesOf(intent_id);
  const folded = new FoldedLedger({ is_whole: false });
  const steps: ReplayStep[] = [];
  for (const { bytes } of await withSigners(context, about)) {
    const entry = openEntry(bytes);
    const event = parseEvent(entry);
    if (entry.subject === intent_id) steps.push(...(await replayed(context, folded, event, entry)));
    folded.take(entry);
    if (event.kind === 'execution.finished' && event.body.execution_id === execution_id) break;
  }
  return { execution_id, intent_id, steps };
}

/** What was folded is the ledger as it was just before this entry. */
async function replayed(
  context: Context,
  folded: FoldedLedger,
  event: Event,
  entry: Entry,
): Promise<ReplayStep[]> {
  const steps: ReplayStep[] = [];
  const step = (what: string, outcome: string) => steps.push({ seq: entry.seq, what, outcome });
  const needed = neededDecision(folded, event);
  if (needed !== null) {
    const record = openDecision(await context.store.object(needed.digest));
    await requireSameDecision(context, needed, record, entry);
    step(`policies on ${record.request.action}`, record.decision.words);
  }
  switch (event.kind) {
    case 'intent.proposed':
      await requireEnvelope(context, event, entry);
      step('intent', `frozen as ${event.body.hash}`);
      break;
    case 'capability.issued':
      await requireToken(context, folded, event, entry);
      step(
        'capability',
        `${event.body.capability_id} is for ${event.body.action} until ${event.body.expires_at}`,
      );
      break;
    case 'execution.claimed':
      requireEligible(folded, event, entry);
      step('gate', `eligible at ${entry.at}, attempt ${event.body.attempt}`);
      break;
    case 'execution.finished':
      // No decision rests on an output, so one that was erased is not missed.
      step('outcome', event.body.result);
      break;
  }
  return steps;
}

/** What the entry needs of it is asked as a commit asks, then the policies that were active then are asked again. */
async function requireSameDecision(
  context: Context,
  needed: NeededDecision,
  record: DecisionRecord,
  { seq }: Entry,
): Promise<void> {
  try {
    requireDecision(needed, record);
  } catch (error) {
    if (error instanceof Refusal) differs(seq, error.message);
    throw error;
  }
  const { request, decision, snapshot } = record;
  const again = redecide(record, await context.rules(snapshot));
  if (!sameDecision(decision, again))
    differs(
      seq,
      `The ${SCOPE_OF[request.action]} policies said: ${decision.words} They say now: ${again.words}`,
    );
}

/** The bytes under a digest are checked by the store; what they name must be what the entry names. */
async function requireEnvelope(
  { store }: Context,
  { subject, body }: Event<'intent.proposed'>,
  { seq }: Entry,
): Promise<void> {
  const envelope = openEnvelope(await store.object(body.hash));
  const named = [envelope.effect, ...envelope.alternates].map(({ digest }) => digest).join();
  const recorded = [body.effect_digest, ...body.alternates.map((one) => one.effect_digest)].join();
  if (envelope.intent_id !== subject || named !== recorded)
    differs(seq, 'The envelope names another effect.');
  for (const digest of recorded.split(',')) await store.object(digest);
}

/** The token as a deep verification looks at it. */
async function requireToken(
  { store }: Context,
  folded: FoldedLedger,
  event: Event<'capability.issued'>,
  { seq }: Entry,
): Promise<void> {
  const issued = issuedToken(folded, event);
  if (issued === null) return differs(seq, 'It was issued without an order.');
  try {
    await requireIssuedToken(store, issued);
  } catch (error) {
    if (error instanceof Refusal && error.code !== 'OBJECT_MISSING') differs(seq, error.message);
    throw error;
  }
}

/** The gate's own question, at the moment of the claim. That the capability was good, the state machine asks itself. */
function requireEligible(
  folded: FoldedLedger,
  { subject, body }: Event<'execution.claimed'>,
  entry: Entry,
): void {
  const answer = approvedNow(folded.state('intent', subject), body.hash, {
    now: new Date(entry.at),
    ledger_at: null,
    tenant: entry.tenant,
    freezes: folded.system.freezes,
    set_back_at: folded.system.set_back_at,
    control_keys: folded.system.control_keys,
    authorities: folded.authorities,
  });
  if ('eligible' in answer) differs(entry.seq, `The gate says ${answer.code}.`);
}

function differs(seq: number, message: string): never {
  return refuse('REPLAY_DIFFERS', `Entry ${seq}: ${message}`, { seq });
}
