import type { AgentFace } from './agent/face.ts';
import type { Finder } from './agent/finder/request.ts';
import type { Narrower } from './capability/attenuate.ts';
import { parseConditions } from './capability/conditions.ts';
import type { Holder } from './capability/proof.ts';
import { canonicalScope } from './capability/scope.ts';
import { showEffect } from './display/effect.ts';
import { inspectMachine } from './effect/machine.ts';
import { thisAccount } from './effect/process.ts';
import { requireSandbox } from './effect/sandbox.ts';
import { userFor } from './effect/user.ts';
import type { Account } from './identity/account.ts';
import { type Signer, signerOf } from './identity/act.ts';
import { forgetting, type Passphrase, requirePassphrase } from './identity/passphrase.ts';
import type { Principal } from './identity/principal.ts';
import * as approving from './journey/approve.ts';
import * as auditing from './journey/audit.ts';
import * as auditingFiles from './journey/audit-file.ts';
import { check } from './journey/check.ts';
import * as timing from './journey/clock.ts';
import { type Context, requireIntent } from './journey/context.ts';
import { addControlKey } from './journey/control.ts';
import * as delegating from './journey/delegate.ts';
import * as enrolling from './journey/enrol.ts';
import * as erasing from './journey/erase.ts';
import { explainErase } from './journey/erasure.ts';
import { type FollowRequest, follow } from './journey/follow.ts';
import * as freezing from './journey/freeze.ts';
import type { GcPolicy, GcRequest } from './journey/gc-request.ts';
import { type BreakGlassRequest, breakGlass } from './journey/glass.ts';
import { type GrantRequest, grant } from './journey/grant.ts';
import { type AcceptHeadRequest, acceptHead } from './journey/head.ts';
import * as looking from './journey/look.ts';
import { observeDoors } from './journey/observe.ts';
import { type OfferRequest, offer } from './journey/offer.ts';
import type { ActivateRequest } from './journey/policy.ts';
import { policyFilesStanding } from './journey/policy-files.ts';
import type { Presented } from './journey/present.ts';
import { propose } from './journey/propose.ts';
import { review } from './journey/review.ts';
import { type RevokeCapabilityRequest, revokeCapability } from './journey/revoke.ts';
import type { RollbackRequest } from './journey/rollback.ts';
import * as running from './journey/run.ts';
import * as settling from './journey/settle.ts';
import { type SubmitRequest, submit } from './journey/submit.ts';
import * as telling from './journey/tell.ts';
import type { Entry } from './ledger/entry.ts';
import { limits } from './limits.ts';
import type { PlanSource, PlanSpec } from './plan/spec.ts';
import { type Config, readConfig } from './project/config.ts';
import { agentOf, contextOf, telemetryOf } from './project/context.ts';
import { chooserOf, type FirstHuman, foundProject, makeKey } from './project/found.ts';
import type { JoinRequest } from './project/join.ts';
import {
  createAgentKey,
  createControlKey,
  keepHumanKey,
  openHumanKey,
  readAgentKey,
  readLedgerKey,
} from './project/keys.ts';
import { type Layout, requireProject } from './project/layout.ts';
import { headPlaces, longestKept, openLedger } from './project/open.ts';
import type { RepairRequest } from './project/repair.ts';
import type { CopyRequest } from './project/store.ts';
import type { MigrateOptions } from './store/postgres/store.ts';
import type { Page } from './store/store.ts';
import { readOutput, tellEntries, tellIntent } from './story/tell.ts';
import type { Telemetry } from './telemetry.ts';
import type { Fault } from './tool/lint.ts';
import { lintRegistry, loadRegistry, lockRegistry, type Tool } from './tool/registry.ts';

export interface OpenOptions {
  /** A folder in the project. */
  readonly at: string;
  /** `read` promises that no row is written. */
  readonly mode?: 'read' | 'write';
  /** `accept` does not compare the kept head, for `acceptHead`. Nothing can be checked, granted or run then. */
  readonly head?: 'compare' | 'accept';
  readonly clock?: () => Date;
  /** Milliseconds since boot, for a clock of one's own: with the real ones, it must not step ahead of real time. */
  readonly uptime?: () => number;
  /** Another finder for the agent core. Its packets are taken as they are, and refused if they are incomplete. */
  readonly finder?: Finder;
  /** The account of the operating system that acts; this process's own unless told. Null when it is not known. */
  readonly account?: Account | null;
}

