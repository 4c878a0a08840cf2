import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { answerOf, expectError, fileFolder, type Intent, makeProject, type Project } from '../cli/project.ts';
import { keyturn } from '../support/pty.ts';
import { runSeen } from '../support/seen.ts';

const folder = fileFolder();
const away = fileFolder();
let project: Project;
let intent: Intent;
const at = (name: string) => join(away, name);

/** The auditor has the tool and the file, and no project. */
const audit = (...words: string[]) => keyturn(words, { cwd: away });

beforeAll(async () => {
  project = await makeProject(folder);
  intent = await project.propose('greet', { name: 'Ada' }, 'Greet the founder.');
  await project.ready(intent);
  const run = { intent_id: intent.id, hash: intent.hash, confirm: async () => true };
  await project.inside((opened) => runSeen(opened, run));
});

interface Shown {
  readonly result: { readonly story: object; readonly verified: object };
}

describe('U6: an auditor with a file, the tool and a fingerprint reads the whole story', () => {
  it('the one that show tells: goal, arguments, decisions, approval, outcome, output', async () => {
    const made = await project.run('ledger', 'prove', intent.id, '--with-objects', '--out', at('proof.json'));
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const exported = await project.run('ledger', 'export', '--with-objects', '--out', at('whole.jsonl'));
    expect(exported, exported.stderr).toMatchObject({ code: 0 });
    const key = /^Ledger key: (sha256:\S+)$/m.exec(exported.stdout)![1]!;
    // Goals, arguments and outputs are in the clear.
    for (const name of ['proof.json', 'whole.jsonl']) expect(statSync(at(name)).mode & 0o077).toBe(0);

    const here = (await project.run('show', intent.id, '--output')).stdout;
    for (const words of ['Greet the founder.', 'Ada', 'Allowed by "', 'Approved by alice', 'Hello, Ada!'])
      expect(here).toContain(words);
    const bundle = ['ledger', 'show', '--bundle', at('proof.json'), '--key', key, '--output'];
    const file = ['ledger', 'show', intent.id, '--file', at('whole.jsonl'), '--key', key, '--output'];
    for (const words of [bundle, file]) {
      const there = await audit(...words);
      expect(there, there.stderr).toMatchObject({ code: 0 });
      expect(there.stdout.slice(there.stdout.indexOf('\n\n') + 2)).toBe(here);
    }
    const facts = (answerOf(await project.run('show', intent.id, '--output', '--json')) as never as Shown)
      .result;
    const { result } = answerOf(await audit(...bundle, '--json')) as never as Shown;
    expect(result).toMatchObject({ story: facts, verified: { key_confirmed: true } });
    expectError('USAGE', await audit('ledger', 'show', '--bundle', at('proof.json')));
    expectError('USAGE', await audit(...bundle, '--file', at('whole.jsonl')));
  });
});
