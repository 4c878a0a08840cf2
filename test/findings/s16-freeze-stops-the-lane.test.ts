import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLine, linesOf } from '../lane/lane.ts';
import { type Stage, stage } from '../lane/stage.ts';
import { atTerminal, ENTER } from '../lane/terminal.ts';
import { processesWith, until } from '../support/processes.ts';
import { found, type Project } from '../support/project.ts';

const { path } = commandLine();

/** A project that opens the lane, and a tool that runs until it is stopped: by its own time limit at the latest. */
async function endless(): Promise<{ set: Stage; project: Project }> {
  const set = stage({ body: 'echo ran >> "$LOG"; exec sleep 600', tool: { timeout_s: 30 } });
  const at = dirname(set.registry);
  writeFileSync(join(at, 'keyturn.yaml'), 'version: 1\nlane: {allow: true}\n');
  return { set, project: await found(at) };
}

describe('S16: what a freeze says it stops is stopped in the lane too', () => {
  it('a tool of the lane is killed with all that it started, and the record says that it failed', async () => {
    const { set, project } = await endless();
    const ending = atTerminal(path(), set.words, { type: () => `y${ENTER}` });
    await until(() => existsSync(set.log));
    const { keyturn, ada: signer } = project;
    await keyturn.system.freeze({ scope: 'tool', name: 'create_backup', reason: 'stop now', signer });
    await keyturn.close();
    const seen = await ending;
    expect(seen.stderr).toMatch(/^FROZEN: .*stop now/);
    expect(seen.stdout).toMatch(/^\[ERROR\] Execution failed: create_backup$/m);
    expect(seen.stdout).toMatch(/Status: Execution recorded in executed\.jsonl as failure\n$/);
    expect(seen.code).toBe(1);
    expect(linesOf(set.queue, 'executed').map(({ outcome }) => outcome)).toEqual(['started', 'failure']);
    expect(processesWith(`LOG=${set.log}`)).toEqual([]);
  });
});
