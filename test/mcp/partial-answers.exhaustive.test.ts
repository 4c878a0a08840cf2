import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { accepted, mcpProject, turned, writeServers } from '../mcp-call/servers.ts';
import { postgres } from '../store/postgres-place.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { gateProcess } from './process.ts';
import { enrolled, TASKS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };
const server = postgres();

const _meta = {
  ...TASKS_META,
  'io.modelcontextprotocol/clientCapabilities': {
    ...TASKS_META['io.modelcontextprotocol/clientCapabilities'],
    elicitation: {},
  },
};
const NAMED = { action: 'accept', content: { name: 'Ada-of-the-answers' } };
const RED = { action: 'accept', content: { color: 'red' } };
const ASKING = {
  odd: { script: resolve('test/mcp/conformance/fixture.mjs'), more: { pass: ['input'], cwd: '/' } },
};

/** Two places where a gate can be started; with one ledger in a file they are the same. */
const PLACES: Record<string, () => Promise<{ p: Project; roots: readonly string[] }>> = {
  'a file': async () => {
    const p = await mcpProject(ASKING);
    return { p, roots: [p.root, p.root] };
  },
  'PostgreSQL, and the other gate is on another host': async () => {
    const p = await shared(server(), `answers-${Math.random()}`);
    writeServers(p.root, ASKING, p.root);
    const other = await anotherHost(p);
    return { p, roots: [p.root, other.root] };
  },
};

async function asked({ p, roots }: Awaited<ReturnType<(typeof PLACES)[string]>>) {
  await accepted(p.keyturn, 'odd', p.ada);
  await enrolled(p);
  const open = (n: number) => {
    const gate = gateProcess(roots[n]!, 'scout');
    const ask = async (method: string, params: object) =>
      (await gate.ask(method, { ...params, _meta })).result;
    const get = (taskId: string) => ask('tasks/get', { taskId });
    const update = (taskId: string, inputResponses: object) =>
      ask('tasks/update', { taskId, inputResponses });
    return { ...gate, ask, get, update };
  };
  const first = open(0);
  const { taskId } = await first.ask('tools/call', { name: 'odd__multi_input', arguments: {} });
  await turned(p, taskId);
  const waiting = async () =>
    (await p.keyturn.intents.list({ status_word: 'waiting' })).intents.map(({ intent_id }) => intent_id);
  return { first, open, taskId: taskId as string, waiting };
}

describe.each(Object.entries(PLACES))(
  'what a client answered in part, with the ledger in %s',
  (where, place) => {
    it('outlives the gate and its client, and becomes one call with the rest', LONG, async () => {
      const { p, roots } = await place();
      const { first, open, taskId, waiting } = await asked({ p, roots });
      await first.update(taskId, { user_name: NAMED });
      await first.kill();
      const second = open(1);
      const task = await second.get(taskId);
      expect(task.status).toBe('input_required');
      expect(Object.keys(task.inputRequests)).toEqual(['color']);
      expect(await waiting()).toEqual([]);
      await second.update(taskId, { user_name: { action: 'decline' }, color: RED });
      const [answer] = await waiting();
      await second.kill();
      await turned(p, answer!);
      const done = await open(0).get(taskId);
      expect(textOf(done.result)).toBe('Hello, Ada-of-the-answers, in red!');
      // Nothing of it is left but the effect that a human approved, and no entry has it.
      const bot = p.keyturn.as({ name: 'scout' });
      expect((await bot.mcp.question({ intent_id: taskId })).call).toMatchObject({ partial: {} });
      for await (const { bytes } of entriesOf(p)) expect(bytes).not.toContain('Ada-of-the-answers');
      if (where === 'a file') expect(readdirSync(join(p.root, '.keyturn', 'mcp', 'answers'))).toEqual([]);
      expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(8);
    });

    it('is lost by neither of two gates that get an answer each at once', LONG, async () => {
      const { p, roots } = await place();
      const { first, open, taskId, waiting } = await asked({ p, roots });
      const second = open(1);
      await second.get(taskId);
      await Promise.all([first.update(taskId, { user_name: NAMED }), second.update(taskId, { color: RED })]);
      expect(await waiting()).toHaveLength(1);
    });
  },
);

/** The whole ledger, as text. */
async function* entriesOf({ keyturn }: Project) {
  const { size } = await keyturn.ledger.verify({});
  for await (const entry of keyturn.ledger.follow({
    from: 0,
    signal: AbortSignal.timeout(60_000),
  } as never)) {
    yield { bytes: JSON.stringify(entry) };
    if (entry.seq === size - 1) return;
  }
}

describe('what is kept of answers', () => {
  it('is of its proposer alone, is bounded, and is over after a day', LONG, async () => {
    const p = await mcpProject(ASKING);
    const { first, taskId } = await asked({ p, roots: [p.root, p.root] });
    await first.update(taskId, { user_name: NAMED });
    await p.keyturn.people.enrol({ name: 'spy', principal: 'agent', public_key: null, signer: p.ada });
    const spied = { intent_id: taskId, answers: { color: RED } };
    await expectRefusal('INTENT_NOT_FOUND', () => p.keyturn.as({ name: 'spy' }).mcp.keep(spied));
    const scout = p.keyturn.as({ name: 'scout' });
    const large = { action: 'accept', content: { color: 'x'.repeat(70_000) } };
    expect((await scout.mcp.keep({ intent_id: taskId, answers: { color: large } })).answers).toEqual({
      user_name: NAMED,
    });
    const folder = join(p.root, '.keyturn', 'mcp', 'answers');
    const [file] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, file!), 'utf8'))).toEqual({
      question: 'user_name',
      answer: NAMED,
    });
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(join(folder, file!), yesterday, yesterday);
    expect(Object.keys((await first.get(taskId)).inputRequests)).toEqual(['user_name', 'color']);
    await first.update(taskId, { color: RED });
    expect(existsSync(join(folder, file!))).toBe(false);
    // A file that was cut short, or is none of ours, is no answer.
    const [color] = readdirSync(folder);
    writeFileSync(join(folder, color!), '{"question":"col');
    writeFileSync(join(folder, 'other.txt'), 'x');
    expect(Object.keys((await first.get(taskId)).inputRequests)).toEqual(['user_name', 'color']);
  });

  it('and was answered whole before the gate died makes the call with any answer', LONG, async () => {
    const p = await mcpProject(ASKING);
    const { first, taskId, waiting } = await asked({ p, roots: [p.root, p.root] });
    const scout = p.keyturn.as({ name: 'scout' });
    await scout.mcp.keep({ intent_id: taskId, answers: { user_name: NAMED, color: RED } });
    expect(Object.keys((await first.get(taskId)).inputRequests)).toEqual(['user_name', 'color']);
    await first.update(taskId, { color: RED });
    expect(await waiting()).toHaveLength(1);
  });
});
