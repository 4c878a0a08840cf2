import { beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { answerOf, expectError, fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

const ALICE = ['Passphrase of alice: ', PASSPHRASE] as const;
const REASON = ['--reason', 'a second machine'];

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

describe('keyturn executor', () => {
  it('lets a further host run what is ordered, shows it, and takes that back', async () => {
    const { public_key } = generateKeyPair();
    const words = ['executor', 'add', public_key, '--name', 'second', ...REASON];
    const added = await project.talk(words, ALICE);
    expect(added.stdout).toBe(
      `[OK] An executor "second" may run what is ordered for that name\nPublic key: ${public_key}\n`,
    );
    const { stdout } = await project.run('executor', 'list');
    expect(stdout).toMatch(/^NAME +SERVES +HOST +STATUS +HEARD +ADDED +BY +PUBLIC KEY\n/);
    expect(stdout).toMatch(/^executor +this one +active +never +\S+ +alice +\S+$/m);
    expect(stdout).toMatch(/^second +active +never +\S+ +alice +\S+$/m);
    const revoked = await project.talk(['executor', 'revoke', public_key, ...REASON], ALICE);
    expect(revoked.screen).toContain('Revoke: the executor "second"');
    expect(revoked.stdout).toBe('[OK] The executor "second" is revoked\n');
    const listed = answerOf(await project.run('executor', 'list', '--json'));
    expect(listed.result).toMatchObject({
      executors: [
        { name: 'executor', is_this_host: true, revoked_at: null },
        { name: 'second', public_key, is_this_host: false, revoked_at: expect.any(String) },
      ],
    });
  });

  it('refuses what names no host, before a passphrase is typed', async () => {
    const unknown = generateKeyPair().public_key;
    for (const key of ['x', '', `${unknown}=`, unknown.slice(1)])
      expectError('USAGE', await project.run('executor', 'add', key, ...REASON));
    expectError('USAGE', await project.run('executor', 'revoke', ...REASON));
    expectError('EXECUTOR_UNKNOWN', await project.run('executor', 'revoke', unknown, ...REASON));
    expectError('NAME_MALFORMED', await project.run('executor', 'add', unknown, '--name', 'A b', ...REASON));
  });
});
