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
import { openDecision, sealDecision } from '../../src/policy/replay.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { authority, type Intent, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import { begun, enrolled, keyOf, revoked } from '../store/facts.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';
import { decidedIn } from '../support/signed.ts';

const codeOf = (act: Promise<unknown>): Promise<string | null> =>
  act.then(
    () => null,
    (error: Refusal) => error.code,
  );

/** An approval that ada signed with the key that her passphrase opens, whatever it says of itself. */
async function approvalSaying(p: Project, intent: Intent, claimed: object): Promise<Event> {
  const state = await p.keyturn.intents.get({ intent_id: intent.intent_id });
  const { origin } = await p.keyturn.system.get();
  const { hash, effect_digest } = state;
  const facts = { hash, effect_digest, expires_at: state.expires_at, account: null, ...claimed };
  const act = await signAct(origin, 'approval.granted', intent.intent_id, facts as never, p.ada, new Date());
  return decidedIn(p, act);
}

async function inStore<T>({ keyturn }: Project, act: (store: Store) => Promise<T>): Promise<T> {
  const path = keyturn.layout.store;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

/** The decision that the policies made about another approval, made out for this one. */
async function decisionFor(
  p: Project,
  { intent_id }: Intent,
): Promise<{ digest: string; bytes: Uint8Array }> {
  const other = await proposeSay(p);
  await p.keyturn.intents.approve({ ...other, signer: p.ada });
  const { decision } = (await entriesAbout(p.keyturn, other.intent_id)).at(-1)!.body;
  const record = openDecision(await inStore(p, (store) => store.object(decision as string)));
  return sealDecision({ ...record, subject: intent_id });
}

/** Written past the commit, as an attacker who can write the store does. */
async function writePast(p: Project, event: Event, objects: readonly Uint8Array[]): Promise<void> {
  const at = new Date().toISOString();
  await inStore(p, async (store) => {
    const { size: seq, last: prev } = await store.tip();
    const entry = { ...event, seq, tenant: 'default', at, claims: claimsOf(event), prev };
    await store.adopt({ entries: [sealEntry(entry as never)] });
    if (objects.length > 0) await store.adopt({ objects });
  });
}

const reasonOf = (act: Promise<unknown>): Promise<string | null> =>
  act.then(
    () => null,
    ({ code, facts }: Refusal) => `${code} ${String(facts.reason_code)}`,
  );

const NOWHERE = sha256('a decision that was never made');

describe('S23: an approval is what its proof says', () => {
  it('S23: a passphrase key that claims to be a passkey is not committed', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { digest: decision, bytes } = await decisionFor(p, intent);
    const commit = async (claimed: object) => {
      const act = await approvalSaying(p, intent, { decision, ...claimed });
      return codeOf(inStore(p, (store) => store.commit({ events: [act], objects: [bytes] })));
    };
    expect(await commit({ assurance: 'passkey' })).toBe('SHAPE_INVALID');
    expect(await commit({})).toBeNull();
    const { approvals } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
    expect(approvals.map(({ assurance }) => assurance)).toEqual(['key_file']);
  });

  it('S23: an approval under a decision that exists nowhere is not committed', async () => {
    const p = await authority();
    const act = await approvalSaying(p, await proposeSay(p), { decision: NOWHERE });
    expect(await codeOf(inStore(p, (store) => store.commit({ events: [act] })))).toBe('DECISION_MISSING');
  });

  it('S23: such an approval does not pass deep verification', async () => {
    const p = await authority();
    await writePast(p, await approvalSaying(p, await proposeSay(p), { decision: NOWHERE }), []);
    expect(await codeOf(p.keyturn.ledger.verify({}))).toBeNull();
    expect(await codeOf(p.keyturn.ledger.verify({ deep: true }))).toBe('OBJECT_MISSING');
  });

  it('S23: one that is good passes deep verification, however it was written', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { digest: decision, bytes } = await decisionFor(p, intent);
    await writePast(p, await approvalSaying(p, intent, { decision }), [bytes]);
    expect(await codeOf(p.keyturn.ledger.verify({ deep: true }))).toBeNull();
  });

  it('S23: policies do not see a passkey where there was none', async () => {
    const p = await authority();
    const text =
      'forbid (principal, action == Keyturn::Action::"grant", resource) unless { context.assurance >= 3 };';
    await rules(p, PERMITS + policy('passkeys', 'capability', text));
    const intent = await proposeSay(p);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    expect(await codeOf(p.keyturn.intents.grant({ ...intent, signer: p.ada }))).toBe('POLICY_DENIED');
  });
});

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
    expect(await reasonOf(verifyExportFile(path, { deep: true }))).toBe('LEDGER_BROKEN LAST_HUMAN');
  });
});
