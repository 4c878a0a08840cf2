import { describe, expect, it } from 'vitest';
import { runs } from '../support/registry.ts';
import { failureReport, INSTANT, preScreen, successReport } from '../support/transcript.ts';
import { expectRefused } from './refused.ts';
import { runOf, saysYes, stages } from './stage.ts';

const stage = stages();

describe('a run', () => {
  it('a run that succeeds prints the success report of 001 and exits 0', async () => {
    const set = await stage({
      body: 'echo ran >> "$LOG"; echo "Backup created: /backup/a.tar.gz"; echo; echo "Size: 2.3 GB"; echo noise >&2',
    });
    const seen = await saysYes(set);
    const run = await runOf(set);
    expect(run.ended_at).toMatch(INSTANT);
    const report = successReport(run, ['  Backup created: /backup/a.tar.gz', '  ', '  Size: 2.3 GB']);
    expect(seen).toMatchObject({ stdout: `${preScreen(set)}${report}`, stderr: '', code: 0 });
    expect(runs(set)).toBe(1);
  });

  it('a run that fails prints the failure report of 001 and exits 1', async () => {
    const set = await stage({
      body: 'echo useless; echo "create_backup: cannot access /home/user/important" >&2; echo "Permission denied" >&2; exit 7',
    });
    const seen = await saysYes(set);
    const output = ['  create_backup: cannot access /home/user/important', '  Permission denied'];
    const report = failureReport(await runOf(set), '7', output);
    // 001 has no place for what it printed besides: that goes to standard error.
    const [heading, printed, ...rest] = seen.stderr.split('\n');
    expect([heading, printed]).toEqual(['Tool output:', '  useless']);
    const reason = { ...seen, stderr: rest.join('\n') };
    expectRefused(reason, `${preScreen(set)}${report}`, 'TOOL_EXIT_NONZERO');
  });
});
