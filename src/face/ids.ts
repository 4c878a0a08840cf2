import * as z from 'zod';
import { findId } from '../journey/find.ts';
import { limits } from '../limits.ts';
import { read } from './verb.ts';

/** What was meant by the first characters of an id. */
export const ids = {
  find: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'The whole id of what begins like this. Refused where none does, and where several do.',
    input: () =>
      z.strictObject({
        of: z.enum(['intent', 'execution', 'capability', 'delegation', 'conversation', 'object']),
        /** At least 4 characters. */
        id: z.string().max(limits.id_chars),
      }),
    output: () => z.strictObject({ id: z.string() }),
    run: async ({ context }, request) => ({ id: await findId(context, request) }),
  }),
};
