import { auditEntries } from '../audit/ledger.ts';
import type { KeyPair } from '../canonical/ed25519.ts';
import { isSameJson } from '../canonical/json.ts';
import { type Event, parseEvent } from '../event/event.ts';
import { disclosedBy, ObjectRecord } from '../gate/objects.ts';
import { originOf } from '../identity/act.ts';
import { type Entry, openEntry, type SealedEntry } from '../ledger/entry.ts';
import { writeExport } from '../ledger/export.ts';
import { type Head, keyFingerprint, openHead, requireKey, signHead } from '../ledger/head.ts';
import { rootOf } from '../ledger/merkle.ts';
import { formatVerifierKey, type VerifierKey, verifierKey } from '../ledger/note.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { makeBundle } from '../ledger/prove.ts';
import type { VerifiedLedger } from '../ledger/verify.ts';
import { refuse } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import { contentsOf, exported } from './contents.ts';
import type { Context, ProvenAt } from './context.ts';
import { StoredDecisions } from './decided.ts';
import { withSigners } from './folded.ts';

/** What tells one ledger from all others. */
export interface LedgerIdentity {
  /** The project and the tenant. */
  readonly origin: string;
  /** The first human, on whose key every other one rests. */
  readonly founder: { readonly name: string; readonly key: string };
  /** The key that signs the heads of the ledger. */
  readonly ledger_key: string;
}

/** From the first two entries: the first names the project and its ledger key, the second enrols the first human. */
export async function genesisOf(store: Store): Promise<LedgerIdentity> {
  const entry = await firstEntry(store, 0);
  const initialised = parseEvent(entry);
  if (initialised.kind === 'system.initialised') requireThisForm(initialised.body.version);
  const enrolled = parseEvent(await firstEntry(store, 1));
  if (initialised.kind !== 'system.initialised')
    refuse('STORE_CORRUPT', 'The ledger does not begin with its initialisation.');
  if (enrolled.kind !== 'key.enrolled' || enrolled.body.credential === null)
    refuse('STORE_CORRUPT', 'The second entry of the ledger does not enrol its first human.');
  const { project_id, ledger_key } = initialised.body;
  const founder = { name: enrolled.subject, key: enrolled.body.credential.public_key };
  return { origin: originOf(project_id, entry.tenant), founder, ledger_key };
}

/** Ledgers of 0.1 have other events, and none of them was released: nothing reads them. */
function requireThisForm(version: string): void {
  if (/^0\.[01]\./.test(version)) refuse('STORE_OLDER', undefined, { version });
}

async function firstEntry(store: Store, seq: 0 | 1): Promise<Entry> {
  const sealed = (await store.entry(seq)) ?? refuse('STORE_CORRUPT', 'The ledger is empty.');
  return openEntry(sealed.bytes);
}

export interface SignedHead extends Head {
  readonly text: string;
  /** The key, as a verifier key. */
  readonly verifier: string;
  readonly fingerprint: string;
}

/** The signed state of the ledger. Who keeps it can tell later whether history was cut or rewritten. */
export async function head(context: Context, pair: KeyPair): Promise<SignedHead> {
  const key = await ledgerKey(context);
  if (pair.public_key !== key.public_key)
    refuse('KEY_FILE_INVALID', 'The ledger key is not the one of this ledger.');
  const { size, frontier } = await context.store.tip();
  const state = { origin: context.origin, size, root: rootOf({ size, frontier }) };
  const text = signHead(state, pair.seed);
  return { ...state, text, verifier: formatVerifierKey(key), fingerprint: keyFingerprint(key.public_key) };
}

async function ledgerKey(context: Context): Promise<VerifierKey> {
  return verifierKey(context.origin, (await genesisOf(context.store)).ledger_key);
}

export interface VerifyOptions {
  /** Texts of heads that the caller kept. */
  readonly kept?: readonly string[];
  /** The fingerprint that the auditor was given by the owner of the ledger. */
  readonly key?: string;
  readonly deep?: boolean;
}

/** Hashes every stored byte again, follows the chain, and compares the end with the stored tip and with kept heads. */
export async function verify(context: Context, options: VerifyOptions): Promise<VerifiedLedger> {
  const key = await ledgerKey(context);
  if (options.key !== undefined) requireKey(key, options.key);
  const tip = await context.store.tip();
  const ledger = await auditEntries(() => upTo(context.store.entries(), tip.size), {
    tenant: context.store.tenant,
    kept: (options.kept ?? []).map((text) => openHead(text, key)),
    deep: options.deep ?? false,
    decisions: () => new StoredDecisions(context.store),
  });
  if (ledger.size !== tip.size) {
    refuse('LEDGER_TRUNCATED', `The ledger has ${ledger.size} entries; the stored tip has ${tip.size}.`);
  }
  if (ledger.last !== tip.last || ledger.root !== rootOf(tip)) {
    refuse('LEDGER_BROKEN', 'The stored tip is not the end of the ledger.', { seq: ledger.size - 1 });
  }
  return ledger;
}

