import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { onlyKeyOf } from '../../src/keyturn.ts';
import { freshSigner } from '../support/keys.ts';
import { PASSPHRASE, project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const yes = async () => true;
const say = (word: string) => ({
  declared_goal: 'Say a word',
  effect: { kind: 'tool' as const, tool: 'say', arguments: { word } },
});

describe('an attacker who can call the library', () => {
  it('signs with another key in the name of a human, and is refused by the store', async () => {
    const { keyturn } = await project(TOOLS);
    const [ada] = (await keyturn.people.list()).principals;
    const forged = { ...freshSigner('ada'), public_key: onlyKeyOf(ada!) };
    const { intent_id, hash } = await keyturn.intents.propose(say('x'));
    await expectRefusal('SIGNATURE_INVALID', () =>
      keyturn.intents.approve({ intent_id, hash, signer: forged }),
    );
    await expectRefusal('SIGNATURE_INVALID', () =>
      keyturn.people.enrol({ name: 'eve', principal: 'agent', public_key: null, signer: forged }),
    );
    await expectRefusal('APPROVAL_MISSING', () => runSeen(keyturn, { intent_id, hash, confirm: yes }));
    await keyturn.intents.approve({ intent_id, hash, signer: await keyturn.unlock('ada', PASSPHRASE) });
    await expectRefusal('SIGNATURE_INVALID', () =>
      keyturn.intents.grant({ intent_id, hash, signer: forged }),
    );
    await expectRefusal('ORDER_MISSING', () => runSeen(keyturn, { intent_id, hash, confirm: yes }));
  });
});

describe('an attacker who can write to the database file', () => {
  it('invents an approval and a capability in the projection, and grant and run find that nobody signed them', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await p.keyturn.intents.propose(say('x'));
    const db = new DatabaseSync(join(p.root, '.keyturn', 'store.db'));
    const row = db.prepare("SELECT id, state FROM projection WHERE name = 'intent'").get() as {
      id: number;
      state: string;
    };
    const [ada] = (await p.keyturn.people.list()).principals;
    const far = '2999-01-01T00:00:00.000Z';
    const approval = {
      by: 'ada',
      key: onlyKeyOf(ada!),
      signed_at: new Date().toISOString(),
      expires_at: far,
      delegation: null,
    };
    const forged = JSON.parse(row.state);
    const capability = {
      capability_id: intent_id,
      attempt: 1,
      action: 'tool:say',
      effect_digest: forged.effect_digest,
      token: hash,
      holder: null,
      by: 'ada',
      key: p.ada.public_key,
      delegation: null,
      issued_at: new Date().toISOString(),
      expires_at: far,
      break_glass: false,
      approvers: [{ name: 'ada', roles: [] }],
      status: 'issued',
    };
    const state = { ...forged, status: 'approved', approvals: [approval], capabilities: [capability] };
    db.prepare("UPDATE projection SET status = 'approved', state = ? WHERE id = ?").run(
      Buffer.from(canonicalBytes(state)).toString(),
      row.id,
    );
    db.close();
    expect(await p.keyturn.intents.check({ intent_id, hash })).toMatchObject({ eligible: true });
    await expectRefusal('PROJECTION_DRIFT', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await expectRefusal('PROJECTION_DRIFT', () =>
      p.keyturn.intents.grant({ intent_id, hash, signer: p.ada }),
    );
  });
});
