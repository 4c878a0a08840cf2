import { describe, expect, it } from 'vitest';
import type { PlanEffect } from '../../src/keyturn.ts';
import { planOf, planProjects, proposed } from '../journey/plan-story.ts';

const place = planProjects();

/** What makes code run later, without an approval: at the next install, build, commit, shell, editor window or pipeline. */
const LATER = [
  ...[
    'package.json',
    'package-lock.json',
    'packages/a/package.json',
    '.npmrc',
    'yarn.lock',
    'pnpm-lock.yaml',
  ],
  ...['.github/workflows/test.yml', '.github/actions/build/action.yml', '.gitlab-ci.yml', 'Jenkinsfile'],
  ...['Makefile', 'GNUmakefile', 'sub/Makefile', 'rules.mk', 'justfile', 'Dockerfile', 'compose.yaml'],
  ...['.vscode/tasks.json', '.idea/workspace.xml', '.devcontainer/devcontainer.json', '.mcp.json'],
  ...['.envrc', '.bashrc', '.bash_profile', '.profile', '.zshrc', '.zshenv', 'home/.zprofile'],
  ...['.husky/pre-commit', '.githooks/pre-push', '.gitmodules', '.gitattributes', 'lefthook.yml'],
  ...['conftest.py', 'setup.cfg', 'Cargo.toml', 'build.rs', 'go.mod', 'pom.xml', 'build.gradle', 'Gemfile'],
  ...['x/PACKAGE.JSON', 'y/.GitHub/Workflows/x.yml'],
];

const PLAIN = ['src/package.ts', 'docs/Makefile.md', 'github/workflows.yml', 'vscode/a.txt', 'src/env.ts'];

const creating = (target: string, i: number) => ({
  action_id: `A${i}`,
  action_type: 'FILE_CREATE',
  target,
  // Valid as JSON, as YAML and as text.
  operation: { type: 'create', content: '{}\n' },
});

describe('S22: a plan that writes what runs later needs a second human', () => {
  it('each of these files is protected, at every depth and in any case', async () => {
    const p = await place();
    const { intent_id } = await proposed(p, planOf([...LATER, ...PLAIN].map(creating)));
    const { effect, intent } = await p.keyturn.intents.review({ intent_id });
    expect(effect).toMatchObject({ kind: 'plan' });
    expect((effect as PlanEffect).elevated.toSorted()).toEqual(LATER.toSorted());
    expect(intent.approvals_needed).toBe(2);
  });

  it('other files need one', async () => {
    const p = await place();
    const intent = await proposed(p, planOf(PLAIN.map(creating)));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals_needed).toBe(1);
  });
});
