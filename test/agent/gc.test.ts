import { expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';

const place = agentPlace();

it('what a conversation needs stays while a plan of it is open or can be undone; given up, its undo is refused', async () => {
  const { keyturn, ada } = place();
  const prompt = await askedFor(keyturn, 'append a notebook line "gc"');
  const { correlation_id } = prompt;
  const subject = `agent:${correlation_id}`;
  const goes = async (policy: Parameters<typeof keyturn.system.previewGc>[0]) =>
    (await keyturn.system.previewGc(policy)).objects.removes.filter(({ subjects }) =>
      subjects.includes(subject),
    );
  expect(await goes({ keep_bytes: 0, undoable_too: true }), 'it waits for a yes').toEqual([]);
  await yes(keyturn, prompt);
  expect(await goes({ keep_bytes: 0 }), 'it can be undone').toEqual([]);
  const removes = await goes({ keep_bytes: 0, undoable_too: true });
  expect(removes.flatMap(({ undo }) => undo)).toContain(correlation_id);
  const { objects } = await keyturn.system.gc({ runs: [], objects: removes, reason: 'full', signer: ada });
  expect(objects).toMatchObject({ objects: removes.length, kept: [], code: null });
  await keyturn.ledger.verifyStore({ deep: true });
  const { message } = await expectRefusal('OBJECT_MISSING', () =>
    keyturn.conversations.undo({ correlation_id, user_id: 'ada' }),
  );
  expect(message).toContain('removed by gc');
  await keyturn.ledger.verifyStore({ deep: true });
});
