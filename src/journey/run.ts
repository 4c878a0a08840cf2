import { randomUUID } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { showEffect } from '../display/effect.ts';
import type { Shown } from '../display/shown.ts';
import type { OnOutput } from '../effect/child.ts';
import type { Event } from '../event/event.ts';
import type { IntentState } from '../gate/state.ts';
import type { Unsigned } from '../identity/fact.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { requireProvenClaim } from './audit.ts';
import { requireFormats } from './check.ts';
import { type Context, type Kept, recordingRefusal } from './context.ts';
import { inCountedTurn } from './counted.ts';
import { type Effect, type Progress, progressOf } from './derived.ts';
import { openAsked } from './effect.ts';
import { stated, withOneKey } from './executor.ts';
import type { Looking, Noted } from './issue.ts';
import { atWork } from './life.ts';
import { type LiveTold, liveTold } from './live.ts';
import { observedRun } from './observe.ts';
import type { UsableCapability } from './present.ts';
import { confinedTo } from './reach.ts';
import { type LookRequest, makeReady, type Ready } from './ready.ts';
import { type Report, recordEnd, refuseInDoubt, type WatchedEnd, watchedEnd } from './record.ts';
import { watchRun } from './watch.ts';

export interface Preview {
  readonly state: IntentState;
  readonly effect: Effect;
  readonly capability: UsableCapability;
  /** The effect as lines, confined as the capability confines it. */
  readonly shown: Shown;
  /** What `run` is asked with: that this is what was shown. */
  readonly seen: Digest;
}

export interface RunRequest extends LookRequest {
  /** The digest of what was shown, from `look`, `turn` or `grant`. Asking with it is the yes: there is no default. */
  readonly seen: Digest;
  readonly abort?: AbortSignal | undefined;
  /** Asked just before the claim, and while it waits for its turn: a run that its caller no longer waits for does not begin. */
  readonly isWanted?: (() => boolean) | undefined;
  /** Awaited when no other plan is in the way of this run any more, before anything is looked at. */
  readonly onTurn?: (() => Promise<void>) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The claim is durable, and the effect begins. It must not throw. */
  readonly onClaimed?: ((execution_id: string) => void) | undefined;
  readonly onOutput?: OnOutput | undefined;
  /** The record is durable. The reports of a plan come after it. */
  readonly onRecorded?: (() => void) | undefined;
  /** Several executors may claim the order: an attempt that came second is no refused run, and is not recorded. */
  readonly or_elsewhere?: boolean | undefined;
}

/** Everything that `run` checks, and nothing that it does. Records nothing. */
export async function preview(context: Context, request: LookRequest): Promise<Preview> {
  requireFormats(request.intent_id, request.hash);
  return lookWith(context, request, { keep: () => {}, noted: { denied_order: null } });
}

/** The same as the first half of a run: what it refuses is recorded. */
export async function look(context: Context, request: LookRequest): Promise<Preview> {
  requireFormats(request.intent_id, request.hash);
  const noted: Noted = { denied_order: null };
  return recordingRefusal(context, refused(request, noted), (keep) =>
    lookWith(context, request, { keep, noted }),
  );
}

async function lookWith(context: Context, request: LookRequest, looking: Looking): Promise<Preview> {
  await context.step();
  const ready = await makeReady(context, request, looking);
  ready.prepared.close();
  const preview = previewOf(ready);
  remember(context, preview.seen, ready);
  return preview;
}

/** A run that follows a look need not derive its effect again. */
function remember({ memory: { looks } }: Context, seen: Digest, { state, derived }: Ready): void {
  looks.delete(seen);
  if (derived.isStillTrue) looks.set(seen, { state, derived });
}

function previewOf({ state, seen, capability, derived: { effect } }: Ready): Preview {
  const { scope } = capability.held.claims;
  return {
    state,
    seen,
    capability,
    effect,
    shown: showEffect(effect.kind === 'tool' ? confinedTo(effect, scope) : effect),
  };
}

