import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rawKeyOf } from '../../src/canonical/spki.ts';
import type { Event } from '../../src/event/event.ts';
import { proposalOf } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { limits } from '../../src/limits.ts';
import type { Store } from '../../src/store/store.ts';
import { FLAGS, type Wish } from '../identity/authenticator.ts';
import { type SoftPasskey, softPasskey } from '../support/passkey.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  added,
  enrolledWith,
  type Held,
  heldKey,
  heldPasskey,
  lost,
  owned,
  signedWith,
} from './credential-facts.ts';
import {
  begun,
  claimed,
  DIGEST,
  delegation,
  enrolled,
  enrolledAgent,
  frozen,
  granted,
  issued,
  issuedUnder,
  keyOf,
  ORIGIN,
  ordered,
  proposed,
  revoked,
  submitted,
} from './facts.ts';
import { codeOf, governed, NOON, type Place, reopen } from './place.ts';

/** The part of the contract about credentials: a person has several, each with a life of its own. */
export function credentialContract(name: string, place: () => Promise<Place>): void {
  const commit =
    (store: Store, ...events: Event[]) =>
    () =>
      store.commit({ events });
  const phone = softPasskey({ label: 'Phone' });
  const second = heldKey('ada-second');

  /** Ada and Bo; Ada has a second key and a passkey. */
  async function people() {
    const made = await governed(await place(), ['ada', 'bo']);
    await made.store.commit({ events: [added('ada', second), added('ada', heldPasskey(phone))] });
    return made;
  }

  async function approvedWith(store: Store, held: Parameters<typeof signedWith>[1]): Promise<string> {
    const id = randomUUID();
    await store.commit({ events: [proposed(id), signedWith(granted(id, 'ada'), held)] });
    return id;
  }

  const by = (added_by: string) => ({ added_at: NOON, added_by, status: 'active' });

  describe(`${name}: a credential`, () => {
    it('is added with an older one, signs from then on, and its approval says how sure it is', async () => {
      const { store } = await people();
      expect((await store.find('principal', 'ada'))!.credentials).toEqual([
        { kind: 'key', public_key: keyOf('ada'), label: 'key file', ...by('ada') },
        { ...second.credential, ...by('ada') },
        { ...phone.credential, ...by('ada') },
      ]);
      const synced = softPasskey({ can_sync: true, label: 'Synced' });
      await store.commit({ events: [added('ada', heldPasskey(synced))] });
      const levels = [];
      for (const held of [second, heldPasskey(phone), heldPasskey(synced)]) {
        const found = await store.find('intent', await approvedWith(store, held));
        levels.push(found!.approvals[0]!.assurance);
      }
      expect(levels).toEqual(['key_file', 'device_bound_passkey', 'synced_passkey']);
      // It adds others, too.
      await store.commit({ events: [added('ada', heldKey('ada-third'), 'ada', { signs: 'ada-second' })] });
      const [fourth, touched] = [heldKey('ada-fourth'), heldPasskey(phone)];
      await store.commit({ events: [owned(signedWith(added('ada', fourth), touched), fourth.prove)] });
      expect((await store.rebuild({ write: false })).differences).toEqual([]);
    });

    it('shows that its key is held, by signing the same statement', async () => {
      const { store } = await people();
      const other = heldKey('eve');
      await expectRefusal(
        'SIGNATURE_INVALID',
        commit(store, added('ada', heldKey('new'), 'ada', { own: other.prove })),
      );
      const [key, touched] = [softPasskey(), softPasskey()];
      await expectRefusal(
        'SIGNATURE_INVALID',
        commit(store, added('ada', heldPasskey(key), 'ada', { own: heldPasskey(touched).prove })),
      );
      const { body, ...rest } = added('ada', heldPasskey(key));
      const elsewhere = added('bo', heldPasskey(key), 'bo').body.own;
      await expectRefusal('SIGNATURE_INVALID', commit(store, { ...rest, body: { ...body, own: elsewhere } }));
      for (const [code, wish] of WRONG_TOUCHES)
        await expectRefusal(code, commit(store, added('ada', heldPasskey(key, wish))));
      expect((await store.find('principal', 'ada'))!.credentials).toHaveLength(3);
    });

    it('speaks for one person, once and for good', async () => {
      const { store } = await people();
      const edwards = softPasskey({}, 'EdDSA');
      await store.commit({ events: [added('bo', heldPasskey(edwards), 'bo')] });
      const twice = [
        added('ada', second),
        added('bo', heldKey('ada-second'), 'bo'),
        added('bo', heldPasskey(phone), 'bo'),
        added('ada', heldKey('planner')),
        enrolledWith('cy', heldPasskey(phone), 'ada'),
        added('ada', bareKeyOf(edwards)),
      ];
      for (const event of twice) await expectRefusal('KEY_ENROLLED_TWICE', commit(store, event));
      await store.commit({ events: [lost('ada', keyOf('ada-second'))] });
      await expectRefusal('KEY_ENROLLED_TWICE', commit(store, added('ada', second)));
    });

    it('is added by another human only for a person who has none left', async () => {
      const { store } = await people();
      const fresh = heldKey('bo-new');
      await expectRefusal('CREDENTIAL_FOREIGN', commit(store, added('bo', fresh, 'ada')));
      await store.commit({ events: [lost('bo', keyOf('bo'), 'ada')] });
      await expectRefusal('KEY_REVOKED', commit(store, frozen('bo')));
      await expectRefusal('KEY_REVOKED', commit(store, added('bo', fresh, 'bo')));
      await store.commit({ events: [added('bo', fresh, 'ada')] });
      await store.commit({ events: [signedWith(frozen('bo'), fresh)] });
      await expectRefusal('CREDENTIAL_FOREIGN', commit(store, added('bo', heldKey('more'), 'ada')));
    });

    it('belongs to a human: an agent has one key, and a revoked person none', async () => {
      const { store } = await people();
      await expectRefusal('NOT_HUMAN', commit(store, added('planner', heldKey('more'), 'ada')));
      await expectRefusal('NOT_HUMAN', commit(store, lost('planner', keyOf('planner'), 'ada')));
      await expectRefusal('PRINCIPAL_UNKNOWN', commit(store, added('cy', heldKey('more'), 'ada')));
      await store.commit({ events: [revoked('ada', 'bo')] });
      for (const held of [second, heldPasskey(phone)])
        await expectRefusal('KEY_REVOKED', commit(store, signedWith(frozen('ada'), held)));
      await expectRefusal('KEY_REVOKED', commit(store, added('ada', heldKey('more'), 'bo')));
    });

    it('can be one of many, up to a limit', async () => {
      const { store } = await governed(await place(), ['ada']);
      const more = Array.from({ length: limits.credentials - 1 }, (_, i) =>
        added('ada', heldKey(`ada-${i}`)),
      );
      await store.commit({ events: more });
      await expectRefusal('CREDENTIAL_TOO_MANY', commit(store, added('ada', heldKey('ada-more'))));
      await store.commit({ events: [lost('ada', keyOf('ada-0')), added('ada', heldKey('ada-more'))] });
    });
  });

  describe(`${name}: a credential that is revoked`, () => {
    it('takes along what it signed, and leaves what the others of the same person signed', async () => {
      const { store } = await people();
      const [dead, alive] = [
        await approvedWith(store, second),
        await approvedWith(store, heldPasskey(phone)),
      ];
      const root = randomUUID();
      await store.commit({ events: [signedWith(delegation(root, 'ada', 'planner'), second)] });
      await store.commit({ events: [lost('ada', keyOf('ada-second'))] });
      await expectRefusal('KEY_REVOKED', commit(store, signedWith(frozen('ada'), second)));
      await expectRefusal('APPROVER_REVOKED', commit(store, ...issued(dead, 'bo')));
      const under = submitted(dead, 'planner', root, { approver: { by: 'ada', key: keyOf('ada-second') } });
      await expectRefusal('DELEGATION_REVOKED', commit(store, under));
      await store.commit({ events: issued(alive, 'bo') });
      await store.commit({ events: [claimed(alive, randomUUID(), 1, {}, 'bo')] });
      await expectRefusal('KEY_REVOKED', commit(store, lost('ada', keyOf('ada-second'))));
      await expectRefusal('CREDENTIAL_UNKNOWN', commit(store, lost('ada', keyOf('bo'))));
    });

    it('takes a capability that it signed along, before it is claimed', async () => {
      const { store } = await people();
      const id = await approvedWith(store, heldPasskey(phone));
      await store.commit({ events: [signedWith(ordered(id, 'ada'), second), issuedUnder(id)] });
      await store.commit({ events: [lost('ada', keyOf('ada-second'), 'bo')] });
      await expectRefusal('CAPABILITY_REVOKED', commit(store, claimed(id)));
    });

    it('ends what was delegated to that key, and to no other of the same person', async () => {
      const { store } = await people();
      const [first, other] = [randomUUID(), randomUUID()];
      await store.commit({
        events: [
          delegation(first, 'bo', 'ada', { delegate_key: keyOf('ada-second') }),
          delegation(other, 'bo', 'ada', { delegate_key: phone.credential.public_key }),
        ],
      });
      const approver = { by: 'bo', key: keyOf('bo') };
      const submit = (under: string, held: Parameters<typeof signedWith>[1]) => {
        const id = randomUUID();
        return () =>
          store.commit({
            events: [proposed(id), signedWith(submitted(id, 'ada', under, { approver }), held)],
          });
      };
      await expectRefusal('DELEGATION_OUT_OF_SCOPE', submit(first, heldPasskey(phone)));
      await expectRefusal('PASSKEY_ORIGIN', submit(other, heldPasskey(phone, { rp_id: 'evil.example' })));
      await submit(first, second)();
      await store.commit({ events: [lost('ada', keyOf('ada-second'))] });
      await expectRefusal('KEY_REVOKED', submit(first, second));
      await submit(other, heldPasskey(phone))();
    });

    it('is never the last one of the last human who can act', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      await store.commit({ events: [lost('bo', keyOf('bo'))] });
      await expectRefusal('LAST_HUMAN', commit(store, lost('ada', keyOf('ada'))));
      await expectRefusal('LAST_HUMAN', commit(store, revoked('ada', 'ada')));
      // Bo cannot act, so nothing is lost with the rest of him.
      await store.commit({ events: [revoked('bo', 'ada')] });
      await store.commit({ events: [added('ada', second), lost('ada', keyOf('ada'))] });
      const last = lost('ada', keyOf('ada-second'), 'ada', 'ada-second');
      await expectRefusal('LAST_HUMAN', commit(store, last));
      expect(await store.find('census', 'humans')).toEqual({ humans: 1 });
    });

    it('of each other at the same moment leaves one of the two', async () => {
      const { store } = await governed(await place(), ['ada', 'bo']);
      const both = [lost('ada', keyOf('ada'), 'bo'), lost('bo', keyOf('bo'), 'ada')];
      const ends = await Promise.allSettled(both.map((event) => store.commit({ events: [event] })));
      const codes = ends.map(codeOf).sort();
      expect(codes).toHaveLength(2);
      expect(codes.at(-1)).toBe('ok');
      expect(['KEY_REVOKED', 'LAST_HUMAN']).toContain(codes[0]);
    });
  });

  describe(`${name}: an act that a passkey signed`, () => {
    it('counts where, and by the kind of passkey, that was enrolled', async () => {
      const { store } = await people();
      for (const [code, wish] of WRONG_TOUCHES)
        await expectRefusal(code, commit(store, signedWith(frozen('ada'), heldPasskey(phone, wish))));
      await commit(store, signedWith(frozen('ada'), heldPasskey(phone)))();
    });

    it('cannot be moved to another act, another person or another key', async () => {
      const { store } = await people();
      const [one, other] = [randomUUID(), randomUUID()];
      await store.commit({ events: [proposed(one), proposed(other)] });
      const good = signedWith(granted(one, 'ada'), heldPasskey(phone));
      const { body } = good;
      await expectRefusal('SIGNATURE_INVALID', commit(store, { ...good, subject: other }));
      await expectRefusal('SIGNATURE_INVALID', commit(store, { ...good, body: { ...body, by: 'bo' } }));
      await expectRefusal(
        'KEY_FILE_INVALID',
        commit(store, signedWith(granted(one, 'ada'), heldPasskey(phone), 'bo')),
      );
      for (const key of [keyOf('ada'), softPasskey().credential.public_key])
        await expectRefusal('SIGNATURE_INVALID', commit(store, { ...good, body: { ...body, key } }));
      const bare = granted(one, 'ada').body.signature;
      await expectRefusal(
        'SIGNATURE_INVALID',
        commit(store, { ...good, body: { ...body, signature: bare } }),
      );
      await commit(store, good)();
    });

    it('proposes, too, where it was enrolled', async () => {
      const { store } = await people();
      const proposal = (wish: Wish = {}) => {
        const proposer_signature = heldPasskey(phone, wish).prove(proposalOf(ORIGIN, DIGEST));
        const proposer_key = phone.credential.public_key;
        const over = { proposer: 'ada', proposer_kind: 'human' as const, proposer_signature, proposer_key };
        return commit(store, proposed(randomUUID(), over));
      };
      for (const [code, wish] of WRONG_TOUCHES) await expectRefusal(code, proposal(wish));
      await proposal()();
    });

    it('of a passkey that was not enrolled counts for nobody', async () => {
      const { store } = await people();
      await expectRefusal(
        'KEY_FILE_INVALID',
        commit(store, signedWith(frozen('ada'), heldPasskey(softPasskey()))),
      );
    });

    it('can be the first of a ledger, and the first of a further human, if the passkey signs it itself', async () => {
      const store = await reopen(await place(), 'create');
      const founder = heldPasskey(phone);
      const facts = enrolledWith('ada', founder, 'ada');
      const first = signedWith({ ...facts, body: { ...facts.body, own: null } }, founder);
      const elsewhere = heldPasskey(phone, { client: { origin: 'https://evil.example' } });
      await store.commit({ events: [begun()] });
      await expectRefusal('PASSKEY_ORIGIN', commit(store, signedWith(first, elsewhere)));
      await commit(store, first)();
      const bo = heldPasskey(softPasskey());
      const further = enrolledWith('bo', bo, 'ada');
      const without = { ...further, body: { ...further.body, own: null } };
      await expectRefusal('SIGNATURE_INVALID', commit(store, signedWith(without, founder)));
      await commit(store, owned(signedWith(further, founder), bo.prove))();
      const agent = enrolledAgent('bot', 'ada');
      const credential = softPasskey().credential;
      const touched = { ...agent, body: { ...agent.body, credential } };
      await expectRefusal('NOT_HUMAN', commit(store, signedWith(touched, founder)));
      await commit(store, signedWith(enrolled('cy', 'ada'), founder))();
    });
  });
}

/** The key of an EdDSA passkey without its authenticator: another text, the same key. */
function bareKeyOf({ key }: SoftPasskey): Held {
  return {
    credential: keyCredential(rawKeyOf(key.public_key)),
    prove: (statement) => key.sign(statement).toString('base64'),
  };
}

const WRONG_TOUCHES = [
  ['PASSKEY_ORIGIN', { client: { origin: 'https://keyturn.example:9443' } }],
  ['PASSKEY_ORIGIN', { rp_id: 'other.example' }],
  ['PASSKEY_ORIGIN', { client: { crossOrigin: true } }],
  ['PASSKEY_INVALID', { flags: FLAGS.UP | FLAGS.UV | FLAGS.BE }],
  ['PASSKEY_INVALID', { client: { type: 'webauthn.create' } }],
  ['PASSKEY_UNVERIFIED', { flags: FLAGS.UP }],
  ['PASSKEY_UNVERIFIED', { flags: FLAGS.UV }],
  ['SIGNATURE_INVALID', { client: { challenge: 'AAAA' } }],
] as const;
