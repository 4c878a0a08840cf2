import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanEffect } from '../../src/plan/model.ts';
import { drawn } from '../display/drawn.ts';
import { planOf, planProjects, proposed, ran } from '../journey/plan-story.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { databaseBytes, sql } from './p01-database.ts';

const planProject = planProjects();

const READS = (folder = 'ro', more: object = {}) =>
  planOf([
    sql(
      'read',
      {
        query: `SELECT content FROM read_text('${folder}/*')`,
        connection: 'memory',
        readable: [folder],
        ...more,
      },
      'memory',
    ),
  ]);

const needed = async (p: Project, plan: string) => {
  const { intent_id } = await proposed(p, plan);
  const { intent, effect, shown } = await p.keyturn.intents.review({ intent_id });
  const { elevated } = effect as PlanEffect;
  return { approvals: intent.approvals_needed, elevated, text: drawn(shown) };
};

describe('P2: what SQL may read', () => {
  it('a folder without protected files needs one approver, and is on the screen', async () => {
    const p = await planProject({ 'ro/a.csv': 'i\n1\n' });
    const { approvals, elevated, text } = await needed(p, READS());
    expect({ approvals, elevated }).toEqual({ approvals: 1, elevated: [] });
    expect(text).toMatch(/^ {2}Reads: +ro$/m);
  });

  it.each(['.env', 'deep/secrets.json', '.git/config', 'package.json'])(
    'a folder that holds %s needs a second approver, who sees it',
    async (name) => {
      const p = await planProject({ 'ro/a.csv': 'i\n1\n', [`ro/${name}`]: 'x' });
      const { approvals, elevated, text } = await needed(p, READS());
      expect({ approvals, elevated }).toEqual({ approvals: 2, elevated: [`ro/${name}`] });
      expect(text).toContain(`PROTECTED FILES: a second approver is needed: ro/${name}`);
    },
  );

  it.each<[string, string, (path: string) => void]>([
    ['is missing', 'FILE_NOT_FOUND', () => {}],
    ['is a link', 'FILE_IS_SYMLINK', (path) => symlinkSync('other', path)],
    ['is a pipe', 'FILE_NOT_REGULAR', (path) => execFileSync('mkfifo', [path])],
    ['is a file', 'FILE_NOT_REGULAR', (path) => writeFileSync(path, 'x')],
    ['holds a link', 'FILE_IS_SYMLINK', (path) => inside(path, (to) => symlinkSync('/etc/passwd', to))],
    ['holds a pipe', 'FILE_NOT_REGULAR', (path) => inside(path, (to) => execFileSync('mkfifo', [to]))],
    [
      'holds a second name',
      'FILE_HARD_LINKED',
      (path) => inside(path, (to) => linkSync(`${path}/../other/a`, to)),
    ],
    ['holds a folder whose name is not UTF-8', 'FILE_NOT_REGULAR', hideEnv],
  ])('a folder that %s is refused when the plan is proposed', async (_, code, make) => {
    const p = await planProject({ 'other/a': 'x' });
    make(join(p.root, 'ro'));
    await expectRefusal(code as 'INTERNAL', () => proposed(p, READS()));
    expect(existsSync(join(p.root, 'agent_outputs'))).toBe(false);
  });
});

describe('P2: what SQL may read besides', () => {
  it('a protected database that is only read needs a second approver', async () => {
    const p = await planProject();
    writeFileSync(join(p.root, 'secrets.duckdb'), await databaseBytes());
    const plan = planOf([sql('1', { query: 'SELECT * FROM t' }, 'secrets.duckdb')]);
    expect(await needed(p, plan)).toMatchObject({ approvals: 2, elevated: ['secrets.duckdb'] });
  });

  it('a protected file of SQL needs a second approver', async () => {
    const p = await planProject({ 'package.json': 'SELECT 1' });
    const operation = { query_file: 'package.json', connection: 'memory' };
    const plan = planOf([sql('1', operation, 'memory')]);
    expect(await needed(p, plan)).toMatchObject({ approvals: 2, elevated: ['package.json'] });
  });

  it('a pipeline whose steps name a protected file needs a second approver', async () => {
    const p = await planProject({ 'q.sql': 'SELECT 1', '.env': 'A=b' }, PIPELINES);
    chmodSync(join(p.root, '.env'), 0o644);
    const pipeline = (name: string) =>
      planOf([
        {
          action_id: 'p',
          action_type: 'PIPELINE_RUN',
          target: name,
          operation: { type: 'pipeline_run', pipeline: name },
        },
      ]);
    expect(await needed(p, pipeline('count'))).toMatchObject({ approvals: 2, elevated: ['secrets.duckdb'] });
    expect(await needed(p, pipeline('look'))).toMatchObject({ approvals: 2, elevated: ['.env'] });
  });

  it('a credential in a result is refused, and no result is left', async () => {
    const p = await planProject({ 'ro/a.txt': 'api_key = "q8Zr2LkV9xTb4NwYc7Md"' });
    const { report } = await ran(p, READS('ro', { save_results_to: 'out.json' }));
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'CONTENT_CREDENTIAL' });
    expect(existsSync(join(p.root, 'out.json'))).toBe(false);
  });
});

const PIPELINES = `version: 1
tools:
  - name: cat
    summary: Shows a file.
    executable: /usr/bin/true
    sandbox: { network: false, read: [.env], write: [] }
    undo: none
pipelines:
  - name: count
    summary: Counts.
    steps:
      - sql: q.sql
        database: secrets.duckdb
  - name: look
    summary: Looks.
    steps:
      - tool: cat
`;

function inside(folder: string, make: (path: string) => void): void {
  mkdirSync(folder);
  make(join(folder, 'odd'));
}

/** A folder of the same name, as text, is there too: a look at it must not pass for a look at the other one. */
function hideEnv(folder: string): void {
  const hidden = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
  mkdirSync(`${folder}/\ufffd`, { recursive: true });
  mkdirSync(hidden);
  writeFileSync(Buffer.concat([hidden, Buffer.from('/.env')]), 'x');
}
