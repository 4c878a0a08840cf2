import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { entriesAbout } from '../support/ledger.ts';
import { granted, project, TOOLS, writeMark } from '../support/project.ts';
import { racer } from '../support/racers.ts';

const RACERS = 64;

it('64 processes with copies of one capability: it is spent once, and later copies are refused', async () => {
  const p = await project(TOOLS);
  writeMark(p.root);
  const marks = () => {
    const path = join(p.root, 'marks');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  };
  const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file: 'marks' } };
  const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Leave a mark', effect });
  await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
  const token = await granted(p, { intent_id, hash });
  const together = async (): Promise<string[]> => {
    const racers = Array.from({ length: RACERS }, () => racer(p.root, intent_id, hash, token));
    await Promise.all(racers.map(({ ready }) => ready));
    for (const one of racers) one.go();
    return Promise.all(racers.map(({ answer }) => answer));
  };
  const first = await together();
  expect(first.filter((answer) => answer === 'success')).toHaveLength(1);
  const replayed = await together();
  expect(new Set(replayed)).toEqual(new Set(['ALREADY_EXECUTED']));
  expect(marks()).toBe(1);
  const kinds = (await entriesAbout(p.keyturn, intent_id)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'execution.claimed')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'execution.refused')).toHaveLength(2 * RACERS - 1);
  await p.keyturn.ledger.verify({ deep: true });
}, 600_000);
