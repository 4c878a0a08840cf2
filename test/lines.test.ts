import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from './support/scratch.ts';

const SCRIPT = resolve(import.meta.dirname, '../scripts/lines.mjs');

/** A repository with one commit for each of these trees. */
function repository(...trees: readonly Readonly<Record<string, string>>[]): string {
  const root = scratch();
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: root });
  git('init', '-q');
  for (const tree of trees) {
    rmSync(join(root, 'src'), { recursive: true, force: true });
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'a tree');
  }
  return root;
}

/** Folder, before, after, added, removed, net. */
function counted(root: string, ...words: string[]): string[] {
  const printed = execFileSync(process.execPath, [SCRIPT, 'HEAD~1', ...words], {
    cwd: root,
    encoding: 'utf8',
  });
  return printed
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/).join(' '));
}

describe('scripts/lines.mjs', () => {
  it('counts neither blank lines nor comments, and knows text that looks like one', () => {
    const code = "const a = '// no comment';\nconst b = /\\/\\*/;\nconst c = `\n// text\n`;\n";
    const noted = `/** Why. */\n\n// And how.\n${code.replace('const b', '/* so */ const b /* and so */')}`;
    const root = repository({ 'src/one/a.ts': code }, { 'src/one/a.ts': noted });
    expect(counted(root)).toEqual(['src/one 5 5 +0 -0 0', 'all 5 5 +0 -0 0']);
  });

  it('does not count what was moved, within a file or to another folder', () => {
    const before = { 'src/one/a.ts': 'first();\nsecond();\nthird();\n', 'src/two/b.ts': 'fourth();\n' };
    const after = { 'src/one/a.ts': 'second();\nfirst();\n', 'src/two/c/d.ts': 'fourth();\n  third();\n' };
    expect(counted(repository(before, after))).toEqual([
      'src/one 3 2 +0 -0 0',
      'src/two 1 2 +0 -0 0',
      'all 4 4 +0 -0 0',
    ]);
  });

  it('counts what came and what went, each copy once, and nothing outside src', () => {
    const before = { 'src/one/a.ts': 'old();\nold();\nkept();\n', 'test/a.ts': 'old();\n' };
    const after = { 'src/one/a.ts': 'kept();\nfresh();\n', 'src/b.ts': 'old();\n' };
    expect(counted(repository(before, after))).toEqual([
      'src 0 1 +0 -0 0',
      'src/one 3 2 +1 -1 0',
      'all 3 3 +1 -1 0',
    ]);
  });

  it('names each file that went or shrank, under its new name, and takes off what was moved or is new in it', () => {
    const body = Array.from({ length: 20 }, (_, i) => `line(${i});\n`).join('');
    const root = repository(
      {
        'src/one/gone.ts': 'a();\nb();\nmoved();\n',
        'src/one/old.ts': `${body}c();\n`,
        'src/two/grew.ts': 'd();\n',
        'src/two/less.ts': 'e();\nf();\ng();\n',
        'src/two/view.tsx': 'const a = <p>one</p>;\nh();\n',
      },
      {
        'src/one/fresh.ts': body,
        'src/two/grew.ts': 'i();\nj();\nmoved();\n',
        'src/two/less.ts': 'k();\ng();\n',
        'src/two/view.tsx': 'const a = <p>one</p>;\n',
      },
    );
    expect(counted(root, '--files')).toEqual([
      'src/one/gone.ts 3 0 2',
      'src/one/old.ts -> src/one/fresh.ts 21 20 1',
      'src/two/less.ts 3 2 1',
      'src/two/view.tsx 2 1 1',
      'all 29 23 5',
    ]);
  });
});
