import { sign } from '../canonical/ed25519.ts';
import { once } from '../canonical/once.ts';
import type { ChildCommand } from '../effect/child.ts';
import type { Signer } from '../identity/act.ts';
import { nameInToken, tokenShown } from '../identity/agent-token.ts';
import type { Passphrase } from '../identity/passphrase.ts';
import { activeCredentials } from '../identity/principal.ts';
import { type Context, requireIntent } from '../journey/context.ts';
import { currentControlKey } from '../journey/control.ts';
import type { IssueAsked } from '../journey/control-plane.ts';
import { type ExecuteRequest, executeOrders } from '../journey/execute.ts';
import { issueFor } from '../journey/issue-for.ts';
import { tellingRefusal } from '../journey/observe.ts';
import { begunRuns, queueOf, servedNow } from '../journey/queue.ts';
import { reviewersAdded } from '../journey/reviewers.ts';
import { lookAtServer } from '../journey/servers.ts';
import { alone } from '../project/alone.ts';
import { readTargets } from '../project/executor-file.ts';
import { makeKey } from '../project/found.ts';
import { humanKeyFiles, humanKeysHere, keepHumanKey } from '../project/keys.ts';
import { keepNonces } from '../project/nonces.ts';
import { notifyPositions } from '../project/notify-file.ts';
import { configureServer } from '../project/server-file.ts';
import { ownServiceState } from '../project/service-state.ts';
import { keepTokenUses, sharedTokenUses } from '../project/token-uses.ts';
import type { ReasonCode } from '../refusal.ts';
import type { Telemetry } from '../telemetry.ts';
import type { OpenProject } from './verb.ts';

/** What the service, the executor and the command line of this host need beside the verbs. None of it is asked for from elsewhere. */
export type Host = ReturnType<typeof hostOf>;

export function hostOf(
  { layout, config, context }: Omit<OpenProject, 'caller' | 'agent'>,
  telemetry: Telemetry,
) {
  const { account, origin, store } = context;
  const shared = store.service_state;
  const tokenUses = once(() => (shared ? sharedTokenUses(shared) : keepTokenUses(layout)));
  const nonces = once(() => store.nonces ?? keepNonces(layout));
  const methods = {
    /** Whose token it is now; null where it is none that holds. Its use is kept. */
    callerWith: async (token: string): Promise<string | null> => {
      const name = nameInToken(token);
      const agent = name === null ? null : await store.find('principal', name);
      const shown = agent && tokenShown(agent, token);
      if (!shown) return null;
      tokenUses().used(shown.token_id, context.clock());
      return name;
    },
    /** The Ed25519 keys that speak for this name now; null where no principal of that name is known by one. */
    keysOf: async (name: string) => {
      const found = await store.find('principal', name);
      if (found === null) return null;
      const keys = activeCredentials(found).filter((one) => one.kind === 'key');
      return keys.length === 0 ? null : { kind: found.kind, keys: keys.map((one) => one.public_key) };
    },
    /** False where a nonce was taken before, by this process or by another one that serves this project. */
    takeNonce: (nonce: string, until: Date) => nonces().take(nonce, until, context.clock()),
    /** What the services of this project remember together. */
    serviceState: once(() => shared ?? ownServiceState()),
    /** Does something as the one service of this project. Several may share a store that is a server. */
    asService: <T>(act: () => Promise<T>): Promise<T> => {
      context.aside.serve();
      context.store_aside.serve();
      return config.store.kind === 'sqlite' ? alone(layout.serve_lock, act) : act();
    },
    /** The time, as everything here has it. */
    now: () => context.clock(),
    /** Another number whenever something was written since; null where the store cannot tell at once. */
    written: () => store.written?.() ?? null,
    /** Why the last commit of this process did not reach the disk; null where it did. A file that failed once takes no more from it. */
    writeFailure: (): ReasonCode | null => context.whyNotWritten(),

    /** The names that have a key file here, each with its files. */
    keyFiles: () => humanKeyFiles(layout),
    /** The public keys in the key files of this name here. */
    keysHere: (name: string) => humanKeysHere(layout, name),
    createKey: async (name: string, passphrase: Passphrase): Promise<Signer> =>
      keepHumanKey(layout, await makeKey(name, layout.root, passphrase)),

    /** Writes an MCP server into keyturn.yaml. It starts nothing: a human has to accept it. */
    configureServer: (server: string, entry: object) => configureServer(layout, server, entry),
    /** Starts an MCP server of keyturn.yaml, looks at all its tools, and ends it. For a human at a terminal: it may not be accepted. */
    lookAtServer: (server: string) => lookAtServer(context, server),
    /** Told what servers say unasked. Returns how to end that. */
    hearServers: (tell: Parameters<Context['upstreams']['hear']>[0]) => context.upstreams.hear(tell),

    /** Runs what is ordered for this host, until the signal. Refused where another process of this host does. */
    execute: (request: ExecuteRequest) => alone(layout.execute_lock, () => executeOrders(context, request)),
    /** Refuses where this host could claim nothing by itself: it has no key to issue with. */
    requireControlKey: async () => void currentControlKey(context, await store.system()),
    /** Issues what was ordered, for an executor on a host without a control key. It writes nothing. */
    issueFor: (executor: string, asked: IssueAsked) => issueFor(context, executor, asked),
    /** What the executor of this host signs its requests with. */
    executorSigner: () => ({
      name: `executor:${context.executor_key().public_key}`,
      ledger: origin,
      sign: (bytes: Uint8Array) => sign(bytes, context.executor_key().key),
    }),

    /** How much waits, in numbers; and each run that began and has no end, with whether nothing works on it. */
    queue: () => queueOf(context),
    begunRuns: () => begunRuns(context),
    /** The part of it that costs little: what is ordered, and who runs it. */
    served: () => servedNow(context),
    /** Whom the policies ask to look at an intent now, and did not before it had waited for so long. */
    reviewersAdded: async (intent_id: string, since: Date) =>
      reviewersAdded(context, await requireIntent(context, intent_id), since),
    /** Where notifications go, by the file of this host alone; and how far each was told. */
    notifyTargets: () => readTargets(layout),
    notifyPositions: once(() => notifyPositions(layout, shared)),
    /** A secret of this host. It is kept nowhere. */
    secret: async (name: string): Promise<string> => (await context.secrets([name])).get(name)!,
    /** Starts the command of a target of notifications, which only the file of this host can name. */
    runNotifier: (command: ChildCommand) => context.starter.run(command),
  };
  return {
    ...told(methods, telemetry),
    /** The account of the operating system in which this acts. */
    account,
    /** The name of the ledger. Every signature covers it. */
    origin,
    /** The log and the SDK of an operator, for what an entry point does itself. */
    telemetry,
  };
}

/** The same methods. What one refuses is counted with its name. */
function told<T extends object>(methods: T, telemetry: Telemetry): T {
  const named = Object.entries(methods).map(([name, method]) => [
    name,
    (...given: unknown[]) => tellingRefusal(telemetry, `host.${name}`, () => method(...given)),
  ]);
  return Object.fromEntries(named) as T;
}
