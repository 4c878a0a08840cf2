import { randomUUID } from 'node:crypto';
import type { Digest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { showEffect } from '../display/effect.ts';
import type { Shown } from '../display/shown.ts';
import type { Event } from '../event/event.ts';
import { freezeWords } from '../gate/freeze.ts';
import {
  approvedNow,
  type Denial,
  lostBy,
  type Moment,
  type Standing,
  standingOf,
} from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { isLiveAct } from '../identity/authority.ts';
import type { Authorities } from '../identity/delegation.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { provenState } from './audit.ts';
import { momentOf, refuseDenied, requireFormats } from './check.ts';
import { atWork, type Context, type Kept, recordingRefusal } from './context.ts';
import type { Derived, Effect, Prepared, Progress } from './derived.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { requireBounds } from './extent.ts';
import { glassHolds } from './glass.ts';
import { observedRun } from './observe.ts';
import { type Presented, requireCapability, type UsableCapability } from './present.ts';
import { requireDispatchedNow } from './prove-agent.ts';
import { confinedTo, toolsOf } from './reach.ts';
import { inDoubt, type Report, recordEnd, type WatchedEnd, watchedEnd } from './record.ts';
import { type Matter, type Ruling, requireAllowed, rule } from './rules.ts';
import { watchRun } from './watch.ts';

export interface Preview {
  readonly state: IntentState;
  readonly effect: Effect;
  readonly capability: UsableCapability;
  /** The effect as lines, confined as the capability confines it. */
  readonly shown: Shown;
}

export interface RunRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** A capability from elsewhere, such as one that was made narrower; without it the one that a human granted. */
  readonly capability?: Presented;
  /** Asks the human at the terminal, and is true only for an explicit yes. There is no default. */
  readonly confirm: (preview: Preview) => Promise<boolean>;
  readonly abort?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** The record is durable. The reports of a plan come after it. */
  readonly onRecorded?: () => void;
}

/** Everything that `run` checks, and nothing that it does. Records nothing. */
export async function preview(
  context: Context,
  intent_id: string,
  hash: string,
  presented: Presented = {},
): Promise<Preview> {
  requireFormats(intent_id, hash);
  const ready = await makeReady(context, { intent_id, hash, capability: presented }, () => {});
  ready.prepared.close();
  return previewOf(ready);
}

function previewOf({ state, capability, derived: { effect } }: Ready): Preview {
  const { scope } = capability.held.claims;
  return {
    state,
    capability,
    effect,
    // Only where a person looks: most runs in a program are confirmed without.
    get shown() {
      return showEffect(effect.kind === 'tool' ? confinedTo(effect, scope) : effect);
    },
  };
}

/** The adapter of 001, step 5 and 6 of 002: check, look again, claim, run once, record, stop. */
export async function run(context: Context, request: RunRequest): Promise<Report> {
  return observedRun(context.telemetry, request, () => runOnce(context, request));
}

async function runOnce(context: Context, request: RunRequest): Promise<Report> {
  const { intent_id, hash } = request;
  requireFormats(intent_id, hash);
  return recordingRefusal(context, refused(intent_id, hash, request), async (keep) => {
    // 1. The controller, the capability, the policies, the registry, the tool, its arguments, the sandbox.
    const seen = await makeReady(context, request, keep);
    seen.prepared.close();

    // 2. The human at the terminal.
    if (!(await request.confirm(previewOf(seen)))) refuse('CONFIRMATION_DECLINED');

    // 3. All of it again, because the human may have taken an hour.
    const ready = await makeReady(context, request, keep, seen);
    try {
      // 4. The claim is durable before the effect begins, and it spends the capability. At most once is this alone.
      const claimed = claim(context, ready);
      return await atWork(context, claimed.body.execution_id, async () => {
        await take(context, claimed, ready.ruling);

        // 5. The one effect, watched, then its record, always.
        const ended = await effectOf(context, ready, claimed, request);
        return recordEnd(context, claimed, ready.state, ended, request.onRecorded);
      });
    } finally {
      ready.prepared.close();
    }
  });
}

/** A run that only has to be claimed. */
interface Ready {
  readonly state: IntentState;
  readonly capability: UsableCapability;
  readonly ruling: Ruling;
  readonly matter: Omit<Matter, 'action' | 'system' | 'now'>;
  readonly derived: Derived;
  readonly prepared: Prepared;
}

