import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { waitOf } from '../../src/serve/wait.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('a wait over HTTP ends in time, also where memory was collected meanwhile', {
  timeout: 20_000,
}, async () => {
  const request = new Request('http://localhost/', { headers: { prefer: 'wait=1' } });
  const wait = waitOf(request, new AbortController().signal);
  const ended = new Promise((done) => wait.signal.addEventListener('abort', done));
  // In a later turn: what a turn has made is not collected before its end.
  for (let i = 0; i < 3; i++) {
    await new Promise((turn) => setImmediate(turn));
    collect();
  }
  await ended;
  expect(wait.late.aborted).toBe(true);
});
