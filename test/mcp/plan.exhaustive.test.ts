import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create, planOf } from '../journey/plan-story.ts';
import { turned } from '../mcp-call/servers.ts';
import { project, TOOLS } from '../support/project.ts';
import { type Era, enrolled, gate, idOf, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };

describe.each(['legacy', '2026-07-28'] as const satisfies readonly Era[])('a plan over MCP, %s', (era) => {
  it(
    'waits as one intent, runs all of it once a human turned the key, and tells its result',
    LONG,
    async () => {
      const p = await project(TOOLS);
      await enrolled(p);
      const { client } = await gate(p, { era });
      const plan = JSON.parse(planOf([create('a1', 'one.txt', 'one\n'), create('a2', 'two.txt', 'two\n')]));
      const call = { name: 'keyturn_plan', arguments: { goal: 'Two notes that belong together', plan } };
      const first = await client.callTool(call);
      expect(first.isError).toBe(true);
      expect(textOf(first)).toContain('NOT RUN yet');
      const id = idOf(first);
      expect(idOf(await client.callTool(call))).toBe(id);
      expect(await p.keyturn.intents.get({ intent_id: id })).toMatchObject({
        effect: 'plan',
        proposer: 'scout',
        proposer_verified: true,
      });
      const [listed] = (await p.keyturn.intents.list({})).intents;
      expect(listed).toMatchObject({ goal: 'Two notes that belong together' });
      expect(existsSync(join(p.root, 'one.txt'))).toBe(false);
      const waiting = client.callTool({ name: 'keyturn_wait', arguments: { id } });
      expect((await turned(p, id)).result).toBe('success');
      await waiting;
      const done = await client.callTool({ name: 'keyturn_wait', arguments: { id } });
      expect(done.isError ?? false).toBe(false);
      expect(readFileSync(join(p.root, 'two.txt'), 'utf8')).toBe('two\n');
      const status = await client.callTool({ name: 'keyturn_status', arguments: { id } });
      expect(textOf(status)).toBe(textOf(done));
    },
  );

  it('is not proposed where it is no plan, and the model reads why', LONG, async () => {
    const p = await project(TOOLS);
    await enrolled(p);
    const { client } = await gate(p, { era });
    const ask = async (values: object) =>
      client.callTool({ name: 'keyturn_plan', arguments: values as Record<string, unknown> });
    const outside = JSON.parse(planOf([create('a1', '../outside.txt')]));
    for (const [values, words] of [
      [{ goal: 'x', plan: {} }, 'NOT PROPOSED'],
      [{ goal: 'x', plan: 'text' }, 'MCP_MESSAGE_MALFORMED'],
      [{ plan: JSON.parse(planOf([create('a1', 'a.txt')])) }, 'MCP_MESSAGE_MALFORMED'],
      [{ goal: 'x', plan: outside }, 'NOT '],
    ] as const) {
      const told = await ask(values);
      expect(told.isError).toBe(true);
      expect(textOf(told)).toContain(words);
    }
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });
});
