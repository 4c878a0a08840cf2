import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { intentIdOfKey } from '../../src/intent/repeat.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, proposeSay } from './authority.ts';

const CALL = {
  declared_goal: 'Say a word',
  effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'mine' } },
};

async function agents(): Promise<Project> {
  const p = await authority();
  for (const name of ['bot', 'scout'])
    await p.keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: p.ada });
  return p;
}

/** What bot's intent under this key is called, as every caller can compute it. */
const idOf = ({ keyturn: { host } }: Project, key: string) =>
  intentIdOfKey({ origin: host.origin, proposer: 'bot', key });

/** What scout wants, under an id that bot's call would have. */
async function taken(p: Project, intent_id: string) {
  const effect = { ...CALL.effect, arguments: { word: 'theirs' } };
  await proposeSay(p, { intent_id, issuer: 'scout', effect } as never);
}

describe('an intent of another agent', () => {
  it('under the id of a call is passed over: the call gets an intent of its own', async () => {
    const p = await agents();
    const asked = { effect: CALL.effect, issuer: 'bot', is_signed: false, goal: CALL.declared_goal };
    const call = sha256(canonicalBytes({ format: 'keyturn-call/1', ...asked }));
    const first = idOf(p, sha256(`${call} first`));
    await taken(p, first);
    const begun = await p.keyturn.mcp.call({ ...CALL, issuer: 'bot' });
    expect(begun).toMatchObject({ how: 'proposed' });
    expect(begun.intent_id).not.toBe(first);
    const again = await p.keyturn.mcp.call({ ...CALL, issuer: 'bot' });
    expect(again).toMatchObject({ how: 'same', intent_id: begun.intent_id });
    expect((await p.keyturn.intents.get({ intent_id: begun.intent_id })).proposer).toBe('bot');
  });

  it('under the id of the answer to a question is not taken for that answer', async () => {
    const p = await agents();
    const { intent_id } = await p.keyturn.mcp.call({ ...CALL, issuer: 'bot' });
    await taken(p, idOf(p, `answer to ${intent_id}`));
    await expectRefusal('INTENT_EXISTS', () =>
      p.keyturn.mcp.call({ ...CALL, issuer: 'bot', answers: intent_id }),
    );
  });
});
