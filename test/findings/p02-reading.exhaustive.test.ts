import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planOf, planProjects, ran, run, runnable, when } from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sql } from './p01-database.ts';

const planProject = planProjects();

const plan = (save_results_to: string) =>
  planOf([
    sql(
      'read',
      {
        query: "SELECT filename, content FROM read_text('ro/*')",
        connection: 'memory',
        readable: ['ro'],
        save_results_to,
      },
      'memory',
    ),
  ]);

const SECRETS = {
  'a private key': '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n',
  'an access key': `AKIA${'Z3'.repeat(8)}`,
  'a key in quotes': 'const api_key = "q8Zr2LkV9xTb4NwYc7Md";',
};

describe('P2: results are searched for credentials', () => {
  it.each(
    ['csv', 'json', 'parquet'].flatMap((format) =>
      Object.keys(SECRETS).map((kind) => [format, kind] as const),
    ),
  )('%s, %s: refused, and no result is left', async (format, kind) => {
    const p = await planProject({ 'ro/a': SECRETS[kind as keyof typeof SECRETS] });
    const before = picture(p.root);
    const { report } = await ran(p, plan(`out/result.${format}`));
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'CONTENT_CREDENTIAL' });
    expect(picture(p.root)).toEqual(before);
  });

  it.each(['csv', 'json', 'parquet'])(
    '%s: a result without one is saved, and nothing beside it',
    async (format) => {
      const p = await planProject({ 'ro/a': 'plain, "quoted" and\nlong' });
      const { report } = await ran(p, plan(`out/result.${format}`));
      expect(report).toMatchObject({ result: 'success' });
      expect(Object.keys(picture(p.root)).filter((name) => name.startsWith('out'))).toEqual([
        'out',
        `out/result.${format}`,
      ]);
    },
  );
});

describe('P2: a protected file that appears in a readable folder after the approval', () => {
  it('is refused before the claim', async () => {
    const p = await planProject({ 'ro/a': 'x' });
    const intent = await runnable(p, plan('out.csv'));
    writeFileSync(join(p.root, 'ro/.env'), 'A=b');
    await expectRefusal('EFFECT_CHANGED', () => run(p, intent));
    expect(existsSync(join(p.root, 'out.csv'))).toBe(false);
  });

  it('is refused after the claim, and nothing is saved', async () => {
    const p = await planProject({ 'ro/a': 'x' });
    const intent = await runnable(p, plan('out.csv'));
    const report = await run(
      p,
      intent,
      when('read', () => writeFileSync(join(p.root, 'ro/.env'), 'A=b')),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'PLAN_DRIFT' });
    expect(existsSync(join(p.root, 'out.csv'))).toBe(false);
  });
});
