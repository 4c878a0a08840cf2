import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Draft } from '../../src/identity/draft.ts';
import { auditProof, type Keyturn, keyCredential, type Proof, type Signer } from '../../src/keyturn.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { freshSigner, PASSPHRASE } from '../support/keys.ts';
import { entriesAbout, proofOf } from '../support/ledger.ts';
import { passkeySigner, type SoftPasskey, softPasskey, touch } from '../support/passkey.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { authority, elsewhere, human, policy, proposeSay, rules, yes } from './authority.ts';
import { forgedProof } from './forged-proof.ts';

const NEW_PASSPHRASE = 'staple violet harbour nine';

/** Ada's second credential. */
function add({ keyturn, ada }: Project, holder: Signer, signer: Signer = ada) {
  const credential = keyCredential(holder.public_key, 'second');
  return keyturn.people.addCredential({ name: holder.name, credential, reason: 'a second', signer, holder });
}

async function withPasskey(p: Project, passkey: SoftPasskey = softPasskey()): Promise<Signer> {
  const holder = passkeySigner('ada', passkey);
  const { credential } = passkey;
  await p.keyturn.people.addCredential({ name: 'ada', credential, reason: 'a phone', signer: p.ada, holder });
  return holder;
}

const revoke = ({ keyturn }: Project, name: string, { public_key }: Signer, signer: Signer) =>
  keyturn.people.revokeCredential({ name, public_key, reason: 'lost', signer });

describe('a key that is replaced', () => {
  it('keeps the name: the new file opens it, the old one no longer', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const made = await p.keyturn.host.createKey('ada', NEW_PASSPHRASE);
    // A file beside the first one, which opens nothing before its key is enrolled.
    expect(readdirSync(p.keyturn.layout.keys).filter((file) => file.startsWith('ada'))).toHaveLength(2);
    await expectRefusal('PASSPHRASE_WRONG', () => p.keyturn.unlock('ada', NEW_PASSPHRASE));
    await add(p, made);
    // Each passphrase opens its own file while both count.
    expect((await p.keyturn.unlock('ada', PASSPHRASE)).public_key).toBe(p.ada.public_key);
    const opened = await p.keyturn.unlock('ada', NEW_PASSPHRASE);
    expect(opened.public_key).toBe(made.public_key);
    await revoke(p, 'ada', p.ada, opened);
    await expectRefusal('PASSPHRASE_WRONG', () => p.keyturn.unlock('ada', PASSPHRASE));
    await expectRefusal('KEY_REVOKED', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
    const signer = await p.keyturn.unlock('ada', NEW_PASSPHRASE);
    await p.keyturn.intents.approve({ ...intent, signer });
    await p.keyturn.intents.grant({ ...intent, signer });
    expect(await runSeen(p.keyturn, { ...intent, confirm: yes })).toMatchObject({ result: 'success' });
    expect(
      (await p.keyturn.people.credentials({ name: 'ada' })).credentials.map(({ status }) => status),
    ).toEqual(['revoked', 'active']);
    expect([...p.keyturn.host.keyFiles().keys()]).toEqual(['ada']);
  });

  it('is the only one here and was revoked: its file is refused before the passphrase is tried', async () => {
    const p = await authority();
    const other = { ...freshSigner('ada'), name: 'ada' };
    await add(p, other);
    await revoke(p, 'ada', p.ada, other);
    await expectRefusal('KEY_REVOKED', () => p.keyturn.unlock('ada', PASSPHRASE));
  });
});

describe('a person who lost the last credential', () => {
  it('is helped by another human, who can do nothing in that name before', async () => {
    const p = await authority();
    const bo = await human(p, 'bo');
    const fresh = freshSigner('bo');
    await expectRefusal('CREDENTIAL_FOREIGN', () => add(p, fresh));
    await revoke(p, 'bo', bo, p.ada);
    await expectRefusal('KEY_REVOKED', () =>
      p.keyturn.system.freeze({ scope: 'system', reason: 'look', signer: bo }),
    );
    await add(p, fresh);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'look', signer: fresh });
    const [, last] = (await p.keyturn.people.credentials({ name: 'bo' })).credentials;
    expect(last).toMatchObject({ added_by: 'ada', status: 'active' });
  });

  it('is never the last human', async () => {
    const p = await authority();
    await expectRefusal('LAST_HUMAN', () => revoke(p, 'ada', p.ada, p.ada));
    const bo = await human(p, 'bo');
    await revoke(p, 'bo', bo, bo);
    await expectRefusal('LAST_HUMAN', () => revoke(p, 'ada', p.ada, p.ada));
    await expectRefusal('CREDENTIAL_UNKNOWN', () => revoke(p, 'ada', bo, p.ada));
    await expectRefusal('PRINCIPAL_UNKNOWN', () => revoke(p, 'cy', bo, p.ada));
  });
});

