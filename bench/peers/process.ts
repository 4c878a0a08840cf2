import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Lap, Order, Place } from './contestant.ts';

/** A contestant in a process of its own. */
export interface Running {
  ask(order: Extract<Order, { act: 'journeys' }>): Promise<Lap>;
  ask(order: Extract<Order, { act: 'recover' }>): Promise<string>;
  /** Ends it with SIGKILL, whatever it is doing. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function started(program: string, place: Place): Promise<Running> {
  const child = fork(program, [JSON.stringify(place)], {
    // How DBOS uses its database driver is deprecated, and node would say so in the middle of the figures.
    execArgv: ['--no-deprecation'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  await answerOf(child);
  const ask = (order: Order) => {
    const answer = answerOf(child);
    child.send(order);
    return answer;
  };
  const ended = async (act: () => unknown) => {
    const exit = once(child, 'exit');
    act();
    await exit;
  };
  return {
    ask: ask as Running['ask'],
    kill: () => ended(kill),
    close: () => ended(() => ask({ act: 'close' })),
  };
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((answered, failed) => {
    const onExit = (code: number | null, signal: string | null) =>
      failed(new Error(`${child.spawnargs.at(-2)} ended with ${signal ?? code} before it answered`));
    child.once('exit', onExit);
    child.once('message', (answer) => {
      child.off('exit', onExit);
      answered(answer);
    });
  });
}
