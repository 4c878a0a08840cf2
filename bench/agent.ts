import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keyturn } from '../src/keyturn.ts';
import type { Store } from '../src/store/store.ts';
import { moved, STEP } from '../test/gate/agent-story.ts';
import { asksAndConfirms, goal, of } from '../test/store/agent-facts.ts';
import { WARM_UP as COMMITS } from './commit.ts';
import { commitInTurn, openStore } from './facts.ts';
import { bareSpawn } from './governed.ts';
import { createProject, readyIntent } from './project.ts';
import { median, p99, timed } from './timing.ts';

export interface DispatchTimes {
  /** From the goal to the recorded outcome: asked, confirmed, dispatched. All three are medians. */
  readonly dispatch_ms: number;
  readonly commit_ms: number;
  readonly bare_ms: number;
  /** What only one dispatch in a hundred exceeds. */
  readonly slow_ms: number;
}

const NOTHING = {
  id: 'nothing.do',
  version: 1,
  family: 'bench',
  summary: { en: 'Do nothing at all' },
  phrases: { en: ['do nothing at all'] },
  risk: 'LOW',
  impactful: true,
  side_effecting: true,
  irreversible: false,
  access_action: 'nothing.do',
  effect: { tool: 'nothing' },
  rollback_plan_ref: 'nothing.do',
};

const WARM_UP = 50;

/** A goal, its yes and its dispatch, in turn with one commit and with the bare spawn of what it runs. */
export async function measureDispatches(options: { root: string; runs: number }): Promise<DispatchTimes> {
  const { root, runs } = options;
  const project = await createProject(root);
  const { keyturn, ada } = project;
  writeFileSync(join(root, 'simulations', `${NOTHING.id}.yaml`), JSON.stringify(NOTHING));
  const about = { id: NOTHING.id, reason: 'A bench.', signer: ada };
  await keyturn.simulations.register(about);
  await keyturn.simulations.activate(about);
  const store = await openStore(join(root, 'commit.db'), 'create');
  const own = await openStore(keyturn.layout.store, 'write');
  for (const each of [store, own]) await commitInTurn(each, COMMITS);
  await own.close();
  const bare = await bareSpawn(keyturn, await readyIntent(project));
  const times: { bare: number; commit: number; dispatch: number }[] = [];
  for (let i = 0; i < runs + WARM_UP; i++) {
    const time = {
      bare: await bare(),
      commit: await timed(() => commitInTurn(store, 1)),
      dispatch: await timed(() => converse(keyturn)),
    };
    if (i >= WARM_UP) times.push(time);
  }
  await store.close();
  await keyturn.close();
  const dispatches = times.map(({ dispatch }) => dispatch);
  return {
    dispatch_ms: median(dispatches),
    slow_ms: p99(dispatches),
    commit_ms: median(times.map(({ commit }) => commit)),
    bare_ms: median(times.map(({ bare }) => bare)),
  };
}

async function converse({ conversations }: Keyturn): Promise<void> {
  const prompt = await conversations.ask({ user_id: 'ada', utterance: 'do nothing at all' });
  if (prompt.kind !== 'CONFIRM') throw new Error(`asked, and got ${prompt.kind}`);
  const { correlation_id, plan_id } = prompt;
  const done = await conversations.confirm({ correlation_id, plan_id, user_id: 'ada', text: 'yes' });
  if (done.kind !== 'OUTCOME' || done.plan_state !== 'COMPLETED') throw new Error(JSON.stringify(done));
}

export interface RebuildTimes {
  readonly rows: number;
  readonly entries: number;
  readonly rebuild_ms: number;
  readonly verify_ms: number;
}

const PASSES = 3;
/** As many as the store writes in one transaction. */
const TOGETHER = 512;

/** Goals that were asked, confirmed and stopped before their dispatch. The rebuild and the verification in turn. */
export async function measureAgentRebuild(options: { root: string; rows: number }): Promise<RebuildTimes> {
  const { keyturn } = await createProject(options.root);
  const store = await openStore(keyturn.layout.store, 'write');
  let rows = 0;
  for (let i = 0; rows < options.rows; i += TOGETHER) {
    await Promise.all(Array.from({ length: TOGETHER }, (_, n) => tell(store, `goal-${i + n}`)));
    rows += TOGETHER * ROWS_OF_GOAL;
  }
  const times: { rebuild: number; verify: number }[] = [];
  for (let pass = 0; pass < PASSES; pass++)
    times.push({
      verify: await timed(() => keyturn.ledger.verify({})),
      rebuild: await timed(async () => {
        const { differences } = await keyturn.ledger.rebuild({ write: false });
        if (differences.length > 0) throw new Error(`differs: ${differences[0]}`);
      }),
    });
  const { size: entries } = await store.tip();
  await store.close();
  await keyturn.close();
  return {
    rows,
    entries,
    rebuild_ms: Math.min(...times.map(({ rebuild }) => rebuild)),
    verify_ms: Math.min(...times.map(({ verify }) => verify)),
  };
}

/** What a goal adds to agent_execution_ledger. */
const ROWS_OF_GOAL = 9;

async function tell(store: Store, correlation: string): Promise<void> {
  const one = goal(correlation);
  await asksAndConfirms(store, one);
  const stopped = [moved(STEP, 'READY', 'FAILED_TERMINAL'), moved(null, 'IN_PROGRESS', 'FAILED')];
  await store.commit({ events: stopped.map((event) => of(one, event)) });
}
