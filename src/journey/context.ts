import type { Digest } from '../canonical/digest.ts';
import type { KeyOf } from '../canonical/ed25519.ts';
import type { Recent } from '../canonical/recent.ts';
import type { Machine } from '../effect/machine.ts';
import type { Digests } from '../effect/program.ts';
import type { Secrets } from '../effect/secret.ts';
import type { Starter } from '../effect/starter.ts';
import type { UserFor } from '../effect/user.ts';
import type { Body, Event } from '../event/event.ts';
import { isOfPolicies } from '../fold/decided.ts';
import type { HashedEntry, VerifiedEntries } from '../fold/ledger.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Account } from '../identity/account.ts';
import type { Authorities, Delegation } from '../identity/delegation.ts';
import type { MachineKey } from '../identity/fact.ts';
import type { Pace } from '../identity/pace.ts';
import type { Principal } from '../identity/principal.ts';
import type { QuotaLimit } from '../identity/quota.ts';
import type { Envelope } from '../intent/envelope.ts';
import { limits } from '../limits.ts';
import type { ServerEntries } from '../mcp-call/entry.ts';
import type { ServerMemory } from '../mcp-call/memory.ts';
import type { Upstreams } from '../mcp-call/upstreams.ts';
import type { PlanAside } from '../plan/aside/aside.ts';
import type { Expiries } from '../plan/report/archive.ts';
import type { Hunk } from '../plan/report/hunk.ts';
import type { OpenedSpec } from '../plan/spec.ts';
import type { Attributes } from '../plan/state/attributes.ts';
import type { ApproversRead } from '../policy/approvers-read.ts';
import type { Engine } from '../policy/engine.ts';
import type { Lacking } from '../policy/lacking.ts';
import type { PolicySource } from '../policy/set.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Beats, ServiceState, Store, Tip } from '../store/store.ts';
import type { Telemetry } from '../telemetry.ts';
import type { LoadOptions, Registry } from '../tool/registry.ts';
import type { CallMarks, CheckArguments } from './call-marks.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Derived, Effect } from './derived.ts';
import type { Follower } from './follower.ts';
import type { PartialAnswers } from './partial-answers.ts';
import type { ReadLedger } from './read-ledger.ts';
import type { StoreAside } from './store-aside.ts';

/** What every step of the journey needs. Built once, by keyturn.ts. */
export interface Context {
  readonly store: Store;
  /** What executors say of themselves, beside the ledger. */
  readonly beats: Beats;
  /** What its hosts tell each other, beside the ledger; null where all processes of a store are on its host. */
  readonly service_state: ServiceState | null;
  /** Why the last commit did not reach the disk; null where it did, or where a server may have room again. */
  readonly whyNotWritten: () => ReasonCode | null;
  /** Refuses a ledger that is shorter than what was kept of it, or goes another way. */
  readonly requireKeptHead: (end: LedgerEnd) => Promise<void>;
  /** Refuses a clock that was set ahead since the last commit, where nothing else knows the time. */
  readonly requireSteadyClock: () => void;
  /** What an operator may see of it. */
  readonly telemetry: Telemetry;
  /** Names project and tenant; every signature covers it. */
  readonly origin: string;
  readonly clock: () => Date;
  /** The project's folder: relative paths in the registry that a tool sees begin here. */
  readonly root: string;
  readonly registry_path: string;
  /** Looks at the registry each time; it is read again when its file changed, and parsed again when its bytes did. */
  readonly registry: (options?: Pick<LoadOptions, 'requireReadOnly'>) => Registry;
  /** What was hashed before and has not changed since, so that a large interpreter is not read at every step. */
  readonly digests: Digests;
  /** Who a tool runs as; what it reads of the host is read again when it changed. */
  readonly userFor: UserFor;
  readonly starter: Starter;
  /** What takes long with the contents of plans. */
  readonly aside: PlanAside;
  /** What takes as long as the ledger is long. */
  readonly store_aside: StoreAside;
  /** The MCP servers of keyturn.yaml, as the file has them now. */
  readonly servers: () => ServerEntries;
  /** Those that this process has started. */
  readonly upstreams: Upstreams;
  readonly calls: CallMarks;
  readonly partial_answers: PartialAnswers;
  /** Reads secrets of this host. Refuses where one is missing. */
  readonly secrets: (names: Iterable<string>) => Promise<Secrets>;
  readonly follower: Follower;
  /** The ledger as this process has read it: what a run rests on is asked there. */
  readonly ledger: ReadLedger;
  /** Reads an entry; the same bytes are parsed once. */
  readonly read_entry: (bytes: Uint8Array) => HashedEntry;
  readonly verified: VerifiedEntries;
  readonly memory: Memory;
  /** Waits while the steps of other callers have been under way for long (`steps.ts`). */
  readonly step: () => Promise<void>;
  /** A public key, imported once. */
  readonly public_key: KeyOf;
  /** This process, as its claims name it. */
  readonly process: Body<'execution.claimed'>['executor'];
  /** Executions that this process is running or rolling back through this object. */
  readonly at_work: Set<{ readonly execution_id: string }>;
  /** Acts under one key one after another, in the order in which they were asked for. */
  readonly in_turn: <T>(key: string, act: () => Promise<T>) => Promise<T>;
  /** The account that acts through this process; null when a program acts for a person whose account it does not know. */
  readonly account: Account | null;
  /** In it there is nothing but what one proposer proposed. */
  readonly is_own?: true;
  /** What the policies lack of the approvals, where the store does not show what they are asked about. */
  readonly lacking?: (state: IntentState, authorities: Authorities) => Promise<Lacking | null>;
  /** The agent that asks. It is not told what is in a file of the project. */
  readonly untold?: string;
  /** Whether anything may be written by now; always, where it is not there. */
  readonly may_write?: () => boolean;
  /** Looks at the machine again each time; bubblewrap is asked what it can only when it is another one. */
  readonly machine: () => Machine;
  /** Keyturn's own files: no tool sees the first, no tool writes the second. */
  readonly hidden_paths: readonly string[];
  readonly protected_paths: readonly string[];
  /** A lock file for each run without a sandbox: it tells whether the tool outlived the process that started it. */
  readonly runs_folder: string;
  readonly intent_ttl_s: number;
  readonly approval_ttl_s: number;
  readonly capability_ttl_s: number;
  /** How long an order waits to be claimed. */
  readonly order_ttl_s: number;
  /** How long a prompt of a conversation waits for its yes. */
  readonly prompt_ttl_s: number;
  /** The most that one proposer may have. */
  readonly proposals: QuotaLimit;
  /** What capabilities for this project's executor are addressed to. */
  readonly audience: string;
  /** Such as `prod`; policies and conditions ask for it. */
  readonly environment: string;
  /** The secret half of a control key. Only what decides on an act, or issues a capability, reads it. */
  readonly control_key: (public_keys: readonly string[]) => MachineKey | null;
  /** Who issues what was ordered, where this host does not itself. */
  readonly control_plane?: ControlPlane;
  /** The key with which this host states what it claims and how that ended. */
  readonly executor_key: () => MachineKey;
  /** The receipt of an unsigned proposal that has no idempotency key, made again from its id. */
  readonly own_receipt: (intent_id: string) => string;
  /** The files in policies/ as they are now. */
  readonly policy_files: () => PolicySource & { readonly digest: Digest };
  /** The policies of a snapshot, ready to decide. The latest one stays ready. */
  readonly rules: (snapshot: Digest) => Promise<Engine>;
}

