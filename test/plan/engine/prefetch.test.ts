import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanOutcome } from '../../../src/plan/engine/outcome.ts';
import type { Action, ExecutionInstructions } from '../../../src/plan/model.ts';
import { scratch } from '../../support/scratch.ts';
import { action, create, deriveAndExecute, lay, modify, picture, plan, text } from './story.ts';

/** Edits are prepared before their turn. Their results must be the same as without. */

const COUNT = 12;
const names = Array.from({ length: COUNT }, (_, i) => `sub/f${i}`);
const edits = names.map((path, i) => modify(`m${i}`, path, 'old', `new ${i}`));

interface Ran {
  readonly root: string;
  readonly outcome: PlanOutcome;
  readonly before: Record<string, string>;
  /** The names in the folder when each action had its turn. */
  readonly waiting: Readonly<Record<string, number>>;
}

async function ran(
  actions: readonly Action[],
  at: string,
  disturb: (root: string) => void,
  instructions: Partial<ExecutionInstructions> = {},
): Promise<Ran> {
  const root = scratch();
  lay(root, Object.fromEntries(names.map((path) => [path, `old ${path}`])));
  const before = picture(root);
  const waiting: Record<string, number> = {};
  const outcome = await deriveAndExecute(root, plan(actions, instructions), {
    onProgress: (progress) => {
      if (progress.phase !== 'action') return;
      waiting[progress.action_id] = temporaries(root).length;
      if (progress.action_id === at) disturb(root);
    },
  });
  return { root, outcome, before, waiting };
}

const temporaries = (root: string) =>
  readdirSync(join(root, 'sub')).filter((name) => name.startsWith('.kt-'));
const contents = (root: string) => names.map((path) => text(root, path));
const CHANGED = names.map((path, i) => `new ${i} ${path}`);

describe('an edit that was prepared before its turn', () => {
  it('waits beside its place, and nothing is left when all are done', async () => {
    const { root, outcome, waiting } = await ran(edits, '', () => {});
    expect(outcome.status).toBe('SUCCESS');
    expect(Math.max(...Object.values(waiting))).toBeGreaterThan(1);
    expect(temporaries(root)).toEqual([]);
    expect(contents(root)).toEqual(CHANGED);
  });

  it('is made again when its file was touched and says the same', async () => {
    const { root, outcome } = await ran(edits, 'm5', (root) => utimesSync(join(root, 'sub/f6'), 1, 1));
    expect(outcome.status).toBe('SUCCESS');
    expect(contents(root)).toEqual(CHANGED);
    expect(temporaries(root)).toEqual([]);
  });

  it('is not put over what somebody else wrote meanwhile', async () => {
    const { root, outcome, before } = await ran(edits, 'm5', (root) =>
      writeFileSync(join(root, 'sub/f6'), 'old sub/F6'),
    );
    expect(outcome.errors[0]).toMatchObject({ error_type: 'PLAN_DRIFT' });
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(text(root, 'sub/f6')).toBe('old sub/F6');
    expect({ ...picture(root), 'sub/f6': '' }).toEqual({ ...before, 'sub/f6': '' });
  });

  it.each([true, false])(
    'leaves nothing when the run stops before its turn, rolled back: %s',
    async (undo) => {
      const { root, outcome } = await ran(edits, 'm2', (root) => rmSync(join(root, 'sub/f2')), {
        rollback_on_failure: undo,
      });
      expect(outcome.errors[0]).toMatchObject({ error_type: 'FILE_NOT_FOUND' });
      expect(outcome.actions.filter(({ status }) => status === 'SKIPPED')).toHaveLength(COUNT - 3);
      expect(temporaries(root)).toEqual([]);
      expect(text(root, 'sub/f0')).toBe(undo ? 'old sub/f0' : 'new 0 sub/f0');
    },
  );

  it('is not prepared from what an earlier action changes first', async () => {
    const chain = [...edits, modify('again', 'sub/f0', 'new 0', 'newer'), create('n', 'sub/n')];
    const { root, outcome } = await ran(chain, '', () => {});
    expect(outcome.status).toBe('SUCCESS');
    expect(text(root, 'sub/f0')).toBe('newer sub/f0');
  });

  it.each<[string, Action[]]>([
    ['an action that looks into folders', [action('sql', 'SQL_EXECUTE', 'd.duckdb', { query: 'SELECT 1' })]],
    ['an action with little time', [create('hasty', 'sub/n', 'x', { timeout_ms: 1_000 })]],
  ])('is not prepared in a plan with %s', async (_, more) => {
    const { outcome, waiting } = await ran([...edits, ...more], '', () => {});
    expect(outcome.actions.slice(0, COUNT).every(({ status }) => status === 'SUCCESS')).toBe(true);
    expect(Math.max(...Object.values(waiting))).toBe(0);
  });

  it('of a large file is made in its turn', async () => {
    const root = scratch();
    lay(root, { big: `old ${'x'.repeat(2 * 1024 * 1024)}` });
    let waiting: string[] = [];
    const outcome = await deriveAndExecute(root, plan([create('1', 'n'), modify('2', 'big', 'old', 'new')]), {
      onProgress: ({ phase }) => {
        if (phase === 'action') waiting = [...waiting, ...readdirSync(root)];
      },
    });
    expect(outcome.status).toBe('SUCCESS');
    expect(waiting.filter((name) => name.startsWith('.kt-'))).toEqual([]);
    expect(existsSync(join(root, 'n'))).toBe(true);
  });
});
