import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned } from './servers.ts';

const LONG = { timeout: 120_000 };

async function odd(more: object = {}) {
  const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more } });
  await accepted(p.keyturn, 'odd', p.ada);
  const run = async (how: string) => {
    const effect = { kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: { how } };
    const { intent_id } = await p.keyturn.intents.propose({ declared_goal: 'act', effect });
    const report = await turned(p, intent_id);
    const { run: ran } = await p.keyturn.intents.result({ intent_id });
    return { ...report, said: (ran!.output as { stdout: string }).stdout };
  };
  const calls = () => readFileSync(join(p.files, 'log'), 'utf8').trim().split('\n');
  return { p, run, calls };
}

describe('a server whose message is no answer', () => {
  it(
    'leaves the call in doubt: with neither a result nor an error, with both, or of another shape',
    LONG,
    async () => {
      const { run, calls } = await odd();
      const none = ['neither', 'both', 'text-result', 'list-result', 'null-result', 'text-error'];
      for (const how of none)
        expect(await run(how), how).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_MALFORMED' });
      // A member that is null says nothing.
      const told = await run('null-error');
      expect(told).toMatchObject({ result: 'success' });
      expect(told.said).toContain('did null-error');
      expect(calls()).toEqual([...none, 'null-error']);
    },
  );

  it(
    'leaves it in doubt where it says that it is not done, or ended in a way that is not known, and keeps its words',
    LONG,
    async () => {
      const { p, run, calls } = await odd();
      const none = ['hologram', 'number-type', 'null-type', 'task-type', 'handshake-task', 'failed-hologram'];
      for (const how of none) {
        const { intent_id, said, ...ran } = await run(how);
        expect(ran, how).toMatchObject({ result: 'partial', reason_code: 'MCP_ANSWER_MALFORMED' });
        expect(said, how).toMatch(/did|t-1/);
        const { hash } = await p.keyturn.intents.get({ intent_id });
        await expectRefusal('RUN_PARTIAL', () => p.keyturn.runs.look({ intent_id, hash }));
      }
      // It asks for input first, so it did nothing.
      expect(await run('wants-input')).toMatchObject({ result: 'failure', reason_code: 'MCP_CALL_REFUSED' });
      expect(calls()).toEqual([...none, 'wants-input']);
    },
  );

  it(
    'is not heard where it answers the text of an id, or a request that was not sent yet',
    LONG,
    async () => {
      const { run } = await odd({ timeout_s: 2 });
      expect((await run('ahead')).said).toContain('did ahead');
      expect((await run('plain')).said).toContain('did plain');
      expect(await run('string-id')).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_TIMED_OUT' });
    },
  );
});

describe('a server that ends while it answers', () => {
  it('has its last whole line taken, and nothing that was cut short', LONG, async () => {
    const { run } = await odd();
    for (let n = 0; n < 5; n += 1) {
      const last = await run('last-words');
      expect(last).toMatchObject({ result: 'success' });
      expect(last.said).toContain('did last-words');
    }
    expect(await run('cut-short')).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
  });

  it('is not waited for where it closed its output, or a child of it holds that open', LONG, async () => {
    const { p, run } = await odd({ timeout_s: 60 });
    onTestFinished(() => {
      for (const pid of childrenIn(p.files)) process.kill(pid, 'SIGKILL');
    });
    const since_ms = performance.now();
    for (const how of ['closes-stdout', 'leaves-a-child'])
      expect(await run(how), how).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
    expect(performance.now() - since_ms).toBeLessThan(50_000);
    expect((await run('plain')).said).toContain('did plain');
  });
});

const childrenIn = (files: string) =>
  existsSync(join(files, 'log.children'))
    ? readFileSync(join(files, 'log.children'), 'utf8').trim().split('\n').map(Number)
    : [];

describe('bytes of a server', () => {
  it('are one message however they come, and mean nothing to the gate but what they say', LONG, async () => {
    const { run } = await odd();
    expect((await run('drips')).said).toContain('did drüps');
    expect((await run('no-text')).said).toContain('did no-text \ufffd');
    expect(await run('proto')).toMatchObject({ result: 'success' });
    expect(await run('odd-progress')).toMatchObject({ result: 'success' });
  });
});
