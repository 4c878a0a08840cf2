import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesAbout } from '../support/ledger.ts';
import { project, ready, TOOLS, writeMark } from '../support/project.ts';
import { racer } from '../support/racers.ts';

const lines = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0);

async function readyMark() {
  const p = await project(TOOLS);
  writeMark(p.root);
  const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file: 'marks' } };
  const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Leave a mark', effect });
  await ready(p, { intent_id, hash });
  return { ...p, intent_id, hash, marks: () => lines(join(p.root, 'marks')) };
}

describe('processes that race', () => {
  it('32 of them for one intent: the tool runs once, and 31 are refused with a reason', {
    timeout: 180_000,
  }, async () => {
    const p = await readyMark();
    const racers = Array.from({ length: 32 }, () => racer(p.root, p.intent_id, p.hash));
    await Promise.all(racers.map(({ ready }) => ready));
    for (const one of racers) one.go();
    const answers = await Promise.all(racers.map(({ answer }) => answer));
    expect(answers.filter((answer) => answer === 'success')).toHaveLength(1);
    const refusals = answers.filter((answer) =>
      ['CLAIM_TAKEN', 'RUN_IN_DOUBT', 'ALREADY_EXECUTED'].includes(answer),
    );
    expect(refusals).toHaveLength(31);
    expect(p.marks()).toBe(1);
    const kinds = (await entriesAbout(p.keyturn, p.intent_id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'execution.claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'execution.refused')).toHaveLength(31);
    await p.keyturn.ledger.verify({ deep: true });
  });
});