/** The ledger may grow while it is verified; what came later is not part of the answer. */
async function* upTo(
  batches: AsyncIterable<readonly SealedEntry[]>,
  size: number,
): AsyncGenerator<readonly SealedEntry[]> {
  for await (const batch of batches) {
    const covered = batch.filter(({ seq }) => seq < size);
    yield covered;
    if (covered.length < batch.length) return;
  }
}

export interface ExportOptions {
  /** Also the objects that the entries name, in the clear: goals, arguments, outputs. */
  readonly with_objects?: boolean;
}

export interface Exported {
  /** What the export ends with. */
  readonly head: SignedHead;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export async function exportLedger(
  context: Context,
  pair: KeyPair,
  { with_objects = false }: ExportOptions,
): Promise<Exported> {
  const signed = await head(context, pair);
  const { text, size } = signed;
  const chunks = writeExport({
    tenant: context.store.tenant,
    key: await ledgerKey(context),
    head: text,
    entries: context.store.entries(),
    ...(with_objects && { objects: contentsOf(context.store, size) }),
  });
  return { head: signed, chunks };
}

export interface ProveOptions extends ExportOptions {
  /** The text of an earlier head, to show that the ledger only grew since. */
  readonly kept?: string;
}

/** A small file that proves the story of one intent to an auditor who has only the fingerprint of the ledger key. */
export async function prove(
  context: Context,
  pair: KeyPair,
  intent_id: string,
  { kept, with_objects = false }: ProveOptions,
): Promise<Uint8Array> {
  const about = await context.store.entriesOf(intent_id);
  if (about.length === 0) refuse('INTENT_NOT_FOUND');
  const { text, size } = await head(context, pair);
  const objects = with_objects ? await objectsAbout(context, about, size) : null;
  const entries = await withSigners(context, [...about, ...(objects?.removals ?? [])]);
  return makeBundle({
    subject: intent_id,
    key: await ledgerKey(context),
    head: text,
    entries,
    seed: pair.seed,
    ledger: context.store.entries(),
    ...(kept !== undefined && { kept }),
    ...(objects && { objects: objects.exported }),
  });
}

interface ObjectsAbout {
  readonly exported: readonly ExportedObject[];
  /** The entries that say what was removed. */
  readonly removals: readonly SealedEntry[];
}

async function objectsAbout(
  { store, read_entry }: Context,
  about: readonly SealedEntry[],
  size: number,
): Promise<ObjectsAbout> {
  const record = new ObjectRecord();
  for (const { seq, bytes } of about)
    for (const digest of disclosedBy(read_entry(bytes).event)) record.names(digest, seq);
  const objects: ExportedObject[] = [];
  const removals: SealedEntry[] = [];
  for (const digest of record.named().sort()) {
    const said = (await store.entriesOf(digest)).filter(({ seq }) => seq < size);
    for (const { seq, bytes } of said) record.removes(read_entry(bytes).event, seq);
    objects.push(await exported(store, digest, size, record));
    removals.push(...said);
  }
  return { exported: objects, removals };
}

/**
 * The state of an intent as the entries tell it, found without an index: the attacker can write rows and has no key. The rows must
 * agree, because the commit that follows is judged by them.
 */
export async function provenState(context: Context, intent_id: string): Promise<ProvenAt | null> {
  const { store, ledger, memory } = context;
  for (;;) {
    const told = await ledger.told('intent', intent_id);
    if (told === null) return null;
    const { state, system, authorities, size, last, at } = told;
    if (state === null) refuse('INTENT_NOT_FOUND');
    const known = memory.proven;
    if (known?.intent_id === intent_id && known.last === last) return known.value;
    const stored = await Promise.all([store.find('intent', intent_id), store.system()]);
    if (isSameJson([state, system], stored)) {
      const value = { state, system, authorities, end: { size, last, at } };
      memory.proven = { intent_id, last, value };
      return value;
    }
    // Another process may have written between the two reads. Only what stood still can be compared.
    if ((await store.tip()).size === size) refuse('PROJECTION_DRIFT');
  }
}

/**
 * The entries take this claim for the one run. The commit was judged by rows, and these may have been put back since they were last
 * compared: then the entries tell of an earlier claim.
 */
export async function requireProvenClaim(
  { ledger }: Context,
  { subject, body }: Event<'execution.claimed'>,
): Promise<void> {
  const run = (await ledger.told('intent', subject))?.state?.runs.at(-1);
  if (run?.execution_id !== body.execution_id) refuse('PROJECTION_DRIFT');
}
