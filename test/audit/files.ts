import type { Json } from '../../src/canonical/json.ts';
import { type Entry, GENESIS, openEntry, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { writeExport } from '../../src/ledger/export.ts';
import { signHead } from '../../src/ledger/head.ts';
import { append, EMPTY_TREE, rootOf } from '../../src/ledger/merkle.ts';
import { verifierKey } from '../../src/ledger/note.ts';
import { readLedgerKey } from '../../src/project/keys.ts';
import type { Algorithm } from '../identity/authenticator.ts';
import { authority, proposeSay, yes } from '../journey/authority.ts';
import { exported, proofOf } from '../support/ledger.ts';
import { passkeySigner, softPasskey } from '../support/passkey.ts';
import type { Project } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';

/** What an auditor was given: a good ledger, what attackers made of it with its own key, and a proof. */
export interface Files {
  readonly asked: {
    readonly key: string;
    readonly founder: string;
    readonly intent_id: string;
    /** The exports that are verified. */
    readonly names: readonly string[];
  };
  readonly bytes: ReadonlyMap<string, Uint8Array>;
}

/** A life with every kind of proof: a key file, a passkey of each of these algorithms, the control key and that of an executor. */
async function live(p: Project, algorithms: readonly Algorithm[]): Promise<string> {
  let last = '';
  for (const algorithm of algorithms) {
    const passkey = softPasskey({}, algorithm);
    const holder = passkeySigner('ada', passkey);
    const { credential } = passkey;
    await p.keyturn.people.addCredential({
      name: 'ada',
      credential,
      reason: algorithm,
      signer: p.ada,
      holder,
    });
    const intent = await proposeSay(p, {}, holder);
    await p.keyturn.intents.turn({ ...intent, signer: holder });
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    last = intent.intent_id;
  }
  return last;
}

export async function auditorsFiles(algorithms: readonly Algorithm[]): Promise<Files> {
  const p = await authority();
  const intent_id = await live(p, algorithms);
  const { key, origin } = await p.keyturn.ledger.head();
  const good = await exported(p.keyturn);
  const entries = entriesIn(good);
  const pair = readLedgerKey(p.keyturn.layout);
  const sealed = (change: (entry: Entry) => Entry | null) =>
    exportOf(resealed(entries, change), origin, pair);
  const broken = {
    'one bit.jsonl': flipped(good),
    'no head.jsonl': good.subarray(0, good.lastIndexOf('\n', good.length - 2) + 1),
    'cut.jsonl': good.subarray(0, good.length - 10),
    'key file.jsonl': await sealed((entry) => changed(entry, 'key.enrolled', { roles: ['owner'] })),
    'passkey.jsonl': await sealed((entry) => changed(entry, 'order.given', { audience: 'elsewhere' })),
    'account.jsonl': await sealed((entry) => changed(entry, 'order.given', { account: null })),
    'approvers.jsonl': await sealed((entry) =>
      changed(entry, 'order.given', { approvers: [{ name: 'ada', roles: ['ops'] }] }),
    ),
    'accepted.jsonl': await sealed((entry) =>
      changed(entry, 'intent.submitted', { decision: '0'.repeat(64) }),
    ),
    'presented.jsonl': await sealed((entry) =>
      changed(entry, 'execution.claimed', { presented: '0'.repeat(64) }),
    ),
    'control key.jsonl': await sealed((entry) => changed(entry, 'capability.issued', { ordinal: 99 })),
    'executor.jsonl': await sealed((entry) => changed(entry, 'execution.finished', { exit_code: 7 })),
    'proposer.jsonl': await sealed((entry) => changed(entry, 'intent.proposed', { hash: '0'.repeat(64) })),
    'left out.jsonl': await sealed((entry) => (entry.kind === 'capability.issued' ? null : entry)),
    'no claim.jsonl': await sealed((entry) => ({ ...entry, claims: [] })),
    'unknown.jsonl': await sealed((entry) => changed(entry, 'execution.finished', { more: 1 })),
  };
  const bytes = new Map<string, Uint8Array>(
    Object.entries({
      'good.jsonl': good,
      'objects.jsonl': await exported(p.keyturn, { with_objects: true }),
      proof: await proofOf(p.keyturn, intent_id, { with_objects: true }),
      ...broken,
    }),
  );
  const names = [...bytes.keys()].filter((name) => name !== 'proof');
  return { asked: { key, founder: p.ada.public_key, intent_id, names }, bytes };
}

function changed(entry: Entry, kind: string, over: Record<string, Json>): Entry {
  return entry.kind === kind ? { ...entry, body: { ...entry.body, ...over } } : entry;
}

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[Math.floor(copy.length / 2)]! ^= 1;
  return copy;
}

function entriesIn(text: Buffer): Entry[] {
  const lines = text.toString('utf8').split('\n');
  return lines
    .filter((line) => line.startsWith('{"entry":'))
    .map((line) => openEntry(Buffer.from(JSON.stringify(JSON.parse(line).entry))));
}

function resealed(entries: readonly Entry[], change: (entry: Entry) => Entry | null): SealedEntry[] {
  const made: SealedEntry[] = [];
  for (const entry of entries) {
    const now = change(entry);
    const prev = made.at(-1)?.hash ?? GENESIS;
    if (now !== null) made.push(sealEntry({ ...now, seq: made.length, prev }));
  }
  return made;
}

export async function exportOf(
  entries: readonly SealedEntry[],
  origin: string,
  pair: { readonly public_key: string; readonly seed: Uint8Array },
): Promise<Buffer> {
  const root = rootOf(entries.reduce((tree, { hash }) => append(tree, hash), EMPTY_TREE));
  const head = signHead({ origin, size: entries.length, root }, pair.seed);
  const all = async function* () {
    yield entries;
  };
  const key = verifierKey(origin, pair.public_key);
  return collected(writeExport({ tenant: 'default', key, head, entries: all() }));
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
