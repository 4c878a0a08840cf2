import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agent, PERMITS, policy, rules } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';
import { accepted, mcpProject, SERVERS, turned } from './servers.ts';

const LONG = { timeout: 120_000 };
const MINUTE_ms = 60_000;

async function odd(mode = 'plain', clock?: () => Date) {
  const p = await mcpProject({ odd: { script: SERVERS.odd, args: [mode, '{files}/log'] } }, clock);
  await accepted(p.keyturn, 'odd', p.ada);
  const log = join(p.files, 'log');
  const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  const effect = (how: string) => ({
    ...{ kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: { how } },
  });
  const propose = (how: string) => p.keyturn.intents.propose({ declared_goal: 'act', effect: effect(how) });
  return { p, calls, effect, propose };
}

describe('a policy on calls of MCP tools', () => {
  it('reads the server, the tool and what the server claims', LONG, async () => {
    const { p, propose } = await odd('claims');
    const order = async (how: string) => {
      const { intent_id, hash } = await propose(how);
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    };
    const forbid = (when: string) =>
      rules(
        p,
        `${PERMITS}\n${policy('no', 'capability', `forbid (principal, action, resource is Keyturn::McpTool) when { ${when} };`)}`,
      );
    const cases = [
      ['context.server == "odd"', 'context.server == "another"'],
      ['context.tool == "act"', 'context.tool == "odd__act"'],
      [
        'context.server_claims.contains("destructive")',
        'context.server_claims.contains("read_only") || context.server_claims.contains("idempotent")',
      ],
    ] as const;
    for (const [n, [true_of_it, false_of_it]] of cases.entries()) {
      await forbid(true_of_it);
      await expectRefusal('POLICY_DENIED', () => order(`no ${n}`));
      await forbid(false_of_it);
      await order(`yes ${n}`);
    }
  });

  it('reads the arguments, by the name of the gate', LONG, async () => {
    const { p, propose } = await odd();
    const text = [
      '@id("args") @version("1") @scope("capability") @rationale("x") @arguments("odd__act.how: string")',
      'forbid (principal, action, resource)',
      'when { context.arguments has odd__act && context.arguments.odd__act.how like "*.env" };',
    ];
    await rules(p, [PERMITS, ...text].join('\n'));
    const order = async (how: string) => {
      const { intent_id, hash } = await propose(how);
      await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
      await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    };
    await expectRefusal('POLICY_DENIED', () => order('x.env'));
    await order('x.txt');
  });
});

describe('a definition that changes between the claim and the sending', () => {
  it('is an outcome of the run, and nothing was sent', LONG, async () => {
    const { p, calls, propose } = await odd('changes-late');
    const { intent_id } = await propose('late');
    expect(await turned(p, intent_id)).toMatchObject({
      ...{ result: 'failure', reason_code: 'MCP_DEFINITION_CHANGED' },
    });
    expect(calls()).toEqual([]);
    const { runs } = await p.keyturn.intents.get({ intent_id });
    expect(runs).toMatchObject([{ result: 'failure' }]);
  });
});

describe('the time of a call', () => {
  it(
    'is ten minutes in which its end is told again; after that the same call is another one',
    LONG,
    async () => {
      let now_ms = Date.now();
      const { p, calls, effect } = await odd('plain', () => new Date(now_ms));
      const signer = await agent(p, 'scout');
      const call = (how: string) =>
        p.keyturn.mcp.call({ issuer: 'scout', signer, declared_goal: 'act', effect: effect(how) });
      const { intent_id } = await call('a');
      await turned(p, intent_id);
      now_ms += 9 * MINUTE_ms + 50_000;
      expect(await call('a')).toMatchObject({ intent_id, how: 'again' });
      now_ms += 11_000;
      const next = await call('a');
      expect(next.how).toBe('proposed');
      expect(next.intent_id).not.toBe(intent_id);
      expect(calls()).toEqual(['a']);
    },
  );
});
