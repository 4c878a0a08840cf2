import { expect, it } from 'vitest';
import { webFaceFor } from '../../src/serve/caller.ts';
import { AUTHORITY_TOOLS } from '../journey/authority.ts';
import { project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { SAY } from './service.ts';

it('the session without a name and a person who is called "null" are two callers', async () => {
  const { keyturn } = await project(AUTHORITY_TOOLS);
  const nameless = webFaceFor(keyturn, { kind: 'session', name: null });
  expect(webFaceFor(keyturn, { kind: 'session', name: 'null' })).not.toBe(nameless);
  expect(webFaceFor(keyturn, { kind: 'session', name: null })).toBe(nameless);
  await nameless.people.list();
  await expectRefusal('SESSION_READS', () =>
    nameless.intents.propose({ declared_goal: 'x', issuer: 'ada', effect: SAY.effect }),
  );
});
