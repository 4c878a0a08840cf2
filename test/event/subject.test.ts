import { describe, it } from 'vitest';
import { eventIn, parseEvent } from '../../src/event/event.ts';
import { KINDS } from '../fold/kinds.ts';
import { id, lived } from '../fold/lived.ts';
import { expectRefusal } from '../support/refusal.ts';

/** A proof takes what is about the system, its intent and its signers. What holds for all must not be about anything else. */
describe('a fact', () => {
  const events = lived();

  it('of any kind is about what its kind is about', async () => {
    for (const kind of KINDS) {
      const event = { ...events.find((one) => one.kind === kind)! };
      await expectRefusal('SHAPE_INVALID', () => parseEvent({ ...event, subject: 'No such thing' }));
      await expectRefusal('SHAPE_INVALID', () => eventIn({ ...event, subject: 'No such thing' }));
    }
  });

  it('about the system is about nothing else, and nothing else is about it', async () => {
    for (const event of events)
      for (const subject of event.subject === 'system' ? ['ada', id(1)] : ['system'])
        if (!/^(key|credential|role|token)\./.test(event.kind))
          await expectRefusal('SHAPE_INVALID', () => eventIn({ ...event, subject }));
  });
});
