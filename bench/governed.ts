import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { becoming, giveBytes } from '../src/effect/child.ts';
import { inspectMachine } from '../src/effect/machine.ts';
import { sandboxCommand } from '../src/effect/sandbox.ts';
import { userFor } from '../src/effect/user.ts';
import type { Keyturn } from '../src/keyturn.ts';
import type { ToolEffect } from '../src/tool/effect.ts';
import { WARM_UP as COMMITS } from './commit.ts';
import { commitInTurn, openStore } from './facts.ts';
import { type Asked, createProject, type Ordered, readyIntent, turnedIntent } from './project.ts';
import { timed, usual } from './timing.ts';

export interface RunTimes {
  readonly bare_ms: number;
  readonly governed_ms: number;
  readonly commit_ms: number;
  /** From the proposal to the record. */
  readonly journey_ms: number;
  /** What the ledger says about a capability: one read of its intent. */
  readonly lookup_us: number;
}

const WARM_UP = 10;

/** The bare spawn, one commit and the governed run in turn. */
export async function measureRuns({ root, runs }: { root: string; runs: number }): Promise<RunTimes> {
  const project = await createProject(root);
  // Another store for the lone commits: a second writer would make the project's own read its tip again.
  const store = await openStore(join(root, 'commit.db'), 'create');
  const own = await openStore(project.keyturn.layout.store, 'write');
  for (const each of [store, own]) await commitInTurn(each, COMMITS);
  const asked: Ordered[] = [];
  for (let i = 0; i < runs + WARM_UP; i++) asked.push(await readyIntent(project));
  const bare = await bareSpawn(project.keyturn, asked[0]!);

  const times: { bare: number; commit: number; governed: number; journey: number; lookup: number }[] = [];
  for (const [i, intent] of asked.entries()) {
    const time = {
      bare: await bare(),
      commit: await timed(() => commitInTurn(store, 1)),
      governed: await timed(() => runGoverned(project.keyturn, intent)),
      journey: await timed(async () => runGoverned(project.keyturn, await turnedIntent(project))),
      lookup: await timed(() => project.keyturn.intents.get({ intent_id: intent.intent_id })),
    };
    if (i >= WARM_UP) times.push(time);
  }
  await own.close();
  await store.close();
  await project.keyturn.close();
  return {
    bare_ms: usual(times.map(({ bare }) => bare)),
    governed_ms: usual(times.map(({ governed }) => governed)),
    commit_ms: usual(times.map(({ commit }) => commit)),
    journey_ms: usual(times.map(({ journey }) => journey)),
    lookup_us: usual(times.map(({ lookup }) => lookup)) * 1000,
  };
}

/** Who ordered it saw what it is for. */
export async function runGoverned(keyturn: Keyturn, { intent_id, hash, seen }: Ordered): Promise<void> {
  const report = await keyturn.runs.run({ intent_id, hash, seen });
  if (report.result !== 'success') throw new Error(`the run ended with ${report.reason_code}`);
}

/** The command line of an intent with the same descriptors, and nothing else: how long it takes. */
export async function bareSpawn(
  keyturn: Keyturn,
  { intent_id, hash }: Asked,
): Promise<() => Promise<number>> {
  const { effect } = await keyturn.runs.preview({ intent_id, hash });
  if (effect.kind !== 'tool') throw new Error('The bench runs a tool.');
  return () => spawned(effect);
}

/** The profile shows no project, so it hides none. */
async function spawned(effect: ToolEffect): Promise<number> {
  const { sandbox: profile, limits, cwd, argv, executables } = effect;
  const confinement = { profile, limits, cwd, argv, programs: executables, hidden: [], protected: [] };
  const { argv: command, sources, filter } = sandboxCommand(confinement, inspectMachine());
  const [program, ...args] = command;
  const fds = sources.map(({ path }) => openSync(path, 'r'));
  try {
    return await timed(async () => {
      const child = spawn(program!, args, {
        cwd: '/',
        env: effect.env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', ...fds, 'pipe', 'pipe'],
        ...becoming(userFor(effect.run_as)),
      });
      giveBytes(child, 3 + fds.length, filter!);
      for (const stream of child.stdio) if (stream && 'resume' in stream) stream.resume();
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`the bare spawn ended with ${code}`);
    });
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
