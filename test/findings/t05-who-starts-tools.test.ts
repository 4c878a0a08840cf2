import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, granted } from '../journey/authority.ts';
import { until } from '../support/processes.ts';
import { project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { script } from '../tool/fixture.ts';

const toolsIn = (bin: string) => `version: 1
tools:
  - name: parent
    summary: Says who started it.
    executable: ${join(bin, 'parent.sh')}
    args: ["{file}"]
    parameters: { file: { type: string, max_length: 200 } }
    sandbox: none
    run_as: root
    undo: none
`;

describe('T5: a process that runs many tools', () => {
  it('does not start them itself: a fork of it takes the longer the more memory it has', async () => {
    const bin = scratch();
    const tools = toolsIn(bin);
    script(bin, 'echo $PPID > "$1"', 'parent.sh');
    const p = await project(process.getuid?.() === 0 ? tools : tools.replace('    run_as: root\n', ''));
    const parents: number[] = [];
    // The helper takes a moment to begin; until then the tools are started from here.
    while (!parents.some((pid) => pid !== process.pid)) {
      const file = join(p.root, `parent-${parents.length}`);
      const intent = await granted(p, call('parent', { file }));
      const { result } = await runSeen(p.keyturn, { ...intent, confirm: async () => true });
      expect(result).toBe('success');
      expect(existsSync(file)).toBe(true);
      parents.push(Number(readFileSync(file, 'utf8')));
      expect(parents.length).toBeLessThan(200);
    }
    expect(parents[0]).toBe(process.pid);

    // Killed, it leaves its run in doubt: a caller that waits is told, and no human can settle it while a process of it runs.
    const file = join(p.root, 'killed');
    script(bin, `setsid sleep 20 & echo $! > "$1"; exec sleep 20`, 'parent.sh');
    const intent = await granted(p, call('parent', { file }));
    const running = runSeen(p.keyturn, { ...intent, confirm: async () => true }).catch((error) => error);
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    process.kill(parents.at(-1)!, 'SIGKILL');
    expect(await running).toMatchObject({ code: 'RECORDING_FAILED' });
    const found = await p.keyturn.intents.waitFor({ intent_id: intent.intent_id });
    expect(found).toMatchObject({ status_word: 'IN DOUBT', is_over: false });
    const settle = () =>
      p.keyturn.runs.resolve({
        execution_id: found.run!.execution_id,
        outcome: 'did_not_happen',
        reason: 'It was killed.',
        signer: p.ada,
      });
    await expectRefusal('RUN_STILL_ALIVE', settle);
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    const stateOf = async () => (await p.keyturn.runs.inDoubt()).runs[0]?.state;
    await until(async () => (await stateOf()) !== 'alive');
    await settle();
  });
});
