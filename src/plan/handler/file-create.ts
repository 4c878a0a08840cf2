import type { OperationOf } from '../operation.ts';
import { applyCreate } from './apply.ts';
import { DEFAULT_MODE, type Handler } from './handler.ts';

/** FILE_CREATE: writes a new file. Undone by removing it. */
export const fileCreateHandler: Handler<'FILE_CREATE'> = {
  undo: 'exact',

  async simulate({ target, operation }, world) {
    await world.requireFree(target);
    const after = await world.put(target, contentOf(operation), operation.mode ?? DEFAULT_MODE);
    return { changes: [{ path: target, before: null, after }] };
  },

  async execute({ target, operation, changes }, hands) {
    const bytes = contentOf(operation);
    await applyCreate(hands, changes[0]!, bytes);
    return `File '${target}' created with ${bytes.length} bytes`;
  },
};

function contentOf({ content, encoding }: OperationOf<'FILE_CREATE'>): Uint8Array {
  return Buffer.from(content, encoding);
}
