import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { buildProgram } from '../../src/cli/program.ts';

const program = buildProgram(async () => {});

function helpOf(name: string): string {
  const at = (command: Command, word: string) => command.commands.find((one) => one.name() === word)!;
  return name.split(' ').reduce(at, program).helpInformation();
}

describe('the help of a command', () => {
  it('offers --service, unless the command is only for the host', () => {
    for (const { name, host_only = false } of COMMANDS)
      expect([name, /--service/.test(helpOf(name))]).toEqual([name, !host_only]);
  });
});
