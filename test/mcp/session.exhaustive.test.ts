import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openStage, type Person, reached, type Stage } from '../console/stage.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { PASSPHRASE } from '../support/keys.ts';
import { inTerminal } from '../support/pty.ts';
import { enrolled, gate, idOf, textOf } from './stage.ts';

/** One session of an agent that edits files behind the gate, with all that people can say to it. */

const LONG = { timeout: 240_000 };
let stage: Stage;
let files: string;

beforeAll(async () => {
  stage = await openStage();
  files = join(stage.root, 'files');
  mkdirSync(files);
  writeServers(stage.root, { fs: { script: SERVERS.filesystem, args: ['{files}'] } }, files);
  await accepted(stage.keyturn, 'fs', stage.ada);
  await enrolled(stage);
}, 120_000);

afterAll(() => stage?.close());

const write = (name: string, content = name) => ({
  name: 'fs__write_file',
  arguments: { path: join(files, name), content },
});
const contents = (name: string) => readFileSync(join(files, name), 'utf8');

async function atTerminal(intent_id: string): Promise<void> {
  const session = inTerminal(['turn', intent_id, '--project', stage.root], { cwd: stage.root, rows: 500 });
  onTestFinished(() => session.kill());
  await session.expect('Turn the key? (y/n) ');
  session.type('y');
  await session.expect('Passphrase of ada: ');
  session.type(PASSPHRASE);
  expect(await session.exited).toBe(0);
}

async function inConsole({ page }: Person, intent_id: string): Promise<void> {
  await page.evaluate((id) => {
    location.hash = `/decide/${id}`;
  }, intent_id);
  await page.waitForSelector(`[data-intent="${intent_id}"]`);
  await reached({ page } as Person, 'ready');
  await page.keyboard.press('a');
  await reached({ page } as Person, 'done');
}

it(
  'an agent edits files: turned at a terminal, in the console, rejected, granted ten times, in doubt',
  LONG,
  async () => {
    const { client, transport } = await gate(stage);
    const asked = async (name: string) => {
      const told = await client.callTool(write(name));
      expect(textOf(told)).toContain('NOT RUN yet');
      return idOf(told);
    };
    const waited = async (id: string) =>
      textOf(await client.callTool({ name: 'keyturn_wait', arguments: { id } }));

    const typed = await asked('terminal.txt');
    await atTerminal(typed);
    expect(await waited(typed)).toContain('Successfully wrote');

    const ada = await stage.person();
    await stage.enrol(ada, 'ada');
    const touched = await asked('console.txt');
    await inConsole(ada, touched);
    expect(await waited(touched)).toContain('Successfully wrote');

    const rejected = await asked('rejected.txt');
    const { hash } = await stage.keyturn.intents.get({ intent_id: rejected });
    const no = { intent_id: rejected, hash, reason: 'That file is not yours.', signer: stage.ada };
    await stage.keyturn.intents.reject(no);
    expect(await waited(rejected)).toContain('That file is not yours.');

    const actions = ['mcp:fs:write_file', 'mcp:fs:read_text_file'];
    const grant = { delegate: 'scout', ttl_s: 1800, approves: true, reason: 'ten times', signer: stage.ada };
    await stage.keyturn.agents.delegate({ ...grant, actions: actions.slice(0, 1), grant: { uses: 10 } });
    for (let n = 1; n <= 10; n += 1)
      expect(textOf(await client.callTool(write(`${n}.txt`)))).toContain('Successfully wrote');
    expect(textOf(await client.callTool(write('11.txt')))).toContain('GRANT_SPENT');

    // A server that waits for a writer of a FIFO: the gate is killed while it does.
    execFileSync('mkfifo', [join(files, 'pipe')]);
    await stage.keyturn.agents.delegate({ ...grant, actions: actions.slice(1), grant: { uses: 1 } });
    const read = { name: 'fs__read_text_file', arguments: { path: join(files, 'pipe') } };
    client.callTool(read).catch(() => {});
    const claimed = async () => (await stage.keyturn.runs.list({ limit: 1 })).runs[0]!;
    await expect.poll(async () => (await claimed()).tool, { timeout: 60_000 }).toContain('read_text_file');
    const { intent_id: doubted } = await claimed();
    process.kill(transport.pid!, 'SIGKILL');
    const next = await gate(stage);
    await expect
      .poll(async () => textOf(await next.client.callTool(read)), { timeout: 60_000 })
      .toContain('IN DOUBT');

    expect(['terminal.txt', 'console.txt', '1.txt', '10.txt'].map(contents)).toEqual([
      'terminal.txt',
      'console.txt',
      '1.txt',
      '10.txt',
    ]);
    expect(['rejected.txt', '11.txt'].filter((name) => existsSync(join(files, name)))).toEqual([]);
    await toldByLedger({ typed, touched, rejected, doubted });
  },
);

async function toldByLedger(
  of: Readonly<Record<'typed' | 'touched' | 'rejected' | 'doubted', string>>,
): Promise<void> {
  const { keyturn } = stage;
  const kindsOf = async (intent_id: string) =>
    (await keyturn.intents.story({ intent_id })).story.map(({ kind }) => kind);
  for (const id of [of.typed, of.touched])
    expect(await kindsOf(id)).toEqual(
      expect.arrayContaining(['intent.proposed', 'order.given', 'execution.claimed', 'execution.finished']),
    );
  const assurance = async (intent_id: string) =>
    (await keyturn.intents.get({ intent_id })).approvals[0]?.assurance;
  expect([await assurance(of.typed), await assurance(of.touched)]).toEqual([
    'key_file',
    'device_bound_passkey',
  ]);
  expect(await kindsOf(of.rejected)).toEqual(['intent.proposed', 'approval.denied']);
  expect(await kindsOf(of.doubted)).not.toContain('execution.finished');
  expect((await keyturn.intents.get({ intent_id: of.doubted })).status_word).toBe('IN DOUBT');
  const { entries } = await keyturn.ledger.entries({ kind: 'intent.delegated', limit: 50 } as never);
  expect(entries.length).toBe(11);
  expect((await keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(60);
}
