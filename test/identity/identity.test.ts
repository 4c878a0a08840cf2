import { describe, expect, it } from 'vitest';
import { generateKeyPair, sign } from '../../src/canonical/ed25519.ts';
import type { Event } from '../../src/event/event.ts';
import { type OpenKey, proposalOf, signerOf, verifyAct, verifyProposal } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { isLive, nextPrincipal, type Principal, requireHuman } from '../../src/identity/principal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { signedAt } from '../support/signed.ts';

const AT = '2026-01-15T12:00:00.000Z';
const now = new Date(AT);
const pair = generateKeyPair();
const ada: OpenKey = signerOf('ada', pair.public_key, pair.seed);

function enrolment(principal: 'human' | 'agent' = 'human', public_key: string | null = pair.public_key) {
  const credential = public_key === null ? null : keyCredential(public_key);
  const facts = { principal, credential, own: null, roles: ['ops', 'dev', 'ops'] };
  return signedAt('keyturn/p/default', 'key.enrolled', 'ada', facts, ada, now);
}

describe('a signed act', () => {
  const act = enrolment();

  it('verifies as it was signed', () => expect(() => verifyAct('keyturn/p/default', act)).not.toThrow());

  it('says nothing in another project', () =>
    expectRefusal('SIGNATURE_INVALID', () => verifyAct('keyturn/q/default', act)));

  it('is void when any field of it changed', async () => {
    const changes: Event<'key.enrolled'>[] = [
      { ...act, subject: 'eve' },
      { ...act, body: { ...act.body, principal: 'agent' } },
      { ...act, body: { ...act.body, roles: ['admin'] } },
      { ...act, body: { ...act.body, by: 'eve' } },
      { ...act, body: { ...act.body, signed_at: '2027-01-15T12:00:00.000Z' } },
      { ...act, body: { ...act.body, credential: keyCredential(generateKeyPair().public_key) } },
      { ...act, body: { ...act.body, key: generateKeyPair().public_key } },
    ];
    for (const changed of changes)
      await expectRefusal('SIGNATURE_INVALID', () => verifyAct('keyturn/p/default', changed));
  });
});

describe('the signature of a proposer', () => {
  const hash = 'd7'.repeat(32);
  const signature = sign(proposalOf('keyturn/p/default', hash), ada.key);

  it('is over the hash, in this project, by this key', async () => {
    verifyProposal('keyturn/p/default', hash, signature, pair.public_key);
    const wrong: Parameters<typeof verifyProposal>[] = [
      ['keyturn/q/default', hash, signature, pair.public_key],
      ['keyturn/p/default', 'd8'.repeat(32), signature, pair.public_key],
      ['keyturn/p/default', hash, enrolment().body.signature, pair.public_key],
      ['keyturn/p/default', hash, signature, generateKeyPair().public_key],
    ];
    for (const args of wrong) await expectRefusal('SIGNATURE_INVALID', () => verifyProposal(...args));
  });
});

describe('a principal', () => {
  const human: Principal = nextPrincipal(null, enrolment(), AT);

  it('is enrolled once', async () => {
    expect(human).toMatchObject({ name: 'ada', kind: 'human', status: 'active' });
    await expectRefusal('PRINCIPAL_EXISTS', () => nextPrincipal(human, enrolment(), AT));
  });

  it('that is a human has a key, and an agent may have one', async () => {
    await expectRefusal('NOT_HUMAN', () => nextPrincipal(null, enrolment('human', null), AT));
    expect(nextPrincipal(null, enrolment('agent', null), AT)).toMatchObject({ credentials: [] });
    const agent = nextPrincipal(null, enrolment('agent'), AT);
    expect(agent).toMatchObject({ kind: 'agent', credentials: [{ public_key: pair.public_key }] });
    // A key makes no agent human.
    await expectRefusal('NOT_HUMAN', () => requireHuman(agent, pair.public_key));
    expect([isLive(human, pair.public_key), isLive(agent, pair.public_key)]).toEqual([true, false]);
  });

  it('has the roles that a human last gave, each once', async () => {
    expect(human.roles).toEqual(['dev', 'ops']);
    const facts = { roles: ['qa', 'dev'], replaces: ['dev', 'ops'], reason: 'moved' };
    const assignment = signedAt('o', 'role.assigned', 'ada', facts, ada, now);
    expect(nextPrincipal(human, assignment, AT)).toEqual({ ...human, roles: ['dev', 'qa'] });
    await expectRefusal('PRINCIPAL_UNKNOWN', () => nextPrincipal(null, assignment, AT));
    await expectRefusal('KEY_REVOKED', () => nextPrincipal({ ...human, status: 'revoked' }, assignment, AT));
  });

  it('acts only as an active human with the enrolled key', async () => {
    expect(requireHuman(human, pair.public_key)).toBe(human);
    await expectRefusal('PRINCIPAL_UNKNOWN', () => requireHuman(null, pair.public_key));
    await expectRefusal('NOT_HUMAN', () => requireHuman({ ...human, kind: 'agent' }, pair.public_key));
    await expectRefusal('KEY_REVOKED', () => requireHuman({ ...human, status: 'revoked' }, pair.public_key));
    await expectRefusal('KEY_FILE_INVALID', () => requireHuman(human, generateKeyPair().public_key));
  });

  it('is revoked once, and its name is not used again', async () => {
    const revocation = signedAt('o', 'key.revoked', 'ada', { reason: 'left' }, ada, now);
    const revoked = nextPrincipal(human, revocation, AT);
    expect(revoked.status).toBe('revoked');
    await expectRefusal('KEY_REVOKED', () => nextPrincipal(revoked, revocation, AT));
    await expectRefusal('PRINCIPAL_EXISTS', () => nextPrincipal(revoked, enrolment(), AT));
    await expectRefusal('PRINCIPAL_UNKNOWN', () => nextPrincipal(null, revocation, AT));
  });
});