describe('several keys of one person', () => {
  it('are told apart where one of them is delegated to', async () => {
    const p = await authority();
    const [bo, more] = [await human(p, 'bo'), freshSigner('bo')];
    await add(p, more, bo);
    const request = { delegate: 'bo', actions: ['tool:say'], ttl_s: 60, reason: 'away', signer: p.ada };
    await expectRefusal('CREDENTIAL_AMBIGUOUS', () => p.keyturn.agents.delegate(request));
    const { delegate_key } = await p.keyturn.agents.delegate({ ...request, delegate_key: more.public_key });
    expect(delegate_key).toBe(more.public_key);
  });
});

describe('a human with a passkey', () => {
  it('goes the whole way with it, and an auditor verifies it offline', async () => {
    const p = await authority();
    await rules(
      p,
      policy('all', 'intent', 'permit (principal, action, resource);') +
        policy('all-capability', 'capability', 'permit (principal, action, resource);') +
        policy('all-execution', 'execution', 'permit (principal, action, resource);') +
        policy(
          'sure',
          'capability',
          'forbid (principal, action == Keyturn::Action::"grant", resource) unless { context.assurance >= 4 };',
        ),
    );
    const passkey = await withPasskey(p);
    const [intent, other] = [await proposeSay(p, {}, passkey), await proposeSay(p)];
    await p.keyturn.intents.approve({ ...other, signer: p.ada });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.grant({ ...other, signer: p.ada }));
    await p.keyturn.intents.approve({ ...intent, signer: passkey });
    await p.keyturn.intents.grant({ ...intent, signer: passkey });
    expect(await runSeen(p.keyturn, { ...intent, confirm: yes })).toMatchObject({ result: 'success' });
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toMatchObject([
      { by: 'ada', assurance: 'device_bound_passkey' },
    ]);
    const { key } = await p.keyturn.ledger.head();
    await p.keyturn.ledger.verify({ deep: true, key });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
    const bundle = await proofOf(p.keyturn, intent.intent_id, { with_objects: true });
    expect(auditProof(bundle, { key }).entries.map(({ kind }) => kind)).toContain('credential.added');
    const told = (await p.keyturn.intents.story({ intent_id: intent.intent_id })).story
      .map(({ words }) => words)
      .join('\n');
    expect(told).toContain('proven by a passkey that never leaves its device');
  });

  it('signs here, and what it signed in another project or on another page says nothing', async () => {
    const [p, other] = [await authority(), await elsewhere()];
    const passkey = softPasskey();
    const [here] = [await withPasskey(p, passkey), await withPasskey(other, passkey)];
    const intent = await proposeSay(p);
    const act = (keyturn: Keyturn) => (signer: Signer) =>
      keyturn.system.freeze({ scope: 'system', reason: 'a look', signer });
    const draft = await p.keyturn.draft(here, act(p.keyturn));
    const there = await other.keyturn.draft(here, act(other.keyturn));
    await expectRefusal('SIGNATURE_INVALID', async () =>
      p.keyturn.finish(draft, touch(passkey, bytesOf(there)), act(p.keyturn)),
    );
    // Nor on another page, which gets an assertion that is good in every other way.
    const evil = touch(passkey, bytesOf(draft), { client: { origin: 'http://localhost:9999' } });
    await expectRefusal('PASSKEY_ORIGIN', () => p.keyturn.finish(draft, evil, act(p.keyturn)));
    await p.keyturn.finish(draft, touch(passkey, bytesOf(draft)), act(p.keyturn));
    await expectRefusal('FROZEN', async () => {
      await p.keyturn.intents.approve({ ...intent, signer: here });
      await p.keyturn.intents.grant({ ...intent, signer: here });
    });
  });

  it('signs several acts with one touch; one that is stale is refused alone', async () => {
    const p = await authority();
    const passkey = softPasskey();
    const signer = await withPasskey(p, passkey);
    const intents = [await proposeSay(p), await proposeSay(p), await proposeSay(p)] as const;
    const acts = intents.map(
      (intent) => (by: Signer) => p.keyturn.intents.approve({ ...intent, signer: by }),
    );
    const drafts: Draft[] = [];
    for (const act of acts) drafts.push(await p.keyturn.draft(signer, act));
    const proofs = touch(passkey, drafts.flatMap(bytesOf));
    await p.keyturn.intents.reject({ ...intents[1], reason: 'no', signer: p.ada });
    const finish = (i: number, proof: Proof = proofs[i]!) => p.keyturn.finish(drafts[i]!, [proof], acts[i]!);
    await finish(0);
    await expectRefusal('INTENT_REJECTED', () => finish(1));
    await finish(2);
    // The list names the acts, so what is not in it was not signed.
    const fourth = await proposeSay(p);
    const act = (by: Signer) => p.keyturn.intents.approve({ ...fourth, signer: by });
    const draft = await p.keyturn.draft(signer, act);
    await expectRefusal('SIGNATURE_INVALID', () => p.keyturn.finish(draft, [proofs[0]!], act));
    await p.keyturn.ledger.verify({ deep: true });
    for (const { intent_id } of [intents[0], intents[2]])
      auditProof(await proofOf(p.keyturn, intent_id), { key: (await p.keyturn.ledger.head()).key });
  });

  it('whose passkey is revoked while a draft waits is refused', async () => {
    const p = await authority();
    const passkey = softPasskey();
    const signer = await withPasskey(p, passkey);
    const intent = await proposeSay(p);
    const act = (by: Signer) => p.keyturn.intents.approve({ ...intent, signer: by });
    const draft = await p.keyturn.draft(signer, act);
    await revoke(p, 'ada', signer, p.ada);
    await expectRefusal('KEY_REVOKED', () => p.keyturn.finish(draft, touch(passkey, bytesOf(draft)), act));
    await expectRefusal('KEY_REVOKED', () => p.keyturn.draft(signer, act));
  });

  it('enrols it with two touches: its own statement, and the yes of an older credential', async () => {
    const p = await authority();
    const passkey = softPasskey();
    const { credential } = passkey;
    const adding = (own: readonly Proof[]) => (signer: Signer) =>
      p.keyturn.people.addCredential({
        name: 'ada',
        credential,
        reason: 'a phone',
        signer,
        holder: { name: 'ada', public_key: credential.public_key, sign: async () => own },
      });
    const draft = await p.keyturn.draft(p.ada, adding([]));
    const yesOf = async () => p.ada.sign(bytesOf(draft));
    await expectRefusal('SIGNATURE_INVALID', async () => p.keyturn.finish(draft, await yesOf(), adding([])));
    const wrong = touch(softPasskey(), bytesOf(draft));
    await expectRefusal('SIGNATURE_INVALID', async () =>
      p.keyturn.finish(draft, await yesOf(), adding(wrong)),
    );
    await p.keyturn.finish(draft, await yesOf(), adding(touch(passkey, bytesOf(draft))));
    const bo = softPasskey();
    const { kind: _, ...own } = bo.credential;
    const holder = passkeySigner('bo', bo);
    const signer = passkeySigner('ada', passkey);
    await p.keyturn.people.enrol({ name: 'bo', principal: 'human', passkey: own, holder, signer });
    await p.keyturn.system.freeze({ scope: 'system', reason: 'a look', signer: holder });
  });
});

