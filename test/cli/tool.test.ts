import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileFolder, makeProject, type Project, TOOLS } from './project.ts';

const folder = fileFolder();
const path = join(folder, 'tools.yaml');
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

function rewrite(text: string, mode = 0o444): void {
  chmodSync(path, 0o644);
  writeFileSync(path, text);
  chmodSync(path, mode);
}

beforeEach(() => rewrite(TOOLS));

describe('tool list', () => {
  it('shows each tool with its parameters, and which has no sandbox', async () => {
    const { code, stdout } = await project.run('tool', 'list');
    expect(code).toBe(0);
    expect(stdout).toContain('greet  Prints a greeting.\n  /usr/bin/printf, undo none\n');
    expect(stdout).toContain('  --arg name=…  string, at most 5000 characters: Who is greeted.\n');
    expect(stdout).toContain('  /usr/bin/printf, undo compensating, NO SANDBOX\n');
    expect(stdout).toContain('  --arg loud=…  boolean, optional\n');
  });
});

describe('tool lint and tool lock', () => {
  it('lint names every fault with its place, and lock takes the write permission away', async () => {
    rewrite(TOOLS, 0o664);
    const lint = await project.run('tool', 'lint');
    expect(lint).toEqual({
      code: 0,
      stdout: '[OK] Nothing is wrong with the registry. Next: keyturn tool lock\n',
      stderr: '',
    });
    expect((await project.run('tool', 'lock')).stdout).toBe('[OK] The registry is locked\n');
    expect(statSync(path).mode & 0o777).toBe(0o444);
  });
});
