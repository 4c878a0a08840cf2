import { existsSync } from 'node:fs';
import { makeFolderDurably } from '../durable/file.ts';
import { parseEvent } from '../event/event.ts';
import { verifyAct } from '../identity/act.ts';
import { genesisOf } from '../journey/audit.ts';
import { openEntry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import type { StorePlace } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { readConfig } from './config.ts';
import { ownExecutorKey } from './keys.ts';
import { type Layout, layoutOf, requireFiles } from './layout.ts';
import {
  type PinnedLedger,
  pinnedOf,
  readLedgerFile,
  requirePinned,
  writeLedgerFile,
} from './ledger-file.ts';
import { createHeadFiles, headPlaces } from './open.ts';

export interface JoinRequest {
  /** A folder with a keyturn.yaml that names the store, or one inside such a project. */
  readonly at: string;
  readonly clock?: () => Date;
  /** Asks the human at the terminal whether this is the ledger that its owner told them of. There is no default. */
  readonly confirm: (ledger: JoinedLedger) => Promise<boolean>;
}

export interface JoinedLedger extends PinnedLedger {
  readonly root: string;
  readonly store: string;
  readonly entries: number;
}

export interface Joined extends JoinedLedger {
  /** The key of this host. Once a human adds it, the host may run what is ordered. */
  readonly executor_key: string;
}

/** Makes the ledger in the configured store the ledger of this project, on a host that has none pinned yet, or that has the same one in another store. */
export async function joinLedger({ at, confirm, clock = now }: JoinRequest): Promise<Joined> {
  const layout = layoutOf(requireFiles(at));
  const config = readConfig(layout);
  const store = await config.store.open({ tenant: config.tenant, clock, mode: 'read' });
  try {
    const found = await foundedLedger(store);
    requireUnpinned(layout, found, config.store);
    const tip = await store.tip();
    const ledger = { ...found, root: layout.root, store: config.store.name, entries: tip.size };
    if (!(await confirm(ledger)))
      refuse('CONFIRMATION_DECLINED', 'The fingerprint is not the one of this ledger.');
    for (const folder of [layout.own, layout.keys]) if (!existsSync(folder)) makeFolderDurably(folder, 0o700);
    // A head that is there already is older than this file, and goes on being compared.
    if (!existsSync(layout.head)) createHeadFiles(headPlaces(layout, config), found.origin, tip);
    writeLedgerFile(layout, found, config.store);
    return { ...ledger, executor_key: ownExecutorKey(layout).public_key };
  } finally {
    await store.close();
  }
}

const now = () => new Date();

/** The enrolment of the founder is verified here, once: from then on the key is compared. */
async function foundedLedger(store: Store): Promise<PinnedLedger> {
  const identity = await genesisOf(store);
  const enrolled = parseEvent(openEntry((await store.entry(1))!.bytes));
  if (enrolled.kind !== 'key.enrolled' || enrolled.body.by !== enrolled.subject)
    return refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
  if (enrolled.body.key !== identity.founder.key)
    refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
  verifyAct(identity.origin, enrolled);
  return pinnedOf(identity);
}

function requireUnpinned(layout: Layout, found: PinnedLedger, { where }: StorePlace): void {
  if (!existsSync(layout.ledger_file)) return;
  const pinned = readLedgerFile(layout);
  requirePinned(pinned, found);
  if (pinned.store === where) refuse('PROJECT_EXISTS', `${layout.root} has joined this ledger already.`);
}
