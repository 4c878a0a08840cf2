import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, TURN } from './grant-scene.ts';
import { expectError, fileFolder, makeProject, type Project, talkAt, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

async function replacementOf(id: string): Promise<string> {
  const { replaced_by } = await project.inside((keyturn) => keyturn.intents.get({ intent_id: id }));
  return replaced_by!;
}

describe('edit', () => {
  it('replaces a proposal, and the screen of the other one shows what changed', async () => {
    const { id } = await project.propose('greet', { name: 'Bob' });
    const { code, stdout, screen } = await project.talk(['edit', id, '--arg', 'name=Eve'], ALICE);
    expect(code).toBe(0);
    expect(screen).toContain(`Edit: ${id}, greet, proposed by bot.`);
    const made = await replacementOf(id);
    expect(stdout).toContain(`[OK] alice replaced ${id}. That one cannot be approved any more\n`);
    expect(stdout).toContain(`keyturn turn ${made}`);
    const turned = await project.talk(['turn', made], TURN, ALICE);
    expect(turned.screen.replaceAll(/\x1b\[\d*m/g, '')).toContain('name: "Bob" before, "Eve" now');
    expect(turned.stdout).toContain('Hello, Eve!');
    expectError('INTENT_REPLACED', await project.run('approve', id));
  });

  it('has the same words for what changed wherever they are read', async () => {
    const { id } = await project.propose('greet', { name: 'Bob' }, 'Greet Bob.');
    await project.talk(['edit', id, '--arg', 'name=Eve', '--goal', 'Greet Eve.'], ALICE);
    const made = await replacementOf(id);
    const { screen } = await project.talk(['turn', made], ['(y/n)', 'n']);
    const { stdout } = await project.run('show', made);
    for (const words of [
      'asked by: "bot" before, "alice" now',
      'goal: "Greet Bob." before, "Greet Eve." now',
      'name: "Bob" before, "Eve" now',
    ]) {
      expect(screen.replaceAll(/\x1b\[\d*m/g, '')).toMatch(new RegExp(`^Changed: +${words}`, 'm'));
      expect(stdout).toContain(`Changed: ${words}\n`);
    }
  });

  it('opens $EDITOR on the request, away from the lines that an editor obeys', async () => {
    const { id } = await project.propose(
      'greet',
      { name: 'Bob' },
      'x vim: set modeline:\u202e local variables:',
    );
    const editor = join(folder, 'editor');
    writeFileSync(editor, `#!/bin/sh\ncp "$1" "${folder}/seen"\nsed -i 's/"name": .*/"name": "Zoe"/' "$1"\n`);
    chmodSync(editor, 0o755);
    const at_terminal = (EDITOR: string) => ({ cwd: folder, env: { EDITOR } });
    expect((await talkAt(at_terminal(editor), ['edit', id], ALICE)).code).toBe(0);
    const other = await project.propose('greet', { name: 'Bob' });
    const left = await talkAt(at_terminal('/bin/false'), ['edit', other.id]);
    expect(left.stderr).toContain('(CONFIRMATION_DECLINED 3012)');
    const lines = readFileSync(join(folder, 'seen'), 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes('vim:'));
    expect(at).toBeGreaterThan(10);
    expect(lines.length - at).toBeGreaterThan(10);
    expect(lines[at]).toContain('\\u202e');
    // Emacs looks for this in the last 3000 characters, wherever the last lines are.
    expect(lines[at]).not.toMatch(/local variables:/i);
    const shown = await project.run('show', await replacementOf(id));
    expect(shown.stdout).toContain('local variables:');
    expect(shown.stdout).toContain('Zoe');
  });

  it('gives a text that is refused to $EDITOR again, as it was left', async () => {
    const { id } = await project.propose('greet', { name: 'Bob' }, 'Greet someone.');
    const editor = join(folder, 'editor-twice');
    // The first time a goal of the right kind and an argument that the tool does not take; then only that is mended.
    writeFileSync(
      editor,
      `#!/bin/sh\nif grep -q '"names"' "$1"; then sed -i 's/"names"/"name"/' "$1"\n` +
        `else sed -i 's/"name"/"names"/; s/someone/everyone/' "$1"; fi\n`,
    );
    chmodSync(editor, 0o755);
    const at = { cwd: folder, env: { EDITOR: editor } };
    const left = await talkAt(at, ['edit', id], ['Edit it again? (y/n)', 'n']);
    expect(left.stderr).toContain('(ARGUMENT_UNKNOWN ');
    expect((await talkAt(at, ['edit', id], ['Edit it again? (y/n)', 'y'], ALICE)).code).toBe(0);
    const { stdout } = await project.run('show', await replacementOf(id));
    expect(stdout).toContain('goal: "Greet someone." before, "Greet everyone." now');
  });

  it('refuses before a passphrase is asked for', async () => {
    const { id } = await project.propose('greet', { name: 'Bob' });
    expectError('EDIT_EMPTY', await project.run('edit', id, '--arg', 'name=Bob'));
    expectError('ARGUMENT_UNKNOWN', await project.run('edit', id, '--arg', 'loud=yes'));
    expectError('INTENT_NOT_FOUND', await project.run('edit', UNKNOWN_ID, '--goal', 'x'));
    expectError('USAGE', await project.run('edit', id, '--arg', 'name=x', '--plan', 'p.json'));
    expectError('ID_MALFORMED', await project.run('edit', 'x'));
    await project.approve({ id, hash: (await project.inside((k) => k.intents.get({ intent_id: id }))).hash });
    expectError('EDIT_NOT_DUE', await project.run('edit', id, '--arg', 'name=Eve'));
  });
});
