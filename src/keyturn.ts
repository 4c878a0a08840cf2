import type { AgentContext } from './agent/context.ts';
import { excerptOfProof } from './audit/excerpt.ts';
import { auditProof } from './audit/proof.ts';
import type { Narrower } from './capability/attenuate.ts';
import { parseConditions } from './capability/conditions.ts';
import type { Holder } from './capability/proof.ts';
import { canonicalScope } from './capability/scope.ts';
import { showEffect } from './display/effect.ts';
import { inspectMachine } from './effect/machine.ts';
import { thisAccount } from './effect/process.ts';
import { requireSandbox } from './effect/sandbox.ts';
import { userFor } from './effect/user.ts';
import type { NamedCaller } from './face/caller.ts';
import { elsewhere } from './face/elsewhere.ts';
import { type Face, faceFor, namespacesOn } from './face/face.ts';
import { type Host, hostOf } from './face/host.ts';
import { type Methods, methodsOf, type OpenProject } from './face/verb.ts';
import { VERBS } from './face/verbs.ts';
import type { Finder } from './finder/request.ts';
import type { Account } from './identity/account.ts';
import { type OpenKey, type Proof, type Signer, signerOf } from './identity/act.ts';
import { makeToken } from './identity/agent-token.ts';
import { requireLabel } from './identity/credential.ts';
import { type Draft, type Drafting, draftAct, finishDraft, rehearseAct } from './identity/draft.ts';
import { forgetting, type Passphrase, requirePassphrase } from './identity/passphrase.ts';
import type { Principal } from './identity/principal.ts';
import * as auditingFiles from './journey/audit-file.ts';
import type { Context } from './journey/context.ts';
import * as enrolling from './journey/enrol.ts';
import { entriesInFile } from './journey/entries.ts';
import { type FollowRequest, follow } from './journey/follow.ts';
import { tellingRefusal } from './journey/observe.ts';
import { storyInFile } from './journey/story.ts';
import type { Entry } from './ledger/entry.ts';
import { openHeadOf } from './ledger/head.ts';
import { limits } from './limits.ts';
import type { PlanSpec } from './plan/spec.ts';
import type { BackupRequest } from './project/backup.ts';
import { type Config, readConfig } from './project/config.ts';
import { agentOf, journeyContext, telemetryOf } from './project/context.ts';
import { chooserOf, type FirstHuman, foundProject, makeKey } from './project/found.ts';
import type { JoinRequest } from './project/join.ts';
import {
  createAgentKey,
  humanKeyFiles,
  openHumanKey,
  openKeyFile,
  readAgentKey,
  requireKeyFile,
} from './project/keys.ts';
import { type Layout, requireProject } from './project/layout.ts';
import { openLedger } from './project/open.ts';
import type { RepairRequest } from './project/repair.ts';
import type { RestoreRequest } from './project/restore.ts';
import type { CopyRequest } from './project/store.ts';
import type { MigrateOptions } from './store/postgres/store.ts';
import type { Telemetry } from './telemetry.ts';
import type { Fault } from './tool/lint.ts';
import type { Tool } from './tool/registry.ts';
import { VERSION } from './version.ts';

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
  /** Another finder for the agent core. Its packets are taken as they are, refused if they are incomplete, and always ask for a yes. */
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

const now = () => new Date();

type Verbs = typeof VERBS;

/** The public face: one project, its store, and the journey of an intent through it. */
export class Keyturn {
  readonly layout: Layout;
  readonly config: Config;
  /** For the service, the executor and the command line of this host. */
  readonly host: Host;
  readonly #project: Omit<OpenProject, 'caller'>;
  readonly #telemetry: Telemetry;
  declare readonly intents: Methods<Verbs['intents']>;
  declare readonly plans: Methods<Verbs['plans']>;
  declare readonly runs: Methods<Verbs['runs']>;
  declare readonly policies: Methods<Verbs['policies']>;
  declare readonly tools: Methods<Verbs['tools']>;
  declare readonly people: Methods<Verbs['people']>;
  declare readonly agents: Methods<Verbs['agents']>;
  declare readonly simulations: Methods<Verbs['simulations']>;
  declare readonly conversations: Methods<Verbs['conversations']>;
  /** `follow` is a method beside the verbs: its answer is a stream of entries without an end, and no JSON. */
  declare readonly ledger: Methods<Verbs['ledger']> & {
    /** Every entry from one on, as it comes, written by any process. */
    readonly follow: (request: FollowRequest) => AsyncGenerator<Entry>;
  };
  declare readonly system: Methods<Verbs['system']>;
  declare readonly ids: Methods<Verbs['ids']>;
  declare readonly mcp: Methods<Verbs['mcp']>;

