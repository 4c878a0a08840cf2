import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeFolderDurably } from '../durable/file.ts';
import { refuse } from '../refusal.ts';
import { copyLedger } from '../store/copy.ts';
import { requireObjects } from '../store/objects.ts';
import { openTarget } from '../store/open.ts';
import { alone } from './alone.ts';
import { copyKeys, type OpenedBackup, openBackup } from './backup.ts';
import { type Config, readConfig } from './config.ts';
import type { JoinedLedger } from './join.ts';
import { type Layout, layoutOf, requireFiles } from './layout.ts';
import { readLedgerFile, requirePinned, writeLedgerFile } from './ledger-file.ts';
import { headPlaces, keptHeads } from './open.ts';
import { closingStore } from './store.ts';

export interface RestoreRequest {
  /** The folder of a backup. */
  readonly from: string;
  /** A folder with a keyturn.yaml, or one inside such a project. */
  readonly at: string;
  readonly clock?: () => Date;
  /** Asks the human whether this is the ledger that they mean, where this host has none pinned, or has it in another store. There is no default. */
  readonly confirm: (ledger: JoinedLedger) => Promise<boolean>;
}

export interface Restored {
  readonly project: string;
  readonly store: string;
  readonly entries: number;
  readonly keys: number;
  /** How many entries the longest kept head of this host knows; null where none could be read. */
  readonly kept_size: number | null;
  /** The kept heads know more than the backup, or there is none: nothing opens until a human accepts that. */
  readonly forgets: boolean;
}

/**
 * Brings the ledger of a backup into the store of a project: one that is empty, or that ends earlier. Nothing that is there is replaced, and no
 * head is moved. So a backup that is behind what this host knows, or a host that knows nothing, opens only after a human signed
 * `ledger accept-head`.
 */
export async function restoreProject(request: RestoreRequest): Promise<Restored> {
  const { at, clock = () => new Date() } = request;
  const layout = layoutOf(requireFiles(at));
  const config = readConfig(layout);
  let restored: Restored | null = null;
  await openBackup(resolve(request.from), clock, async (backup) => {
    if (backup.manifest.tenant !== config.tenant)
      refuse('LEDGER_FOREIGN', `The backup is of the tenant "${backup.manifest.tenant}".`);
    await requireLedger(layout, config, backup, request.confirm);
    for (const folder of [layout.own, layout.keys]) if (!existsSync(folder)) makeFolderDurably(folder, 0o700);
    const act = () => restore(layout, config, backup, clock);
    restored = await alone(layout.serve_lock, () => alone(layout.execute_lock, act));
  });
  return restored!;
}

async function requireLedger(
  layout: Layout,
  config: Config,
  { ledger, manifest }: OpenedBackup,
  confirm: RestoreRequest['confirm'],
): Promise<void> {
  const pinned = existsSync(layout.ledger_file) ? readLedgerFile(layout) : null;
  if (pinned !== null) requirePinned(pinned, ledger);
  if (pinned?.store === config.store.where) return;
  const { root } = layout;
  const found = { ...ledger, root, store: config.store.name, entries: manifest.entries };
  if (!(await confirm(found)))
    refuse('CONFIRMATION_DECLINED', 'The fingerprint is not the one of this ledger.');
}

async function restore(
  layout: Layout,
  config: Config,
  { store: from, ledger, manifest, keys }: OpenedBackup,
  clock: () => Date,
): Promise<Restored> {
  const { tenant } = config;
  return closingStore(await openTarget(config.store, { tenant, clock }), async (to) => {
    const { size } = await to.tip();
    if (size > manifest.entries)
      refuse('BACKUP_BEHIND', `The store has ${size} entries, the backup ${manifest.entries}.`, {
        entries: size,
        backup: manifest.entries,
      });
    await copyLedger(from, to);
    await requireObjects(to);
    const copied = Object.keys(copyKeys(keys, layout.keys, manifest.keys)).length;
    // Last: without it nothing opens.
    writeLedgerFile(layout, ledger, config.store);
    const kept = await keptHeads(headPlaces(layout, config), ledger.origin, to);
    const { entries } = manifest;
    return { project: layout.root, store: config.store.name, entries, keys: copied, ...kept };
  });
}
