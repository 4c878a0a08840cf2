import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fileFolder, makeProject } from '../cli/project.ts';
import { freshDist } from '../support/dist.ts';

/** The sources that are loaded with a file: what it imports, but for types, and not what it loads later. */
function loadedWith(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from '(\..*?)';$/gms))
    loadedWith(posix.join(posix.dirname(path), specifier!), found);
  return found;
}

describe('T8: the library loads', () => {
  it('of the agent core nothing but the shapes of its requests and answers', () => {
    const loaded = [...loadedWith('src/keyturn.ts')].filter((path) => /^src\/(agent|finder)\//.test(path));
    expect(loaded.sort()).toEqual([
      'src/agent/answer-shape.ts',
      'src/agent/contracts.ts',
      'src/finder/packet.ts',
      'src/finder/proposal-shape.ts',
    ]);
  });
});

describe('T8: the command line loads', () => {
  const dist = freshDist();

  it.each(['--version', '--help'])('nothing but its entry for %s', (word) => {
    expect(dist.run([word])).toMatchObject({ code: 0, stderr: '' });
    expect(dist.scripts([word]).map((path) => basename(path))).toEqual([basename(dist.cli)]);
  });

  it('the parser and the schemas from its own bundle, and not from a hundred files', () => {
    const scripts = dist.scripts(['explain', 'USAGE']);
    expect(scripts.filter((path) => !path.startsWith(dist.folder))).toEqual([]);
    expect(scripts.length).toBeLessThan(5);
  });

  describe('in a project', () => {
    const folder = fileFolder();
    let intent_id: string;
    beforeAll(async () => {
      const project = await makeProject(folder);
      ({ id: intent_id } = await project.propose('greet', { name: 'Ada' }));
    });
    const ran = (word: string) =>
      dist.sources([word, ...(word === 'show' ? [intent_id] : []), '--project', folder]);

    /** Of these folders, what every command that looks needs to open a project. */
    const LARGE = /^src\/(agent|audit|finder|hook|lane|mcp|plan|policy|serve|story)\//;
    const NEEDED = [
      'src/policy/request.ts',
      'src/plan/aside/aside.ts',
      // Whether an intent waits for one more human rests on the policies, and on which files are protected.
      'src/plan/input/glob.ts',
      'src/plan/input/protection.ts',
      'src/policy/approvers-read.ts',
      'src/policy/starter.ts',
    ];

    it.each([
      ['status', ['src/policy/source.ts']],
      ['list', []],
      ['show', ['src/story/tell.ts', 'src/story/words.ts']],
    ])('for %s what it uses, and of the packages no other', (word, more) => {
      const sources = ran(word);
      const packages = sources.map((path) => /^node_modules\/([^/]+)/.exec(path)?.[1]).filter(Boolean);
      expect([...new Set(packages)].sort()).toEqual(['commander', 'yaml', 'zod']);
      expect(sources.filter((path) => LARGE.test(path) && !NEEDED.includes(path)).sort()).toEqual(more);
      expect(sources.length).toBeLessThan(197);
    });

    it('the messages of zod with its schemas', () => {
      writeFileSync(join(folder, 'keyturn.yaml'), 'version: 1\nintent_ttl: 3\n');
      const { stderr } = dist.run(['status', '--project', folder]);
      expect(stderr).toContain('intent_ttl: Invalid input: expected string, received number');
    });
  });
});
