import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { ASKED } from './asked.ts';
import { answerOf, fileFolder, type Intent, makeProject, type Project, UNKNOWN_ID } from './project.ts';

/**
 * Every command once, as its own process, in the quick run. One that reads answers; one that needs a human's key says that it needs a
 * terminal, after it has read its words and the project; one about something that does not exist says so. The other files of this
 * folder show what each command does.
 */

const folder = fileFolder();
let project: Project;
let intent: Intent;

beforeAll(async () => {
  project = await makeProject(folder);
  intent = await project.propose('greet', { name: 'Ada' });
  writeFileSync(join(folder, 'plan.json'), '{}');
});

/** The lane has no project: each of its commands with an empty queue. */
const LANE: Readonly<Record<string, string>> = {
  'lane queue': '--queue lane words',
  'lane review': '--queue lane',
  'lane verify': '--queue lane NONE HASH',
  'lane check': '--queue lane NONE HASH',
  'lane run': '--queue lane --registry tools.yaml NONE HASH',
};

const named = (word: string): string =>
  word === 'ID' ? intent.id : word === 'HASH' ? intent.hash : word === 'NONE' ? UNKNOWN_ID : word;

describe.concurrent('a command', () => {
  it('is asked here once at least, each one', () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !(name in ASKED))).toEqual([]);
  });

  it.each(Object.entries(ASKED))('%s answers', async (name, [code, text]) => {
    const finished = await project.run(...`${name} ${text}`.trim().split(' ').map(named), '--json');
    const answer = answerOf(finished) as never as { ok: boolean; code?: string; command: string };
    expect({ code: answer.ok ? 'OK' : answer.code, command: answer.command }).toEqual({
      code,
      command: name,
    });
  });

  it.each(Object.entries(LANE))('%s answers without a project', async (name, text) => {
    mkdirSync(join(folder, 'lane'), { recursive: true });
    const finished = await project.run(...`${name} ${text}`.split(' ').map(named));
    expect([name, finished.code, finished.stdout + finished.stderr]).toEqual([
      name,
      name === 'lane queue' ? 0 : 1,
      expect.stringMatching(/\[(OK|ERROR)\]/),
    ]);
  });
});
