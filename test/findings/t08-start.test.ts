import { readFileSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
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
});
