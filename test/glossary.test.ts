import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/cli/commands.ts';
import { STATUS_WORDS } from '../src/gate/status-word.ts';
import { sourcesIn } from './support/source.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const lines = [...read('docs/glossary.md').matchAll(/^\| (?!word|---)(.+?) \| (.+) \|$/gm)];
const words = lines.flatMap(([, names]) => names!.split(', '));
const text = lines.map(([line]) => line.toLowerCase()).join('\n');

describe('docs/glossary.md', () => {
  it('has one short line for each word, in the order of the alphabet', () => {
    expect(words.length).toBeGreaterThan(50);
    expect([...new Set(words)]).toEqual(words);
    const firsts = lines.map(([, names]) => names!.toLowerCase());
    expect(firsts).toEqual([...firsts].sort());
    for (const [line] of lines) expect(line.length).toBeLessThan(160);
  });

  it('has two meanings where a word has two', () => {
    const page = read('docs/glossary.md');
    expect(page).toContain('A word with two meanings has both in its line.');
    for (const word of ['action', 'grant', 'token'])
      expect(page).toMatch(new RegExp(`^\\| ${word} \\|.*(; or| also |\\. \\()`, 'm'));
  });

  it('has every word that an intent can stand at', () => {
    for (const word of STATUS_WORDS)
      expect(text).toContain(word === 'approval expired' ? 'expired' : word.toLowerCase());
  });

  it('has what every kind of fact is about', () => {
    const kinds = sourcesIn(['src/event']).flatMap(
      ({ text: code }) => code.match(/(?<=')[a-z_]+(?=\.[a-z_]+')/g) ?? [],
    );
    const about: Record<string, string> = {
      break_glass: 'break-glass',
      key: 'credential',
      system: 'project',
      slo: 'SLO',
    };
    for (const kind of new Set(kinds)) expect(words).toContain(about[kind] ?? kind.replace('_', ' '));
  });

  it('has what each command is named after, but for plain words', () => {
    const plain = [
      'doctor',
      'explain',
      'list',
      'show',
      'edit',
      'stop',
      'check',
      'completion',
      'restore',
      'watch',
    ];
    const about: Record<string, string> = {
      init: 'project',
      propose: 'proposer',
      wait: 'waiting',
      review: 'reviewer',
      approve: 'approval',
      reject: 'rejected',
      withdraw: 'withdrawn',
      unfreeze: 'freeze',
      control: 'control key',
      runs: 'run',
      capabilities: 'capability',
      resolve: 'in doubt',
      serve: 'service',
      execute: 'executor',
      logout: 'login',
      notify: 'position',
    };
    const firsts = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]!));
    const named = [...firsts].filter((name) => !plain.includes(name));
    expect(named.filter((name) => !words.includes(about[name] ?? name))).toEqual([]);
    for (const word of [...plain, ...Object.keys(about)]) expect(firsts).toContain(word);
  });

  it('has the terms that README and ARCHITECTURE mark, and what each folder of the map is called', () => {
    const marked = [
      ...`${read('README.md')}${read('ARCHITECTURE.md')}`.matchAll(/(?<![\w*])_([a-z][a-z -]+)_(?!\w)/g),
    ];
    for (const [, term] of marked) expect(words).toContain(term);
    for (const folder of [
      'ledger',
      'identity',
      'intent',
      'policy',
      'approval',
      'capability',
      'gate',
      'fold',
      'store',
      'effect',
      'tool',
      'plan',
      'agent',
      'project',
      'lane',
    ])
      expect(words).toContain(folder);
  });
});
