import { describe, expect, it } from 'vitest';
import { isRoot, rememberedUsers, userFor } from '../../src/effect/user.ts';
import { expectRefusal } from '../support/refusal.ts';

describe('a memory of users', () => {
  it('answers as one that reads everything again, each time', () => {
    const remembered = rememberedUsers();
    const asked = isRoot() ? [null, 'nobody', 'root', null] : [null, null];
    for (const run_as of asked) expect(remembered(run_as)).toEqual(userFor(run_as));
  });

  it('refuses whom /etc/passwd does not know, also after it knew others', async () => {
    const remembered = rememberedUsers();
    remembered(null);
    await expectRefusal('RUN_AS_UNAVAILABLE', () => remembered('no-such-user-here'));
  });
});
