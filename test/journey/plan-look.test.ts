import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../src/refusal.ts';
import { picture, text } from '../plan/engine/story.ts';
import { entriesAbout } from '../support/ledger.ts';
import { TOOLS, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { create, kindsOf, planOf, planProjects, replace, run, runnable, statusOf } from './plan-story.ts';

/** The second look, after the y. It need not simulate a plan again of which nothing has changed. */

const planProject = planProjects();
const PLAN = planOf([
  replace('1', 'a', 'old', 'new'),
  create('2', 'made/n'),
  replace('3', 'b', 'old', 'new'),
]);

const project = () => planProject({ a: 'old a', b: 'old b' });

describe('while the prompt waits', () => {
  const drifts: [string, (root: string) => void, ReasonCode][] = [
    ['a file gets another content', (root) => writeFileSync(join(root, 'b'), 'old B'), 'PLAN_DRIFT'],
    [
      'a file gets another content of the same size and with the same time',
      (root) => {
        writeFileSync(join(root, 'b'), 'old B');
        utimesSync(join(root, 'b'), 1_600_000_000.25, 1_600_000_001.5);
      },
      'PLAN_DRIFT',
    ],
    ['a file gets another mode', (root) => chmodSync(join(root, 'b'), 0o600), 'PLAN_DRIFT'],
    ['a file goes', (root) => rmSync(join(root, 'b')), 'FILE_NOT_FOUND'],
    [
      'something comes to a path that must be free',
      (root) => {
        mkdirSync(join(root, 'made'));
        writeFileSync(join(root, 'made/n'), 'mine');
      },
      'FILE_EXISTS',
    ],
    ['a folder comes that the plan would make', (root) => mkdirSync(join(root, 'made')), 'PLAN_DRIFT'],
  ];

  it.each(drifts)(
    '%s: the run is refused before it is claimed, and nothing is touched',
    async (_, drift, code) => {
      const p = await project();
      const intent = await runnable(p, PLAN);
      let found = {};
      const confirm = async () => {
        drift(p.root);
        found = picture(p.root);
        return true;
      };
      await expectRefusal(code, () => run(p, intent, { confirm }));
      expect(picture(p.root)).toEqual(found);
      expect(existsSync(join(p.root, 'agent_outputs'))).toBe(false);
      expect(await statusOf(p, intent)).toBe('approved');
      expect((await kindsOf(p, intent)).at(-1)).toBe('execution.refused');
    },
  );

  it('what is only touched, or not part of the plan, does not matter', async () => {
    const p = await project();
    const intent = await runnable(p, PLAN);
    const confirm = async () => {
      utimesSync(join(p.root, 'a'), 1, 1);
      writeFileSync(join(p.root, 'bystander'), 'x');
      return true;
    };
    expect((await run(p, intent, { confirm })).result).toBe('success');
    expect([text(p.root, 'a'), text(p.root, 'b')]).toEqual(['new a', 'new b']);
  });

  it('a registry that changes is recorded as it is at the run', async () => {
    const p = await project();
    const intent = await runnable(p, PLAN);
    const before = (await entriesAbout(p.keyturn, intent.intent_id)).length;
    const confirm = async () => {
      rmSync(join(p.root, 'tools.yaml'));
      writeRegistry(p.root, `${TOOLS}\n# another\n`);
      return true;
    };
    expect((await run(p, intent, { confirm })).result).toBe('success');
    const [, claimed] = (await entriesAbout(p.keyturn, intent.intent_id)).slice(before);
    const proposed = (await entriesAbout(p.keyturn, intent.intent_id))[0]!;
    expect(claimed).toMatchObject({ kind: 'execution.claimed' });
    const digestOf = ({ body }: { body: object }) => (body as { registry_digest: string }).registry_digest;
    expect(digestOf(claimed!)).not.toBe(digestOf(proposed));
  });
});
