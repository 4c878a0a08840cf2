import { chmodSync, renameSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../src/refusal.ts';
import { answerOf, expectError, fileFolder, makeProject, type Project, TOOLS } from './project.ts';

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
  it('a registry that can be written can still be looked at', async () => {
    rewrite(TOOLS, 0o644);
    expect((await project.run('tool', 'list')).code).toBe(0);
  });
});

describe('tool lint and tool lock', () => {
  it('a registry in order is said to be in order', async () => {
    expect(await project.run('tool', 'lint')).toEqual({
      code: 0,
      stdout: '[OK] The registry can be used\n',
      stderr: '',
    });
    const lock = await project.run('tool', 'lock');
    expect(lock).toEqual({ code: 0, stdout: '[OK] The registry was locked already\n', stderr: '' });
  });

  const faults: [string, ReasonCode, string][] = [
    ['is not YAML', 'YAML_MALFORMED', 'tools: [\n'],
    ['has an unknown key', 'REGISTRY_MALFORMED', TOOLS.replace('undo: none', 'undo: none\n    shell: true')],
    ['lists a tool twice', 'TOOL_DUPLICATE', TOOLS.replace('name: fail', 'name: greet')],
    ['is empty', 'REGISTRY_MALFORMED', ''],
  ];
  it.each(faults)('a registry that %s is %s, and is not locked', async (_what, code, text) => {
    rewrite(text, 0o644);
    const lint = answerOf(await project.run('tool', 'lint', '--json'));
    expect(lint).toMatchObject({ ok: false, command: 'tool lint', result: { faults: expect.any(Array) } });
    expect(JSON.stringify(lint)).toContain(`"code":"${code}"`);
    expectError(code, await project.run('tool', 'lock'));
    expect(statSync(path).mode & 0o222).not.toBe(0);
  });

  it('a registry that is missing or a link is refused', async () => {
    renameSync(path, `${path}.away`);
    try {
      expectError('REGISTRY_MISSING', await project.run('tool', 'list'));
      symlinkSync(`${path}.away`, path);
      expectError('FILE_IS_SYMLINK', await project.run('tool', 'lock'));
      unlinkSync(path);
    } finally {
      renameSync(`${path}.away`, path);
    }
  });
});
