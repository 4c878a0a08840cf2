import { describe, expect, it } from 'vitest';
import { project, TOOLS } from '../support/project.ts';
import { enrolled, gate, textOf } from './stage.ts';

const LONG = { timeout: 90_000 };
const ASK = { name: 'keyturn_ask', arguments: { words: 'say hello' } };

describe('keyturn_ask', () => {
  it('is offered to a human, and to no agent, whom the agent core refuses', LONG, async () => {
    const p = await project(TOOLS);
    await enrolled(p);
    const offered = async (as: string) => {
      const { client } = await gate(p, { as });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      return { is_listed: names.includes(ASK.name), told: textOf(await client.callTool(ASK)) };
    };
    const agent = await offered('scout');
    expect(agent.is_listed).toBe(false);
    expect(agent.told).toContain('NOT_FOR_AGENTS');
    const user = await offered('ada');
    expect(user.is_listed).toBe(true);
    expect(user.told).not.toMatch(/NOT_FOR_AGENTS|USER_IS_AGENT/);
  });
});
