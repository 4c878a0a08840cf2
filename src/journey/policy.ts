import type { Digest } from '../canonical/digest.ts';
import { changedIds, showPolicies } from '../display/policies.ts';
import type { Shown } from '../display/shown.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { type ActDraft, type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { openEntry } from '../ledger/entry.ts';
import { openEngine } from '../policy/engine.ts';
import { declarationProblems, lint, type Parameters } from '../policy/lint.ts';
import { type PolicyProblem, sentenceOf } from '../policy/problem.ts';
import {
  type ChangedDecision,
  changedDecisions,
  type DecisionRecord,
  openDecision,
} from '../policy/replay.ts';
import { openPolicySet, type PolicySet, type PolicySource, parsePolicySet } from '../policy/set.ts';
import { runTable, type TableResult } from '../policy/table.ts';
import { Refusal, refuse } from '../refusal.ts';
import { turnsOf } from '../turns.ts';
import type { Context } from './context.ts';

/** What is wrong with the files in policies/: everything, errors and warnings. */
export function checkPolicies({ policy_files, registry }: Context): Promise<PolicyProblem[]> {
  return lint(policy_files(), parametersIn(registry));
}

/** Reads the registry only where a policy speaks of arguments. */
function parametersIn(registry: Context['registry']): Parameters {
  return (tool) => registry().tools.get(tool)?.parameters;
}

/** The files in policies/ as a set that could be activated. */
async function usableFiles({ policy_files, registry }: Context): Promise<PolicySet> {
  const set = await parsePolicySet(policy_files());
  const unfit = declarationProblems(set.policies, parametersIn(registry)).find(
    ({ severity }) => severity === 'error',
  );
  return unfit ? refuse('POLICY_INVALID', sentenceOf(unfit)) : set;
}

/** Asks the files in policies/ every question of the table beside them. */
export async function testPolicies({ policy_files }: Context): Promise<TableResult[]> {
  const files = policy_files();
  return files.tests === null ? [] : runTable(await parsePolicySet(files), files.tests);
}

export interface ActivateRequest {
  readonly reason: string;
  readonly signer: Signer;
  /** What the human was shown: other files than these are not activated. */
  readonly snapshot?: Digest;
  /** What was active when the human was shown the difference: if it no longer is, nothing is activated. */
  readonly replaces?: Digest | null;
}

/** Makes the files in policies/ the rules from now on. What was decided before stays judged by what was active then. */
export async function activatePolicies(
  context: Context,
  { signer, ...request }: ActivateRequest,
): Promise<Event<'policy.activated'>> {
  requireHuman(await context.store.find('principal', signer.name), signer.public_key);
  const { kind, subject, facts, object } = await activating(context, request);
  const activated = await signAct(context.origin, kind, subject, facts, signer, context.clock());
  await context.store.commit({ events: [activated], objects: [object] });
  return activated;
}

/** The act that makes the files the rules, for a human to sign, with the object that it names. */
export async function activating(
  context: Context,
  { reason, snapshot, replaces }: Omit<ActivateRequest, 'signer'>,
): Promise<ActDraft<'policy.activated'> & { readonly object: Uint8Array }> {
  const set = await usableFiles(context);
  if (snapshot !== undefined && snapshot !== set.digest)
    refuse('POLICY_FILES_DIFFER', 'The files changed after they were shown.');
  const { tests } = set.source;
  // A set that fails its own table is not activated.
  const wrong = tests === null ? undefined : (await runTable(set, tests)).find(({ passed }) => !passed);
  if (wrong) {
    const expected = wrong.expected.allowed ? 'allow' : 'deny';
    refuse('POLICY_TEST_FAILED', `"${wrong.name}" expects ${expected}. ${wrong.got.words}`);
  }
  const facts = {
    snapshot: set.digest,
    // Compared again inside the transaction: another human may activate at the same moment.
    replaces: replaces === undefined ? (await context.store.system()).policy : replaces,
    policies: set.policies.length,
    reason,
  };
  return { kind: 'policy.activated', subject: 'system', facts, object: set.bytes };
}

export interface PolicyDiff {
  readonly active: Digest | null;
  readonly files: Digest;
  /** The texts that the two digests cover. */
  readonly source: PolicySource;
  readonly active_source: PolicySource | null;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Every text that differs, as a person reads it. */
  readonly shown: Shown;
  /** How many recent decisions were asked again, and which would be others. */
  readonly asked: number;
  readonly decisions: readonly (ChangedDecision & { readonly subject: string; readonly at: string })[];
}

/** What would change if the files in policies/ were activated: policies, and recent decisions. */
export async function diffPolicies(context: Context, recent: number): Promise<PolicyDiff> {
  const turns = turnsOf();
  // Of dozens of policies each of these takes tens of milliseconds.
  turns();
  const next = await usableFiles(context);
  await turns();
  const engine = await openEngine(next);
  await turns();
  const { policy } = await context.store.system();
  const before = policy === null ? null : await openPolicySet(await context.store.object(policy));
  await turns();
  const active = before && (await openEngine(before));
  await turns();
  const decided = await recentDecisions(context, recent);
  const decisions: PolicyDiff['decisions'][number][] = [];
  for (const { record, ...where } of decided) {
    // Each asks the policies twice.
    const others = turns();
    if (others) await others;
    for (const changed of changedDecisions([record], active, engine))
      decisions.push({ ...changed, ...where });
  }
  return {
    active: policy,
    files: next.digest,
    source: next.source,
    active_source: before?.source ?? null,
    ...changedIds(before, next),
    shown: showPolicies(before, next),
    asked: decided.length,
    decisions,
  };
}

interface Decided {
  readonly record: DecisionRecord;
  readonly subject: string;
  readonly at: string;
}

/** The newest decisions that are still stored, oldest first. */
async function recentDecisions({ store }: Context, count: number): Promise<Decided[]> {
  const { size } = await store.tip();
  const found: Decided[] = [];
  for await (const batch of store.entries(Math.max(0, size - count))) {
    for (const { bytes } of batch) {
      const entry = openEntry(bytes);
      const { body } = parseEvent(entry);
      const digest = 'decision' in body ? body.decision : null;
      const record =
        digest === null ? null : await unlessErased(async () => openDecision(await store.object(digest)));
      if (record) found.push({ record, subject: entry.subject, at: entry.at });
    }
  }
  return found;
}

async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}
