import type { AgentContext } from './agent/context.ts';
import { thisAccount } from './effect/process.ts';
import type { NamedCaller } from './face/caller.ts';
import { type Face, faceFor, namespacesOn } from './face/face.ts';
import { type Host, hostOf } from './face/host.ts';
import { type Methods, methodsOf, type OpenProject } from './face/verb.ts';
import { VERBS } from './face/verbs.ts';
import type { Finder } from './finder/request.ts';
import type { Account } from './identity/account.ts';
import { type OpenKey, type Proof, type Signer, signerOf } from './identity/act.ts';
import { makeToken } from './identity/agent-token.ts';
import { type Draft, type Drafting, draftAct, finishDraft } from './identity/draft.ts';
import { forgetting, type Passphrase } from './identity/passphrase.ts';
import type { Context } from './journey/context.ts';
import { type FollowRequest, follow } from './journey/follow.ts';
import { tellingRefusal } from './journey/observe.ts';
import type { Entry } from './ledger/entry.ts';
import { type Config, readConfig } from './project/config.ts';
import { agentOf, journeyContext, telemetryOf } from './project/context.ts';
import { type FirstHuman, foundProject } from './project/found.ts';
import { createAgentKey, humanKeyFiles, openHumanKey, readAgentKey } from './project/keys.ts';
import { type Layout, requireProject } from './project/layout.ts';
import { openLedger } from './project/open.ts';
import type { Telemetry } from './telemetry.ts';
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

/** One project, its store, and the journey of an intent through it. */
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

  /** The key of an agent, in a file that only its owner may read; and what signs with it. */
  static createAgentKey = createAgentKey;
  static agentSigner = (name: string, path: string): OpenKey => {
    const { public_key, seed } = readAgentKey(path);
    return signerOf(name, public_key, seed);
  };
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
    const { store, upstreams, starter, aside, store_aside } = this.#project.context;
    try {
      await store.close();
    } finally {
      upstreams.close();
      starter.close();
      aside.close();
      store_aside.close();
      this.#telemetry.close();
    }
  }
}

export { type Excerpt, excerptOfProof } from './audit/excerpt.ts';
export { auditProof } from './audit/proof.ts';
export { attenuate, type Narrower } from './capability/attenuate.ts';
export { openChain } from './capability/chain.ts';
export { type Conditions, parseConditions } from './capability/conditions.ts';
export { canonicalScope, type ResourceScope } from './capability/scope.ts';
export { areAllDrawn, comparedDiffs, hasDiffs } from './display/diff-check.ts';
export { showEffect } from './display/effect.ts';
export { expectedActs } from './display/expected-acts.ts';
export { loneCredentialWords } from './display/lone-credential.ts';
export { sealedPolicies } from './display/policy-check.ts';
export type {
  Alarm,
  Block,
  Line,
  Piece,
  Shown,
  Weight,
} from './display/shown.ts';
export { isDrawnNow, isSealedAs, rebuiltAct, sealedProposal, withTheirDiffs } from './display/signed.ts';
export { hasNoExecutor, isUnserved } from './display/unserved.ts';
export type { OnOutput } from './effect/child.ts';
export { runEditor } from './effect/editor.ts';
export { inspectMachine } from './effect/machine.ts';
export { requireSandbox } from './effect/sandbox.ts';
export { userFor } from './effect/user.ts';
export type { NamedCaller } from './face/caller.ts';
export { elsewhere } from './face/elsewhere.ts';
export type { Face } from './face/face.ts';
export type { Request, Result, VerbName } from './face/verbs.ts';
export type { FinderPacket } from './finder/packet.ts';
export type { Finder, FinderRequest } from './finder/request.ts';
export { AGENT_CORE } from './gate/agent-core.ts';
export type { ConversationStatus } from './gate/agent-state.ts';
export type { CapabilityWord } from './gate/capability-word.ts';
export { type Freeze, freezeOf, freezeWords } from './gate/freeze.ts';
export { controllerLine, ELIGIBLE_LINE } from './gate/lines.ts';
export type { Capability, IntentState, IntentStatus } from './gate/state.ts';
export type { RunWord, StatusWord } from './gate/status-word.ts';
export { audienceOf, type Executor } from './gate/system.ts';
export { type Account, accountAtService, identifiedBy } from './identity/account.ts';
export { type Proof, verifyProof } from './identity/act.ts';
export {
  type Credential,
  keyCredential,
  type NewCredential,
  requireLabel,
  requireMadeBy,
} from './identity/credential.ts';
export { type Delegation, includes } from './identity/delegation.ts';
export { type Draft, REHEARSED, rehearseAct } from './identity/draft.ts';
export type { HumanKey } from './identity/keyfile.ts';
export { type Assertion, challengeOf, type Passkey } from './identity/passkey.ts';
export { type Registration, verifyEnrolment } from './identity/passkey-enrolment.ts';
export { type Passphrase, requirePassphrase } from './identity/passphrase.ts';
export { activeCredentials, hasKey, onlyKeyOf, type Principal } from './identity/principal.ts';
export { excerptOfExportFile, verifyExportFile, verifySegmentFiles } from './journey/audit-file.ts';
export type { BoundSection } from './journey/bound-shown.ts';
export { type ControlPlane, issueAnswer, issueAsked } from './journey/control-plane.ts';
export type { Progress } from './journey/derived.ts';
export { requireName } from './journey/enrol.ts';
export { entriesInFile } from './journey/entries.ts';
export type { Executed } from './journey/execute.ts';
export type { Queue, Served } from './journey/queue.ts';
export { actionOf, executorIn, neededScope } from './journey/reach.ts';
export { Cancelled } from './journey/run-words.ts';
export { storyInFile } from './journey/story.ts';
export { sealEntry } from './ledger/entry.ts';
export { openHeadOf } from './ledger/head.ts';
export type { McpEffect } from './mcp-call/effect.ts';
export { calledName, RUN_PROGRESS } from './mcp-call/name.ts';
export type { PlanEffect } from './plan/model.ts';
export { hunkLines } from './plan/report/hunk.ts';
export type { PlanSpec } from './plan/spec.ts';
export type { PolicyProblem } from './policy/problem.ts';
export { backupProject } from './project/backup.ts';
export type { NotifyEvent, ServiceLimits } from './project/config.ts';
export { parseDuration } from './project/duration.ts';
export type { NotifyTarget } from './project/executor-file.ts';
export { chooserOf, makeKey } from './project/found.ts';
export { type JoinedLedger, joinLedger } from './project/join.ts';
export { openKeyFile, requireKeyFile } from './project/keys.ts';
export { keepLogin, type RemoteLogin, readLogin, removeLogin } from './project/login-file.ts';
export type { NotifyPosition } from './project/notify-file.ts';
export { repairStore } from './project/repair.ts';
export { restoreProject } from './project/restore.ts';
export { copyStore, migrateStore } from './project/store.ts';
export { explain, isReasonCode, type ReasonCode, Refusal, reasonCodes } from './refusal.ts';
export { Rehearsal } from './store/rehearsal.ts';
export type { ServiceState } from './store/store.ts';
export { differenceWords } from './story/changes.ts';
export { entrySentence } from './story/words.ts';
export { type Fault, isRemark } from './tool/lint.ts';
export { type Entry, type Signer, VERSION };
