import { describe, expect, it } from 'vitest';
import { prepareRun } from '../../src/tool/run.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from '../tool/fixture.ts';

/** Opens for writing, and does not write. Prints what could be opened. */
const SETTINGS = `for path in $(find /proc/sys -type f 2>/dev/null); do (: >> "$path") 2>/dev/null && echo "$path"; done; echo end`;

describe('S1: what a confined program can do to the machine', () => {
  it('a tool opens no setting of the kernel for writing', async () => {
    const folder = scratch();
    script(folder, SETTINGS);
    const effect = effectOf(folder, { executable: 'tool.sh', sandbox: { read: [], write: [] } });
    const prepared = prepareRun(effect, { hidden: [], protected: [] });
    const { stdout } = await prepared.run();
    prepared.close();
    expect(Buffer.from(stdout.bytes).toString()).toBe('end\n');
  });
});
