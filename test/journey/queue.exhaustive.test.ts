import { expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { racer } from '../support/racers.ts';
import { authority, call, granted } from './authority.ts';

it('a run is in doubt once its process was killed, and not before', async () => {
  const p = await authority();
  const { intent_id, hash } = await granted(p, call('wait', { seconds: 30 }));
  const other = racer(p.root, intent_id, hash);
  await other.ready;
  other.go();
  await until(async () => (await p.keyturn.intents.get({ intent_id })).status === 'claimed');
  const doubts = async () => (await p.keyturn.host.queue()).in_doubt;
  expect(await doubts()).toBe(0);
  other.child.kill('SIGKILL');
  await other.answer;
  // What its tool does until it is gone, too, is work.
  await until(async () => (await doubts()) === 1);
}, 60_000);
