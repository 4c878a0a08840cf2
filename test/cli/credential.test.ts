import { beforeAll, describe, expect, it } from 'vitest';
import { keyCredential } from '../../src/keyturn.ts';
import { freshSigner } from '../support/keys.ts';
import { answerOf, expectError, fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

const NEW_PASSPHRASE = 'staple violet harbour nine';
const ALICE = ['Passphrase of alice: ', PASSPHRASE] as const;
const CHOSEN = [
  ['New passphrase for alice: ', NEW_PASSPHRASE],
  ['The same again: ', NEW_PASSPHRASE],
] as const;

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const listed = async (...words: string[]) => {
  const answer = answerOf(await project.run('credential', 'list', ...words, '--json'));
  return answer.result as unknown as { credentials: Record<string, unknown>[] };
};

describe('keyturn credential', () => {
  it('replaces a key: the new one is added, the old one revoked, and the name stays', async () => {
    const words = ['credential', 'add', '--label', 'new laptop', '--reason', 'the old one is retired'];
    const added = await project.talk(words, ALICE, ...CHOSEN);
    expect(added.stdout).toMatch(
      /^\[OK\] alice can sign with "new laptop" from now on\nPublic key: [A-Za-z0-9+/]{43}=\n$/,
    );
    const revoke = ['credential', 'revoke', 'alice', 'key file', '--reason', 'retired'];
    const revoked = await project.talk(revoke, [ALICE[0], NEW_PASSPHRASE]);
    expect(revoked.screen).toContain('Revoke: "key file" of alice, with all that it approved and delegated');
    expect(revoked.stdout).toBe('[OK] "key file" of alice is revoked\n');
    expectError('PASSPHRASE_WRONG', await project.talk(['freeze', '--reason', 'look'], ALICE, ALICE, ALICE));
    expect((await project.talk(['freeze', '--reason', 'look'], [ALICE[0], NEW_PASSPHRASE])).code).toBe(0);
    const { stdout } = await project.run('credential', 'list', 'alice');
    expect(stdout).toMatch(/^NAME +LABEL +KIND +STATUS +ADDED +BY +PUBLIC KEY\n/);
    expect(stdout).toMatch(/^alice +key file +key +revoked +\S+ +alice +\S+$/m);
    expect(stdout).toMatch(/^alice +new laptop +key +active +\S+ +alice +\S+$/m);
    expect((await listed('alice')).credentials).toMatchObject([
      { name: 'alice', label: 'key file', assurance: 'key_file', status: 'revoked', passkey: null },
      { name: 'alice', label: 'new laptop', status: 'active' },
    ]);
  });

  it('refuses before a passphrase is typed what cannot be added or revoked', async () => {
    const reason = ['--reason', 'why'];
    const add = (...words: string[]) => project.run('credential', 'add', ...words, ...reason);
    const revoke = (...words: string[]) => project.run('credential', 'revoke', ...words, ...reason);
    expectError('USAGE', await add());
    expectError('NO_TERMINAL', await add('--label', 'phone', '--passkey'));
    expectError('NAME_MALFORMED', await add('--label', 'a\u202eb'));
    expectError('PRINCIPAL_UNKNOWN', await add('eve', '--label', 'x'));
    expectError('NOT_HUMAN', await add('bot', '--label', 'x'));
    expectError('PRINCIPAL_UNKNOWN', await revoke('eve', 'x'));
    expectError('CREDENTIAL_UNKNOWN', await revoke('alice', 'key file'));
    expectError('PRINCIPAL_UNKNOWN', await project.run('credential', 'list', 'eve'));
  });

  it('refuses a label that names several, and a person who has a credential of their own', async () => {
    await project.inside(async (keyturn) => {
      const signer = await keyturn.unlock('alice', NEW_PASSPHRASE);
      const bob = freshSigner('bob');
      await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key: bob.public_key, signer });
      for (const holder of [freshSigner('alice'), freshSigner('alice')]) {
        const credential = keyCredential(holder.public_key, 'same');
        await keyturn.people.addCredential({ name: 'alice', credential, reason: 'a test', signer, holder });
      }
    });
    const reason = ['--reason', 'why'];
    expectError(
      'CREDENTIAL_FOREIGN',
      await project.run('credential', 'add', 'bob', '--label', 'x', ...reason),
    );
    expectError(
      'CREDENTIAL_AMBIGUOUS',
      await project.run('credential', 'revoke', 'alice', 'same', ...reason),
    );
    const { credentials } = await listed('alice');
    const { public_key } = credentials.at(-1) as { public_key: string };
    const words = ['credential', 'revoke', 'alice', public_key, ...reason];
    const revoked = await project.talk(words, [ALICE[0], NEW_PASSPHRASE]);
    expect(revoked.code).toBe(0);
  });
});
