import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '../canonical/digest.ts';
import { type SealedBytes, sealBytes } from '../canonical/sealed.ts';
import type { Body, Event } from '../event/event.ts';
import type { IntentState } from '../gate/state.ts';
import { journeyLimits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Captured, Ended } from './derived.ts';
import { recordedUnlessRevoked, stated } from './executor.ts';
import { type Violation, violationOf } from './watch.ts';

export interface Report extends Omit<Ended, 'afterRecord'> {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly capability_id: string;
  readonly tool: string;
  /** Where the reports of a plan are. */
  readonly folder: string | null;
  /** Why not all reports of a plan are there. They can be made again from the record: `plan report`. */
  readonly reports_missing: ReasonCode | null;
}

/** How it ended, and what no longer held while it ran. */
export interface WatchedEnd {
  readonly ended: Ended;
  readonly violation: Violation | null;
}

/** What drifted under a running plan is a violation, too; the plan found it by itself and rolled back. */
export function watchedEnd(ended: Ended, found: Violation | null, is_cancelled = false): WatchedEnd {
  const { result, reason_code } = ended;
  if (result === 'success') return { ended, violation: found };
  if (found) return { ended: { ...ended, reason_code: found.refusal.code }, violation: found };
  // What ended by itself keeps its own reason, although its proposer had asked to stop it.
  if (is_cancelled && HALF_WAY.has(result))
    return { ended: { ...ended, reason_code: 'RUN_CANCELLED' }, violation: null };
  const drifted = reason_code !== null && DRIFTED.has(reason_code);
  return { ended, violation: drifted ? { refusal: new Refusal(reason_code), ruling: null } : null };
}

const HALF_WAY: ReadonlySet<Ended['result']> = new Set<Ended['result']>(['partial', 'rolled_back']);
const DRIFTED: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['PLAN_DRIFT', 'EFFECT_CHANGED']);

/** The end of a run, always recorded: with the violation that stopped it, if one did. */
export async function recordEnd(
  context: Context,
  claimed: Event<'execution.claimed'>,
  state: IntentState,
  { ended, violation }: WatchedEnd,
  onRecorded: () => void = () => {},
): Promise<Report> {
  const { execution_id, capability_id, attempt, tool, reports: folder } = claimed.body;
  const { result, reason_code, exit_code, signal, started_at, finished_at } = ended;
  let end: End = { result, reason_code };
  const [stdout, stderr] = [capturedOf(ended.stdout), capturedOf(ended.stderr)];
  const endOf = (over: End) =>
    stated(context, {
      kind: 'execution.finished',
      subject: claimed.subject,
      body: {
        execution_id,
        capability_id,
        attempt,
        tool,
        ...over,
        exit_code,
        signal,
        started_at,
        finished_at,
        stdout: stdout.fact,
        stderr: stderr.fact,
        // Not sealed: the digest is that of the file beside the backups, and its ids are in no other report.
        reports: Object.fromEntries(reportsOf(ended, over).map(([name, bytes]) => [name, sha256(bytes)])),
      },
    });
  const objectsOf = (over: End) => [
    ...stdout.objects,
    ...stderr.objects,
    ...reportsOf(ended, over).map(([, bytes]) => bytes),
  ];
  try {
    const found = violation && (await foundNow(context, claimed, state, violation));
    const commit = (over: End) =>
      context.store.commit({
        events: found
          ? [
              stated(context, violationOf(found.state, execution_id, found.violation, context.clock())),
              endOf(over),
            ]
          : [endOf(over)],
        objects: [...objectsOf(over), ...(found?.violation.ruling ? [found.violation.ruling.bytes] : [])],
      });
    end = await recordedUnlessRevoked(commit, end, DOUBTED);
  } catch (error) {
    refuseInDoubt(execution_id, error, violation);
  }
  onRecorded();
  const { afterRecord, ...told } = ended;
  const reports_missing = await failureOf(afterRecord);
  const intent_id = claimed.subject;
  return { ...told, ...end, execution_id, intent_id, capability_id, tool, folder, reports_missing };
}

type End = Pick<Body<'execution.finished'>, 'result' | 'reason_code'>;

/** What a revoked executor says of its run is kept, and decides nothing. */
const DOUBTED: End = { result: 'partial', reason_code: 'EXECUTOR_REVOKED' };

/** The journal of a revoked executor is not named, for a rollback would go by it. */
function reportsOf({ reports }: Ended, end: End): [name: string, bytes: Uint8Array][] {
  return Object.entries(reports).filter(([name]) => end !== DOUBTED || name !== 'journal');
}

/** The record stands, whatever goes wrong after it: that is said, and is no failure of the run. */
async function failureOf(act: Ended['afterRecord']): Promise<ReasonCode | null> {
  try {
    await act?.();
    return null;
  } catch (error) {
    return error instanceof Refusal ? error.code : 'INTERNAL';
  }
}

interface Found {
  readonly state: IntentState;
  readonly violation: Violation;
}

/**
 * What is outstanding now, and the decision if it may still be kept. A store that is away is not asked for long: the
 * outcome is worth more, and the commit waits for the server by itself.
 */
async function foundNow(
  context: Context,
  { body }: Event<'execution.claimed'>,
  state: IntentState,
  violation: Violation,
): Promise<Found> {
  const spent = state.capabilities.map((one) =>
    one.capability_id === body.capability_id ? { ...one, status: 'spent' as const } : one,
  );
  const without: Found = {
    state: { ...state, capabilities: spent },
    violation: { ...violation, ruling: null },
  };
  const read = async (): Promise<Found> => ({
    state: (await context.store.find('intent', state.intent_id)) ?? without.state,
    violation: await withoutErased(context, state, violation),
  });
  const late = new AbortController();
  try {
    return await Promise.race([
      read().catch(() => without),
      pause(journeyLimits.violation_read_ms, without, late),
    ]);
  } finally {
    late.abort();
  }
}

/** A decision holds the goal: what was erased while it ran is not stored again. */
async function withoutErased(
  { store }: Context,
  { hash }: IntentState,
  violation: Violation,
): Promise<Violation> {
  if (violation.ruling === null) return violation;
  try {
    await store.object(hash);
    return violation;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'OBJECT_MISSING') throw error;
    return { ...violation, ruling: null };
  }
}

/** What happened is not known to any process: a human has to say. */
export function refuseInDoubt(
  execution_id: string,
  error: unknown,
  violation: Violation | null = null,
): never {
  const because = error instanceof Refusal ? error.code : 'INTERNAL';
  const stopped_by = violation ? { stopped_by: violation.refusal.code } : {};
  return refuse('RECORDING_FAILED', undefined, { execution_id, because, ...stopped_by });
}

/** What a stream printed, for the entry and for the store. Of nothing there is no object. */
export function capturedOf({ bytes, total, truncated }: Captured) {
  if (total === 0) return { fact: { digest: null, bytes: 0, truncated: false }, objects: [] };
  const sealed = seal(bytes);
  return { fact: { digest: sealed.digest, bytes: total, truncated }, objects: [sealed.bytes] };
}

export function seal(bytes: Uint8Array): SealedBytes {
  return sealBytes(bytes, randomBytes(16).toString('base64'));
}
