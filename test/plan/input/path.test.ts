import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAt, withPlace } from '../../../src/durable/beneath-write.ts';
import { requirePlanPath } from '../../../src/plan/input/path.ts';
import { protectionOf, protectionWith } from '../../../src/plan/input/protection.ts';
import { requireWritable, rulesOf } from '../../../src/plan/input/rules.ts';
import { see } from '../../../src/plan/state/see.ts';
import { Refusal } from '../../../src/refusal.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import { own, throughLinks, unacceptable } from './hostile-paths.ts';

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
}

describe('hostile paths', () => {
  it('there are at least 300 of them, each once', () => {
    const all = [...unacceptable, ...own, ...throughLinks];
    expect(all.filter((path, i) => all.indexOf(path) !== i)).toEqual([]);
    expect(all.length).toBeGreaterThanOrEqual(300);
  });

  it('each one that is no plain path is refused', () => {
    const accepted = unacceptable.filter((path) => codeOf(() => requirePlanPath(path)) === 'accepted');
    expect(accepted.map((path) => JSON.stringify(path))).toEqual([]);
  });

  it('a way up and a way to mislead have different reasons', async () => {
    await expectRefusal('PATH_ESCAPES', () => requirePlanPath('a/../../b'));
    await expectRefusal('PLAN_PATH_UNCLEAR', () => requirePlanPath('invoice\u202efdp.exe'));
  });

  it('no spelling of a path of Keyturn itself can be written', async () => {
    const rules = rulesOf(null);
    const open = own.filter((path) => codeOf(() => requireWritable(path, rules)) !== 'PLAN_PATH_OWN');
    expect(open).toEqual([]);
    await expectRefusal('PLAN_PATH_OWN', () => requireWritable('.keyturn/store.db', rules));
  });

  it('the walk beneath the root follows no link and opens nothing but plain files', async () => {
    const { root, outside } = plantedTree();
    for (const path of throughLinks) {
      expect(
        codeOf(() => requirePlanPath(path)),
        path,
      ).toBe('accepted');
      await expect(seeOrRefuse(root, path), path).resolves.toMatch(/^(FILE_|PATH_)/);
      await expect(createOrRefuse(root, path), path).resolves.toMatch(/^(FILE_|PATH_)/);
    }
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
  });
});

async function seeOrRefuse(root: string, path: string): Promise<string> {
  try {
    return JSON.stringify(await see(root, path));
  } catch (error) {
    return (error as Refusal).code;
  }
}

async function createOrRefuse(root: string, path: string): Promise<string> {
  try {
    return await withPlace(root, path, (place) => String(createAt(place, place.name)));
  } catch (error) {
    return (error as Refusal).code;
  }
}

function plantedTree(): { root: string; outside: string } {
  const top = scratch();
  const root = join(top, 'root');
  const outside = join(top, 'outside');
  for (const folder of [root, outside, join(root, 'inner'), join(outside, 'deep')]) mkdirSync(folder);
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  writeFileSync(join(root, 'plain.txt'), 'plain');
  const links: Record<string, string> = {
    'link-out': '../outside',
    'link-file': '../outside/secret.txt',
    'link-absolute': outside,
    'link-up': '..',
    'link-self': 'link-self',
    'link-loop-a': 'link-loop-b',
    'link-loop-b': 'link-loop-a',
    'link-dangling': 'nowhere',
    'link-inside': '.',
    'inner/link-up': '..',
    'inner/link-etc': '/etc',
    'inner/link-proc': '/proc',
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  linkSync(join(outside, 'secret.txt'), join(root, 'hard-link.txt'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  return { root, outside };
}

describe('accepted paths', () => {
  it.each([
    'a',
    'a/b/c.txt',
    'esquemas/esquema_bd.json',
    '.github/workflows/ci.yml',
    '.hidden',
    'Ordner mit Leerzeichen/datei (1).txt',
    'src/routes/[id]/+page.svelte',
    'src/app/(group)/@slot/page.tsx',
    'routes/$id.tsx',
    'données/été.csv',
    '数据/文件.json',
    'a..b/c...d',
    'x~1',
    'a-b_c=d,e;f!g',
    "it's.txt",
    '😀.txt',
  ])('%s is a path of a plan', (path) => {
    expect(requirePlanPath(path)).toBe(path);
  });
});

describe('protected files', () => {
  const protection = protectionWith();

  it.each([
    ['.git/config', 'critical'],
    ['.git', 'critical'],
    ['.GIT/hooks/pre-commit', 'critical'],
    ['vendor/x/.git/hooks/post-checkout', 'critical'],
    ['git~1/config', 'critical'],
    ['.env', 'critical'],
    ['.Env', 'critical'],
    ['.env.production', 'critical'],
    ['services/api/.env.local', 'critical'],
    ['.ｅnv', 'critical'],
    ['.ënv', 'critical'],
    ['credentials.json', 'critical'],
    ['deep/down/Credentials.JSON', 'critical'],
    ['secrets.yaml', 'critical'],
    ['ſecrets.toml', 'critical'],
    ['requirements.txt', 'important'],
    ['sub/pyproject.toml', 'important'],
    ['setup.py', 'important'],
    ['.pre-commit-config.yaml', 'important'],
    ['agent/agent_rules.md', 'agent_system'],
    ['AGENT/agent_rules.md', 'agent_system'],
    ['agent_inspector/agent_inspector.md', 'agent_system'],
    ['agent_executor/agent_executor.md', 'agent_system'],
    ['docs/agent_rules.md', null],
    ['.gitignore', null],
    ['.environment', null],
    ['docs/policies/x', null],
    ['sub/keyturn.yaml', null],
    ['src/tools.yaml', null],
    ['mysecrets.txt', null],
  ])('%s is protected as %s', (path, group) => {
    expect(protectionOf(path, protection)).toBe(group);
  });

  it('a config adds to the groups and takes nothing away', () => {
    const wider = protectionWith({ critical: ['db/**'], important: [] });
    expect(protectionOf('db/schema.sql', wider)).toBe('critical');
    expect(protectionOf('setup.py', wider)).toBe('important');
    expect(protectionOf('conf/registry.yml', protectionWith({}, ['conf/registry.yml']))).toBe('own');
  });
});
