import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { executorOf } from '../journey/executing.ts';
import { until } from '../support/processes.ts';
import { writeRegistry } from '../support/project.ts';
import { call, refusalIn, service, session } from './service.ts';

const COUNT = `#!/bin/sh
echo one
while [ ! -e go ]; do sleep 0.02; done
echo two
`;
const REGISTRY = `version: 1
tools:
  - name: count
    summary: Counts over time.
    executable: ./count.sh
    cwd: .
    sandbox: none
    undo: none
`;

describe.each([
  ['of the service', 2],
  ['beside the service', 0],
])('a run by the executor %s', (_, most) => {
  it('is told over HTTP as it goes on, to people and to no agent', async () => {
    const s = await service({ most });
    writeRegistry(s.root, REGISTRY);
    writeFileSync(join(s.root, 'count.sh'), COUNT, { mode: 0o755 });
    if (most === 0) await executorOf(s);
    const cookie = await session(s);
    const effect = { kind: 'tool' as const, tool: 'count', arguments: {} };
    const { intent_id, hash } = await s.keyturn.intents.propose({
      declared_goal: 'Count.',
      effect,
      signer: s.ada,
    });
    await s.keyturn.intents.turn({ intent_id, hash, signer: s.ada });
    const run = async () => (await s.keyturn.intents.get({ intent_id })).runs.at(-1);
    await until(async () => (await run()) !== undefined);
    const { execution_id } = (await run())!;
    const live = (after: number, by: object = { cookie }) =>
      call(
        s,
        `/v1/runs/live?execution_id=${execution_id}&stdout_after=${after}&wait_ms=10000`,
        undefined,
        by,
      );
    const first = await live(0);
    expect(first).toMatchObject({
      status: 200,
      body: { state: 'going', stdout: { text: 'one\n', next: 4 } },
    });
    expect(refusalIn(await live(0, { token: s.token }))).toEqual([403, 'NOT_FOR_AGENTS']);
    const waiting = live(4);
    writeFileSync(join(s.root, 'go'), '');
    const texts = [(await waiting).body];
    while (texts.at(-1).state !== 'ended') texts.push((await live(texts.at(-1).stdout.next)).body);
    expect(texts.map(({ stdout }) => stdout.text).join('')).toBe('two\n');
    expect(texts.at(-1)).toMatchObject({ source: 'record', stdout: { next: 8 } });
    await until(() => !existsSync(join(s.root, '.keyturn', 'runs', `${execution_id}.stdout`)));
  });
});
