import { canonicalText } from '../../src/canonical/json.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { type Entry, GENESIS, openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { signHead } from '../../src/ledger/head.ts';
import { append, EMPTY_TREE, rootOf } from '../../src/ledger/merkle.ts';
import { verifierKey } from '../../src/ledger/note.ts';
import { makeBundle } from '../../src/ledger/prove.ts';
import { readLedgerKey } from '../../src/project/keys.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { allEntries } from '../store/place.ts';

/**
 * A proof by an attacker who has the key of the ledger and writes all of it again: chain, tree and head are in order, and only the
 * signatures of humans cannot be made. `change` is asked about every entry.
 */
export async function forgedProof(
  { layout, ledger }: Keyturn,
  intent_id: string,
  change: (entry: Entry) => Entry,
): Promise<{ readonly bytes: Uint8Array; readonly key: string }> {
  const { origin, key } = await ledger.head();
  const proven: { entries: { entry: Entry }[] } = JSON.parse((await ledger.prove({ intent_id })).bundle);
  const told = new Set(proven.entries.map(({ entry }) => entry.seq));
  const pair = readLedgerKey(layout);
  const entries = rewritten(await storedIn(layout.store), change);
  let tree = EMPTY_TREE;
  for (const { hash } of entries) tree = append(tree, hash);
  const bytes = await makeBundle({
    subject: intent_id,
    key: verifierKey(origin, pair.public_key),
    head: signHead({ origin, size: tree.size, root: rootOf(tree) }, pair.seed),
    entries: entries.filter(({ seq }) => told.has(seq)),
    ledger: (async function* () {
      yield entries;
    })(),
    seed: pair.seed,
  });
  return { bytes, key };
}

async function storedIn(path: string): Promise<Entry[]> {
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'read' });
  const entries = (await allEntries(store)).map(({ bytes }) => openEntry(bytes));
  await store.close();
  return entries;
}

function rewritten(entries: readonly Entry[], change: (entry: Entry) => Entry): SealedEntry[] {
  const sealed: SealedEntry[] = [];
  for (const entry of entries) {
    const said = JSON.parse(canonicalText(change(entry) as never)) as Entry;
    sealed.push(sealEntry({ ...said, prev: sealed.at(-1)?.hash ?? GENESIS }));
  }
  return sealed;
}
