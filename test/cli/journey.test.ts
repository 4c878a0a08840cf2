import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { converse, keyturn } from '../support/pty.ts';
import { fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

describe('the whole journey', () => {
  const folder = fileFolder();
  let project: Project;
  beforeAll(async () => {
    project = await makeProject(folder);
  });

  it('an agent proposes, a human reviews and runs it, and anybody verifies it', async () => {
    const proposed = await project.run('propose', '--tool', 'greet', '--arg', 'name=Ada', '--by', 'bot', '--goal', 'Say hello');
    expect(proposed.stderr).toBe('');
    expect(proposed.code).toBe(0);
    const [, id] = /^ID: {6}(\S+)$/m.exec(proposed.stdout)!;
    const [, hash] = /^Hash: {4}(\S+)$/m.exec(proposed.stdout)!;
    console.log(proposed.stdout);
    const reviewed = await project.talk(['review'], ['q to stop: ', id!], ['Passphrase of alice: ', PASSPHRASE]);
    console.log(reviewed.text);
    expect(reviewed.code).toBe(0);
    const checked = await project.run('check', id!, hash!);
    expect(checked).toEqual({ code: 0, stdout: '[OK] Intent eligible for execution\n', stderr: '' });
    const ran = await project.talk(['run', id!, hash!], ['Proceed? (y/n) ', 'y']);
    console.log(ran.text);
    expect(ran.code).toBe(0);
    const verified = await project.run('ledger', 'verify', '--deep');
    console.log(verified.stdout);
    expect(verified.code).toBe(0);
  });
});