  private constructor(
    layout: Layout,
    config: Config,
    context: Context,
    telemetry: Telemetry,
    finder: Finder | undefined,
  ) {
    this.layout = layout;
    this.config = config;
    this.#telemetry = telemetry;
    this.host = hostOf({ layout, config, context }, telemetry);
    let core: Promise<AgentContext> | null = null;
    const agent = () => (core ??= agentOf(layout, context, finder));
    const project = { layout, config, context, agent };
    this.#project = project;
    namespacesOn(this, (name) => ({
      ...methodsOf(name, VERBS[name], project, telemetry),
      ...(name === 'ledger' && { follow: (request: FollowRequest) => follow(context, request) }),
    }));
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
      return journeyContext(layout, config, ledger, clock, telemetry, account);
    };
    try {
      return new Keyturn(layout, config, await telemetry.span('open', opened), telemetry, finder);
    } catch (error) {
      telemetry.close();
      throw error;
    }
  }

  static requireName = enrolling.requireName;
  /** Opens a key file wherever it is. Bytes of a passphrase are cleared, also when this refuses. */
  static openKeyFile = (name: string, path: string, passphrase: Passphrase): Promise<OpenKey> =>
    forgetting(passphrase, () => openKeyFile(name, path, passphrase));
  static requireKeyFile = requireKeyFile;
  /** A head of a ledger that is known by the fingerprint of its key. */
  static verifyHead = openHeadOf;
  static requireLabel = requireLabel;
  /** Refuses a passphrase that is guessed early. It is left as it is. */
  static requirePassphrase = (name: string, at: string, passphrase: Passphrase): Promise<void> =>
    requirePassphrase(passphrase, chooserOf(name, at));
  static makeKey = makeKey;
  /** For a command line that asks a service elsewhere. */
  static elsewhere = elsewhere;
  /** What this machine offers for confining a tool. */
  static machine = () => inspectMachine();
  /** Refuses where a tool that names no user would get no sandbox. It tries one. */
  static requireSandbox = (): void =>
    requireSandbox({ network: false, read: [], write: [] }, null, inspectMachine(), userFor(null));

  /** The key of an agent, in a file that only its owner may read; and what it can do without the control plane. */
  static createAgentKey = createAgentKey;
  static agentSigner = (name: string, path: string): OpenKey => {
    const { public_key, seed } = readAgentKey(path);
    return signerOf(name, public_key, seed);
  };
  static attenuate = async (text: string, holder: Holder, narrower: Narrower, at: Date = now()) =>
    (await import('./capability/attenuate.ts')).attenuate(text, holder, narrower, at);
  /** What a capability says, for its holder. That the control plane signed it is the executor's to verify. */
  static readCapability = async (text: string) =>
    (await import('./capability/chain.ts')).openChain(text, null);
  static get scopeOf() {
    return canonicalScope;
  }
  static get conditionsOf() {
    return parseConditions;
  }

  /** For an auditor with no project: an export or a proof, the fingerprint of the ledger key, and kept heads. */
  static get verifyExport() {
    return auditingFiles.verifyExportFile;
  }
  static get verifySegments() {
    return auditingFiles.verifySegmentFiles;
  }
  static get verifyProof() {
    return auditProof;
  }
  /** The entries of a verified file, with the objects that they name; and what they tell, as `ledger.entries` and `intents.story` do. */
  static get excerptOfExport() {
    return auditingFiles.excerptOfExportFile;
  }
  static get excerptOfProof() {
    return excerptOfProof;
  }
  static get entriesInFile() {
    return entriesInFile;
  }
  static get storyInFile() {
    return storyInFile;
  }

  /** Makes the ledger of the configured store the one of this project, on a further host, once a human has confirmed it. */
  static join = async (request: JoinRequest) => (await import('./project/join.ts')).joinLedger(request);

  /** What a human must see of an effect. */
  static get showEffect() {
    return showEffect;
  }

  /** Copies a ledger with its objects to another store, or goes on with a copy that broke off. */
  static copyStore = async (request: CopyRequest) => (await import('./project/store.ts')).copyStore(request);
  /** A copy of the ledger with a signed head and the keys of this host, while others go on writing. */
  static backup = async (request: BackupRequest) =>
    (await import('./project/backup.ts')).backupProject(request);
  /** Brings the ledger of a backup into an empty store, or one that ends earlier. It moves no kept head. */
  static restore = async (request: RestoreRequest) =>
    (await import('./project/restore.ts')).restoreProject(request);
  /** Makes the tables of a shared store and lets another role work with them. */
  static migrateStore = async (request: MigrateOptions) =>
    (await import('./project/store.ts')).migrateStore(request);
  /** Ends a ledger of a shared store where its entries verify; without `keep` it only says what it would do. */
  static repairStore = async (request: RepairRequest) =>
    (await import('./project/repair.ts')).repairStore(request);

  /** Refuses what would refuse the act, before a human signs. Nothing is written. */
  static rehearse = rehearseAct;
  /** A new secret for an agent, with the digest that `agents.addToken` takes. It is kept nowhere. */
  static makeToken = makeToken;

  /** The same verbs for a caller whom an entry point identified, who sees what the ledger allows them. */
  as(caller: NamedCaller): Face {
    return faceFor(this.#project, this.#telemetry, caller);
  }

  /** Unlocks the key of a human that is enrolled and in a file here, for one command. Bytes of a passphrase are cleared, also when this refuses. */
  unlock(name: string, passphrase: Passphrase): Promise<Signer> {
    const { context, layout } = this.#project;
    const open = async () => {
      const person = await context.store.find('principal', name);
      return openHumanKey(name, humanKeyFiles(layout).get(name) ?? [], passphrase, person);
    };
    return tellingRefusal(this.#telemetry, 'unlock', () => forgetting(passphrase, open));
  }

  /** An act up to its signature, for a proof that comes from elsewhere. Nothing is written. */
  draft(who: Drafting, act: (signer: Signer) => Promise<unknown>): Promise<Draft> {
    const { store, clock } = this.#project.context;
    return tellingRefusal(this.#telemetry, 'draft', async () =>
      draftAct(who, await store.find('principal', who.name), clock(), act),
    );
  }

  /** Ends a draft, also one of another process: the same act, with the proofs of its statements. */
  finish<T>(draft: Draft, proofs: readonly Proof[], act: (signer: Signer) => Promise<T>): Promise<T> {
    const { clock } = this.#project.context;
    return tellingRefusal(this.#telemetry, 'finish', () => finishDraft(draft, clock(), proofs, act));
  }

  async close(): Promise<void> {
    const { store, upstreams, starter } = this.#project.context;
    try {
      await store.close();
    } finally {
      upstreams.close();
      starter.close();
      this.#telemetry.close();
    }
  }
}

export type { Excerpt } from './audit/excerpt.ts';
export type { Conditions } from './capability/conditions.ts';
export type { ResourceScope } from './capability/scope.ts';
export { areAllDrawn, comparedDiffs, hasDiffs } from './display/diff-check.ts';
export type { ActKnown } from './display/expected.ts';
export { expectedActs } from './display/expected-acts.ts';
export { loneCredentialWords } from './display/lone-credential.ts';
export { sealedPolicies } from './display/policy-check.ts';
export {
  ALARMS,
  type Alarm,
  type Block,
  type Line,
  type Piece,
  type Shown,
  type Weight,
} from './display/shown.ts';
export { isSealedAs, rebuiltAct, sealedProposal, withTheirDiffs } from './display/signed.ts';
export { hasNoExecutor, isUnserved } from './display/unserved.ts';
export type { OnOutput } from './effect/child.ts';
export { runEditor } from './effect/editor.ts';
export type { Body, EventKind } from './event/event.ts';
export type { NamedCaller } from './face/caller.ts';
export type { Face } from './face/face.ts';
export type { Request, Result, VerbName } from './face/verbs.ts';
export type { FinderPacket } from './finder/packet.ts';
export type { Finder, FinderRequest } from './finder/request.ts';
export { AGENT_CORE } from './gate/agent-core.ts';
export type { ConversationStatus } from './gate/agent-state.ts';
export type { CapabilityWord } from './gate/capability-word.ts';
export { type Freeze, freezeOf, freezeWords, frozenFor } from './gate/freeze.ts';
export { controllerLine, ELIGIBLE_LINE } from './gate/lines.ts';
export type { Capability, IntentState, IntentStatus } from './gate/state.ts';
export type { RunWord, StatusWord } from './gate/status-word.ts';
export { audienceOf, type Executor } from './gate/system.ts';
export { type Account, accountAtService } from './identity/account.ts';
export { type Proof, verifyProof } from './identity/act.ts';
export { assuranceOf } from './identity/assurance.ts';
export { type Credential, keyCredential, type NewCredential, requireMadeBy } from './identity/credential.ts';
export { type Delegation, includes } from './identity/delegation.ts';
export { type Draft, REHEARSED } from './identity/draft.ts';
export type { HumanKey } from './identity/keyfile.ts';
export { type Assertion, challengeOf, type Passkey } from './identity/passkey.ts';
export { type Registration, verifyEnrolment } from './identity/passkey-enrolment.ts';
export type { Passphrase } from './identity/passphrase.ts';
export { activeCredentials, hasKey, onlyKeyOf } from './identity/principal.ts';
export type { BoundSection } from './journey/bound-shown.ts';
export { type ControlPlane, issueAnswer, issueAsked } from './journey/control-plane.ts';
export type { Progress } from './journey/derived.ts';
export type { Executed, ExecuteRequest } from './journey/execute.ts';
export type { PolicyDiff } from './journey/policy.ts';
export type { PolicyFilesComparison } from './journey/policy-files.ts';
export type { Queue, Served } from './journey/queue.ts';
export { actionOf, executorIn, neededScope } from './journey/reach.ts';
export { Cancelled } from './journey/run-words.ts';
export type { McpEffect } from './mcp-call/effect.ts';
export { calledName, RUN_PROGRESS } from './mcp-call/name.ts';
export type { PlanProblem } from './plan/input/problem.ts';
export type { PlanEffect } from './plan/model.ts';
export { hunkLines } from './plan/report/hunk.ts';
export type { PolicyProblem } from './policy/problem.ts';
export type { TableResult } from './policy/table.ts';
export type { NotifyEvent, ServiceLimits } from './project/config.ts';
export { parseDuration } from './project/duration.ts';
export type { NotifyTarget } from './project/executor-file.ts';
export type { JoinedLedger } from './project/join.ts';
export { keepLogin, type RemoteLogin, readLogin, removeLogin } from './project/login-file.ts';
export type { NotifyPosition } from './project/notify-file.ts';
export { explain, isReasonCode, type ReasonCode, Refusal, reasonCodes } from './refusal.ts';
export type { ServiceState } from './store/store.ts';
export { type Absence, isAbsent, type Printed, type Story, type Told } from './story/tell.ts';
export { entrySentence } from './story/words.ts';
export type { ToolEffect } from './tool/effect.ts';
export { isRemark } from './tool/lint.ts';
export { type Entry, type Fault, type PlanSpec, type Principal, type Signer, type Tool, VERSION };

/** A plan is JSON that a person reviews; its longest part is the content of new files. */
export const planBytesMax: number = limits.json_bytes;
