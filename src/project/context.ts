import type { KeyObject } from 'node:crypto';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { AgentFace } from '../agent/face.ts';
import type { Finder } from '../agent/finder/request.ts';
import { type KeyPair, privateKeyOf, publicKeyOf } from '../canonical/ed25519.ts';
import { machineInspector } from '../effect/machine.ts';
import { thisProcess } from '../effect/process.ts';
import { createDigests } from '../effect/program.ts';
import { entryReader } from '../fold/ledger.ts';
import type { Account } from '../identity/account.ts';
import { signerOf } from '../identity/act.ts';
import type { Context, ControlKey } from '../journey/context.ts';
import { observedEngine, observedStore } from '../journey/observe.ts';
import type { Engine } from '../policy/engine.ts';
import type { Store } from '../store/store.ts';
import { both, openTelemetry, type Telemetry } from '../telemetry.ts';
import { loadRegistry, type Registry } from '../tool/registry.ts';
import { type Config, guardedPaths } from './config.ts';
import { agentSignerIn, createAgentKey, readControlKey } from './keys.ts';
import type { Layout } from './layout.ts';
import type { OpenedLedger } from './open.ts';
import { readPolicyFiles } from './policies.ts';
import { readSimulationFiles } from './simulations.ts';

/**
 * The agent core on top of the journey of this project. It is large, so it is loaded by whoever needs it. Of another
 * finder only the port is used, whatever else it can do.
 */
export async function agentOf(layout: Layout, journey: Context, finder?: Finder): Promise<AgentFace> {
  const { openAgent } = await import('../agent/face.ts');
  const { AGENT_CORE, newMemory } = await import('../agent/context.ts');
  const { createFinder } = await import('../agent/finder/finder.ts');
  const path = join(layout.keys, `${AGENT_CORE}.seed`);
  const signer = ({ public_key, seed }: KeyPair) => signerOf(AGENT_CORE, public_key, seed);
  return openAgent({
    journey,
    files: () => readSimulationFiles(layout),
    finder: finder ? { find: (request) => finder.find(request) } : createFinder(),
    core_key: agentSignerIn(path, AGENT_CORE),
    create_core_key: () => signer(createAgentKey(path)),
    memory: newMemory(),
  });
}

/** What an operator asked to see. The log is loaded only where one is configured. */
export async function telemetryOf({ root }: Layout, { log }: Config): Promise<Telemetry> {
  const measured = await openTelemetry();
  if (log === null) return measured;
  const { openLog } = await import('../log.ts');
  return both(measured, await openLog(root, log));
}

/** What every step of the journey needs, from the files of one project and its store. */
export function contextOf(
  layout: Layout,
  config: Config,
  { store: opened, origin, requireKeptHead, requireSteadyClock }: OpenedLedger,
  clock: () => Date,
  telemetry: Telemetry,
  account: Account | null,
): Context {
  const store = observedStore(opened, telemetry);
  return {
    store,
    requireKeptHead,
    requireSteadyClock,
    telemetry,
    origin,
    clock,
    root: layout.root,
    registry_path: config.registry_path,
    registry: registryOf(config.registry_path, layout.root),
    digests: createDigests(),
    machine: machineInspector(),
    read_entry: entryReader(),
    verified: new Set(),
    memory: { proven: null, asked: null, plan: null, attributes: null },
    public_key: importedOnce(),
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
    proposals: config.proposals,
    audience: `${origin}/${config.executor}`,
    environment: config.environment,
    control_key: controlKeyOf(layout),
    policy_files: () => readPolicyFiles(layout),
    rules: rulesOf(store, telemetry),
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

function importedOnce(): Context['public_key'] {
  const known = new Map<string, KeyObject>();
  return (key) => {
    const found = known.get(key) ?? publicKeyOf(key);
    known.set(key, found);
    return found;
  };
}

/** Read from its file by the first grant: to import a private key costs more than to sign with it. */
function controlKeyOf(layout: Layout): Context['control_key'] {
  let known: ControlKey | null = null;
  return (public_key) => {
    if (known?.public_key !== public_key)
      known = { public_key, key: privateKeyOf(readControlKey(layout, public_key).seed) };
    return known;
  };
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

/** Looks at the file every time, and parses it only when its bytes changed. */
function registryOf(path: string, root: string): () => Registry {
  let known: Registry | undefined;
  return () => {
    known = loadRegistry(path, { root, ...(known && { known }) });
    return known;
  };
}
