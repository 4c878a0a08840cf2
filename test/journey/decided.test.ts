import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { signAct } from '../../src/identity/act.ts';
import { auditProof, verifyExportFile } from '../../src/keyturn.ts';
import { sealEntry } from '../../src/ledger/entry.ts';
import { type DecisionRecord, openDecision, sealDecision } from '../../src/policy/replay.ts';
import { copyStore } from '../../src/project/store.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { exported, proofOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { decidedIn } from '../support/signed.ts';
import { authority, type Intent, lastBody, proposeSay } from './authority.ts';

async function inStore<T>({ keyturn }: Project, act: (store: Store) => Promise<T>): Promise<T> {
  const path = keyturn.layout.store;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

async function approvalOf(p: Project, { intent_id }: Intent, decision: string) {
  const { hash, effect_digest, expires_at } = await p.keyturn.intents.get({ intent_id });
  const { origin } = await p.keyturn.system.get();
  const facts = { hash, effect_digest, expires_at, account: null, decision };
  const act = await signAct(origin, 'approval.granted', intent_id, facts as never, p.ada, new Date());
  return decidedIn(p, act);
}

/** A decision that the policies made about another approval, with what a forger changed of it. */
async function forgedFor(p: Project, intent: Intent, over: (record: DecisionRecord) => object) {
  const other = await proposeSay(p);
  const decision = await decisionOf(p, other);
  const record = openDecision(await inStore(p, (store) => store.object(decision)));
  return sealDecision({ ...record, subject: intent.intent_id, ...over(record) } as DecisionRecord);
}

/** The one that an approval of this intent names. */
async function decisionOf(p: Project, intent: Intent): Promise<string> {
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  return (await lastBody(p, intent.intent_id)).decision as string;
}

const DENIED = { allowed: false, code: 'POLICY_DENIED', policies: [], words: 'No.' } as const;

const FORGERIES: readonly (readonly [string, string, (record: DecisionRecord) => object])[] = [
  ['denies it', 'DECISION_MISMATCH', () => ({ decision: DENIED })],
  [
    'is about another act',
    'DECISION_MISMATCH',
    ({ request }) => ({ request: { ...request, action: 'submit' } }),
  ],
  [
    'is about another human',
    'DECISION_MISMATCH',
    ({ request }) => ({ request: { ...request, principal: { ...request.principal, name: 'bob' } } }),
  ],
  ['was made by other policies', 'DECISION_STALE', () => ({ snapshot: sha256('other policies') })],
  ['is no decision', 'SHAPE_INVALID', () => ({ format: 'keyturn-decision/2' })],
];

describe('an approval whose decision', () => {
  it('says what it must is committed', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { digest, bytes } = await forgedFor(p, intent, () => ({}));
    const act = await approvalOf(p, intent, digest);
    await inStore(p, (store) => store.commit({ events: [act], objects: [bytes] }));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('approved');
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('is stored and not brought is not committed', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { digest, bytes } = await forgedFor(p, intent, () => ({}));
    const act = await approvalOf(p, intent, digest);
    await inStore(p, (store) => store.adopt({ objects: [bytes] }));
    await expectRefusal('DECISION_MISSING', () => inStore(p, (store) => store.commit({ events: [act] })));
  });

  it('the policies made about another intent is not committed', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const other = await proposeSay(p);
    const decision = await decisionOf(p, other);
    const act = await approvalOf(p, intent, decision);
    await inStore(p, async (store) => {
      const objects = [await store.object(decision)];
      await expectRefusal('DECISION_MISMATCH', () => store.commit({ events: [act], objects }));
    });
  });

  it.each(FORGERIES)('%s is not committed', async (_, code, over) => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { digest, bytes } = await forgedFor(p, intent, over);
    const act = await approvalOf(p, intent, digest);
    const commit = () => inStore(p, (store) => store.commit({ events: [act], objects: [bytes] }));
    await expectRefusal(code as never, commit);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('proposed');
  });
});

/** A project whose store was given an approval behind the back of commit, with the objects that it names. */
async function written(over: (record: DecisionRecord) => object, with_object = true) {
  const p = await authority();
  const intent = await proposeSay(p);
  const { digest, bytes } = await forgedFor(p, intent, over);
  const approval = await approvalOf(p, intent, digest);
  const { kind, subject, body } = approval;
  await inStore(p, async (store) => {
    const { size: seq, last: prev } = await store.tip();
    const claims = [...claimsOf(approval)];
    const facts = { seq, tenant: 'default', at: new Date().toISOString(), kind, subject, claims, prev };
    // Apart: entries that come with objects are held against them at once.
    await store.adopt({ entries: [sealEntry({ ...facts, body: body as unknown as JsonObject })] });
    if (with_object) await store.adopt({ objects: [bytes] });
  });
  return { p, intent, digest };
}

const found = (act: Promise<unknown>): Promise<string | null> =>
  act.then(
    () => null,
    ({ code, facts }: Refusal) => `${code} ${String(facts.reason_code)}`,
  );

async function exportOf({ keyturn }: Project): Promise<string> {
  const path = join(keyturn.layout.root, 'export.jsonl');
  writeFileSync(path, await exported(keyturn, { with_objects: true }));
  return path;
}

describe('a deep verification with objects', () => {
  it.each(FORGERIES.slice(0, 4))('refuses an approval whose decision %s', async (_, code, over) => {
    const { p, intent } = await written(over);
    await p.keyturn.ledger.verify({});
    expect(await found(p.keyturn.ledger.verify({ deep: true }))).toBe(`LEDGER_BROKEN ${code}`);
    expect(await found(verifyExportFile(await exportOf(p), { deep: true }))).toBe(`LEDGER_BROKEN ${code}`);
    const proof = await proofOf(p.keyturn, intent.intent_id, { with_objects: true });
    const key = (await p.keyturn.ledger.head()).key;
    expect(() => auditProof(proof, { key })).toThrow(/Entry \d+/);
    // What was left out cannot be asked.
    auditProof(await proofOf(p.keyturn, intent.intent_id, {}), { key });
  });

  it('refuses an approval whose decision is not there', async () => {
    const { p } = await written(() => ({}), false);
    expect(await found(p.keyturn.ledger.verify({ deep: true }))).toMatch(/^OBJECT_MISSING/);
  });

  it.each(FORGERIES)(
    'refuses an approval whose decision %s, as a rebuild and a copy do',
    async (_, code, over) => {
      const { p } = await written(over);
      const refusal = await expectRefusal('LEDGER_BROKEN', () => p.keyturn.ledger.rebuild({ write: false }));
      expect(refusal.facts.found).toBe(code);
      const copy = { at: p.root, from: p.keyturn.layout.store, to: join(p.root, 'copy.db') };
      expect((await expectRefusal('LEDGER_BROKEN', () => copyStore(copy))).facts.found).toBe(code);
    },
  );

  it('refuses an approval whose decision is not there, as a rebuild does', async () => {
    const { p, digest } = await written(() => ({}), false);
    const refusal = await expectRefusal('OBJECT_MISSING', () => p.keyturn.ledger.rebuild({ write: false }));
    expect(refusal.facts.digest).toBe(digest);
  });

  it('passes where the decision was erased', async () => {
    const { p, digest } = await written(() => ({}));
    const because = { reason: 'a secret', signer: p.ada };
    await p.keyturn.ledger.erase({ digest, ...because });
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    const copy = { at: p.root, from: p.keyturn.layout.store, to: join(p.root, 'copy.db') };
    expect((await copyStore(copy)).resumed_at).toBe(0);
    await verifyExportFile(await exportOf(p), { deep: true });
  });
});
