/** The helper of `starter.ts`: starts the children that its parent asks for, and dies with it. */

import { closeSync, constants, openSync } from 'node:fs';
import { limits } from '../limits.ts';
import {
  type ChildCommand,
  type ChildOutcome,
  inheritable,
  notStarted,
  type OnOutput,
  runChild,
} from './child.ts';
import { O_PATH } from './open-path.ts';
import { openRunLock } from './run-lock.ts';
import type { StarterReport, StarterRequest } from './starter.ts';

const owner = process.ppid;
/** Nothing is opened here later that a child could inherit: node marks each of its own descriptors. */
const inherited = inheritable();
const running = new Map<number, AbortController>();

process.on('disconnect', () => {
  for (const each of running.values()) each.abort();
  process.exit();
});
process.on('message', (asked: StarterRequest) => {
  if ('abort' in asked) return running.get(asked.id)?.abort();
  const controller = new AbortController();
  running.set(asked.id, controller);
  const printed = asked.is_told ? printedOf(asked.id) : null;
  start({ ...asked.command, ...(printed && { onOutput: printed.take }) }, controller.signal).then(
    (outcome) => {
      running.delete(asked.id);
      printed?.end();
      tell({ id: asked.id, outcome });
    },
  );
});
tell('ready');

/** What the parent has open reaches a child by its name in /proc: it is the same file, whatever was put in its place since. */
function start(
  command: Extract<StarterRequest, { command: unknown }>['command'] & Pick<ChildCommand, 'onOutput'>,
  abort: AbortSignal,
): Promise<ChildOutcome> {
  const fds: number[] = [];
  const held: number[] = [];
  try {
    for (const fd of command.fds ?? [])
      fds.push(openSync(`/proc/${owner}/fd/${fd}`, constants.O_RDONLY | O_PATH));
    // Held before it is asked whether the parent lives: a human who finds it dead and the lock free then settles what never starts.
    if (command.lock !== undefined) held.push(openRunLock(command.lock));
    // A parent that died cannot want this any more, and a human may have settled it since.
    if (process.ppid !== owner) process.exit();
    return runChild({ ...command, fds, abort }, inherited);
  } catch (error) {
    return Promise.resolve(notStarted((error as NodeJS.ErrnoException).code ?? 'unknown'));
  } finally {
    for (const fd of [...fds, ...held]) closeSync(fd);
  }
}

function printedOf(id: number): { take: OnOutput; end(): void } {
  let printed: Parameters<OnOutput>[] = [];
  let timer: NodeJS.Timeout | null = null;
  const send = () => {
    timer = null;
    tell({ id, printed });
    printed = [];
  };
  return {
    take: (...each) => {
      printed.push(each);
      timer ??= setTimeout(send, limits.starter_gather_ms);
    },
    end: () => void (timer && clearTimeout(timer)),
  };
}

function tell(told: StarterReport): void {
  process.send?.(told, () => {}); // to a parent that is gone there is nothing to tell
}
