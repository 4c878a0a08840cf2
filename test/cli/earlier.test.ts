import { beforeAll, describe, expect, it } from 'vitest';
import { fieldsOf } from '../../src/cli/earlier.ts';
import { fieldLines } from '../../src/cli/fold.ts';
import { painter } from '../../src/cli/paint.ts';
import { fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

const folder = fileFolder();
let p: Project;

beforeAll(async () => {
  p = await makeProject(folder);
});

describe('the screen of a decision', () => {
  it('says in what it differs from the last one that the same human approved', async () => {
    const first = await p.propose('greet', { name: 'Ada' });
    const turned = await p.talk(['turn', first.id], ['(y/n)', 'y'], ['Passphrase of alice: ', PASSPHRASE]);
    expect(turned.code).toBe(0);
    expect(turned.screen).not.toContain('Same as:');
    const second = await p.propose('greet', { name: 'Bob' });
    const { screen } = await p.talk(['turn', second.id], ['(y/n)', 'n']);
    expect(screen).toMatch(new RegExp(`Compared: +with ${first.id}, which you approved at`));
    expect(screen).toMatch(/Differs: +.*name.*: "Ada" before, "Bob" now/);
    const { screen: asked } = await p.talk(['approve', second.id], ['to approve it: ', '']);
    expect(asked).toMatch(/Differs: +.*name.*: "Ada" before, "Bob" now/);
  });

  it('points out the same request that has not run yet', async () => {
    const again = ['propose', '--tool', 'greet', '--arg', 'name=Cid', '--by', 'bot'];
    const first = JSON.parse((await p.run(...again, '--json')).stdout);
    expect((await p.run(...again)).stdout).toMatch(
      new RegExp(`Same as: +${first.result.intent_id}, which has not run`),
    );
  });
});

describe('the differences', () => {
  const lines = (
    differences: readonly { what: string; before: string | null; now: string | null }[] | null,
  ) =>
    fieldLines(fieldsOf({ intent_id: 'ID', approved_at: 'TIME', differences }), {
      paint: painter(false),
      columns: 100,
    });

  it('are one line where there are none, and where the last one was erased', () => {
    expect(lines([])).toEqual(['Same as: ID, which you approved at TIME']);
    expect(lines(null)).toEqual(['Compared: not with ID, which you approved at TIME: it was erased']);
  });

  it('are listed up to twelve, and counted beyond', () => {
    const many = Array.from({ length: 15 }, (_, i) => ({ what: `a${i}`, before: '1', now: '2' }));
    expect(lines(many)).toHaveLength(14);
    expect(lines(many).at(-1)).toBe('Differs:  3 more');
  });

  it('show short values, harmless, and name long ones', () => {
    expect(
      lines([
        { what: 'note', before: null, now: '"\u202ex"' },
        { what: 'text', before: '"a"', now: JSON.stringify('b'.repeat(100)) },
        { what: 'the program itself', before: null, now: null },
      ]).slice(1),
    ).toEqual([
      'Differs:  note: nothing before, "\\u202ex" now',
      'Differs:  text: another value',
      'Differs:  the program itself: another one',
    ]);
  });
});
