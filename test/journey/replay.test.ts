import { describe, expect, it } from 'vitest';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { authority, call, granted, named, PERMITS, rules, yes } from './authority.ts';

describe('replay', () => {
  it('makes every decision again from what was stored, also after the policies changed', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    await rules(p, PERMITS);
    const { steps } = await p.keyturn.runs.replay({ execution_id });
    expect(steps.map(({ what }) => what)).toEqual([
      'intent',
      'policies on submit',
      'policies on approve',
      'policies on grant',
      'capability',
      'policies on execute',
      'gate',
      'outcome',
    ]);
  });

  it('tells the first of two attempts without the second', async () => {
    const p = await authority();
    const intent = await granted(p, call('fail'));
    const first = await runSeen(p.keyturn, { ...intent, confirm: yes });
    await p.keyturn.runs.retry({ intent_id: intent.intent_id, reason: 'again', signer: p.ada });
    await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    const second = await runSeen(p.keyturn, { ...intent, confirm: yes });
    const [short, long] = [
      await p.keyturn.runs.replay({ execution_id: first.execution_id }),
      await p.keyturn.runs.replay({ execution_id: second.execution_id }),
    ];
    expect(long.steps.length).toBeGreaterThan(short.steps.length);
  });

  it('fails closed when something that a decision rests on is gone', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    const issued = (await entriesAbout(p.keyturn, intent.intent_id)).find(
      ({ kind }) => kind === 'capability.issued',
    )!;
    await p.keyturn.ledger.erase({ digest: issued.body.decision as string, reason: 'a test', signer: p.ada });
    await expectRefusal('OBJECT_MISSING', () => p.keyturn.runs.replay({ execution_id }));
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      p.keyturn.runs.replay({ execution_id: intent.intent_id }),
    );
  });

  it('fails when a stored decision is not the one that its policies give', async () => {
    const p = await authority();
    const intent = await granted(p);
    // A control plane that lied: it asked the policies about something else than it did.
    const { signerOf } = await import('../../src/identity/act.ts');
    const { signFact } = await import('../../src/identity/fact.ts');
    const { readControlKey } = await import('../../src/project/keys.ts');
    const { canonicalBytes, parseJson } = await import('../../src/canonical/json.ts');
    const { sha256 } = await import('../../src/canonical/digest.ts');
    const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
    const story = await entriesAbout(p.keyturn, intent.intent_id);
    const issued = story.find(({ kind }) => kind === 'capability.issued')!.body as Record<string, string>;
    const record = parseJson(await objectOf(p.keyturn, issued.decision!)) as { request: { context: object } };
    const lied = canonicalBytes({
      ...record,
      request: { ...record.request, context: { ...record.request.context, ttl_s: 86_400 } },
    } as never);
    const { control_key, control_signature, ...facts } = issued;
    expect([control_key, control_signature]).not.toContain(undefined);
    const { capability_id, expires_at } = await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    const { mint } = await import('../../src/capability/token.ts');
    const { openCapability } = await import('../../src/capability/verify.ts');
    const { kidOf } = await import('../../src/capability/key.ts');
    const { publicKeyOf } = await import('../../src/canonical/ed25519.ts');
    const { root } = openCapability(intent.token, () => publicKeyOf(control_key!));
    const { origin } = await p.keyturn.system.get();
    const { seed } = readControlKey(p.keyturn.layout, control_key!);
    const key = signerOf('control', control_key!, seed);
    const token = mint(
      { ...root, jti: capability_id, expires_at },
      { kid: kidOf(control_key!), key: key.key },
    );
    const objects = { token: sha256(token), decision: sha256(lied) };
    const forged = { ...facts, capability_id, expires_at, ...objects, ordinal: null };
    const fact = { kind: 'capability.issued', subject: intent.intent_id, body: forged as never } as const;
    const act = signFact(origin, 'control', fact, key);
    const store = await openSqliteStore({
      path: p.keyturn.layout.store,
      tenant: 'default',
      clock: () => new Date(),
      mode: 'write',
    });
    await store.commit({ events: [act], objects: [lied, Buffer.from(token)] });
    await store.close();
    const { execution_id } = await runSeen(p.keyturn, {
      ...intent,
      confirm: yes,
      capability: intent.token,
    });
    await expectRefusal('REPLAY_DIFFERS', () => p.keyturn.runs.replay({ execution_id }));
  });
});
