import { describe, expect, it } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, human } from './authority.ts';

/** Signs once, and gives the same proofs again for the same statements: as a reader of the ledger can. */
function copied(signer: Signer): Signer {
  const at = new Date();
  return { ...signer, drawn: { at, id: '3d5a2f0e-8f5c-4c55-9d3e-0b6f4f1f9a11' } };
}

describe('an act that was signed once', () => {
  it('is done once: a freeze that came later is not lifted by the same signature', async () => {
    const { keyturn, ada } = await authority();
    const asked = { scope: 'tool', name: 'say', reason: 'a look' } as const;
    await keyturn.system.freeze({ ...asked, signer: ada });
    const once = copied(ada);
    const { by, at } = (await keyturn.system.get()).freezes[0]!;
    const unfreezes = { ...asked, lifts: { by, at }, signer: once };
    await keyturn.system.unfreeze(unfreezes);
    await keyturn.system.freeze({ ...asked, reason: 'again', signer: ada });
    await expectRefusal('ACT_CHANGED', () => keyturn.system.unfreeze(unfreezes));
    const { freezes } = await keyturn.system.get();
    expect(freezes).toHaveLength(1);
  });

  it('is done once: roles that were taken away do not come back', async () => {
    const p = await authority();
    await human(p, 'bo');
    const once = copied(p.ada);
    const given = { name: 'bo', roles: ['release'], reason: 'a week', signer: once };
    await p.keyturn.people.assign(given);
    await p.keyturn.people.assign({ ...given, roles: [], signer: p.ada });
    await expectRefusal('CLAIM_TAKEN', () => p.keyturn.people.assign(given));
  });
});
