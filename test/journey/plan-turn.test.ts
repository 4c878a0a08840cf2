import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { granted, type Intent, type Project } from '../support/project.ts';
import { authority, proposeSay } from './authority.ts';
import { executorOf } from './executing.ts';
import { arrivedAt, gated, turned, waiting } from './plan-gate.ts';
import {
  create,
  expectProvable,
  planOf,
  planProjects,
  proposed,
  ran,
  run,
  statusOf,
  undo,
} from './plan-story.ts';

const planProject = planProjects();

const ended = ({ keyturn }: Project, { intent_id }: Intent) => keyturn.intents.waitFor({ intent_id });
const turnsOf = ({ root }: Project) =>
  readdirSync(join(root, '.keyturn', 'runs')).filter((name) => name.includes('.turn'));
/** Waits until this many plans run or wait for their turn. */
const heardOf = (p: Project, count: number) =>
  until(() => turnsOf(p).filter((name) => name.endsWith('.turn')).length === count);

/** The place of an entry in the ledger. */
async function seqOf(p: Project, { intent_id }: Intent, wanted: string): Promise<number> {
  return (await entriesAbout(p.keyturn, intent_id)).find(({ kind }) => kind === wanted)!.seq;
}

async function expectAfter(
  p: Project,
  later: Intent,
  earlier: Intent,
  claimed = 'execution.claimed',
): Promise<void> {
  expect(await seqOf(p, later, claimed)).toBeGreaterThan(await seqOf(p, earlier, 'execution.finished'));
}

describe('plans of one host', () => {
  it('that share no path run side by side', async () => {
    const p = await gated(planProject);
    await executorOf(p);
    const [one, two] = [await turned(p, waiting('one', 'a')), await turned(p, waiting('two', 'b'))];
    // Both stand at their gates, and neither was let go.
    const opens = [await arrivedAt(p, 'one'), await arrivedAt(p, 'two')];
    for (const open of opens) open();
    for (const intent of [one, two]) expect((await ended(p, intent)).status).toBe('succeeded');
    await until(() => turnsOf(p).length === 0);
    await expectProvable(p);
  });

  it('run one after another where one writes beneath what the other one touches, and one that waits takes no place', async () => {
    const p = await gated(planProject);
    await executorOf(p);
    const first = await turned(p, waiting('data', 'a'));
    const open = await arrivedAt(p, 'data');
    const beneath = await turned(p, planOf([create('1', 'data/b')]));
    await heardOf(p, 2);
    // Of two places the first plan has one, and the second one waits.
    const apart = await turned(p, planOf([create('1', 'c')]));
    expect((await ended(p, apart)).status).toBe('succeeded');
    expect(await statusOf(p, beneath)).toBe('approved');
    open();
    expect((await ended(p, beneath)).status).toBe('succeeded');
    await expectAfter(p, beneath, first);
  });

  it('wait for a pipeline that may write anywhere, and it waits for those that came before', async () => {
    const p = await gated(planProject);
    await executorOf(p, 4);
    const before = await turned(p, waiting('one', 'a'));
    const open = await arrivedAt(p, 'one');
    const free = await turned(p, waiting('free', 'b'));
    await heardOf(p, 2);
    const after = await turned(p, planOf([create('1', 'c')]));
    await heardOf(p, 3);
    for (const intent of [free, after]) expect(await statusOf(p, intent)).toBe('approved');
    open();
    const openFree = await arrivedAt(p, 'free');
    expect(await statusOf(p, after)).toBe('approved');
    openFree();
    expect((await ended(p, after)).status).toBe('succeeded');
    await expectAfter(p, free, before);
    await expectAfter(p, after, free);
  });

  it('wait for each other also where one is run by a program beside the executor', async () => {
    const p = await gated(planProject);
    await executorOf(p);
    const first = await turned(p, waiting('data', 'a'));
    const open = await arrivedAt(p, 'data');
    const beside = await proposed(p, planOf([create('1', 'data/b')]));
    await p.keyturn.intents.approve({ ...beside, signer: p.ada });
    await granted(p, beside); // issued at once, so the executor leaves it
    const report = run(p, beside);
    await heardOf(p, 2);
    open();
    expect((await report).result).toBe('success');
    await expectAfter(p, beside, first);
  });
});

describe('a rollback', () => {
  it('waits for a plan that shares a path with it', async () => {
    const p = await gated(planProject);
    const { report, ...old } = await ran(p, planOf([create('1', 'data/old')]));
    await executorOf(p);
    const going = await turned(p, waiting('data', 'a'));
    const open = await arrivedAt(p, 'data');
    const undone = undo(p, report);
    await heardOf(p, 2);
    open();
    expect((await undone).status).toBe('rolled_back');
    await expectAfter(p, old, going, 'rollback.claimed');
  });

  it('that is only drawn up waits for no plan, and none waits for it', async () => {
    const p = await gated(planProject);
    const { report } = await ran(p, planOf([create('1', 'data/old')]));
    await executorOf(p);
    await turned(p, waiting('data', 'a'));
    await arrivedAt(p, 'data');
    const { execution_id } = report;
    const drawn = p.keyturn.draft(p.ada, (signer) =>
      p.keyturn.plans.rollback({ execution_id, reason: 'a look', signer }),
    );
    expect((await drawn).statements).toHaveLength(1);
    expect(turnsOf(p).filter((name) => name.endsWith('.turn'))).toHaveLength(1);
  });
});

describe('an executor that is told to stop', () => {
  it('leaves the order of a plan that waits to the next one', async () => {
    const p = await gated(planProject);
    const { end, told } = await executorOf(p);
    await turned(p, waiting('data', 'a'));
    await arrivedAt(p, 'data');
    const waits = await turned(p, planOf([create('1', 'data/b')]));
    await heardOf(p, 2);
    await end();
    expect(told.map(({ intent_id }) => intent_id)).not.toContain(waits.intent_id);
    expect(await statusOf(p, waits)).toBe('approved');
    await executorOf(p);
    expect((await ended(p, waits)).status).toBe('succeeded');
  });

  it('begins none of the tools that wait for a place', async () => {
    const p = await authority();
    const { end, told } = await executorOf(p, 1);
    const wait = { effect: { kind: 'tool' as const, tool: 'wait', arguments: { seconds: 60 } } };
    const turn = async (over: object) => {
      const intent = await proposeSay(p, over as never);
      await p.keyturn.intents.turn({ ...intent, signer: p.ada });
      return intent;
    };
    await turn(wait);
    await until(() => told.length > 0);
    const second = await turn(wait);
    await end();
    expect(await statusOf(p, second)).toBe('approved');
  });
});
