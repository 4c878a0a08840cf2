import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AgentContext } from '../agent/context.ts';
import { type KeyPair, privateKeyOf, rememberedKeys } from '../canonical/ed25519.ts';
import { Recent } from '../canonical/recent.ts';
import { rememberedFile } from '../effect/file-key.ts';
import { machineInspector } from '../effect/machine.ts';
import { thisProcess } from '../effect/process.ts';
import { createDigests } from '../effect/program.ts';
import { Starter } from '../effect/starter.ts';
import { rememberedUsers } from '../effect/user.ts';
import type { Finder } from '../finder/request.ts';
import { EntryReader, VerifiedEntries } from '../fold/ledger.ts';
import type { Account } from '../identity/account.ts';
import { signerOf } from '../identity/act.ts';
import type { MachineKey } from '../identity/fact.ts';
import type { Context } from '../journey/context.ts';
import { Follower } from '../journey/follower.ts';
import { observedEngine, observedStore } from '../journey/observe.ts';
import { ReadLedger } from '../journey/read-ledger.ts';
import { stepGate } from '../journey/steps.ts';
import { StoreAside } from '../journey/store-aside.ts';
import { limits, planLimits } from '../limits.ts';
import { serverMemory } from '../mcp-call/memory.ts';
import { Upstreams } from '../mcp-call/upstreams.ts';
import { PlanAside } from '../plan/aside/aside.ts';
import type { Engine } from '../policy/engine.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { StorePlace } from '../store/open.ts';
import type { Receipt, Store } from '../store/store.ts';
import { both, openTelemetry, type Telemetry, toldOnce } from '../telemetry.ts';
import { loadRegistry, type Registry } from '../tool/registry.ts';
import { beatFile } from './beat-file.ts';
import { callMarks } from './call-marks.ts';
import { type Config, guardedPaths, serversOf } from './config.ts';
import { secretsOf } from './executor-file.ts';
import { createAgentKey, newestControlKey, openKeyIn, readControlKey, receiptsOf } from './keys.ts';
import type { Layout } from './layout.ts';
import type { OpenedLedger } from './open.ts';
import { partialAnswers } from './partial-answers.ts';
import { readPolicyFiles } from './policies.ts';
import { simulationFiles } from './simulations.ts';

/**
 * The agent core on top of the journey of this project. It is large, so it is loaded when it is first used. Of another
 * finder only the port is used, whatever else it can do.
 */
export async function agentOf(layout: Layout, journey: Context, finder?: Finder): Promise<AgentContext> {
  const { AGENT_CORE, newMemory } = await import('../agent/context.ts');
  const { createFinder } = await import('../finder/finder.ts');
  const path = join(layout.keys, `${AGENT_CORE}.seed`);
  const signer = ({ public_key, seed }: KeyPair) => signerOf(AGENT_CORE, public_key, seed);
  return {
    journey,
    files: simulationFiles(layout),
    finder: finder ? { find: (request) => finder.find(request) } : createFinder(),
    core_key: openKeyIn(path, AGENT_CORE),
    create_core_key: () => signer(createAgentKey(path)),
    memory: newMemory(),
  };
}

/** What an operator asked to see. The log is loaded only where one is configured. */
export async function telemetryOf({ root }: Layout, { log }: Config): Promise<Telemetry> {
  const measured = await openTelemetry();
  if (log === null) return toldOnce(measured);
  const { openLog } = await import('../log.ts');
  return toldOnce(both(measured, await openLog(root, log)));
}

/** What every step of the journey needs, from the files of one project and its store. */
export function journeyContext(
  layout: Layout,
  config: Config,
  { store: opened, origin, requireKeptHead, requireSteadyClock }: OpenedLedger,
  clock: () => Date,
  telemetry: Telemetry,
  account: Account | null,
): Context {
  const verified = new VerifiedEntries();
  const writes = lastWrite(config.store.kind);
  const reader = new EntryReader();
  const store = afterCommit(observedStore(opened, telemetry), writes, ({ entries }) => {
    // A commit verifies its events before it seals them, for the ledger that a row names: an attacker may have written that row.
    if (opened.origin() === origin) for (const { hash } of entries) verified.add(hash);
    for (const written of entries) reader.keep(written);
    follower.grew();
  });
  const follower = new Follower(store, (hash) => reader.known(hash)?.entry);
  const service_state = store.service_state ?? null;
  const starter = new Starter();
  return {
    store,
    beats: store.beats ?? beatFile(layout),
    service_state,
    whyNotWritten: writes.whyNot,
    requireKeptHead,
    requireSteadyClock,
    telemetry,
    origin,
    clock,
    root: layout.root,
    registry_path: config.registry_path,
    registry: registryOf(config.registry_path, layout.root),
    digests: createDigests(),
    userFor: rememberedUsers(),
    starter,
    aside: new PlanAside(),
    store_aside: new StoreAside(
      config.store.kind === 'sqlite' ? { path: config.store.name, tenant: config.tenant } : null,
      () => store.rebuild({ write: false }),
    ),
    servers: serversOf(layout),
    upstreams: new Upstreams(),
    calls: callMarks(join(layout.own, 'mcp', 'calls.jsonl')),
    partial_answers: partialAnswers(join(layout.own, 'mcp', 'answers'), service_state),
    secrets: secretsOf(layout, starter),
    follower,
    machine: machineInspector(),
    read_entry: reader.read,
    ledger: new ReadLedger(store, origin, verified, reader),
    verified,
    memory: {
      proven: null,
      asked: new Recent(limits.remembered_contexts),
      servers: serverMemory(),
      grants: new Recent(limits.remembered_contexts),
      plan: null,
      plans_tried: new Map(),
      routes: new Recent(limits.remembered_contexts),
      approvers_read: new Recent(limits.remembered_contexts),
      elevated: new Recent(limits.remembered_digests),
      looks: new Recent(limits.remembered_contexts),
      previews: new Recent(planLimits.kept_previews),
      expiries: new Map(),
      attributes: null,
      reports_ms: 0,
    },
    step: stepGate(),
    public_key: rememberedKeys(),
    process: { ...thisProcess(), instance: randomUUID() },
    at_work: new Set(),
    in_turn: turns(),
    account,
    runs_folder: join(layout.own, 'runs'),
    hidden_paths: [layout.own],
    protected_paths: guardedPaths(layout, config),
    intent_ttl_s: config.intent_ttl_s,
    approval_ttl_s: config.approval_ttl_s,
    capability_ttl_s: config.capability_ttl_s,
    order_ttl_s: config.order_ttl_s,
    prompt_ttl_s: config.prompt_ttl_s,
    proposals: config.proposals,
    audience: `${origin}/${config.executor}`,
    environment: config.environment,
    control_key: controlKeyOf(layout),
    executor_key: executorKeyOf(layout),
    own_receipt: receiptsOf(layout, origin),
    policy_files: () => readPolicyFiles(layout),
    rules: rulesOf(store, telemetry),
  };
}

