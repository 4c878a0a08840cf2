import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json } from '../../src/canonical/json.ts';
import { textOf } from '../mcp/stage.ts';
import { serving, withToken } from '../serve/service.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, SERVERS, turned } from './servers.ts';
import { strictServer } from './strict-server.ts';
import { webServer } from './web-server.ts';

const LONG = { timeout: 90_000 };
const NEAR = { allow: ['127.0.0.0/8'] };

/** A project with the server `web` at a URL, and the secret KEY of the executor. */
async function reaching(entry: object): Promise<Project> {
  const p = await project(TOOLS);
  configure(p, entry);
  const file = join(p.root, '.keyturn', 'executor.yaml');
  writeFileSync(join(p.root, 'key.txt'), 's3cret-of-the-executor\n');
  writeFileSync(file, `version: 1\nsecrets: { KEY: { file: ${join(p.root, 'key.txt')} } }\n`);
  chmodSync(file, 0o600);
  return p;
}

function configure({ root }: Project, entry: object): void {
  const path = join(root, 'keyturn.yaml');
  const before = readFileSync(path, 'utf8').replace(/\nmcp: .*\n/, '\n');
  writeFileSync(path, `${before.trimEnd()}\nmcp: ${JSON.stringify({ web: entry })}\n`);
}

const act = (p: Project, how: string) =>
  p.keyturn.intents.propose({
    declared_goal: 'act',
    effect: { kind: 'mcp', server: 'web', tool: 'act', arguments: { how } },
  });
const run = async (p: Project, how: string) => turned(p, (await act(p, how)).intent_id);

