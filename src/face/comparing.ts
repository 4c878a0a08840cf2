import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { changesTo, earlierApproved } from '../journey/earlier.ts';
import { askedId, id, name, time } from './parts.ts';
import { read } from './verb.ts';

const differences = once(() =>
  z
    .array(
      z
        .strictObject({
          /** An argument, a path of a plan, or what else is another one. */
          what: z.string(),
          /** The value of each, as JSON; null where there is none, or none to show. */
          before: z.string().nullable(),
          now: z.string().nullable(),
        })
        .readonly(),
    )
    .readonly()
    .nullable(),
);

/** In what an intent differs from another one that a human knows. */
export const comparing = {
  earlier: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'The last intent of the same tool or plan that a human approved, and in what this one differs.',
    input: () => z.strictObject({ intent_id: askedId, name }),
    output: () =>
      z
        .strictObject({
          intent_id: id,
          approved_at: time,
          /** None where the two are the same; null where the earlier one was erased. */
          differences: differences(),
        })
        .nullable(),
    run: ({ context }, { intent_id, name }) => earlierApproved(context, intent_id, name),
  }),

  changes: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND'],
    about: 'The intent that this one replaces, and in what this one differs; null where it replaces none.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: () =>
      z
        .strictObject({
          intent_id: id,
          /** Null where what it replaces was erased. */
          differences: differences(),
        })
        .nullable(),
    run: ({ context }, { intent_id }) => changesTo(context, intent_id),
  }),
};