/** Of a store. What another one wrote first, or a step was refused for, is no failure of it. */
const WRITE_FAILURES: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['DISK_FULL', 'WRITE_FAILED']);

interface LastWrite {
  ended(failed: ReasonCode | null): void;
  whyNot(): ReasonCode | null;
}

/** What an open file holds after a failed write is not known, and no later one mends that. A server goes on when it can. */
function lastWrite(kind: StorePlace['kind']): LastWrite {
  const told_ms = kind === 'sqlite' ? Number.POSITIVE_INFINITY : limits.write_failed_ms;
  let last: { readonly failed: ReasonCode | null; readonly at_ms: number } | null = null;
  return {
    ended: (failed) => {
      last = { failed, at_ms: performance.now() };
    },
    whyNot: () => (last === null || performance.now() - last.at_ms > told_ms ? null : last.failed),
  };
}

function afterCommit(store: Store, writes: LastWrite, act: (receipt: Receipt) => void): Store {
  return {
    ...store,
    commit: async (commit) => {
      try {
        const receipt = await store.commit(commit);
        writes.ended(null);
        act(receipt);
        return receipt;
      } catch (error) {
        if (error instanceof Refusal && WRITE_FAILURES.has(error.code)) writes.ended(error.code);
        throw error;
      }
    },
  };
}

function turns(): Context['in_turn'] {
  const last = new Map<string, Promise<unknown>>();
  return (key, act) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(act);
    const over = mine.then(
      () => {},
      () => {},
    );
    last.set(key, over);
    void over.then(() => {
      if (last.get(key) === over) last.delete(key);
    });
    return mine;
  };
}

/** Read from its file by the first act: to import a private key costs more than to sign with it. */
function controlKeyOf(layout: Layout): Context['control_key'] {
  let known: MachineKey | null = null;
  return (public_keys) => {
    const public_key = newestControlKey(layout, public_keys);
    if (public_key === null) return null;
    if (known?.public_key !== public_key)
      known = { public_key, key: privateKeyOf(readControlKey(layout, public_key).seed) };
    return known;
  };
}

/** A revoked key is replaced while the process goes on. */
function executorKeyOf(layout: Layout): Context['executor_key'] {
  const own = openKeyIn(layout.executor_key, 'executor');
  return () => own() ?? refuse('EXECUTOR_UNKNOWN', 'This host has no key of an executor.');
}

/** The policies of the latest snapshot that was asked for stay ready: parsing them is most of the work of a decision. */
function rulesOf(store: Store, telemetry: Telemetry): Context['rules'] {
  let known: { readonly snapshot: string; readonly engine: Promise<Engine> } | null = null;
  return (snapshot) => {
    if (known?.snapshot !== snapshot) known = { snapshot, engine: openRules(store, snapshot, telemetry) };
    return known.engine;
  };
}

async function openRules(store: Store, snapshot: string, telemetry: Telemetry): Promise<Engine> {
  const bytes = await store.object(snapshot);
  const { openPolicySet } = await import('../policy/set.ts');
  const { openEngine } = await import('../policy/engine.ts');
  const { rememberingEngine } = await import('../policy/remember.ts');
  const engine = await openEngine(await openPolicySet(bytes));
  return observedEngine(rememberingEngine(engine), telemetry);
}

/** Looks at the file every time. It is read again when it is another one or was changed, and parsed when its bytes changed. */
function registryOf(path: string, root: string): Context['registry'] {
  const reading = (requireReadOnly: boolean) =>
    rememberedFile<Registry>(path, (known) =>
      loadRegistry(path, { root, requireReadOnly, ...(known && { known }) }),
    );
  const [toRun, toLook] = [reading(true), reading(false)];
  return ({ requireReadOnly = true } = {}) => (requireReadOnly ? toRun() : toLook());
}