export type InitOptions = FirstHuman & {
  readonly at: string;
  readonly clock?: () => Date;
  readonly uptime?: () => number;
  readonly finder?: Finder;
};

export const VERSION = '0.1.0';

const now = () => new Date();

/** The public face: one project, its store, and the journey of an intent through it. */
export class Keyturn {
  readonly layout: Layout;
  readonly config: Config;
  readonly #context: Context;
  readonly #telemetry: Telemetry;
  readonly #finder: Finder | undefined;
  #agent: Promise<AgentFace> | null = null;

  private constructor(
    layout: Layout,
    config: Config,
    context: Context,
    telemetry: Telemetry,
    finder: Finder | undefined,
  ) {
    this.#finder = finder;
    this.layout = layout;
    this.config = config;
    this.#context = context;
    this.#telemetry = telemetry;
    observeDoors(this, telemetry);
    for (const group of ['agent', 'simulations', 'intake'] as const)
      observeDoors(this[group], telemetry, `${group}.`);
  }

  /** Makes a folder a project: a store, a ledger key, the first human, and starter files that are safe as they are. */
  static init = async (options: InitOptions): Promise<Keyturn> => {
    const { at, clock = now, uptime, finder } = options;
    await foundProject(options, { at, clock, version: VERSION });
    return Keyturn.open({ at, clock, ...(uptime && { uptime }), ...(finder && { finder }) });
  };

  static async open({
    at,
    mode = 'write',
    clock = now,
    finder,
    account = thisAccount(),
    ...more
  }: OpenOptions): Promise<Keyturn> {
    const layout = requireProject(at);
    const config = readConfig(layout);
    const telemetry = await telemetryOf(layout, config);
    const opened = async () => {
      const ledger = await openLedger(layout, config, { clock, mode, ...more });
      return contextOf(layout, config, ledger, clock, telemetry, account);
    };
    try {
      return new Keyturn(layout, config, await telemetry.span('open', opened), telemetry, finder);
    } catch (error) {
      telemetry.close();
      throw error;
    }
  }

  static requireName = enrolling.requireName;
  /** Refuses a passphrase that is guessed early. It is left as it is. */
  static requirePassphrase = (name: string, at: string, passphrase: Passphrase): Promise<void> =>
    requirePassphrase(passphrase, chooserOf(name, at));
  static makeKey = makeKey;
  /** What this machine offers for confining a tool. */
  static machine = () => inspectMachine();
  /** Refuses where a tool that names no user would get no sandbox. It tries one. */
  static requireSandbox = (): void =>
    requireSandbox({ network: false, read: [], write: [] }, null, inspectMachine(), userFor(null));

  /** The key of an agent, in a file that only its owner may read; and what it can do without the control plane. */
  static createAgentKey = createAgentKey;
  static agentSigner = (name: string, path: string): Signer => {
    const { public_key, seed } = readAgentKey(path);
    return signerOf(name, public_key, seed);
  };
  static attenuate = async (text: string, holder: Holder, narrower: Narrower, at: Date = now()) =>
    (await import('./capability/attenuate.ts')).attenuate(text, holder, narrower, at);
  /** What a capability says, for whoever holds it. That the control plane signed it is the executor's to verify. */
  static readCapability = async (text: string) =>
    (await import('./capability/chain.ts')).openChain(text, null);
  static scopeOf = canonicalScope;
  static conditionsOf = parseConditions;

  /** For an auditor with no project: an export or a proof, the fingerprint of the ledger key, and kept heads. */
  static verifyExport = auditingFiles.verifyExportFile;
  static verifyProof = auditingFiles.verifyProof;
  /** The entries of a verified file, with the objects that they name; and the story that they tell. */
  static excerptOfExport = auditingFiles.excerptOfExport;
  static excerptOfProof = auditingFiles.excerptOfProof;
  static tellIntent = tellIntent;
  static tellEntries = tellEntries;
  static readOutput = readOutput;

  /** Makes the ledger of the configured store the one of this project, on a further host, once a human has confirmed it. */
  static join = async (request: JoinRequest) => (await import('./project/join.ts')).joinLedger(request);

  /** What a human must see of an effect. */
  static showEffect = showEffect;