/** The adapter of 001, step 5 and 6 of 002: check, look again, claim, run once, record, stop. */
export async function run(context: Context, request: RunRequest): Promise<Report> {
  return observedRun(context.telemetry, request, () => runOnce(context, request));
}

async function runOnce(opened: Context, request: RunRequest): Promise<Report> {
  const context = withOneKey(opened);
  const { intent_id, hash } = request;
  requireFormats(intent_id, hash);
  const noted: Noted = { denied_order: null };
  const act = async (keep: (ruling: Kept) => void) => {
    await context.step();
    const execution_id = randomUUID();
    // 1. Plans that share a path run one after another, and what they find is looked at when their turn has come.
    return await whenDue(context, request, execution_id, async (due) => {
      const { ready, claimed } = await inCountedTurn(context, { intent_id }, async () => {
        // 2. All that was looked at before it was shown, again: the human may have taken an hour.
        const looked = context.memory.looks.get(request.seen);
        const ready = await makeReady(context, request, { keep, noted }, looked);
        requireSeen(ready, request);
        requireDue(ready, due);
        // 3. The claim is durable before the effect begins, and it spends the capability. At most once is this alone.
        const claimed = claim(context, execution_id, ready);
        await take(context, claimed, ready);
        // What was seen runs once: no later run needs what the look derived.
        context.memory.looks.delete(request.seen);
        return { ready, claimed };
      });
      const told = liveTold(context, execution_id, ready.state);
      let is_recorded = false;
      try {
        // 4. The one effect, watched, then its record, always.
        const ended = await effectOf(context, ready, claimed, request, told);
        const report = await recordEnd(context, claimed, ready.state, ended, request.onRecorded);
        is_recorded = true;
        return report;
      } finally {
        await told.end({ is_recorded });
        ready.prepared.close();
      }
    });
  };
  const isRefusal = async () => !request.or_elsewhere || !(await isRunElsewhere(context, intent_id));
  return recordingRefusal(context, refused(request, noted), act, isRefusal);
}

/** Another executor, or the terminal at which it was turned, was faster: nothing failed, and they tell of it. */
export async function isRunElsewhere({ store }: Context, intent_id: string): Promise<boolean> {
  const now = await store.find('intent', intent_id).catch(() => null);
  return now !== null && now.runs.length > 0 && now.status !== 'approved';
}

/** Acts with the intent whose turn it is; null where there is none. */
async function whenDue<T>(
  context: Context,
  { intent_id, isWanted, abort, onTurn }: RunRequest,
  execution_id: string,
  act: (due: IntentState | null) => Promise<T>,
): Promise<T> {
  const due = await context.store.find('intent', intent_id);
  const begin = async () => {
    await onTurn?.();
    return atWork(context, execution_id, () => act(due));
  };
  const { effect } = due?.effect === 'plan' ? await openAsked(context, due) : { effect: null };
  if (effect?.kind !== 'plan') return begin();
  const { inPlanTurn } = await import('./plan-turn.ts');
  return inPlanTurn(
    context,
    { id: execution_id, effect, isWanted: () => !abort?.aborted && isWanted?.() !== false },
    begin,
  );
}

/** The turn was taken for what a row says, which an attacker can write: what runs must be the same. */
function requireDue({ state: { effect, effect_digest }, prepared }: Ready, due: IntentState | null): void {
  if (effect === due?.effect && effect_digest === due.effect_digest) return;
  prepared.close();
  refuse('EFFECT_CHANGED', 'The next attempt has another effect by now.');
}

/** What would run is what was shown, and nothing that came since; and it is still wanted. */
function requireSeen({ seen, prepared }: Ready, { seen: shown, isWanted }: RunRequest): void {
  if (seen === shown && isWanted?.() !== false) return;
  prepared.close();
  refuse(seen === shown ? 'CONFIRMATION_DECLINED' : 'SEEN_OTHER');
}

