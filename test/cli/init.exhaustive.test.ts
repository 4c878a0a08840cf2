import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal, keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { expectError, fileFolder, makeProject, PASSPHRASE, type Project, talkAt, thrice } from './project.ts';

const twice = (name: string, first = PASSPHRASE, second = first) =>
  [
    [`New passphrase for ${name}: `, first],
    ['The same again: ', second],
  ] as const;

describe('init', () => {
  it('there are three tries for a passphrase that is not weak and typed twice, and then no project', async () => {
    const cwd = scratch();
    const weak = await talkAt(
      { cwd },
      ['init', '--name', 'ada'],
      ...twice('ada', PASSPHRASE, 'another one'),
      ['New passphrase for ada: ', 'short'],
      ['New passphrase for ada: ', 'Password2024!'],
    );
    expectError('PASSPHRASE_WEAK', weak);
    expect(weak.screen).toContain('The two passphrases are not the same. Type the same passphrase twice.');
    expect(weak.screen).toContain('The passphrase has fewer than 12 characters. Use four or more words');
    expect(`${weak.screen}${weak.stderr}`).not.toMatch(/another one|short|2024/);
    expect(existsSync(join(cwd, '.keyturn'))).toBe(false);
    const differ = await talkAt(
      { cwd },
      ['init', '--name', 'ada'],
      ...[1, 2, 3].flatMap(() => twice('ada', PASSPHRASE, `${PASSPHRASE} `)),
    );
    expectError('PASSPHRASE_DIFFERS', differ);
    expect(existsSync(join(cwd, '.keyturn'))).toBe(false);
  });

  it('the second try makes the project', async () => {
    const cwd = scratch();
    const made = await talkAt(
      { cwd },
      ['init', '--name', 'ada'],
      ['New passphrase for ada: ', 'adaadaadaadaada'],
      ...twice('ada'),
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(join(cwd, '.keyturn', 'keys', 'ada.json'))).toBe(true);
  });

  it('a name that names may not have is refused before anything is asked', async () => {
    const cwd = scratch();
    for (const name of ['Ada', '../x', 'system']) {
      expectError('NAME_MALFORMED', await keyturn(['init', '--name', name], { cwd }));
    }
  });

  it('Ctrl-C and the end of input are no answers', async () => {
    for (const key of ['\x03', '\x04']) {
      const cwd = scratch();
      const session = inTerminal(['init', '--name', 'ada'], { cwd });
      await session.expect('New passphrase for ada: ');
      session.press(key);
      expect(await session.exited).toBe(1);
      expect(session.text).toContain('(CONFIRMATION_DECLINED 3012)');
      expect(existsSync(join(cwd, '.keyturn'))).toBe(false);
    }
  });
});

describe('identity', () => {
  const folder = fileFolder();
  let project: Project;
  beforeAll(async () => {
    project = await makeProject(folder);
  });

  it('an agent is enrolled with the signature of a human and gets no key', async () => {
    const added = await project.talk(
      ['identity', 'add', 'scout', '--agent'],
      ['Passphrase of alice: ', PASSPHRASE],
    );
    expect(added).toMatchObject({ code: 0, stdout: '[OK] scout is enrolled as an agent\n', stderr: '' });
    expect(existsSync(join(folder, '.keyturn', 'keys', 'scout.json'))).toBe(false);
  });

  it('a wrong passphrase enrols nobody and leaves no key file', async () => {
    const added = await project.talk(
      ['identity', 'add', 'carol'],
      ...thrice('Passphrase of alice: ', 'not the passphrase'),
    );
    expectError('PASSPHRASE_WRONG', added);
    expect(existsSync(join(folder, '.keyturn', 'keys', 'carol.json'))).toBe(false);
  });

  it('the last human cannot be revoked', async () => {
    const words = ['identity', 'revoke', 'alice', '--reason', 'leaves'];
    expectError('LAST_HUMAN', await project.talk(words));
  });

  it('a second human has a key of their own, and then it must be said who acts', async () => {
    const added = await project.talk(
      ['identity', 'add', 'bob'],
      ['Passphrase of alice: ', PASSPHRASE],
      ...twice('bob', 'another passphrase'),
    );
    expect(added).toMatchObject({ code: 0, stdout: '[OK] bob is enrolled as a human\n' });

    expectError('USAGE', await project.talk(['identity', 'add', 'dora', '--agent']));
    const revoked = await project.talk(
      ['identity', 'revoke', 'scout', '--reason', 'no longer used', '--as', 'bob'],
      ['Passphrase of bob: ', 'another passphrase'],
    );
    expect(revoked).toMatchObject({ code: 0, stdout: '[OK] scout is revoked\n' });
    const { stdout } = await project.run('identity', 'list');
    expect(stdout).toMatch(/^NAME +KIND +STATUS +KEYS +ROLES +ENROLLED +BY\n/);
    expect(stdout).toMatch(/^alice +human +active +1 +- +\S+ +alice$/m);
    expect(stdout).toMatch(/^bob +human +active +1 +- +\S+ +alice$/m);
    expect(stdout).toMatch(/^scout +agent +revoked +0 +- +\S+ +alice$/m);
  });

  it('a name that is taken, an unknown name and an agent as signer are refused', async () => {
    expectError(
      'PRINCIPAL_EXISTS',
      await project.talk(['identity', 'add', 'bot', '--agent', '--as', 'alice']),
    );
    const revoke = ['identity', 'revoke', 'nobody', '--reason', 'x', '--as', 'alice'];
    expectError('PRINCIPAL_UNKNOWN', await project.talk(revoke));
    expectError('NOT_HUMAN', await project.talk(['identity', 'add', 'eve', '--agent', '--as', 'bot']));
    expectError('PRINCIPAL_UNKNOWN', await project.talk(['identity', 'add', 'eve', '--as', 'nobody']));
  });

  it('outside a project every command says so', async () => {
    const cwd = join(scratch(), 'elsewhere');
    mkdirSync(cwd);
    expectError('PROJECT_MISSING', await keyturn(['identity', 'list'], { cwd }));
    const named = await keyturn(['identity', 'list', '--project', folder], { cwd });
    expect(named).toMatchObject({ code: 0, stderr: '' });
  });
});
