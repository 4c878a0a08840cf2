import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditProof } from '../../src/audit/index.ts';
import { open } from './screens.ts';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** What a passkey is worth: by which algorithm, of whom, and whether it still is one. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
});

async function looking(person = ada): Promise<string> {
  const { intent_id } = await stage.propose();
  await open(person.page, `/decide/${intent_id}`);
  await reached(person, 'ready');
  return intent_id;
}

const approvals = async (intent_id: string) =>
  (await stage.keyturn.intents.get({ intent_id })).approvals.length;

async function keysOf(name: string) {
  const { credentials } = await stage.keyturn.people.credentials({ name });
  return new Map(credentials.map((one) => [one.label, one.public_key]));
}

describe('the algorithm of a passkey', () => {
  it.each([
    ['ES256', -7, 'ec'],
    ['EdDSA', -8, 'ed25519'],
    ['RS256', -257, 'rsa'],
  ] as const)(
    '%s is the one that really signs, and the proof of it verifies offline',
    {
      timeout: TIME,
    },
    async (label, algorithm, type) => {
      const person = await stage.person();
      await stage.enrol(person, 'ada', algorithm, label);
      await person.page.selectOption('.choose select', { label: `ada, “${label}”` });
      const key = (await keysOf('ada')).get(label)!;
      const spki = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
      expect(spki.asymmetricKeyType).toBe(type);
      const intent_id = await looking(person);
      await person.page.keyboard.press('a');
      await reached(person, 'done');
      await stage.keyturn.intents.waitFor({ intent_id });
      const { bundle, key: ledger_key } = await stage.keyturn.ledger.prove({ intent_id });
      const { entries } = auditProof(Buffer.from(bundle), { key: ledger_key });
      const order = entries.find(({ kind }) => kind === 'order.given')!;
      expect((order.body as { key: string }).key).toBe(key);
      // One byte of the assertion, and the same proof is none.
      const { signature } = order.body as { signature: { signature: string } };
      const other = signature.signature.replace(/^./, (one) => (one === 'A' ? 'B' : 'A'));
      const forged = bundle.replaceAll(signature.signature, other);
      expect(() => auditProof(Buffer.from(forged), { key: ledger_key })).toThrow();
      await person.context.close();
    },
  );
});

/** Runs in the page, past everything that the console checks. */
async function signAsAnother(asked: {
  readonly intent_id: string;
  readonly hash: string;
  readonly by: string;
  readonly key: string;
}): Promise<string> {
  const { by, key, ...request } = asked;
  const ask = async (body: object) => {
    const headers = {
      'content-type': 'application/json',
      'keyturn-page': localStorage.getItem('keyturn-page')!,
    };
    const answer = await fetch('/v1/intents/turn', { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json()) as { draft: object; challenge: string; code: string };
  };
  const { draft, challenge } = await ask({ request, by, key });
  const text = atob(challenge.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(text, (one) => one.charCodeAt(0));
  const got = (await navigator.credentials.get({
    publicKey: { rpId: 'localhost', challenge: bytes, userVerification: 'required' },
  })) as PublicKeyCredential;
  const { authenticatorData, clientDataJSON, signature } = got.response as AuthenticatorAssertionResponse;
  const url = (one: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(one)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=+$/, '');
  const proof = {
    authenticator_data: url(authenticatorData),
    client_data: url(clientDataJSON),
    signature: url(signature),
    touch: null,
  };
  return (await ask({ request, draft, proofs: [proof] })).code;
}

describe('a passkey that does not count', () => {
  it('is revoked while its owner reads: the dock says so, and nothing is signed', {
    timeout: TIME,
  }, async () => {
    const person = await stage.person();
    await stage.enrol(person, 'ada', -7, 'lost phone');
    await person.page.selectOption('.choose select', { label: 'ada, “lost phone”' });
    const intent_id = await looking(person);
    const public_key = (await keysOf('ada')).get('lost phone')!;
    // The page hears of it late: the service is asked with the key that is none any more.
    await person.page.route('**/v1/people/list', (route) => route.abort());
    await stage.keyturn.people.revokeCredential({
      name: 'ada',
      public_key,
      reason: 'It is lost.',
      signer: stage.ada,
    });
    await person.page.waitForSelector('.dock[data-steady="true"]');
    await person.page.keyboard.press('a');
    await expect
      .poll(() => person.page.getAttribute('.dock', 'data-state'), { timeout: 20_000 })
      .toMatch(/failed|denied/);
    expect(await approvals(intent_id)).toBe(0);
    await person.page.unrouteAll({ behavior: 'wait' });
    await person.context.close();
  });

  it('is of another person: the service takes its signature for no act of somebody else', {
    timeout: TIME,
  }, async () => {
    await stage.human('mallory');
    const mallory = await stage.person();
    await stage.enrol(mallory, 'mallory', -7, 'her laptop');
    const { intent_id, hash } = await stage.propose();
    const ada_key = (await keysOf('ada')).get('laptop')!;
    // What no page of ours does: a draft of ada's act, signed by the passkey that is there.
    const code = await mallory.page.evaluate(signAsAnother, { intent_id, hash, by: 'ada', key: ada_key });
    expect(code).toBe('SIGNATURE_INVALID');
    expect(await approvals(intent_id)).toBe(0);
    await mallory.context.close();
  });

  it('is not there: the browser finds none of its credentials, and the gesture ends without a signature', {
    timeout: TIME,
  }, async () => {
    const elsewhere = await stage.person();
    await elsewhere.page.selectOption('.choose select', { label: 'ada, “laptop”' });
    const intent_id = await looking(elsewhere);
    await elsewhere.page.keyboard.press('a');
    await reached(elsewhere, 'failed');
    expect(await elsewhere.page.textContent('.dock')).toContain('The gesture was not finished.');
    expect(await approvals(intent_id)).toBe(0);
    await elsewhere.context.close();
  });
});

describe('a page that shows A and signs B', () => {
  it('is refused where the other side can see it: the statement is drawn up again, and this proof is of another', {
    timeout: TIME,
  }, async () => {
    const other = await stage.propose();
    const intent_id = await looking();
    // The authenticator is asked about B's statement instead: what a changed page could do.
    await ada.page.evaluate(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = (options) => {
        const { publicKey } = options!;
        const challenge = crypto.getRandomValues(new Uint8Array(32));
        return get({ ...options, publicKey: { ...publicKey!, challenge } });
      };
    });
    await ada.page.keyboard.press('a');
    await reached(ada, 'failed');
    expect([await approvals(intent_id), await approvals(other.intent_id)]).toEqual([0, 0]);
    await ada.page.reload();
  });
});

describe('the clock of the browser', () => {
  it.each([
    ['an hour ahead', 3_600_000],
    // The page keeps what was done to its clock before.
    ['an hour behind', -7_200_000],
  ])(
    '%s changes nothing that is signed: times come from the service',
    { timeout: TIME },
    async (_, off_ms) => {
      await ada.page.addInitScript((by: number) => {
        const now = Date.now.bind(Date);
        Date.now = () => now() + by;
      }, off_ms);
      await ada.page.reload();
      const intent_id = await looking();
      await ada.page.keyboard.press('a');
      await reached(ada, 'done');
      expect((await stage.keyturn.intents.waitFor({ intent_id })).status_word).toBe('succeeded');
    },
  );
});