function claim(
  context: Context,
  execution_id: string,
  { state, capability, ruling, derived, prepared }: Ready,
): Event<'execution.claimed'> {
  return stated(context, {
    kind: 'execution.claimed',
    subject: state.intent_id,
    body: {
      execution_id,
      capability_id: capability.recorded.capability_id,
      presented: capability.held.digest,
      policy: ruling.snapshot,
      decision: ruling.digest,
      attempt: state.attempt,
      hash: state.hash,
      effect_digest: state.effect_digest,
      registry_digest: derived.registry_digest,
      tool: derived.name,
      reports: prepared.reports,
      executor: context.process,
    },
  });
}

/** What was only ordered is issued with the claim. On CLAIM_TAKEN the refusal tells the time of the run that won. */
async function take(
  { store }: Context,
  claimed: Event<'execution.claimed'>,
  { ruling, issue, prepared }: Ready,
): Promise<void> {
  try {
    await store.commit({
      events: issue ? [issue.issued, claimed] : [claimed],
      objects: [...(issue?.objects ?? []), ruling.bytes],
    });
  } catch (error) {
    prepared.close();
    if (!(error instanceof Refusal) || error.code !== 'CLAIM_TAKEN') throw error;
    const first = (await store.find('intent', claimed.subject))?.runs.at(-1);
    refuse('CLAIM_TAKEN', undefined, first ? { executed_at: first.claimed_at } : {});
  }
}

/** From the claim on nothing is a refusal any more: whatever goes wrong may have happened, and stays in doubt. */
async function effectOf(
  context: Context,
  { matter, capability, prepared }: Ready,
  claimed: Event<'execution.claimed'>,
  { abort, onProgress, onClaimed, onOutput }: RunRequest,
  told: LiveTold,
): Promise<WatchedEnd> {
  const { execution_id } = claimed.body;
  onClaimed?.(execution_id);
  const watch = watchRun(context, { capability, execution_id, abort, ...matter });
  const { subject } = claimed;
  try {
    await context.step();
    await requireProvenClaim(context, claimed);
    const ended = await prepared.run({
      execution_id,
      checkpointed: (manifest) =>
        bind(context, { kind: 'execution.checkpointed', subject, body: { execution_id, manifest } }),
      announced: (journal) =>
        bind(context, { kind: 'execution.announced', subject, body: { execution_id, journal } }),
      abort: watch.signal,
      onStep: (step) => {
        told.step(step);
        const progress = progressOf(step);
        if (progress) onProgress?.(progress);
      },
      onOutput: (...printed) => {
        told.printed(...printed);
        onOutput?.(...printed);
      },
    });
    return watchedEnd(ended, watch.violation(), watch.isCancelled());
  } catch (error) {
    return refuseInDoubt(execution_id, error);
  } finally {
    watch.stop();
  }
}

/** A rollback trusts manifest and journal by these digests: what was changed later is refused. */
async function bind(
  context: Context,
  fact: Unsigned<'executor', 'execution.checkpointed'> | Unsigned<'executor', 'execution.announced'>,
): Promise<void> {
  await context.store.commit({ events: [stated(context, fact)] });
}

/** F3 of 002: the refused attempt is recorded, with the capability that was presented if it can be named. */
function refused({ intent_id: subject, hash, capability }: LookRequest, noted: Noted) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => {
    const { denied_order: order_id } = noted;
    if (order_id !== null)
      return { kind: 'order.denied', subject, body: { order_id, hash, reason_code, decision } };
    const body = { hash, capability_id: nameOf(capability?.text), reason_code, decision };
    return { kind: 'execution.refused', subject, body };
  };
}

/** The id that a token claims to have. It is only a name in a record: the token may be forged. */
function nameOf(text: string | undefined): string | null {
  try {
    const payload = JSON.parse(Buffer.from(text?.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return typeof payload.jti === 'string' && isUuid(payload.jti) ? payload.jti : null;
  } catch {
    return null;
  }
}
