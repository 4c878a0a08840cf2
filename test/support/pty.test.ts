import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { blocked } from './processes.ts';
import { inTerminal } from './pty.ts';

/** Keeps this process from reading until the other one has ended. */
function untilEnded(pid: number): void {
  for (;;) {
    try {
      if (/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return;
    } catch {
      return; // and was waited for
    }
    blocked(5, 'a turn of the event loop would read');
  }
}

describe('a command at a terminal', () => {
  it('is read to its end, however late its reader comes', async () => {
    const script = 'i=0; while [ $i -lt 600 ]; do echo "│ line $i of many"; i=$((i+1)); done';
    const session = inTerminal(['-c', script], { cwd: tmpdir(), program: '/bin/sh' });
    untilEnded(session.pid);
    expect(await session.exited).toBe(0);
    expect(session.text).toBe(Array.from({ length: 600 }, (_, i) => `│ line ${i} of many\n`).join(''));
  });
});
