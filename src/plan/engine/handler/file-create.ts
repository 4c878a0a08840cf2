import { refuse } from '../../../refusal.ts';
import type { Operation } from '../../model.ts';
import { applyCreate } from '../apply.ts';
import { DEFAULT_MODE, type Handler } from './handler.ts';

/** FILE_CREATE: writes a new file. Undone by removing it. */
export const fileCreateHandler: Handler = {
  undo: 'exact',

  async simulate({ target, operation }, world) {
    await world.requireFree(target);
    const after = await world.put(target, contentOf(operation), modeOf(operation));
    return { changes: [{ path: target, before: null, after }] };
  },

  async execute({ target, operation, changes }, hands) {
    const bytes = contentOf(operation);
    await applyCreate(hands, changes[0]!, bytes);
    return `File '${target}' created with ${bytes.length} bytes`;
  },
};

function contentOf({ content, encoding = 'utf8' }: Operation): Uint8Array {
  if (typeof content !== 'string') refuse('SHAPE_INVALID', 'FILE_CREATE has no content.');
  if (encoding === 'utf8') return Buffer.from(content, 'utf8');
  if (encoding !== 'base64') refuse('SHAPE_INVALID', 'The encoding is neither utf8 nor base64.');
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) refuse('SHAPE_INVALID', 'The content is not base64.');
  return bytes;
}

function modeOf({ mode = DEFAULT_MODE }: Operation): number {
  if (typeof mode !== 'number' || !Number.isInteger(mode) || mode < 0 || mode > 0o777)
    refuse('SHAPE_INVALID', 'The mode is not one from 0 to 0777.');
  return mode;
}