describe('an MCP server at a URL', () => {
  it(
    'is accepted with its URL, called once by an executor with its own secret, and recorded',
    LONG,
    async () => {
      const web = await webServer();
      const p = await reaching({ url: web.url, bearer: 'KEY', ...NEAR });
      await expectRefusal('MCP_SERVER_UNACCEPTED', () => act(p, 'x'));
      expect(web.asked).toEqual([]);
      const looked = await p.keyturn.host.lookAtServer('web');
      const texts = JSON.stringify(looked.shown);
      for (const words of [web.url, 'LEAVES THIS MACHINE', 'KEY']) expect(texts).toContain(words);
      expect(texts).not.toContain('s3cret');
      await p.keyturn.mcp.accept({ looked, reason: 'read', signer: p.ada });
      expect(await run(p, 'work')).toMatchObject({ result: 'success', tool: 'web__act' });
      expect(web.calls()).toEqual(['work']);
      expect(web.asked.at(-1)!.headers.authorization).toBe('Bearer s3cret-of-the-executor');
      // What the server repeats of the secret is recorded without it.
      const { intent_id } = await run(p, 'echo');
      const { run: ran } = await p.keyturn.intents.result({ intent_id });
      expect((ran!.output as { stdout: string }).stdout).toContain('[secret KEY]');
      expect((ran!.output as { stdout: string }).stdout).not.toContain('s3cret');
      await p.keyturn.ledger.verify({ deep: true });
    },
  );

  it('gets nothing of the token of the caller', LONG, async () => {
    const web = await webServer();
    const p = await reaching({ url: web.url, ...NEAR });
    await accepted(p.keyturn, 'web', p.ada);
    const { token } = await withToken(p, 'bot');
    const { address } = await serving(p, { most: 1 });
    const called = fetch(`${address}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'web__act', arguments: { how: 'work' }, _meta: { 'x-token': token } },
      }),
    });
    const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
    const { intent_id } = (await waiting())[0]!;
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    const { result } = (await (await called).json()) as { result: object };
    expect(textOf(result)).toBe('did work');
    expect(JSON.stringify(web.asked)).not.toContain(token);
  });

  it(
    'that breaks off, moves, stays silent or says too much leaves the call in doubt, sent once',
    LONG,
    async () => {
      const web = await webServer();
      const p = await reaching({ url: web.url, ...NEAR });
      await accepted(p.keyturn, 'web', p.ada);
      for (const how of ['dies', 'moved', 'silent'])
        expect(await run(p, how)).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
      expect(await run(p, 'huge')).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_TOO_LARGE' });
      for (const how of ['deep as JSON', 'deep as events'])
        expect(await run(p, how)).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_MALFORMED' });
      // A session that the server forgot is opened anew, before anything is sent.
      web.endSessions();
      expect(await run(p, 'work')).toMatchObject({ result: 'success' });
      expect(web.calls()).toEqual([
        ...['dies', 'moved', 'silent', 'huge', 'deep as JSON', 'deep as events', 'work'],
      ]);
    },
  );

  it(
    'is refused at another address than the one that was accepted, and where it is not public',
    LONG,
    async () => {
      const web = await webServer();
      const p = await reaching({ url: web.url });
      await expectRefusal('MCP_ADDRESS_DENIED', () => p.keyturn.host.lookAtServer('web'));
      configure(p, { url: 'https://localhost:1/mcp' });
      await expectRefusal('MCP_SERVER_DOWN', () => p.keyturn.host.lookAtServer('web'));
      configure(p, { url: web.url, ...NEAR });
      await accepted(p.keyturn, 'web', p.ada);
      configure(p, { url: `${web.url}/other`, ...NEAR });
      await expectRefusal('MCP_SERVER_CHANGED', () => act(p, 'x'));
      expect((await p.keyturn.host.lookAtServer('web')).changes.map(({ what }) => what)).toEqual([
        'how it is reached',
      ]);
      for (const bad of [
        { url: 'ftp://x/' },
        { url: web.url, headers: { host: 'x' } },
        { url: web.url, args: [] },
      ]) {
        configure(p, bad);
        await expectRefusal('SHAPE_INVALID', () => act(p, 'x'));
      }
      expect(web.calls()).toEqual([]);
    },
  );

  it(
    'of the stateless protocol gets every header that it asks for, with what the message says, and no other',
    LONG,
    async () => {
      const strict = await strictServer();
      const p = await reaching({ url: strict.url, ...NEAR });
      await accepted(p.keyturn, 'web', p.ada);
      const call = async (values: Record<string, Json>) => {
        const effect = { kind: 'mcp' as const, server: 'web', tool: 'región', arguments: values };
        const { intent_id } = await p.keyturn.intents.propose({ declared_goal: 'act', effect });
        return turned(p, intent_id);
      };
      const all = [
        { plain: 'x' },
        { region: 'eu', dry: false, count: 7, where: { zone: 'a' }, plain: 'not in a header' },
        { region: 'münchen\r\nx-evil: 1', dry: true, count: 0, where: { zone: '' } },
        { region: ' =?base64?eA==?= ', dry: null, where: {} },
      ];
      for (const values of all) expect(await call(values)).toMatchObject({ result: 'success' });
      expect(strict.calls.map(({ values }) => values)).toEqual(all);
      expect(JSON.stringify(strict.calls.map(({ headers }) => headers))).not.toMatch(/evil|not in a header/);
    },
  );

  it('is the reference server over HTTP, with all its tools', LONG, async () => {
    const port = await freePort();
    const child = spawn(process.execPath, [SERVERS.everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await new Promise((done) =>
      child.stderr.on('data', (chunk) => /listening/i.test(String(chunk)) && done(0)),
    );
    const p = await reaching({ url: `http://127.0.0.1:${port}/mcp`, ...NEAR });
    await accepted(p.keyturn, 'web', p.ada);
    const { intent_id } = await p.keyturn.intents.propose({
      declared_goal: 'echo',
      effect: { kind: 'mcp', server: 'web', tool: 'echo', arguments: { message: 'hello' } },
    });
    expect(await turned(p, intent_id)).toMatchObject({ result: 'success' });
    const { run: ran } = await p.keyturn.intents.result({ intent_id });
    expect((ran!.output as { stdout: string }).stdout).toContain('Echo: hello');
  });
});

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