  /** Copies a ledger with its objects to another store, or goes on with a copy that broke off. */
  static copyStore = async (request: CopyRequest) => (await import('./project/store.ts')).copyStore(request);
  /** Makes the tables of a shared store and lets another role work with them. */
  static migrateStore = async (request: MigrateOptions) =>
    (await import('./project/store.ts')).migrateStore(request);
  /** Ends a ledger of a shared store where its entries verify; without `keep` it only says what it would do. */
  static repairStore = async (request: RepairRequest) =>
    (await import('./project/repair.ts')).repairStore(request);

  /** Unlocks a human's key for one command. Bytes of a passphrase are cleared, also when this refuses. */
  unlock = (name: string, passphrase: Passphrase): Promise<Signer> =>
    forgetting(passphrase, () => openHumanKey(this.layout, name, passphrase));

  createKey = async (name: string, passphrase: Passphrase): Promise<Signer> =>
    keepHumanKey(this.layout, await makeKey(name, this.layout.root, passphrase));

  // Who may speak.
  enrol = (request: enrolling.EnrolRequest) => enrolling.enrol(this.#context, request);
  assign = (request: enrolling.AssignRequest) => enrolling.assign(this.#context, request);
  revoke = (request: enrolling.RevokeRequest) => enrolling.revoke(this.#context, request);
  principals = (): Promise<Principal[]> => this.#context.store.all('principal');

  // What may be proposed. The registry is looked at here; only a locked one is ever run from.
  tools = (): Tool[] => [
    ...loadRegistry(this.config.registry_path, {
      root: this.layout.root,
      requireReadOnly: false,
    }).tools.values(),
  ];
  argumentsOf = (tool: string, texts: ReadonlyMap<string, string>) =>
    looking.readArguments(this.#context, tool, texts);
  lintTools = (): Fault[] => lintRegistry(this.config.registry_path);
  lockTools = (): boolean => lockRegistry(this.config.registry_path);

  // The journey, in order.
  propose = (draft: unknown, signer?: Signer) => propose(this.#context, draft, signer);
  list = (page: Page) => this.#context.store.intents(page);
  intent = (intent_id: string) => requireIntent(this.#context, intent_id);
  review = (intent_id: string) => review(this.#context, intent_id);
  // Plans and their undo. The executor is large, so it is loaded by whoever needs it.
  readPlan = async (source: Pick<PlanSource, 'plan' | 'config'>) => {
    const { readPlan } = await import('./journey/plan.ts');
    return readPlan(this.#context, source);
  };
  validatePlan = async (source: Pick<PlanSource, 'plan' | 'config'>) => {
    const { validatePlan } = await import('./journey/plan.ts');
    return validatePlan(this.#context, source);
  };
  previewPlan = async (spec: PlanSpec) => {
    const { previewPlan } = await import('./journey/plan.ts');
    return previewPlan(this.#context, spec);
  };
  /** Makes the missing reports of a recorded run again. */
  reportPlan = async (execution_id: string) => {
    const { reportPlan } = await import('./journey/plan-report.ts');
    return reportPlan(this.#context, execution_id);
  };
  /** Which reports of a finished run, by the folder that its claim names, are not there. */
  missingReports = async (folder: string) => {
    const { missingReports } = await import('./journey/plan-report.ts');
    return missingReports(this.layout.root, folder);
  };
  previewRollback = async (run: string, chosen: Pick<RollbackRequest, 'checkpoints' | 'except'> = {}) => {
    const { previewRollback } = await import('./journey/rollback.ts');
    return previewRollback(this.#context, run, chosen);
  };
  rollback = async (request: RollbackRequest) => {
    const { rollback } = await import('./journey/rollback.ts');
    return rollback(this.#context, request);
  };
  previewGc = async (policy: GcPolicy) => (await import('./journey/gc.ts')).previewGc(this.#context, policy);
  leftovers = async () => (await import('./journey/leftovers.ts')).leftovers(this.#context);
  gc = async (request: GcRequest) => (await import('./journey/gc.ts')).gc(this.#context, request);
  approve = (request: approving.ApproveRequest) => approving.approve(this.#context, request);
  reject = (request: approving.RejectRequest) => approving.reject(this.#context, request);
  submit = (request: SubmitRequest) => submit(this.#context, request);
  offer = (request: OfferRequest) => offer(this.#context, request);
  grant = (request: GrantRequest) => grant(this.#context, request);
  capability = (capability_id: string) => this.#context.store.find('capability', capability_id);
  revokeCapability = (request: RevokeCapabilityRequest) => revokeCapability(this.#context, request);
  freeze = (request: freezing.FreezeRequest) => freezing.freeze(this.#context, request);
  unfreeze = (request: freezing.FreezeRequest) => freezing.unfreeze(this.#context, request);
  breakGlass = (request: BreakGlassRequest) => breakGlass(this.#context, request);
  delegate = (request: delegating.DelegateRequest) => delegating.delegate(this.#context, request);
  revokeDelegation = (request: delegating.RevokeDelegationRequest) =>
    delegating.revokeDelegation(this.#context, request);
  delegations = () => this.#context.store.all('delegation');
  /** Control keys, active policies, what is frozen. */
  system = () => this.#context.store.system();

  // The rules. Decisions are made by the ones that a human activated, not by the files.
  // Cedar is large, so it is loaded by whoever needs it.
  checkPolicies = async () => (await import('./journey/policy.ts')).checkPolicies(this.#context);
  testPolicies = async () => (await import('./journey/policy.ts')).testPolicies(this.#context);
  /** Whether the files in policies/ are the ones that decide. */
  policyFiles = () => policyFilesStanding(this.#context);
  diffPolicies = async (recent = 1000) =>
    (await import('./journey/policy.ts')).diffPolicies(this.#context, recent);
  activatePolicies = async (request: ActivateRequest) =>
    (await import('./journey/policy.ts')).activatePolicies(this.#context, request);
  /** A new key signs capabilities from now on. */
  rotateControlKey = ({ reason, signer }: { reason: string; signer: Signer }) =>
    addControlKey(this.#context, { public_key: createControlKey(this.layout).public_key, reason, signer });

  check = (intent_id: string, hash: string) => check(this.#context, intent_id, hash);
  preview = (intent_id: string, hash: string, capability?: Presented) =>
    running.preview(this.#context, intent_id, hash, capability);
  run = (request: running.RunRequest) => running.run(this.#context, request);
  resolve = (request: settling.ResolveRequest) => settling.resolve(this.#context, request);
  retry = (request: settling.RetryRequest) => settling.retry(this.#context, request);
  inDoubt = () => looking.inDoubt(this.#context);
  object = (digest: string): Promise<Uint8Array> => this.#context.store.object(digest);
  /** A stored decision of the policies: the question, the answer, and which policies gave it. */
  decision = async (digest: string) =>
    (await import('./policy/replay.ts')).openDecision(await this.#context.store.object(digest));
  /** What a run printed: the content of a sealed object, or why it is not there. */
  output = (digest: string | null) => telling.printed(this.#context, digest);
  /** What erasing an object would take away. Changes nothing. */
  explainErase = (digest: string) => explainErase(this.#context, digest);
  erase = (request: erasing.EraseRequest) => erasing.erase(this.#context, request);

  // What happened, provably.
  story = (subject: string) => auditing.story(this.#context, subject);
  /** The same as facts, words, objects and outcome. */
  tell = (intent_id: string) => telling.tell(this.#context, intent_id);
  tellAbout = (entries: readonly Entry[]) => telling.tellAbout(this.#context, entries);
  newest = (count: number) => looking.newest(this.#context, count);
  head = () => auditing.head(this.#context, readLedgerKey(this.layout));
  acceptHead = (request: Omit<AcceptHeadRequest, 'kept_size'>) => {
    const kept_size = longestKept(headPlaces(this.layout, this.config), this.#context.origin);
    return acceptHead(this.#context, { ...request, kept_size });
  };
  checkClock = () => timing.checkClock(this.#context);
  acceptClock = (request: timing.AcceptClockRequest) => timing.acceptClock(this.#context, request);
  verify = (options: auditing.VerifyOptions) => auditing.verify(this.#context, options);
  export = (options: auditing.ExportOptions = {}) =>
    auditing.exportLedger(this.#context, readLedgerKey(this.layout), options);
  prove = (intent_id: string, options: auditing.ProveOptions = {}) =>
    auditing.prove(this.#context, readLedgerKey(this.layout), intent_id, options);
  replay = async (execution_id: string) =>
    (await import('./journey/replay.ts')).replay(this.#context, execution_id);
  verifyStore = async (options: auditing.VerifyOptions) =>
    (await import('./journey/store.ts')).verifyStore(this.#context, options);
  size = async () => (await this.#context.store.tip()).size;
  /** Every entry from one on, as it comes, whoever writes it. */
  follow = (request: FollowRequest) => follow(this.#context, request);
  rebuild = (options: { write: boolean }) => this.#context.store.rebuild(options);

  // The agent core: goals become governed simulations. It is large, so it is loaded by whoever needs it.
  agent = {
    ask: this.#inAgent('ask'),
    answer: this.#inAgent('answer'),
    confirm: this.#inAgent('confirm'),
    resume: this.#inAgent('resume'),
    now: this.#inAgent('now'),
    undo: this.#inAgent('undo'),
    snapshot: this.#inAgent('snapshot'),
    turnKey: this.#inAgent('turnKey'),
    dispatch: this.#inAgent('dispatch'),
    status: this.#inAgent('status'),
    slo: this.#inAgent('slo'),
    requireSlo: this.#inAgent('requireSlo'),
    waive: this.#inAgent('waive'),
    replay: this.#inAgent('replay'),
  };
  simulations = {
    register: this.#inAgent('registerSimulation'),
    activate: this.#inAgent('activateSimulation'),
    deprecate: this.#inAgent('deprecateSimulation'),
    disable: this.#inAgent('disableSimulation'),
    list: this.#inAgent('listSimulations'),
    bound: this.#inAgent('boundNow'),
    held: this.#inAgent('heldNow'),
  };
  intake = { list: this.#inAgent('listIntakes'), tell: this.#inAgent('tellNews') };

  #inAgent<K extends keyof AgentFace>(act: K): AgentFace[K] {
    const call = async (...given: never[]) => {
      this.#agent ??= agentOf(this.layout, this.#context, this.#finder);
      return ((await this.#agent)[act] as (...given: never[]) => unknown)(...given);
    };
    return call as AgentFace[K];
  }

  close = async (): Promise<void> => {
    try {
      await this.#context.store.close();
    } finally {
      this.#telemetry.close();
    }
  };
}

export type { AgentAnswer, AgentTurn } from './agent/answer.ts';
export type { Finder, FinderRequest } from './agent/finder/request.ts';
export type { RankedIntake } from './agent/intake.ts';
export type { FinderPacket } from './agent/packet.ts';
export type { Listed as ListedSimulation } from './agent/register.ts';
export type { SloReport } from './agent/slo.ts';
export type { Conditions } from './capability/conditions.ts';
export type { ResourceScope } from './capability/scope.ts';
export {
  ALARMS,
  type Alarm,
  type Block,
  type Line,
  type Piece,
  type Shown,
  type Weight,
} from './display/shown.ts';
export type { Body, EventKind } from './event/event.ts';
export { type Freeze, freezeOf, freezeWords, frozenFor } from './gate/freeze.ts';
export { controllerLine, ELIGIBLE_LINE } from './gate/lines.ts';
export type { Capability, IntentState, IntentStatus } from './gate/state.ts';
export type { Account } from './identity/account.ts';
export type { Delegation } from './identity/delegation.ts';
export type { HumanKey } from './identity/keyfile.ts';
export type { Passphrase } from './identity/passphrase.ts';
export type { Excerpt } from './journey/audit-file.ts';
export type { BoundSection } from './journey/bound-shown.ts';
export type { Progress } from './journey/derived.ts';
export type { Erasure } from './journey/erasure.ts';
export type { InDoubt } from './journey/look.ts';
export type { Offer } from './journey/offer.ts';
export type { PolicyDiff } from './journey/policy.ts';
export type { PolicyFilesStanding } from './journey/policy-files.ts';
export type { UsableCapability } from './journey/present.ts';
export type { Proposal } from './journey/propose.ts';
export type { Report } from './journey/record.ts';
export type { Review } from './journey/review.ts';
export type { Preview } from './journey/run.ts';
export type { Problem } from './plan/input/problem.ts';
export type { PlanEffect } from './plan/model.ts';
export { hunkLines } from './plan/report/hunk.ts';
export type { Problem as PolicyProblem } from './policy/problem.ts';
export type { TableResult } from './policy/table.ts';
export { parseDuration } from './project/duration.ts';
export type { JoinedLedger } from './project/join.ts';
export { explain, isReasonCode, type ReasonCode, Refusal, reasonCodes } from './refusal.ts';
export { type Absence, isAbsent, type Story, type Told } from './story/tell.ts';
export { wordsOf } from './story/words.ts';
export type { Effect as ToolEffect } from './tool/effect.ts';
export { isRemark } from './tool/lint.ts';
export type { Entry, Fault, PlanSpec, Principal, Signer, Tool };

/** A plan is JSON that a person reviews; its longest part is the content of new files. */
export const planBytesMax: number = limits.json_bytes;
