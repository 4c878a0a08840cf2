import { applyRemove } from './apply.ts';
import type { Handler } from './handler.ts';

/** FILE_DELETE: removes a file. Undone by restoring its backup. */
export const fileDeleteHandler: Handler<'FILE_DELETE'> = {
  undo: 'exact',

  async simulate({ target }, world) {
    const before = await world.existing(target);
    world.remove(target);
    return { changes: [{ path: target, before, after: null }] };
  },

  async execute({ target, changes }, writer) {
    await applyRemove(writer, changes[0]!);
    return `File '${target}' deleted`;
  },
};
