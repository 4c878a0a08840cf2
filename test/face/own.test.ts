import { expect, it } from 'vitest';
import { agent, authority, human } from '../journey/authority.ts';
import { proposeAll, requireNothingOfOthers } from './own.ts';

it('no answer to an agent tells an id, a goal or an argument of another proposer', () =>
  requireNothingOfOthers(['scout', 'ben', 'probe', 'scout']));

it('the pages of an agent have as many intents as it proposed, whatever others did', async () => {
  const p = await authority();
  await agent(p, 'scout');
  await human(p, 'ben');
  const all = await proposeAll(p, ['ben', 'scout', 'ben', 'ben', 'scout', 'scout', 'ben']);
  const { intents } = p.keyturn.as({ name: 'scout' });
  const found: string[] = [];
  let cursor: string | null | undefined;
  for (let pages = 1; cursor !== null; pages++) {
    const page = await intents.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
    found.push(...page.intents.map(({ intent_id }) => intent_id));
    cursor = page.next;
    expect(pages).toBeLessThanOrEqual(2);
  }
  const own = all.filter(({ proposer }) => proposer === 'scout').map(({ intent_id }) => intent_id);
  expect(found).toEqual(own.reverse());
});
