import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { makeFolderDurably, moveDurably } from '../durable/file.ts';
import { thisAccount } from '../effect/process.ts';
import { originOf } from '../identity/act.ts';
import { type HumanKey, makeHumanKey } from '../identity/keyfile.ts';
import { type Chooser, forgetting, type Passphrase } from '../identity/passphrase.ts';
import { genesisOf } from '../journey/audit.ts';
import { addControlKey } from '../journey/control.ts';
import { enrol, requireName } from '../journey/enrol.ts';
import { addExecutor } from '../journey/executor.ts';
import { Refusal, refuse } from '../refusal.ts';
import { sqlitePlace } from '../store/open.ts';
import { SILENT } from '../telemetry.ts';
import { type Config, readConfig } from './config.ts';
import { journeyContext } from './context.ts';
import { createControlKey, createLedgerKey, keepHumanKey, ownExecutorKey } from './keys.ts';
import { type Layout, layoutOf } from './layout.ts';
import { pinnedOf, writeLedgerFile } from './ledger-file.ts';
import { createHeadFiles, headPlaces } from './open.ts';
import { writeStarterFiles } from './starter.ts';

/** The first human, by a new key with this passphrase, or by a key that `makeKey` made. */
export type FirstHuman =
  | { readonly name: string; readonly passphrase: Passphrase }
  | { readonly key: HumanKey };

interface Founding {
  readonly at: string;
  readonly clock: () => Date;
  readonly version: string;
}

/** Makes a folder a project. Bytes of a passphrase are cleared, also when this refuses. */
export function foundProject(human: FirstHuman, founding: Founding): Promise<void> {
  if ('key' in human) return found(human.key.signer.name, async () => human.key, founding);
  const { name, passphrase } = human;
  return forgetting(passphrase, () => found(name, () => makeKey(name, founding.at, passphrase), founding));
}

export const chooserOf = (name: string, at: string): Chooser => ({ name, project: basename(resolve(at)) });

/** A new key of a human for the project in this folder. Nothing is written, and bytes of the passphrase are cleared. */
export function makeKey(name: string, at: string, passphrase: Passphrase): Promise<HumanKey> {
  return forgetting(passphrase, async () => {
    requireName(name);
    return makeHumanKey(chooserOf(name, at), passphrase);
  });
}

async function found(name: string, key: () => Promise<HumanKey>, founding: Founding): Promise<void> {
  const { at, clock } = founding;
  const layout = layoutOf(at);
  requireName(name);
  if (existsSync(layout.own)) refuse('PROJECT_EXISTS');
  const first = await key();
  writeStarterFiles(layout);
  const config = readConfig(layout);
  // Built under another name and then given its own, so that a crash leaves no half project.
  const draft = layoutOf(at, join(at, `.keyturn-${randomUUID()}`));
  try {
    await build(draft, config, first, founding);
    if (config.store.kind !== 'sqlite') await (await import('./store.ts')).moveIn(draft, config, clock);
    moveDurably(draft.own, layout.own);
  } catch (error) {
    // Where it is not known whether the ledger is there, its keys stay: without them it could never be used.
    if (!(error instanceof Refusal && error.code === 'WRITE_FAILED'))
      rmSync(draft.own, { recursive: true, force: true });
    throw existsSync(layout.own) ? new Refusal('PROJECT_EXISTS') : error;
  }
}

async function build(
  layout: Layout,
  config: Config,
  key: HumanKey,
  { clock, version }: Founding,
): Promise<void> {
  makeFolderDurably(layout.own, 0o700);
  makeFolderDurably(layout.keys, 0o700);
  const ledger_key = createLedgerKey(layout).public_key;
  const signer = keepHumanKey(layout, key);
  const store = await sqlitePlace(layout.store).open({ tenant: config.tenant, clock, mode: 'create' });
  try {
    const project_id = randomUUID();
    const body = { project_id, ledger_key, version };
    await store.commit({
      claims: ['system'],
      events: [{ kind: 'system.initialised', subject: 'system', body }],
    });
    const origin = originOf(project_id, config.tenant);
    const ledger = { store, origin, requireKeptHead: async () => {}, requireSteadyClock: () => {} };
    const context = journeyContext(layout, config, ledger, clock, SILENT, thisAccount());
    await enrol(context, {
      name: signer.name,
      principal: 'human',
      public_key: signer.public_key,
      signer,
    });
    const { public_key } = createControlKey(layout);
    await addControlKey(context, { public_key, reason: 'The first one.', signer });
    const executor = { public_key: ownExecutorKey(layout).public_key, name: config.executor };
    await addExecutor(context, { ...executor, reason: 'The first one.', signer });
    const { activatePolicies } = await import('../journey/policy.ts');
    await activatePolicies(context, { reason: 'The first ones.', signer });
    writeLedgerFile(layout, pinnedOf(await genesisOf(store)));
    createHeadFiles(headPlaces(layout, config), origin, await store.tip());
  } finally {
    await store.close();
  }
}
