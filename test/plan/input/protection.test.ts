import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { protectedGroups, protectionWith } from '../../../src/plan/input/protection.ts';

it('docs/cli.md lists each file that is protected, by its group', () => {
  const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const protection = protectionWith();
  for (const group of protectedGroups) {
    const row = new RegExp(`^\\| ${group.replace('_', ' ')} \\| (.*) \\|$`, 'm').exec(page)?.[1] ?? '';
    expect(row.split(', '), group).toEqual(protection[group].patterns.map((pattern) => `\`${pattern}\``));
  }
});
