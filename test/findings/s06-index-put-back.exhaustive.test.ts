import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import { authority, granted, type Intent, yes } from '../journey/authority.ts';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { sizeOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type Project, project, ready, TOOLS, writeMark } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { KEEP, PUT_BACK, sql } from './s06-put-back.ts';

const server = postgres();
const freezing = { scope: 'system', reason: 'A test.' } as const;

/** A run in another process, and rows put back behind it: all before this returns. */
function runElsewhereAndPutBack(root: string, { intent_id, hash }: Intent): void {
  const library = join(import.meta.dirname, '..', '..', 'dist', 'keyturn.js');
  const helper = join(import.meta.dirname, '..', 'support', 'at-once.mjs');
  const program = `import { Keyturn } from ${JSON.stringify(library)};
    import { runAtOnce } from ${JSON.stringify(helper)};
    const keyturn = await Keyturn.open({ at: ${JSON.stringify(root)} });
    await runAtOnce(keyturn, { intent_id: '${intent_id}', hash: '${hash}' });
    await keyturn.close();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' });
  sql(root, PUT_BACK);
}

async function marked(clock?: () => Date): Promise<Project & Intent & { runs: () => number }> {
  const p = await project(TOOLS, clock);
  writeMark(p.root);
  const effect = { kind: 'tool' as const, tool: 'mark', arguments: { file: 'marks' } };
  const intent = await p.keyturn.intents.propose({
    declared_goal: 'Mark.',
    issuer: 'ada',
    effect,
    signer: p.ada,
  });
  await ready(p, intent);
  const marks = join(p.root, 'marks');
  const runs = () => (existsSync(marks) ? readFileSync(marks, 'utf8').split('\n').length - 1 : 0);
  return { ...p, intent_id: intent.intent_id, hash: intent.hash, runs };
}

describe('S6: an index that is put back', () => {
  it('hides no freeze from a run that goes on', async () => {
    const p = await authority();
    const intent = await granted(p, {
      effect: { kind: 'tool' as const, tool: 'wait', arguments: { seconds: 60 } },
    });
    sql(p.root, KEEP);
    const other = await Keyturn.open({ at: p.root });
    const running = runSeen(p.keyturn, { ...intent, confirm: yes });
    const claimed = async () =>
      (await other.intents.get({ intent_id: intent.intent_id })).status === 'claimed';
    while (!(await claimed())) await new Promise((done) => setImmediate(done));
    sql(p.root, 'CREATE TABLE frozen_rows AS SELECT * FROM projection;');
    await other.system.freeze({ ...freezing, signer: p.ada });
    sql(p.root, 'DELETE FROM projection; INSERT INTO projection SELECT * FROM frozen_rows;');
    const report = await running.catch((error) => error);
    expect(report instanceof Refusal ? report.facts : report).toMatchObject(
      report instanceof Refusal ? { stopped_by: 'PROJECTION_DRIFT' } : { reason_code: 'PROJECTION_DRIFT' },
    );
    await other.close();
  });

  it('between the last look and the claim lets nothing run twice', async () => {
    let atClock = () => {};
    const clock = () => {
      atClock();
      return new Date();
    };
    const p = await marked(clock);
    sql(p.root, KEEP);
    const confirm = async () => {
      // The head of the last commit is written a moment later. That asks for the time, too, and holds a lock.
      const size = await sizeOf(p.keyturn);
      const head = join(p.root, '.keyturn', 'head');
      await until(() => readFileSync(head, 'utf8').split('\n').includes(`${size}`));
      // The first time that it is asked for the time after the y is behind the last look at the entries.
      atClock = () => {
        atClock = () => {};
        runElsewhereAndPutBack(p.root, p);
      };
      return true;
    };
    const refused = await runSeen(p.keyturn, { intent_id: p.intent_id, hash: p.hash, confirm }).catch(
      (e) => e,
    );
    expect(refused).toBeInstanceOf(Refusal);
    expect(p.runs()).toBe(1);
  });

  it('does not restore a row that a rollback would go by', async () => {
    const p = await authority();
    const action = {
      action_type: 'FILE_CREATE',
      operation: { type: 'create', content: 'new' },
      action_id: 'a',
      target: 'made.txt',
    };
    const plan = { plan_id: 'PLAN-1', action_plan: [action] };
    const effect = { kind: 'plan' as const, task_id: 'T', config: null, plan } as const;
    const intent = await granted(p, { effect });
    const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    sql(p.root, KEEP);
    const undo = { execution_id, reason: 'A test.', signer: p.ada };
    await p.keyturn.plans.rollback(undo);
    sql(p.root, PUT_BACK);
    await expectRefusal('PROJECTION_DRIFT', () => p.keyturn.plans.rollback(undo));
  });
});

describe('S6: rows of a server that are put back', () => {
  /** By a role that may write them: the unique keys and the state, as they were. */
  const keep = (tenant: string) =>
    server().sql(`CREATE TABLE keyturn.kept_claim_${tenant} AS SELECT * FROM keyturn.claim;
      CREATE TABLE keyturn.kept_rows_${tenant} AS SELECT * FROM keyturn.projection;`);
  const putBack = (tenant: string) =>
    server().sql(`DELETE FROM keyturn.claim; INSERT INTO keyturn.claim SELECT * FROM keyturn.kept_claim_${tenant};
      DELETE FROM keyturn.projection; INSERT INTO keyturn.projection SELECT * FROM keyturn.kept_rows_${tenant};`);

  it('let no intent run twice, on the host that ran it and on another one', async () => {
    const p = await shared(server(), 'twice');
    const second = await anotherHost(p);
    const intent = await granted(p);
    await keep('twice');
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    await putBack('twice');
    for (const keyturn of [p.keyturn, second.keyturn])
      await expectRefusal('PROJECTION_DRIFT', () => runSeen(keyturn, { ...intent, confirm: yes }));
  });

  it('hide no freeze of one host from another one', async () => {
    const p = await shared(server(), 'frozen');
    const second = await anotherHost(p);
    const [first, intent] = [await granted(p), await granted(p)];
    await runSeen(second.keyturn, { ...first, confirm: yes });
    await keep('frozen');
    await p.keyturn.system.freeze({ ...freezing, signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(second.keyturn, { ...intent, confirm: yes }));
    await putBack('frozen');
    await expectRefusal('PROJECTION_DRIFT', () => runSeen(second.keyturn, { ...intent, confirm: yes }));
  });
});
