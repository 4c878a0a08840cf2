import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { authority, call, granted, PERMITS, rules, yes } from './authority.ts';

describe('replay', () => {
  it('makes every decision again from what was stored, also after the policies changed', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { execution_id } = await p.keyturn.run({ ...intent, confirm: yes });
    await rules(p, PERMITS);
    const { steps } = await p.keyturn.replay(execution_id);
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
    const first = await p.keyturn.run({ ...intent, confirm: yes });
    await p.keyturn.retry({ intent_id: intent.intent_id, reason: 'again', signer: p.ada });
    await p.keyturn.grant({ ...intent, signer: p.ada });
    const second = await p.keyturn.run({ ...intent, confirm: yes });
    const [short, long] = [
      await p.keyturn.replay(first.execution_id),
      await p.keyturn.replay(second.execution_id),
    ];
    expect(long.steps.length).toBeGreaterThan(short.steps.length);
  });

  it('fails closed when something that a decision rests on is gone', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { execution_id } = await p.keyturn.run({ ...intent, confirm: yes });
    const issued = (await p.keyturn.story(intent.intent_id)).find(
      ({ kind }) => kind === 'capability.issued',
    )!;
    await p.keyturn.erase({ digest: issued.body.decision as string, reason: 'a test', signer: p.ada });
    await expectRefusal('OBJECT_MISSING', () => p.keyturn.replay(execution_id));
    await expectRefusal('EXECUTION_NOT_FOUND', () => p.keyturn.replay(intent.intent_id));
  });

  it('fails when a stored decision is not the one that its policies give', async () => {
    const p = await authority();
    const intent = await granted(p);
    // A control plane that lied: it asked the policies about something else than it did.
    const { signAct } = await import('../../src/identity/act.ts');
    const { canonicalBytes, parseJson } = await import('../../src/canonical/json.ts');
    const { sha256 } = await import('../../src/canonical/digest.ts');
    const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
    const story = await p.keyturn.story(intent.intent_id);
    const issued = story.find(({ kind }) => kind === 'capability.issued')!.body as Record<string, string>;
    const record = parseJson(await p.keyturn.object(issued.decision!)) as { request: { context: object } };
    const lied = canonicalBytes({
      ...record,
      request: { ...record.request, context: { ...record.request.context, ttl_s: 86_400 } },
    } as never);
    const { by, key, signed_at, signature, ...facts } = issued;
    expect([by, key, signed_at, signature]).not.toContain(undefined);
    const forged = { ...facts, capability_id: crypto.randomUUID(), decision: sha256(lied), ordinal: 2 };
    const { origin } = await p.keyturn.system();
    const act = signAct(origin, 'capability.issued', intent.intent_id, forged as never, p.ada, new Date());
    const store = await openSqliteStore({
      path: p.keyturn.layout.store,
      tenant: 'default',
      clock: () => new Date(),
      mode: 'write',
    });
    await store.commit({ events: [act], objects: [lied] });
    await store.close();
    const { execution_id } = await p.keyturn.run({
      ...intent,
      confirm: yes,
      capability: { text: intent.token },
    });
    await expectRefusal('REPLAY_DIFFERS', () => p.keyturn.replay(execution_id));
  });
});
