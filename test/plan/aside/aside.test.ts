import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { planLimits } from '../../../src/limits.ts';
import { PlanAside } from '../../../src/plan/aside/aside.ts';
import { applyEdit } from '../../../src/plan/edit/apply.ts';
import { create, replace } from '../../plan/written.ts';
import { call, service, session } from '../../serve/service.ts';
import { childrenOf, commandOf } from '../../support/processes.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import { action, derive, plan } from '../engine/story.ts';

const yaml = (keys: number) => Array.from({ length: keys }, (_, i) => `k${i}:\n  a: [1, 2, "x"]\n`).join('');
const update = { type: 'yaml_update', path: '$.k1.a', value: 1, create: false } as const;
const work = (keys: number, operation = update) =>
  ({ kind: 'edit', path: 'a.yaml', bytes: Buffer.from(yaml(keys)), operation }) as const;

function served(limit_ms?: number): PlanAside {
  const aside = new PlanAside(limit_ms);
  onTestFinished(() => aside.close());
  aside.serve();
  return aside;
}

const helpers = () => childrenOf(process.pid).filter((pid) => commandOf(pid).includes('aside/process'));

describe('an edit that takes long', () => {
  it('has the same result in a process of its own, and the same refusal', async () => {
    const edit = served().editor!;
    const { bytes, operation } = work(300);
    expect(await edit(work(300))).toEqual(applyEdit(bytes, operation, { path: 'a.yaml' }));
    const missing = { ...update, path: '$.nothing' };
    const here = await expectRefusal('EDIT_TARGET_MISSING', () =>
      applyEdit(bytes, missing, { path: 'a.yaml' }),
    );
    const there = await expectRefusal('EDIT_TARGET_MISSING', () => edit(work(300, missing as never)));
    expect([there.message, there.facts]).toEqual([here.message, here.facts]);
  });

  it('is refused where it takes longer than it may, and what comes after it is done', async () => {
    const edit = served(1).editor!;
    const [first, second] = [edit(work(20_000)), edit(work(20_000))];
    await expectRefusal('EDIT_COSTLY', () => first);
    await expectRefusal('EDIT_COSTLY', () => second);
    const patient = served(60_000).editor!;
    const late = patient(work(300));
    expect((await late)!.output).toContain('updated successfully');
  });

  it('is done here where it is short, and where no service runs', () => {
    expect(new PlanAside().editor).toBeNull();
    expect(served().editor!(work(2))).toBeNull();
  });
});

describe('a service', () => {
  it('parses, edits and compares the contents of a plan in a process of its own', async () => {
    const before = helpers();
    const s = await service();
    const cookie = await session(s);
    const edits = [1, 2, 3].map((i) => ({
      ...replace(`b${i}`, 'own.yaml', 'a', 'b'),
      operation: { ...update, path: `$.k${i}.a` },
    }));
    const asked = (actions: object[]) =>
      call(
        s,
        '/v1/plans/validate',
        { plan: JSON.stringify({ plan_id: 'x', action_plan: actions, execution_instructions: {} }) },
        { cookie },
      );
    expect((await asked([create('a1', 'own.yaml', yaml(300)), ...edits])).body).toMatchObject({
      actions: 4,
      problems: [],
    });
    expect(helpers().filter((pid) => !before.includes(pid))).toHaveLength(1);
  });
});

it('a plan whose edits read more YAML than it may is refused, however often they read the same file', async () => {
  const root = scratch();
  // One long word, which takes the parser no time.
  const large = Math.ceil(planLimits.yaml_bytes / 3);
  writeFileSync(join(root, 'a.yaml'), `a: 0\nlong: ${'x'.repeat(large)}\n`);
  const edits = (count: number) =>
    plan(
      Array.from({ length: count }, (_, i) =>
        action(String(i), 'FILE_MODIFY', 'a.yaml', { ...update, path: 'a', value: i + 1 }),
      ),
    );
  expect((await derive(root, edits(2))).actions).toHaveLength(2);
  await expectRefusal('EDIT_COSTLY', () => derive(root, edits(3)));
});
