import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { auditEntries } from '../audit/ledger.ts';
import { sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { createDurably, makeFolderDurably, moveDurably } from '../durable/file.ts';
import { genesisOf } from '../journey/audit.ts';
import { StoredDecisions } from '../journey/decided.ts';
import { openHead, signHead } from '../ledger/head.ts';
import { rootOf } from '../ledger/merkle.ts';
import { verifierKey } from '../ledger/note.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { copyMeanwhile } from '../store/copy.ts';
import { requireObjects } from '../store/objects.ts';
import { openTarget, sqlitePlace } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { readConfig } from './config.ts';
import { readLedgerKey } from './keys.ts';
import { requireProject } from './layout.ts';
import { type PinnedLedger, pinnedOf } from './ledger-file.ts';
import { openLedger } from './open.ts';
import { closingStore } from './store.ts';

const FORMAT = 'keyturn-backup/1';

/** `backup.json`, written last: a folder without it is no backup. */
const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  tenant: z.string().min(1).max(limits.name_chars),
  made_at: z.iso.datetime({ precision: 3 }),
  entries: z.int().min(1),
  last: z.string().regex(DIGEST_FORM),
  /** The digest of each key file, by its name. */
  keys: z.record(z.string().regex(/^[^/\0]{1,255}$/), z.string().regex(DIGEST_FORM)),
});

type Manifest = z.infer<typeof manifestSchema>;

export interface BackupRequest {
  readonly at: string;
  /** A folder that is not there yet. */
  readonly out: string;
  /** Leaves the keys of this host out: an attacker who has them can sign as the control plane and as this executor. */
  readonly without_keys?: boolean;
  readonly clock?: () => Date;
}

export interface Backup {
  readonly folder: string;
  readonly entries: number;
  readonly last: string;
  readonly objects: number;
  readonly keys: number;
  /** The signed head of what was saved. */
  readonly head: string;
}

const storeIn = (folder: string) => join(folder, 'store.db');
const headIn = (folder: string) => join(folder, 'head.txt');
const manifestIn = (folder: string) => join(folder, 'backup.json');
const keysIn = (folder: string) => join(folder, 'keys');

/** A copy of the ledger up to one entry, with its objects, a signed head and the key files. Others may go on writing meanwhile. */
export async function backupProject(request: BackupRequest): Promise<Backup> {
  const { at, out, without_keys = false, clock = () => new Date() } = request;
  const layout = requireProject(at);
  const { tenant, ...config } = readConfig(layout);
  const folder = resolve(out);
  if (existsSync(folder)) refuse('FILE_EXISTS', `${folder} is there already.`, { path: folder });
  const draft = `${folder}.${randomUUID()}`;
  makeFolderDurably(draft, 0o700);
  try {
    const { store, origin } = await openLedger(layout, { tenant, ...config }, { mode: 'read', clock });
    const { tip, objects } = await closingStore(store, (from) => copied(from, draft, tenant, clock));
    const state = { origin, size: tip.size, root: rootOf(tip) };
    const head = signHead(state, readLedgerKey(layout).seed);
    createDurably(headIn(draft), Buffer.from(head));
    const keys = without_keys ? {} : copyKeys(layout.keys, keysIn(draft));
    const made_at = clock().toISOString();
    const manifest: Manifest = { format: FORMAT, tenant, made_at, entries: tip.size, last: tip.last, keys };
    createDurably(manifestIn(draft), Buffer.from(`${canonicalText(manifest)}\n`));
    moveDurably(draft, folder);
    const { size: entries, last } = tip;
    return { folder, entries, last, objects, keys: Object.keys(keys).length, head };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

async function copied(from: Store, folder: string, tenant: string, clock: () => Date) {
  return closingStore(await openTarget(sqlitePlace(storeIn(folder)), { tenant, clock }), async (to) => {
    const found = await copyMeanwhile(from, to);
    await requireObjects(to);
    return found;
  });
}

/** Returns the digest of each. Those that are there already stay as they are. */
export function copyKeys(from: string, to: string, wanted?: Manifest['keys']): Manifest['keys'] {
  if (!existsSync(from)) return {};
  if (!existsSync(to)) makeFolderDurably(to, 0o700);
  const found: Record<string, string> = {};
  for (const name of readdirSync(from).toSorted()) {
    if (wanted && !Object.hasOwn(wanted, name)) continue;
    const { bytes } = readRegularFile(join(from, name), limits.entry_bytes);
    const digest = sha256(bytes);
    if (wanted && wanted[name] !== digest) refuse('BACKUP_DAMAGED', `The key file ${name} was changed.`);
    if (!existsSync(join(to, name))) createDurably(join(to, name), bytes, 0o600);
    found[name] = digest;
  }
  return found;
}

export interface OpenedBackup {
  readonly manifest: Manifest;
  readonly ledger: PinnedLedger;
  readonly store: Store;
  readonly keys: string;
}

/** Opens a backup and verifies all of it: chain, every signature, what each entry rests on, the head, the objects. */
export async function openBackup(
  folder: string,
  clock: () => Date,
  act: (backup: OpenedBackup) => Promise<void>,
): Promise<void> {
  const manifest = readManifest(manifestIn(folder));
  const store = await sqlitePlace(storeIn(folder)).open({ tenant: manifest.tenant, clock, mode: 'read' });
  await closingStore(store, async () => {
    const identity = await genesisOf(store);
    const key = verifierKey(identity.origin, identity.ledger_key);
    const text = Buffer.from(readRegularFile(headIn(folder), limits.entry_bytes).bytes).toString('utf8');
    const { size, last } = await auditEntries(() => store.entries(), {
      tenant: manifest.tenant,
      kept: [openHead(text, key)],
      deep: true,
      decisions: () => new StoredDecisions(store),
    });
    if (size !== manifest.entries || last !== manifest.last)
      refuse(
        'BACKUP_DAMAGED',
        `It has ${size} entries, and not the ${manifest.entries} that it was made of.`,
      );
    await requireObjects(store);
    await act({ manifest, ledger: pinnedOf(identity), store, keys: keysIn(folder) });
  });
}

function readManifest(path: string): Manifest {
  try {
    const parsed = manifestSchema.safeParse(parseJson(readRegularFile(path, limits.json_bytes).bytes));
    return parsed.success ? parsed.data : refuse('SHAPE_INVALID', 'it is not a description of a backup');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('BACKUP_DAMAGED', `This is no whole backup: ${error.message}`, { path, found: error.code });
  }
}