describe('a proof bundle that an attacker with the ledger key wrote again', () => {
  it('is refused when an assertion stands in it for another act or another person', async () => {
    const p = await authority();
    const signer = await withPasskey(p);
    const bo = await human(p, 'bo');
    const [intent, other] = [await proposeSay(p, {}, bo), await proposeSay(p, {}, bo)];
    for (const one of [intent, other]) await p.keyturn.intents.approve({ ...one, signer });
    const { intent_id } = intent;
    const same = await forgedProof(p.keyturn, intent_id, (entry) => entry);
    auditProof(same.bytes, same);
    const swapped = (await entriesAbout(p.keyturn, other.intent_id)).find(isApproval)!.body;
    const changes: ((entry: Entry) => Entry)[] = [
      (entry) => ({ ...entry, body: { ...entry.body, signature: swapped.signature! } }),
      (entry) => ({ ...entry, body: { ...entry.body, by: 'bo' } }),
      (entry) => ({ ...entry, body: { ...entry.body, key: bo.public_key } }),
    ];
    for (const change of changes) {
      const { bytes, key } = await forgedProof(p.keyturn, intent_id, (entry) =>
        entry.subject === intent_id && isApproval(entry) ? change(entry) : entry,
      );
      await expectRefusal('SIGNATURE_INVALID', () => auditProof(bytes, { key }));
    }
  });
});

const isApproval = ({ kind }: Entry) => kind === 'approval.granted';

const bytesOf = ({ statements }: Draft): Buffer[] => statements.map((one) => Buffer.from(one));