/** Every question that can be asked before the claim, in the order of 000, 001 and 002, from the signed entries. */
async function makeReady(
  context: Context,
  { intent_id, hash, capability: presented }: Pick<RunRequest, 'intent_id' | 'hash' | 'capability'>,
  keep: (ruling: Kept) => void,
  earlier?: Ready,
): Promise<Ready> {
  // A row can be forged; a signature cannot.
  const proven = await provenState(context, intent_id);
  const moment = await momentOf(
    context,
    proven?.system ?? (await context.store.system()),
    proven?.authorities ?? NOBODY,
  );
  const { now } = moment;
  const standing = approvedNow(proven?.state ?? null, hash, moment);
  if (proven === null || 'eligible' in standing) return refuseDenied(standing as Denial);
  const { system, authorities, state } = proven;
  await requireDispatchedNow(context, state);
  const asked = await openAsked(context, state);
  const capability = await requireCapability(context, { state, system }, asked.effect, presented ?? {});
  requireStillCounted(standing, capability, moment);
  requireToolsFree(state, asked.effect, moment);

  const principal =
    (await context.store.find('principal', capability.recorded.by)) ?? refuse('PRINCIPAL_UNKNOWN');
  const delegated = capability.recorded.delegation !== null;
  const matter = { principal, delegated, state, ...asked, authorities };
  const ruling = await rule(context, { ...matter, action: 'execute', system, now });
  keep(ruling);
  const glass =
    capability.recorded.glass && (await glassHolds(context, { ...matter, system, now }, authorities));
  if (!glass) requireAllowed(ruling);

  const derived = await requireSameEffect(context, state, asked, earlier);
  requireBounds(context, asked.envelope, derived.effect);
  const prepared = derived.prepare(capability.held.claims.scope);
  return { state, capability, ruling, matter, derived, prepared };
}

const NOBODY: Authorities = { principal: () => null, delegation: () => null };

/** What the capability rests on: whoever granted it, and everybody whom that decision counted. */
function requireStillCounted(
  standing: Standing,
  { recorded }: UsableCapability,
  { authorities, now }: Moment,
): void {
  if (!isLiveAct(authorities, recorded, now.toISOString()))
    refuse('CAPABILITY_REVOKED', `What ${recorded.by} granted it with no longer holds.`);
  const lost = lostBy(recorded.approvers, standing, authorities);
  if (lost) throw lost;
}

/** A plan can use more tools than the one that it is named after. */
function requireToolsFree(state: IntentState, effect: Effect, moment: Moment): void {
  const { freeze } = standingOf(state, { ...moment, tools: toolsOf(effect) });
  if (freeze) refuse('FROZEN', freezeWords(freeze));
}

function claim(
  context: Context,
  { state, capability, ruling, derived, prepared }: Ready,
): Event<'execution.claimed'> {
  return {
    kind: 'execution.claimed',
    subject: state.intent_id,
    body: {
      execution_id: randomUUID(),
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
  };
}

/** Whoever comes second is told when the first one came. */
async function take(
  { store }: Context,
  claimed: Event<'execution.claimed'>,
  { bytes }: Ruling,
): Promise<void> {
  try {
    await store.commit({ events: [claimed], objects: [bytes] });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'CLAIM_TAKEN') throw error;
    const first = (await store.find('intent', claimed.subject))?.runs.at(-1);
    refuse('CLAIM_TAKEN', undefined, first ? { executed_at: first.claimed_at } : {});
  }
}

/** From the claim on nothing is a refusal any more: whatever goes wrong may have happened, and stays in doubt. */
async function effectOf(
  context: Context,
  { matter, capability, prepared }: Ready,
  { body, subject }: Event<'execution.claimed'>,
  { abort, onProgress }: RunRequest,
): Promise<WatchedEnd> {
  const { execution_id } = body;
  const watch = watchRun(context, { ...matter, capability, abort });
  try {
    const ended = await prepared.run({
      execution_id,
      checkpointed: (manifest) =>
        bind(context, { kind: 'execution.checkpointed', subject, body: { execution_id, manifest } }),
      announced: (journal) =>
        bind(context, { kind: 'execution.announced', subject, body: { execution_id, journal } }),
      abort: watch.signal,
      ...(onProgress && { onProgress }),
    });
    return watchedEnd(ended, watch.violation());
  } catch (error) {
    return inDoubt(execution_id, error);
  } finally {
    watch.stop();
  }
}

/** A rollback trusts manifest and journal by these digests: what was changed later is refused. */
async function bind(
  { store }: Context,
  event: Event<'execution.checkpointed' | 'execution.announced'>,
): Promise<void> {
  await store.commit({ events: [event] });
}

/** F3 of 002: the refused attempt is recorded, with the capability that was presented if it can be named. */
function refused(subject: string, hash: string, { capability }: RunRequest) {
  return (reason_code: ReasonCode, decision: Digest | null): Event => ({
    kind: 'execution.refused',
    subject,
    body: { hash, capability_id: nameOf(capability?.text), reason_code, decision },
  });
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
