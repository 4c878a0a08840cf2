import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { signAct } from '../../src/identity/act.ts';
import { verifyExportFile } from '../../src/keyturn.ts';
import { GENESIS, type SealedEntry, sealEntry } from '../../src/ledger/entry.ts';
import { writeExport } from '../../src/ledger/export.ts';
import { signHead } from '../../src/ledger/head.ts';
import { append, EMPTY_TREE, rootOf } from '../../src/ledger/merkle.ts';
import { verifierKey } from '../../src/ledger/note.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { authority, type Intent, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import { begun, enrolled, keyOf, revoked } from '../store/facts.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

const codeOf = (act: Promise<unknown>): Promise<string | null> =>
  act.then(
    () => null,
    (error: Refusal) => error.code,
  );

interface Claimed {
  readonly assurance?: 'passkey';
  readonly decision: string;
}

/** An approval that ada signed with the key that her passphrase opens, whatever it says of itself. */
async function approveSaying(p: Project, intent: Intent, claimed: Claimed): Promise<string | null> {
  const state = await p.keyturn.intents.get({ intent_id: intent.intent_id });
  const { origin } = await p.keyturn.system.get();
  const { hash, effect_digest } = state;
  const facts = { hash, effect_digest, expires_at: state.expires_at, account: null, ...claimed };
  const act = await signAct(origin, 'approval.granted', intent.intent_id, facts as never, p.ada, new Date());
  const store = await openSqliteStore({
    path: p.keyturn.layout.store,
    tenant: 'default',
    clock: () => new Date(),
    mode: 'write',
  });
  try {
    return await codeOf(store.commit({ events: [act] }));
  } finally {
    await store.close();
  }
}

const NOWHERE = sha256('a decision that was never made');

describe('S23: an approval is what its proof says', () => {
  it('S23: a passphrase key that claims to be a passkey is not committed', async () => {
    const p = await authority();
    const decision = await realDecision(p);
    expect(await approveSaying(p, await proposeSay(p), { assurance: 'passkey', decision })).not.toBeNull();
  });

  it('S23: an approval under a decision that exists nowhere is not committed', async () => {
    const p = await authority();
    expect(await approveSaying(p, await proposeSay(p), { decision: NOWHERE })).not.toBeNull();
  });

  it('S23: such an approval does not pass deep verification', async () => {
    const p = await authority();
    const refused = await approveSaying(p, await proposeSay(p), { decision: NOWHERE });
    expect(refused ?? (await codeOf(p.keyturn.ledger.verify({ deep: true })))).not.toBeNull();
  });

  it('S23: policies do not see a passkey where there was none', async () => {
    const p = await authority();
    const text =
      'forbid (principal, action == Keyturn::Action::"grant", resource) unless { context.assurance >= 3 };';
    await rules(p, PERMITS + policy('passkeys', 'capability', text));
    const intent = await proposeSay(p);
    await approveSaying(p, intent, { assurance: 'passkey', decision: NOWHERE });
    expect(await codeOf(p.keyturn.intents.grant({ ...intent, signer: p.ada }))).not.toBeNull();
  });
});

/** The digest of a decision that was made and allowed something. */
async function realDecision(p: Project): Promise<string> {
  const intent = await proposeSay(p);
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  return (await entriesAbout(p.keyturn, intent.intent_id)).at(-1)!.body.decision as string;
}

/** An export of these events, sealed and signed by the ledger key that the first of them names. */
async function exported(...events: Event[]): Promise<string> {
  const entries: SealedEntry[] = [];
  for (const [seq, event] of events.entries()) {
    const { kind, subject, body } = event;
    const claims = claimsOf(event);
    const at = new Date(Date.UTC(2026, 0, 15, 12) + seq).toISOString();
    const prev = entries.at(-1)?.hash ?? GENESIS;
    entries.push(sealEntry({ seq, tenant: 'default', at, kind, subject, claims, body, prev } as never));
  }
  const origin = `keyturn/${begun().body.project_id}/default`;
  const root = rootOf(entries.reduce((tree, { hash }) => append(tree, hash), EMPTY_TREE));
  const head = signHead({ origin, size: entries.length, root }, Buffer.alloc(32, 'ledger'));
  const key = verifierKey(origin, keyOf('ledger'));
  const parts: Uint8Array[] = [];
  const all = async function* () {
    yield entries;
  };
  for await (const part of writeExport({ tenant: 'default', key, head, entries: all() })) parts.push(part);
  const path = join(scratch(), 'export.jsonl');
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

describe('S23: deep verification refuses what a commit refuses', () => {
  it('a ledger whose human enrolled another one passes', async () => {
    const path = await exported(begun(), enrolled('ada'), enrolled('bo', 'ada'));
    expect(await codeOf(verifyExportFile(path, { deep: true }))).toBeNull();
  });

  it('S23: a ledger whose only human revoked herself does not pass', async () => {
    const path = await exported(begun(), enrolled('ada'), revoked('ada', 'ada'));
    expect(await codeOf(verifyExportFile(path, { deep: true }))).not.toBeNull();
  });
});
