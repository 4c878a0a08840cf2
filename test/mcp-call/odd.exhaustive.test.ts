import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpLimits } from '../../src/limits.ts';
import { calledName } from '../../src/mcp-call/name.ts';
import type { Refusal } from '../../src/refusal.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned, writeServers } from './servers.ts';

const LONG = { timeout: 90_000 };

async function odd(mode = 'plain', more: object = {}) {
  const p = await mcpProject({ odd: { script: SERVERS.odd, args: [mode, '{files}/log'], more } });
  const log = join(p.files, 'log');
  const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  const propose = (how: string) =>
    p.keyturn.intents.propose({
      declared_goal: 'act',
      effect: { kind: 'mcp', server: 'odd', tool: 'act', arguments: { how } },
    });
  const run = async (how: string) => turned(p, (await propose(how)).intent_id);
  return { p, calls, propose, run };
}

describe('the reference servers', () => {
  it('are looked at and accepted, each with all its tools', LONG, async () => {
    const p = await mcpProject({
      everything: { script: SERVERS.everything },
      memory: { script: SERVERS.memory, more: { env: { MEMORY_FILE_PATH: '{files}/memory.jsonl' } } },
    });
    for (const server of ['everything', 'memory']) await accepted(p.keyturn, server, p.ada);
    const { tools } = await p.keyturn.mcp.tools();
    expect(tools.map(({ called }) => called)).toEqual(
      expect.arrayContaining(['everything__echo', 'memory__read_graph']),
    );
  });
});

