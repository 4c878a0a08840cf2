import { refuse } from '../../../refusal.ts';
import type { Operation } from '../../model.ts';
import { applyMove } from '../apply.ts';
import type { Handler } from './handler.ts';

/** FILE_RENAME: moves a file to a free path. Undone by moving it back. */
export const fileRenameHandler: Handler = {
  undo: 'exact',

  async simulate({ target, operation }, world) {
    const destination = destinationOf(operation);
    const state = await world.existing(target);
    await world.requireFree(destination);
    world.move(target, destination);
    return {
      changes: [
        { path: target, before: state, after: null },
        { path: destination, before: null, after: state },
      ],
    };
  },

  async execute({ target, operation, changes }, hands) {
    await applyMove(hands, changes[0]!, changes[1]!);
    return `File '${target}' renamed to '${destinationOf(operation)}'`;
  },
};

function destinationOf({ destination }: Operation): string {
  return typeof destination === 'string'
    ? destination
    : refuse('SHAPE_INVALID', 'FILE_RENAME has no destination.');
}
