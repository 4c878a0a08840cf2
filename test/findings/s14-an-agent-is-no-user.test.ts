import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { agentPlace, askedFor, named, writtenIn, yes } from '../agent/agent-place.ts';
import { delayed } from '../agent/by-hand.ts';
import { PERMITS, policy, rules } from '../journey/authority.ts';
import { PASSPHRASE } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

/** Only a human asks and says yes. An agent that could do both would need no human at all. */

const place = agentPlace();
const NOTE = (value: string) => `append a notebook line "${value}"`;

async function agentNamed(name: string): Promise<void> {
  const { keyturn, ada } = place();
  await keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: ada });
}

describe('S14: an agent is no user', () => {
  it.each(['robot', 'agent-core'])('%s cannot ask, and nothing is recorded or done', async (name) => {
    const { keyturn, root } = place();
    if (name !== 'agent-core') await agentNamed(name);
    for (const utterance of [NOTE('mine'), 'greet everybody kindly', 'juggle zzyx pumpkins'])
      await expectRefusal('USER_IS_AGENT', () =>
        keyturn.conversations.ask({ user_id: name, utterance, correlation_id: `of-${name}` }),
      );
    await expectRefusal('AGENT_TRANSITION_ILLEGAL', () =>
      keyturn.conversations.status({ correlation_id: `of-${name}` }),
    );
    expect(writtenIn(root)).toEqual([]);
  });

  it('cannot answer, confirm, go on with or undo what was asked under its name before it was enrolled', async () => {
    const { keyturn, root } = place();
    await rules(place(), PERMITS);
    const user_id = 'scout';
    const asked = await keyturn.conversations.ask({ user_id, utterance: 'append a notebook line' });
    expect(asked.kind).toBe('CLARIFY');
    const prompt = await askedFor(keyturn, NOTE('before'), user_id);
    const done = await askedFor(keyturn, NOTE('done'), user_id);
    expect((await yes(keyturn, done, user_id)).kind).toBe('OUTCOME');
    await agentNamed(user_id);
    const { correlation_id } = prompt;
    await expectRefusal('USER_IS_AGENT', () => yes(keyturn, prompt, user_id));
    await expectRefusal('USER_IS_AGENT', () =>
      keyturn.conversations.answer({ correlation_id: asked.correlation_id, user_id, text: '"now"' }),
    );
    await expectRefusal('USER_IS_AGENT', () => keyturn.conversations.resume({ correlation_id, user_id }));
    await expectRefusal('USER_IS_AGENT', () =>
      keyturn.conversations.undo({ correlation_id: done.correlation_id, user_id }),
    );
    expect(writtenIn(root)).toEqual(['+ done']);
  });

  it('is looked at again in the transaction of the dispatch', async () => {
    const { keyturn, root } = place();
    await rules(place(), PERMITS);
    const prompt = await askedFor(keyturn, NOTE('late'), 'tinker');
    const late = () =>
      delayed(
        root,
        'intent.proposed',
        () => agentNamed('tinker'),
        (conversations) => conversations.confirm({ ...named(prompt), user_id: 'tinker', text: 'yes' }),
      );
    // The transaction refuses it, and it is decided again: the yes is recorded, and worth nothing.
    const answer = await late();
    expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' });
    const { correlation_id } = prompt;
    await keyturn.conversations.replay({ correlation_id });
    expect(writtenIn(root)).not.toContain('+ late');
  });

  it('does not dispatch when its own step is resumed by no one in particular', async () => {
    const { keyturn, root } = place();
    await rules(place(), PERMITS);
    const prompt = await askedFor(keyturn, NOTE('left'), 'drone');
    const { correlation_id, plan_id, step_id } = prompt;
    const other = await Keyturn.open({ at: root });
    await agentNamed('drone');
    await expectRefusal('USER_IS_AGENT', () =>
      other.conversations.confirm({ correlation_id, plan_id, step_id, user_id: 'drone', text: 'yes' }),
    );
    await other.close();
    expect((await keyturn.conversations.resume({ correlation_id })).kind).toBe('CONFIRM');
    expect(writtenIn(root)).not.toContain('+ left');
  });

  it('what is frozen by its name as an agent is not asked for by that name either', async () => {
    const { keyturn, root, ada } = place();
    await rules(place(), PERMITS);
    const prompt = await askedFor(keyturn, NOTE('frozen'), 'lurker');
    await keyturn.system.freeze({ scope: 'agent', name: 'lurker', reason: 'A test.', signer: ada });
    expect(await yes(keyturn, prompt, 'lurker')).toMatchObject({ kind: 'REFUSED', reason_code: 'FROZEN' });
    expect(writtenIn(root)).not.toContain('+ frozen');
    await keyturn.system.unfreeze({ scope: 'agent', name: 'lurker', reason: 'A test.', signer: ada });
  });

  it('policies see that a user is not proven', async () => {
    const { keyturn, ada } = place();
    const { public_key } = await keyturn.host.createKey('mia', PASSPHRASE);
    await keyturn.people.enrol({ name: 'mia', principal: 'human', public_key, signer: ada });
    const ask = () => keyturn.conversations.ask({ user_id: 'mia', utterance: 'greet everybody kindly' });
    expect((await ask()).kind).toBe('OUTCOME');
    const proven =
      'forbid (principal, action == Keyturn::Action::"access", resource) unless { context.user_verified };';
    await rules(place(), PERMITS + policy('proven-users', 'intent', proven));
    expect(await ask()).toMatchObject({ kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' });
  });
});
