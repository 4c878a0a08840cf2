import { describe, expect, it } from 'vitest';
import { agent, authority, proposeSay } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const NONE = '00000000-0000-4000-8000-000000000000';
const reason = 'a test';

/** Ada has delegated `say` to scout. */
async function scene() {
  const p = await authority();
  const [scout, probe] = [await agent(p, 'scout'), await agent(p, 'probe')];
  return { p, scout, probe, delegation: await delegated(p, 'scout'), as: p.keyturn.as({ name: 'scout' }) };
}

async function delegated({ keyturn, ada: signer }: Project, delegate: string): Promise<string> {
  const asked = { delegate, actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer };
  return (await keyturn.agents.delegate(asked)).delegation_id;
}

describe('an agent with a delegation', () => {
  it('looks at what it proposed, and submits it with its own signature', async () => {
    const { p, scout, delegation, as } = await scene();
    const intent = await proposeSay(p, {}, scout);
    const { intent_id } = intent;
    const seen = await as.intents.previewSubmit({ intent_id, delegation });
    expect(seen).toMatchObject({
      intent: { hash: intent.hash },
      effect: { tool: 'say', arguments: { word: 'hello' } },
      approver: { by: 'ada', key: p.ada.public_key },
    });
    const submitted = await as.intents.submit({ ...intent, delegation, signer: scout });
    expect(submitted).toMatchObject({ by: 'scout', approver: 'ada' });
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('submits nothing without a signature, in no other name, and with no other key', async () => {
    const { p, scout, probe, delegation, as } = await scene();
    const asked = { ...(await proposeSay(p, {}, scout)), delegation };
    const { size } = await p.keyturn.ledger.head();
    await expectRefusal('NOT_FOR_AGENTS', () => as.intents.submit(asked as never));
    await expectRefusal('CALLER_OTHER', () => as.intents.submit({ ...asked, signer: probe }));
    await expectRefusal('CALLER_OTHER', () => as.intents.submit({ ...asked, signer: p.ada }));
    expect((await p.keyturn.ledger.head()).size).toBe(size);
    const forged = { ...probe, name: 'scout' };
    await expectRefusal('DELEGATION_OUT_OF_SCOPE', () => as.intents.submit({ ...asked, signer: forged }));
    const { intent_id } = asked;
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
  });

  it('finds neither an intent nor a delegation of another one, and sees no effect without a delegation', async () => {
    const { p, scout, probe, delegation, as } = await scene();
    const mine = await proposeSay(p, {}, scout);
    const other = await proposeSay(p, {}, probe);
    const others = await delegated(p, 'probe');
    const { size } = await p.keyturn.ledger.head();
    const preview = (intent_id: string, by: string) =>
      as.intents.previewSubmit({ intent_id, delegation: by });
    for (const intent_id of [other.intent_id, NONE]) {
      await expectRefusal('INTENT_NOT_FOUND', () => preview(intent_id, delegation));
      const asked = { intent_id, hash: other.hash, delegation, signer: scout };
      await expectRefusal('INTENT_NOT_FOUND', () => as.intents.submit(asked));
    }
    for (const id of [others, NONE])
      await expectRefusal('DELEGATION_UNKNOWN', () => preview(mine.intent_id, id));
    const wait = await p.keyturn.intents.propose({
      ...{ declared_goal: 'x', issuer: 'scout', signer: scout },
      effect: { kind: 'tool', tool: 'wait', arguments: { seconds: 1 } },
    });
    await expectRefusal('DELEGATION_OUT_OF_SCOPE', () => preview(wait.intent_id, delegation));
    expect((await p.keyturn.ledger.head()).size).toBe(size + 1);
    await p.keyturn.agents.revokeDelegation({ delegation_id: delegation, reason, signer: p.ada });
    await expectRefusal('DELEGATION_REVOKED', () => preview(mine.intent_id, delegation));
  });

  it('passes on what was given to it, and no more', async () => {
    const { p, scout, delegation, as } = await scene();
    const others = await delegated(p, 'probe');
    const asked = { delegate: 'probe', actions: ['tool:say'], ttl_s: 60, reason, signer: scout };
    const { size } = await p.keyturn.ledger.head();
    const { agents } = as;
    await expectRefusal('NOT_FOR_AGENTS', () => agents.delegate(asked));
    await expectRefusal('NOT_FOR_AGENTS', () =>
      agents.delegate({ ...asked, delegation, signer: undefined as never }),
    );
    await expectRefusal('NOT_FOR_AGENTS', () =>
      agents.delegate({ ...asked, delegation, grant: { uses: 1 } }),
    );
    await expectRefusal('CALLER_OTHER', () => agents.delegate({ ...asked, delegation, signer: p.ada }));
    for (const id of [others, NONE])
      await expectRefusal('DELEGATION_UNKNOWN', () => agents.delegate({ ...asked, delegation: id }));
    await expectRefusal('DELEGATION_WIDENED', () =>
      agents.delegate({ ...asked, delegation, actions: ['tool:*'] }),
    );
    expect((await p.keyturn.ledger.head()).size).toBe(size);
    const passed = await agents.delegate({ ...asked, delegation });
    expect(passed).toMatchObject({ by: 'scout', delegate: 'probe', parent: delegation, approves: false });
    await p.keyturn.ledger.verify({ deep: true });
  });
});
