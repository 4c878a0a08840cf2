import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { expectError, typedCode } from './project.ts';
import { answering, type Body, farScene } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** What is drawn of a plan, of its diffs and of alternates, on a machine without their files. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { scene } = farScene();

describe('a plan, far from its files', () => {
  const FAR = Array.from({ length: 12 }, (_, n) => `line ${n}\n`).join('');
  const planFile = (name: string, file: string, replacement: string) => {
    writeFileSync(
      join(scene.project.folder, file),
      FAR.replace('line 0\n', 'old\n').replace('line 11\n', 'old\n'),
    );
    const operation = { type: 'text_replace', pattern: 'old', replacement, max_matches: 2 };
    const action = { action_id: 'a1', action_type: 'FILE_MODIFY', target: file, operation };
    writeFileSync(join(scene.far.folder, name), JSON.stringify({ plan_id: 'edit', action_plan: [action] }));
  };
  const proposed = async (name: string) => {
    const { stdout } = await scene.far.talk(['propose', '--plan', name, '--by', 'alice', '--sign'], SECRET);
    expect(stdout).toContain('Nothing runs until a human approves it');
    return /^ID: +(\S+)$/m.exec(stdout)![1]!;
  };

  it('is proposed from a file here, and turned once its diffs are those of the effect', async () => {
    planFile('plan.json', 'a.md', 'never');
    expect((await scene.far.run('plan', 'validate', 'plan.json')).stdout).toContain(
      'nothing is wrong with it',
    );
    const id = await proposed('plan.json');
    const { code, screen, stdout } = await scene.far.talk(
      ['turn', id],
      ['Turn the key? (y/n) ', 'y'],
      SECRET,
    );
    expect([code, screen]).toEqual([0, expect.stringContaining('+never')]);
    expect(stdout).toContain('[OK] An executor runs edit\n[OK] Execution completed: edit\n');
    expect(stdout).toMatch(/^ {2}a1: .+\n {2}Plan status: \S+\n {2}Reports: \S+$/m);
    expect(stdout).not.toContain('{');
    expect(readFileSync(join(scene.project.folder, 'a.md'), 'utf8')).toContain('never');
    writeFileSync(join(scene.far.folder, 'bad.json'), '{"plan_id": "edit", "action_plan": [{}]}');
    expectError('SHAPE_INVALID', await scene.far.run('propose', '--plan', 'bad.json', '--by', 'alice'));
  });

  it('is not shown where a diff is another, is left out, or its contents are kept back', async () => {
    planFile('lied.json', 'b.md', 'never');
    const id = await proposed('lied.json');
    const { hash } = await scene.project.inside(({ intents }) => intents.get({ intent_id: id }));
    const ofBlock = (change: (block: Body) => Body) =>
      answering('review', (body) => {
        const [part] = body.shown.parts;
        return {
          ...body,
          shown: { ...body.shown, parts: [{ ...part, blocks: part.blocks.flatMap(change) }] },
        };
      });
    const lines = (change: (line: string) => string) =>
      ofBlock((block) => ({
        ...block,
        hunks: block.hunks.map((hunk: Body) => ({ ...hunk, lines: hunk.lines.map(change) })),
      }));
    const lies = [
      lines((line) => line.replace('never', 'always')),
      ofBlock((block) => ({ ...block, hunks: block.hunks.slice(1) })),
      ofBlock((block) => ({
        ...block,
        hunks: block.hunks.map((one: Body) => ({ ...one, lines: [], apart: 9 })),
      })),
      answering('diffTexts', () => ({ texts: [] })),
      answering('diffTexts', ({ texts }) => ({ texts: [{ ...texts[0], after: 'other\n' }] })),
    ];
    for (const lie of lies)
      expectError('ACT_OTHER', await scene.liar.lying(lie, () => scene.far.run('approve', id)));
    const hidden = [
      ofBlock(() => []),
      ofBlock((block) => ({ ...block, hunks: [] })),
      ofBlock((block) => ({ ...block, lines: ['+ nothing changes'], hunks: [] })),
    ];
    for (const lie of hidden)
      expectError('ACT_OTHER', await scene.liar.lying(lie, () => scene.far.run('approve', id)));
    const approved = await scene.far.talk(['approve', id], ['to approve it: ', typedCode(hash)], SECRET);
    expect(approved.code).toBe(0);
  });

  it('says which contents are too large to be compared', async () => {
    const large = 'x'.repeat(2_200_000);
    writeFileSync(join(scene.project.folder, 'large.txt'), `${large}\nold\n`);
    const operation = { type: 'text_replace', pattern: 'old', replacement: 'new' };
    const action = { action_id: 'a1', action_type: 'FILE_MODIFY', target: 'large.txt', operation };
    writeFileSync(
      join(scene.far.folder, 'large.json'),
      JSON.stringify({ plan_id: 'large', action_plan: [action] }),
    );
    const id = await proposed('large.json');
    const shown = await scene.far.talk(['approve', id], ['q: stop -- ', 'q']);
    expect(shown.screen).toContain('! NOT COMPARED: too large');
    expect(shown.screen).toContain('large.txt');
  });
});

describe('a proposal with alternates, far from the project', () => {
  it('is approved with what is drawn here of each, and refused where one is another', async () => {
    const call = (tool: string, args = {}) => ({ kind: 'tool', tool, arguments: args }) as const;
    const two = { effect: call('fail'), alternates: [call('greet', { name: 'Ada' })] };
    const { intent_id, hash } = await scene.project.inside(({ intents }) =>
      intents.propose({ issuer: 'bot', declared_goal: 'Either.', ...two }),
    );
    const changed = (change: (one: Body) => Body) =>
      answering('review', (body) => ({ ...body, alternate_effects: body.alternate_effects.flatMap(change) }));
    for (const lie of [
      changed((one) => ({ ...one, argv: [...one.argv.slice(0, -1), 'Eve'] })),
      changed(() => []),
      changed((one) => [one, one]),
    ])
      expectError('ACT_OTHER', await scene.liar.lying(lie, () => scene.far.run('approve', intent_id)));
    const painted = answering('review', (body) => ({
      ...body,
      alternates: JSON.parse(JSON.stringify(body.alternates).replaceAll('Ada', 'nobody')),
    }));
    const { code, screen } = await scene.liar.lying(painted, () =>
      scene.far.talk(['approve', intent_id], ['to approve it: ', typedCode(hash)], SECRET),
    );
    expect([code, screen]).toEqual([0, expect.stringContaining('Alternate 1')]);
    expect(screen).toContain('Ada');
  });
});
