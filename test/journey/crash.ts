import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { elapsed, until } from '../support/processes.ts';
import { project, ready, TOOLS, writeMark } from '../support/project.ts';
import { racer } from '../support/racers.ts';
import { runSeen } from '../support/seen.ts';

const lines = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0);

/**
 * Kills as many runs as asked, each at another moment of its life, and then holds the ledger against the world: what ran
 * is claimed, what is claimed never runs again, and nothing ran twice.
 */
export async function killRuns(
  count: number,
): Promise<{ in_doubt: number; finished: number; untouched: number }> {
  const p = await project(TOOLS, undefined, `proposals: { pending: ${count + 10}, minute: ${count + 10} }`);
  writeMark(p.root);
  const tally = { in_doubt: 0, finished: 0, untouched: 0 };
  const begin = async (file: string) => {
    const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file } };
    const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Leave a mark', effect });
    await ready(p, { intent_id, hash });
    const victim = racer(p.root, intent_id, hash);
    await victim.ready;
    victim.go();
    return { intent_id, hash, victim };
  };
  // Some that may live tell how long a life is on this machine. The shortest: a pause of the machine is no life.
  const lives_ms: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { victim: spared } = await begin(`marks-spared-${i}`);
    const from = performance.now();
    await spared.answer;
    lives_ms.push(performance.now() - from);
  }
  const life_ms = Math.min(...lives_ms);
  for (let i = 0; i < count; i++) {
    const file = `marks-${i}`;
    const { intent_id, hash, victim } = await begin(file);
    // The moments are spread over the whole life of a run, from before the claim to after the record. A claim is short: every third
    // kill comes when it is seen, on a machine of any speed.
    const isClaimed = async () => (await p.keyturn.intents.get({ intent_id })).status !== 'approved';
    if (i % 3 === 0) await until(isClaimed);
    else await elapsed(Math.random() * life_ms, 'the kill comes at any moment of a life');
    victim.child.kill('SIGKILL');
    await victim.answer;

    const { status } = await p.keyturn.intents.get({ intent_id });
    expect(['approved', 'claimed', 'succeeded', 'partial']).toContain(status);
    if (status === 'claimed') tally.in_doubt += 1;
    else if (status === 'approved') tally.untouched += 1;
    else tally.finished += 1;
    // An unclaimed intent never touched the world.
    if (status === 'approved') expect(lines(join(p.root, file))).toBe(0);
    // A caller that tries again gets the effect at most once in all.
    const again = await runSeen(p.keyturn, { intent_id, hash, confirm: async () => true }).then(
      (report) => report.result,
      (error: { code: string }) => error.code,
    );
    const expected = {
      approved: 'success',
      claimed: 'RUN_IN_DOUBT',
      partial: 'RUN_PARTIAL',
      succeeded: 'ALREADY_EXECUTED',
    };
    expect(again).toBe(expected[status as keyof typeof expected]);
    expect(lines(join(p.root, file))).toBeLessThanOrEqual(1);
  }
  await p.keyturn.ledger.verify({ deep: true });
  expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  return tally;
}
