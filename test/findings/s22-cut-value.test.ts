import { beforeAll, describe, expect, it } from 'vitest';
import { fileFolder, makeProject, type Project } from '../cli/project.ts';
import { inTerminal } from '../support/pty.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const LONG = `${'y'.repeat(2900)} and now rm`;

describe('S22: what was cut off cannot be approved', () => {
  it('show cuts nothing, as text and as JSON', async () => {
    const { id } = await project.propose('greet', { name: LONG }, LONG);
    const { stdout } = await project.run('show', id);
    const text = stdout.replace(/\n *[│↪] /g, '');
    expect(text.split('and now rm').length).toBeGreaterThan(3);
    expect(text).not.toContain('more characters');
    expect((await project.run('show', '--json', id)).stdout).toContain(LONG);
  });

  it('who stops before the last page is not asked, and nothing is approved', async () => {
    const intent = await project.propose('greet', { name: 'Ada\n'.repeat(1000).trimEnd() });
    const session = inTerminal(['approve', intent.id], { cwd: folder, columns: 60 });
    await session.expect('Enter: next page');
    // What is no answer is asked again: it must not end up in the shell.
    session.type('y');
    await session.expect('Enter: next page');
    session.type('q');
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('SHOWN_IN_PART 3021');
    expect(session.text).not.toContain('Type the first 6 characters of the code to approve it: ');
    const { status } = await project.inside((keyturn) => keyturn.intents.get({ intent_id: intent.id }));
    expect(status).toBe('proposed');
  });
});
