import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned } from './servers.ts';

const FILES = { fs: { script: SERVERS.filesystem, args: ['{files}'] } };

describe('a call to a gated MCP server', () => {
  it('is proposed, approved, sent once and recorded', { timeout: 60_000 }, async () => {
    const p = await mcpProject(FILES);
    const effect = {
      kind: 'mcp' as const,
      server: 'fs',
      tool: 'write_file',
      arguments: { path: join(p.files, 'a.txt'), content: 'hello\nworld\n' },
    };
    await expectRefusal('MCP_SERVER_UNACCEPTED', () =>
      p.keyturn.intents.propose({ declared_goal: 'write', effect }),
    );
    await accepted(p.keyturn, 'fs', p.ada);
    const { intent_id } = await p.keyturn.intents.propose({ declared_goal: 'write', effect });
    expect(() => readFileSync(join(p.files, 'a.txt'))).toThrow();
    const report = await turned(p, intent_id);
    expect(report).toMatchObject({ result: 'success', tool: 'fs__write_file' });
    expect(readFileSync(join(p.files, 'a.txt'), 'utf8')).toBe('hello\nworld\n');
    const { run } = await p.keyturn.intents.result({ intent_id });
    expect(JSON.parse((run!.output as { stdout: string }).stdout)).toMatchObject({
      content: [{ type: 'text' }],
    });
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(5);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });
});
