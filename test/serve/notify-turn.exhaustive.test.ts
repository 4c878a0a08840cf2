import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn, type ServiceState } from '../../src/keyturn.ts';
import { ownServiceState } from '../../src/project/service-state.ts';
import { keepNotifying } from '../../src/serve/notify/notifier.ts';
import { inTurn } from '../../src/serve/notify/turn.ts';
import { proposeSay } from '../journey/authority.ts';
import { type Shared, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';

const server = postgres();

/** A target that answers with the next of these statuses, and the ids that it heard. */
async function hooked({ root }: Shared, ...statuses: number[]): Promise<string[]> {
  const heard: string[] = [];
  const hook = createServer((request, response) => {
    const status = statuses[Math.min(heard.length, statuses.length - 1)]!;
    heard.push(String(request.headers['webhook-id']));
    request.resume();
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => hook.once('listening', done));
  onTestFinished(() => void hook.close());
  const { port } = hook.address() as { port: number };
  const secret = join(root, '.keyturn', 'hook.secret');
  writeFileSync(secret, `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
  const target = `{ webhook: "http://127.0.0.1:${port}/", secret: HOOK, allow: ["127.0.0.0/8"] }`;
  const text = `version: 1\nsecrets: { HOOK: { file: ${secret} } }\nnotify: { targets: { hook: ${target} } }\n`;
  writeFileSync(join(root, '.keyturn', 'executor.yaml'), text, { mode: 0o600 });
  const routes = '[{ to: hook, on: [waiting], tools: [say] }]';
  appendFileSync(join(root, 'keyturn.yaml'), `notify: { routes: ${routes} }\n`);
  return heard;
}

/** Notifies as a service does, until the test is over. */
async function notifying({ root }: Shared, delays_ms: readonly number[]): Promise<void> {
  const keyturn = await Keyturn.open({ at: root });
  const stopped = new AbortController();
  const address = 'http://localhost:7717';
  const given = { address, signal: stopped.signal, tell: () => {}, counted: () => {}, look_ms: 50 };
  const done = keepNotifying(keyturn, { ...given, delays_ms });
  onTestFinished(async () => {
    stopped.abort();
    await done;
    await keyturn.close();
  });
  await until(async () => (await keyturn.host.notifyPositions().get('hook')) !== null);
}

describe('a service that loses its turn to notify', () => {
  it('sends what it had not sent when it has the turn again', async () => {
    const p = await shared(server(), 'lost-turn');
    const heard = await hooked(p, 500, 200);
    await notifying(p, [600_000]);
    await proposeSay(p);
    await until(() => heard.length === 1);
    // Another holder, as if this service had been away for longer than its lease: within five seconds it asks, and finds that.
    const taken = `value = 'another', until = now() + interval '8 seconds'`;
    await server().sql(
      `UPDATE keyturn.service_state SET ${taken} WHERE kind = 'notify-turn' AND key = 'hook'`,
    );
    await until(() => heard.length === 2);
    expect(new Set(heard).size).toBe(1);
  });

  it('stops before another one can have it, also where the store does not answer', async () => {
    const state = ownServiceState();
    let asked = 0;
    const hanging: ServiceState = {
      ...state,
      lease: (...lease) => {
        asked += 1;
        return asked === 1 ? state.lease(...lease) : new Promise(() => {});
      },
    };
    const signal = new AbortController().signal;
    const turn = { state: hanging, name: 'hook', signal };
    await new Promise<void>((ended) => {
      void inTurn(turn, async (mine) => {
        await new Promise((done) => mine.addEventListener('abort', done));
        expect(await state.lease('notify-turn', 'hook', 'another', 1)).toBe(false);
        ended();
      });
    });
  });
});
