import { expect, it } from 'vitest';
import { webFaceFor } from '../../src/serve/caller.ts';
import { AUTHORITY_TOOLS } from '../journey/authority.ts';
import { project } from '../support/project.ts';

it('the session without a name and a person who is called "null" are two callers', async () => {
  const { keyturn } = await project(AUTHORITY_TOOLS);
  expect(webFaceFor(keyturn, { kind: 'session', name: null })).toBe(keyturn);
  expect(webFaceFor(keyturn, { kind: 'session', name: 'null' })).not.toBe(keyturn);
  expect(webFaceFor(keyturn, { kind: 'session', name: null })).toBe(keyturn);
});
