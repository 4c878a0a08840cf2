import { onTestFinished } from 'vitest';
import { type Executed, Keyturn } from '../../src/keyturn.ts';
import type { Project } from '../support/project.ts';

/** An executor in an instance of its own, as another process would be one. */
export async function executorOf({ root }: Pick<Project, 'root'>, most = 2, told: Executed[] = []) {
  const keyturn = await Keyturn.open({ at: root });
  const stop = new AbortController();
  let ready = () => {};
  const is_ready = new Promise<void>((done) => {
    ready = done;
  });
  const done = keyturn.host.execute({
    signal: stop.signal,
    grace_ms: 100,
    most,
    tell: (one) => told.push(one),
    onReady: ready,
  });
  const end = async () => {
    stop.abort();
    await done.catch(() => {});
    await keyturn.close();
  };
  onTestFinished(end);
  await Promise.race([is_ready, done]);
  return { told, end };
}