describe('an MCP server that misbehaves', () => {
  it('when it dies in a call leaves it in doubt, and is never asked again', LONG, async () => {
    const { p, calls, propose } = await odd();
    await accepted(p.keyturn, 'odd', p.ada);
    const { intent_id, hash } = await propose('die');
    expect(await turned(p, intent_id)).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
    expect(calls()).toEqual(['die']);
    await expectRefusal('RUN_PARTIAL', () => p.keyturn.runs.look({ intent_id, hash }));
    expect(calls()).toEqual(['die']);
  });

  it('is started again for another call, after it died', LONG, async () => {
    const { p, calls, run } = await odd();
    await accepted(p.keyturn, 'odd', p.ada);
    expect(await run('then-die')).toMatchObject({ result: 'success' });
    expect(await run('die')).toMatchObject({ result: 'partial' });
    expect(await run('plain')).toMatchObject({ result: 'success' });
    expect(calls()).toEqual(['then-die', 'die', 'plain']);
  });

  it(
    'that starts and dies at its list is started again after a pause, which doubles until it answers',
    LONG,
    async () => {
      const { p, propose } = await odd('dies-at-list');
      await accepted(p.keyturn, 'odd', p.ada);
      const { intent_id, hash } = await propose('plain');
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
      const look = () => p.keyturn.runs.look({ intent_id, hash });
      const starts = () =>
        readFileSync(join(p.files, 'log.starts'), 'utf8').trim().split('\n').slice(1).map(Number);
      writeFileSync(join(p.files, 'log.die'), '');
      for (let n = 0; n < 5; n += 1) await expectRefusal('MCP_SERVER_DOWN', look);
      expect(starts()).toHaveLength(1);
      await until(async () => {
        await expectRefusal('MCP_SERVER_DOWN', look);
        return starts().length === 4;
      });
      const [first, second, third, fourth] = starts() as [number, number, number, number];
      // The time from one start to the next holds the pause and more.
      const { backoff_ms } = mcpLimits;
      expect(second - first).toBeGreaterThanOrEqual(backoff_ms);
      expect(third - second).toBeGreaterThanOrEqual(2 * backoff_ms);
      expect(fourth - third).toBeGreaterThanOrEqual(4 * backoff_ms);
      // An answer ends that: the next failure is the first again.
      rmSync(join(p.files, 'log.die'));
      await until(() =>
        look().then(
          () => true,
          () => false,
        ),
      );
      expect(starts()).toHaveLength(5);
      writeFileSync(join(p.files, 'log.die'), '');
      await expectRefusal('MCP_SERVER_DOWN', look);
      expect(starts()).toHaveLength(6);
      const since_ms = performance.now();
      await until(async () => {
        await expectRefusal('MCP_SERVER_DOWN', look);
        return starts().length === 7;
      });
      expect(performance.now() - since_ms).toBeLessThan(8 * backoff_ms);
    },
  );

  it('logs to its standard output for as long as it lives, and is ended only in a flood', LONG, async () => {
    const { p, calls, run } = await odd('counted');
    await accepted(p.keyturn, 'odd', p.ada);
    const starts = () => readFileSync(join(p.files, 'log.starts'), 'utf8').length;
    await run('plain');
    const before = starts();
    // Each has 700 lines that are no messages; the fourth has as many again after its answer.
    for (const how of ['logs 1', 'logs 2', 'logs 3', 'logs-later'])
      expect(await run(how), how).toMatchObject({ result: 'success' });
    await until(() => existsSync(join(p.files, 'log.logged')));
    expect(await run('logs 4')).toMatchObject({ result: 'success' });
    expect(starts()).toBe(before);
    expect(await run('flood')).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
    expect(calls().filter((how) => how === 'flood')).toHaveLength(1);
  });

  it(
    'hangs, answers twice, for another id, with an error, too much, or what nobody knows',
    LONG,
    async () => {
      const { p, calls, run } = await odd('garbage', { timeout_s: 2 });
      await accepted(p.keyturn, 'odd', p.ada);
      const said = async (how: string) => {
        const { intent_id, ...ran } = await run(how);
        expect(ran, how).toMatchObject({ result: 'success' });
        const { run: ended } = await p.keyturn.intents.result({ intent_id });
        return JSON.parse((ended!.output as { stdout: string }).stdout).content[0].text;
      };
      // The first answer counts, and the second one is not that of the next call.
      expect(await said('twice')).toBe('first');
      expect(await said('plain')).toBe('did plain');
      expect(await run('other-id')).toMatchObject({ result: 'success' });
      expect(await run('error')).toMatchObject({ result: 'failure', reason_code: 'MCP_CALL_REFUSED' });
      expect(await run('fails')).toMatchObject({ result: 'failure', reason_code: 'MCP_TOOL_FAILED' });
      expect(await run('large')).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_TOO_LARGE' });
      expect(await run('huge')).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_TOO_LARGE' });
      const { intent_id } = await run('unknown');
      const { run: ran } = await p.keyturn.intents.result({ intent_id });
      expect(JSON.parse((ran!.output as { stdout: string }).stdout)).toEqual({
        content: [{ type: 'hologram', data: [1, 2] }],
        structuredContent: { a: 1 },
        extra: { b: 2 },
      });
      expect(await run('hang')).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_TIMED_OUT' });
      expect(new Set(calls()).size).toBe(calls().length);
    },
  );

  it(
    'that dies at its start is told of with its last lines, bounded, to the person who looks',
    LONG,
    async () => {
      const { p } = await odd('dies-at-start');
      const error = await p.keyturn.host.lookAtServer('odd').catch((thrown: Refusal) => thrown);
      const said = String((error as Refusal).facts.said).split('\n');
      expect(said).toHaveLength(10);
      expect(said[0]).toBe('line 20 xxx');
      expect(said.at(-1)).toHaveLength(300);
    },
  );

  it('is refused where it cannot be started, or its list has no end or no sense', LONG, async () => {
    for (const [mode, code] of [
      ['dies-at-start', 'MCP_SERVER_DOWN'],
      ['flood', 'MCP_SERVER_DOWN'],
      ['endless', 'MCP_LIST_TOO_LONG'],
      ['many', 'MCP_LIST_TOO_LONG'],
      ['twice', 'MCP_DEFINITION_MALFORMED'],
      ['nameless', 'MCP_DEFINITION_MALFORMED'],
    ] as const) {
      const { p } = await odd(mode);
      await expectRefusal(code, () => p.keyturn.host.lookAtServer('odd'));
    }
  });

  it(
    'that changes a definition after it was accepted is refused until a human accepts the difference',
    LONG,
    async () => {
      const { p, calls, propose } = await odd('changes');
      await accepted(p.keyturn, 'odd', p.ada);
      const { intent_id, hash } = await propose('plain');
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
      // Within one process of the server: its first list is as accepted, and every later one is not.
      await p.keyturn.runs.look({ intent_id, hash });
      await expectRefusal('MCP_DEFINITION_CHANGED', () => p.keyturn.runs.look({ intent_id, hash }));
      expect(calls()).toEqual([]);
    },
  );

  it('starts nothing that differs from what was accepted', LONG, async () => {
    const { p, propose, calls } = await odd();
    await expectRefusal('MCP_SERVER_UNACCEPTED', () => propose('plain'));
    await accepted(p.keyturn, 'odd', p.ada);
    const { intent_id, hash } = await propose('plain');
    writeServers(p.root, { odd: { script: SERVERS.odd, args: ['stateless', '{files}/log'] } }, p.files);
    await expectRefusal('MCP_SERVER_CHANGED', () => propose('other'));
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada }).catch(() => {});
    await expectRefusal('MCP_SERVER_CHANGED', () => turned(p, intent_id));
    expect((await p.keyturn.mcp.servers()).servers).toMatchObject([{ server: 'odd', status: 'changed' }]);
    const { changes, replaces } = await p.keyturn.host.lookAtServer('odd');
    expect(changes.map(({ what }) => what)).toEqual(['how it is started']);
    expect(replaces).not.toBeNull();
    await accepted(p.keyturn, 'odd', p.ada);
    expect((await turned(p, (await propose('new')).intent_id)).result).toBe('success');
    await p.keyturn.mcp.remove({ server: 'odd', reason: 'enough', signer: p.ada });
    await expectRefusal('MCP_SERVER_UNACCEPTED', () => propose('late'));
    expect(calls()).toEqual(['new']);
    await expectRefusal('MCP_SERVER_UNKNOWN', () => p.keyturn.host.lookAtServer('nobody'));
  });

  it(
    'cannot hide behind names: each tool has one of its own, and its words are marked as its own',
    LONG,
    async () => {
      const { p } = await odd('odd-names');
      const looked = await p.keyturn.host.lookAtServer('odd');
      const called = looked.accepted.tools.map(({ name }) => calledName('odd', name));
      expect(new Set(called).size).toBe(5);
      for (const name of called) expect(name).toMatch(/^odd__[A-Za-z0-9_-]{1,59}$/);
      expect(looked.shown.blocks.every(({ from }) => from === 'server')).toBe(true);
      const texts = looked.shown.blocks.flatMap(({ title, lines }) => [
        ...title.map(({ text }) => text),
        ...lines,
      ]);
      expect(texts.join('')).not.toContain('\u001b');
      await p.keyturn.mcp.accept({ looked, reason: 'read', signer: p.ada });
      await expectRefusal('MCP_TOOL_UNKNOWN', () =>
        p.keyturn.intents.propose({
          declared_goal: 'x',
          effect: { kind: 'mcp', server: 'odd', tool: 'other', arguments: {} },
        }),
      );
    },
  );
});
