import { closeSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRunLocked, openRunLock } from '../effect/run-lock.ts';
import { journeyLimits } from '../limits.ts';
import type { PlanEffect } from '../plan/model.ts';
import { areApart, type Touched, touchedBy, touchedByUndo } from '../plan/touched.ts';
import { refuse } from '../refusal.ts';
import { openFileLock } from '../store/sqlite/file-lock.ts';
import type { Context } from './context.ts';
import { runLock } from './tool.ts';

export interface PlanTurn {
  /** The execution, or an id of its own for a rollback. */
  readonly id: string;
  readonly effect: PlanEffect;
  /** A rollback, which runs no pipeline again. */
  readonly is_undo?: true;
  /** Asked while it waits. */
  readonly isWanted?: (() => boolean) | undefined;
}

/**
 * Acts when every plan of this host that came before and shares a path with this one is over. Each of them has a file that says what
 * it touches, and a lock that it holds from before it wrote that file until its end, also while it waits. It waits only for those
 * that came before it, so no two wait for each other. The kernel lets go of the lock when the process ends, however it ends.
 */
export async function inPlanTurn<T>(
  context: Context,
  { id, effect, is_undo, isWanted }: PlanTurn,
  act: (has_waited: boolean) => Promise<T>,
): Promise<T> {
  const { starter, machine, root } = context;
  const touched = (is_undo ? touchedByUndo : touchedBy)(effect, root);
  const { turn, lock } = filesOf(context, id);
  await starter.lock(lock, machine());
  const held = openRunLock(lock);
  try {
    const before = await enter(context, turn, touched);
    for (const each of before) await untilOver(context, each, isWanted);
    return await act(before.length > 0);
  } finally {
    rmSync(turn, { force: true });
    closeSync(held);
    starter.release(lock);
  }
}

const TURN = '.turn';

function filesOf({ runs_folder }: Context, id: string): { readonly turn: string; readonly lock: string } {
  const turn = join(runs_folder, `${id}${TURN}`);
  return { turn, lock: `${turn}.lock` };
}

/** Writes down what this one touches, and finds those that it has to wait for. Of two that come at once, one sees the other. */
async function enter(context: Context, mine: string, touched: Touched): Promise<readonly string[]> {
  const { runs_folder } = context;
  const lock = await openFileLock(join(runs_folder, 'turns.lock'));
  try {
    return lock.hold(() => {
      const others = readdirSync(runs_folder).filter((name) => name.endsWith(TURN));
      const ids = others.map((name) => name.slice(0, -TURN.length));
      const going = ids.filter((id) => isGoing(context, id) || removed(context, id));
      writeFileSync(mine, JSON.stringify(touched), { mode: 0o600, flag: 'wx' });
      return going.filter((id) => !isApart(context, id, touched));
    });
  } finally {
    lock.close();
  }
}

/** Its process is there, or a tool that outlived it. */
function isGoing(context: Context, id: string): boolean {
  return isRunLocked(filesOf(context, id).lock) || isRunLocked(runLock(context, id));
}

/** What a process that was killed has left. */
function removed(context: Context, id: string): false {
  for (const path of Object.values(filesOf(context, id))) rmSync(path, { force: true });
  return false;
}

function isApart(context: Context, id: string, touched: Touched): boolean {
  try {
    return areApart(touched, JSON.parse(readFileSync(filesOf(context, id).turn, 'utf8')) as Touched);
  } catch (error) {
    // It ended a moment ago. One that cannot be read for another reason is waited for.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

async function untilOver(context: Context, id: string, isWanted: PlanTurn['isWanted']): Promise<void> {
  while (isGoing(context, id)) {
    if (isWanted?.() === false) refuse('CONFIRMATION_DECLINED');
    await setTimeout(journeyLimits.plan_turn_look_ms);
  }
}
