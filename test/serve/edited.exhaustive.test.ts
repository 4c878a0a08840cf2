import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accepted } from '../mcp-call/servers.ts';
import { webServer } from '../mcp-call/web-server.ts';
import { until } from '../support/processes.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { serveProcess } from './serve-process.ts';
import { call, SAY, withToken } from './service.ts';

const LONG = { timeout: 120_000 };
const NEAR = { allow: ['127.0.0.0/8'] };

/** With all that it says. */
async function served(p: Project) {
  const s = await serveProcess(p);
  return { ...s, said: () => `${s.stdout()}${s.stderr()}` };
}

/** Puts this line in the place of the one that has its name. */
function configure({ root }: Project, name: string, value: string): void {
  const path = join(root, 'keyturn.yaml');
  const others = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith(`${name}:`));
  writeFileSync(path, `${others.join('\n').trimEnd()}\n${name}: ${value}\n`);
}

/** A server that is no store: it counts who connects, and hangs up. */
async function listener() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** Proposed over HTTP, turned by a human, and what became of it. */
async function ran(p: Project, at: { address: string }, token: string, effect: object) {
  const asked = { declared_goal: 'Do it.', effect };
  const { intent_id, hash } = (await call(at, '/v1/intents/propose', asked, { token })).body;
  return turned(p, { intent_id, hash });
}

async function turned({ keyturn, ada }: Project, intent: { intent_id: string; hash: string }) {
  await keyturn.intents.turn({ ...intent, signer: ada });
  return keyturn.intents.waitFor({ intent_id: intent.intent_id });
}

describe('keyturn.yaml that is edited while keyturn serve runs', () => {
  it(
    'with another URL of an accepted MCP server: nothing is sent there, and nothing to the old one',
    LONG,
    async () => {
      const [near, other] = [await webServer(), await webServer()];
      const p = await project(TOOLS);
      const at = (url: string) => configure(p, 'mcp', JSON.stringify({ web: { url, ...NEAR } }));
      at(near.url);
      await accepted(p.keyturn, 'web', p.ada);
      const { token } = await withToken(p, 'bot');
      const s = await served(p);
      const act = (how: string) => ({ kind: 'mcp', server: 'web', tool: 'act', arguments: { how } });
      const tools = async () => (await call(s, '/v1/mcp/tools', {}, { token })).body.tools.length;
      // Its connection is open, and one more call waits for a human.
      expect((await ran(p, s, token, act('first'))).status).toBe('succeeded');
      expect(await tools()).toBe(1);
      const asked = { declared_goal: 'Do it.', effect: act('second') };
      const waits = (await call(s, '/v1/intents/propose', asked, { token })).body;

      at(other.url);
      expect(await tools()).toBe(0);
      const late = await call(s, '/v1/intents/propose', { ...asked, effect: act('third') }, { token });
      expect(late.body.code).toBe('MCP_SERVER_CHANGED');
      const { intent_id, hash } = waits;
      const turn = () => p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
      await expectRefusal('MCP_SERVER_CHANGED', turn);
      expect(near.calls()).toEqual(['first']);

      at(near.url);
      expect(await tools()).toBe(1);
      expect((await ran(p, s, token, act('fourth'))).status).toBe('succeeded');

      // Ordered as it was accepted, and edited before an executor took it.
      s.child.kill('SIGTERM');
      await once(s.child, 'exit');
      await turn();
      at(other.url);
      const again = await served(p);
      await until(() => again.said().includes(intent_id));
      expect(again.said()).toMatch(new RegExp(`^${intent_id} .* refused +MCP_SERVER_CHANGED$`, 'm'));
      expect((await p.keyturn.intents.get({ intent_id })).runs).toEqual([]);
      expect(near.calls()).toEqual(['first', 'fourth']);
      expect(other.asked).toEqual([]);
    },
  );

  it('with another store: the service goes on with its own, and a new start is refused', LONG, async () => {
    const p = await project(TOOLS);
    const { token } = await withToken(p, 'bot');
    const s = await served(p);
    const trap = await listener();
    configure(p, 'store', `postgres://keyturn:secret@127.0.0.1:${trap.port}/keyturn`);
    expect((await ran(p, s, token, SAY.effect)).status).toBe('succeeded');
    expect((await fetch(`${s.address}/readyz`)).status).toBe(200);
    expect(trap.connections()).toBe(0);
    s.child.kill('SIGTERM');
    expect((await once(s.child, 'exit'))[0]).toBe(0);
    expect(trap.connections()).toBe(0);
    const again = await served(p);
    expect(again.said()).toContain('"code":"STORE_ELSEWHERE"');
    expect(again.said()).not.toContain('secret');
    expect(again.address).toBe('');
    expect(trap.connections()).toBe(0);
  });
});
