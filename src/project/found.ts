import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { makeFolderDurably, moveDurably } from '../durable/file.ts';
import { thisAccount } from '../effect/process.ts';
import {
  type ActDraft,
  type ActFacts,
  originOf,
  type Signer,
  signActs,
  withOwnProof,
} from '../identity/act.ts';
import { keyCredential } from '../identity/credential.ts';
import { type HumanKey, makeHumanKey } from '../identity/keyfile.ts';
import type { Passkey } from '../identity/passkey.ts';
import { type Chooser, forgetting, type Passphrase } from '../identity/passphrase.ts';
import { genesisOf } from '../journey/audit.ts';
import type { Context } from '../journey/context.ts';
import { enrolling, requireName } from '../journey/enrol.ts';
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

/** The first human, by a new key with this passphrase, by a key that `makeKey` made, or by a passkey in the hand of its holder. */
export type FirstHuman =
  | { readonly name: string; readonly passphrase: Passphrase }
  | { readonly key: HumanKey }
  | FirstPasskey;

/** One touch signs all that a project begins with. */
export interface FirstPasskey {
  readonly passkey: Passkey;
  readonly holder: Signer;
  /** A second credential from the beginning: its file is to be kept elsewhere, for the day on which the passkey is gone. */
  readonly recovery?: HumanKey;
}

interface Founding {
  readonly at: string;
  readonly clock: () => Date;
  readonly version: string;
}

/** Makes a folder a project. Bytes of a passphrase are cleared, also when this refuses. */
export function foundProject(human: FirstHuman, founding: Founding): Promise<void> {
  if ('key' in human) return found(human.key.signer.name, async () => human.key, founding);
  if ('passkey' in human) return found(human.holder.name, async () => human, founding);
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

async function found(
  name: string,
  key: () => Promise<HumanKey | FirstPasskey>,
  founding: Founding,
): Promise<void> {
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
  first: HumanKey | FirstPasskey,
  { clock, version }: Founding,
): Promise<void> {
  makeFolderDurably(layout.own, 0o700);
  makeFolderDurably(layout.keys, 0o700);
  const ledger_key = createLedgerKey(layout).public_key;
  const signer = 'passkey' in first ? first.holder : keepHumanKey(layout, first);
  const recovery = 'passkey' in first && first.recovery ? keepHumanKey(layout, first.recovery) : null;
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
    await begin(context, first, signer, {
      recovery,
      control_key: createControlKey(layout).public_key,
      executor: { public_key: ownExecutorKey(layout).public_key, name: config.executor, labels: [] },
    });
    writeLedgerFile(layout, pinnedOf(await genesisOf(store)), config.store);
    createHeadFiles(headPlaces(layout, config), origin, await store.tip());
  } finally {
    await store.close();
  }
}

interface FirstKeys {
  readonly recovery: Signer | null;
  readonly control_key: string;
  readonly executor: { readonly public_key: string; readonly name: string; readonly labels: [] };
}

/** What the first human signs, all at once: that they are enrolled, the first control key, the first executor, the first policies, and the recovery key. */
async function begin(
  context: Context,
  first: HumanKey | FirstPasskey,
  signer: Signer,
  { control_key, executor, recovery }: FirstKeys,
): Promise<void> {
  const { activating } = await import('../journey/policy.ts');
  const { object, ...activation } = await activating(context, { reason: 'The first ones.', replaces: null });
  const human = { name: signer.name, principal: 'human' as const };
  const reason = 'The first one.';
  requireName(executor.name);
  const drafts: readonly ActDraft[] = [
    enrolling('passkey' in first ? { ...human, ...first } : { ...human, public_key: signer.public_key }),
    {
      kind: 'control_key.added',
      subject: 'system',
      facts: { public_key: control_key, replaces: null, reason },
    },
    { kind: 'executor.added', subject: 'system', facts: { ...executor, replaces: null, reason } },
    activation,
    ...(recovery ? [recovering(signer.name, recovery)] : []),
  ];
  const acts = await signActs(context.origin, drafts, signer, context.clock());
  for (const act of acts) {
    const event =
      recovery && act.kind === 'credential.added' ? await withOwnProof(context.origin, act, recovery) : act;
    const objects = act.kind === activation.kind && { objects: [object] };
    await context.store.commit({ events: [event], ...objects });
  }
}

/** Its own proof comes once the first human has signed. A file under another name would never be found for this one. */
function recovering(name: string, { name: owner, public_key }: Signer): ActDraft<'credential.added'> {
  if (owner !== name) refuse('KEY_FILE_INVALID', `The recovery key is one of "${owner}".`);
  const credential = keyCredential(public_key, 'recovery key');
  const facts = { credential, reason: 'For the day on which the passkey is gone.' };
  return { kind: 'credential.added', subject: name, facts: facts as ActFacts<'credential.added'> };
}