/**
 * What this process has just read and verified, so that the look after the y need not read it again. The first holds while the ledger
 * ends with the same entry; what was parsed is that of its own bytes for good.
 */
export interface Memory {
  proven: { readonly intent_id: string; readonly last: Digest; readonly value: ProvenAt } | null;
  /** By the digests of their bytes. */
  readonly asked: Recent<string, Asked>;
  readonly servers: ServerMemory;
  /** What checks the arguments of a grant, by the digest of its bounds. */
  readonly grants: Recent<Digest, CheckArguments>;
  plan: { readonly digest: Digest; readonly opened: OpenedSpec } | null;
  /** How fast each agent proposed plans, also those that were refused. */
  readonly plans_tried: Map<string, Pace>;
  /** Whether a snapshot of policies may name who is asked to look. */
  readonly routes: Recent<Digest, boolean>;
  /** Of which effects a snapshot of policies may read who has approved. */
  readonly approvers_read: Recent<Digest, ApproversRead>;
  /** Whether an effect may write a protected file. */
  readonly elevated: Recent<Digest, boolean>;
  /** What the latest looks derived, by the digest of what they showed. */
  readonly looks: Recent<Digest, { readonly state: IntentState; readonly derived: Derived }>;
  /** The diffs of plans that are read part by part, by the digest of the effect, which says what every file was and will be. */
  readonly previews: Recent<Digest, (action_id: string, path: string) => readonly Hunk[] | null>;
  /** When the manifests of plans expire: each plan that is proposed asks for those whose time is up. */
  readonly expiries: Expiries;
  /** Made by the first plan: most processes run none. */
  attributes: Attributes | null;
  /** The time after which the reports of the latest plan are named. */
  reports_ms: number;
}

/** An intent and what holds for all of them, from signed entries alone. */
export interface Proven {
  readonly state: IntentState;
  readonly system: System;
  readonly authorities: Authorities;
}

/** The same, and where the ledger ended when its entries said so. */
export interface ProvenAt extends Proven {
  readonly end: LedgerEnd;
}

export type LedgerEnd = Pick<Tip, 'size' | 'last' | 'at'>;

/** What was frozen: the envelope, and the effect of the present attempt. Read from the bytes that the hash covers. */
export interface Asked {
  readonly envelope: Envelope;
  readonly effect: Effect;
}

/** Whose keys and grants an act depends on: of people by name, of delegations by id. */
export interface Named {
  readonly people: Iterable<string>;
  readonly delegations: Iterable<string | null>;
}

