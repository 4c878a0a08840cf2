import { describe, expect, it } from 'vitest';
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
  return { p, run };
}

const IN_DOUBT = { result: 'partial', reason_code: 'MCP_ANSWER_MALFORMED' };

describe('a message of a server that is nested too deep to be written again', () => {
  it('leaves the call in doubt where it is the answer', LONG, async () => {
    const { run } = await odd();
    for (const how of ['deep', 'deep-structured']) {
      const { said, ...ran } = await run(how);
      expect(ran, how).toMatchObject(IN_DOUBT);
      expect(said, how).toBe('');
    }
    expect((await run('plain')).said).toContain('did plain');
  });

  it('is no message where it is anything else, and ends nothing', LONG, async () => {
    const { run } = await odd();
    for (const how of ['deep-progress', 'deep-notice', 'deep-requests'])
      expect((await run(how)).said, how).toContain(`did ${how}`);
  });

  it('is taken where it is as deep as it may be', LONG, async () => {
    const { run } = await odd();
    expect(await run('nested')).toMatchObject({ result: 'success' });
  });
});

describe('a server that asks the gate', () => {
  it('on and on and does not read the answers is ended', LONG, async () => {
    const { run } = await odd({ timeout_s: 60 });
    const before = process.memoryUsage().rss;
    expect(await run('asks')).toMatchObject({ result: 'partial', reason_code: 'MCP_CALL_LOST' });
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    expect((await run('plain')).said).toContain('did plain');
  });

  it('is answered by an id that is a number or a short text, and by no other', LONG, async () => {
    const { run } = await odd({ timeout_s: 10 });
    const { content } = JSON.parse((await run('asks-oddly')).said);
    expect(JSON.parse(content[0].text.slice('did '.length))).toEqual([7, 'last']);
  });
});
