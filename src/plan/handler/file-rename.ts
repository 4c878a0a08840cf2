import { applyMove } from './apply.ts';
import type { Handler } from './handler.ts';

/** FILE_RENAME: moves a file to a free path. Undone by moving it back. */
export const fileRenameHandler: Handler<'FILE_RENAME'> = {
  undo: 'exact',

  async simulate({ target, operation }, world) {
    const { destination } = operation;
    const state = await world.existing(target);
    await world.requireFree(destination);
    world.requireSameFileSystem(target, destination);
    world.move(target, destination);
    return {
      changes: [
        { path: target, before: state, after: null },
        { path: destination, before: null, after: state },
      ],
    };
  },

  async execute({ target, operation, changes }, writer) {
    await applyMove(writer, changes[0]!, changes[1]!);
    return `File '${target}' renamed to '${operation.destination}'`;
  },
};