/** The people and delegations that an intent names. */
export function namedIn({ approvals, capabilities, break_glass }: IntentState): Named {
  const acts = [...approvals, ...capabilities];
  return {
    people: [...acts, ...break_glass].map(({ by }) => by),
    delegations: acts.map(({ delegation }) => delegation),
  };
}

/** What was looked up already, for a caller who asks about many intents at once. */
export interface LookedUp {
  readonly principals: Map<string, Principal | null>;
  readonly delegations: Map<string, Delegation | null>;
}

/** Those people and delegations, and whatever these rest on, as the store has them now. Of others it knows nothing. */
export async function authoritiesFor(
  { store }: Context,
  named: Named,
  { principals, delegations }: LookedUp = { principals: new Map(), delegations: new Map() },
): Promise<Authorities> {
  const people = new Set(named.people);
  for (const first of named.delegations) {
    for (let id = first; id !== null && !delegations.has(id); ) {
      const found: Delegation | null = await store.find('delegation', id);
      delegations.set(id, found);
      for (const name of found?.chain ?? []) people.add(name);
      id = found?.parent ?? null;
    }
  }
  await Promise.all(
    Array.from(people, async (name) => {
      if (!principals.has(name)) principals.set(name, await store.find('principal', name));
    }),
  );
  return {
    principal: (name) => principals.get(name) ?? null,
    delegation: (id) => delegations.get(id) ?? null,
  };
}

/** How many humans are active. */
export async function humansNow({ store }: Context): Promise<number> {
  return (await store.find('census', 'humans'))?.humans ?? 0;
}

export async function requireIntent(context: Context, intent_id: string): Promise<IntentState> {
  return (await context.store.find('intent', intent_id)) ?? refuse('INTENT_NOT_FOUND');
}

/** Nothing that expires can be judged by a clock that is behind the ledger. */
export async function requireClock(context: Context): Promise<Date> {
  const now = context.clock();
  const { at } = await context.store.tip();
  if (at !== null && now.getTime() < Date.parse(at) - limits.clock_skew_ms)
    refuse('CLOCK_BEHIND', `The newest entry is of ${at}, and the clock says ${now.toISOString()}.`, {
      newest: at,
    });
  return now;
}

/** A decision of the policies that a step was given, to be kept with its refusal. */
export interface Kept {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

/**
 * Runs a step whose refusal is a fact: it is recorded once, then thrown on. The step passes on each decision that it
 * asks for; the last one is recorded beside the refusal, since that is where it stopped.
 */
export async function recordingRefusal<T>(
  context: Context,
  refusalEvent: (code: ReasonCode, decision: Digest | null) => Event,
  step: (keep: (ruling: Kept) => void) => Promise<T>,
  isRefusal: () => Promise<boolean> = async () => true,
): Promise<T> {
  let kept: Kept | null = null;
  try {
    return await step((ruling) => {
      kept = ruling;
    });
  } catch (error) {
    const is_recorded = isDecision(error) && (context.may_write?.() ?? true) && (await isRefusal());
    if (is_recorded) await context.store.commit(refusalOf(error.code, kept, refusalEvent));
    throw error;
  }
}

/** What records a refusal: the fact, and the decision of the policies where it was theirs. */
export function refusalOf(
  code: ReasonCode,
  kept: Kept | null,
  refusalEvent: (code: ReasonCode, decision: Digest | null) => Event,
): { readonly events: readonly Event[]; readonly objects: readonly Uint8Array[] } {
  // Only what the policies said no to rests on their decision.
  const decision = kept && isOfPolicies(code) ? kept : null;
  return {
    events: [refusalEvent(code, decision?.digest ?? null)],
    objects: decision ? [decision.bytes] : [],
  };
}

/**
 * These are not recorded: a broken store cannot record, a ledger that is not the right one must not grow, a run that may
 * have happened is no refusal, and a question that was never asked has no answer.
 */
const UNRECORDED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'RECORDING_FAILED',
  'CONFIRMATION_DECLINED',
  'SHOWN_IN_PART',
  'NO_TERMINAL',
  'STORE_CORRUPT',
  'STORE_CLOSED',
  'STORE_READ_ONLY',
  'STORE_BUSY',
  'STORE_UNREACHABLE',
  'STORE_DENIED',
  'STORE_TLS',
  'STORE_NEWER',
  'STORE_OLDER',
  'STORE_MISSING',
  'LEDGER_TRUNCATED',
  'LEDGER_FORKED',
  'LEDGER_FOREIGN',
  'KEPT_HEAD_INVALID',
  'CLOCK_AHEAD',
  'SERVICE_UNREACHABLE',
  'SERVICE_TLS',
  'SERVICE_FOREIGN',
  'CALLER_LIMITED',
  'DISK_FULL',
  'WRITE_FAILED',
  'INTERNAL',
]);

/** Whether this is a refusal that is a fact. */
export function isDecision(error: unknown): error is Refusal {
  return error instanceof Refusal && !UNRECORDED.has(error.code);
}
