import { withPlace } from '../../durable/beneath-write.ts';
import { refuse } from '../../refusal.ts';
import type { ActionEffect, PathChange } from '../model.ts';
import type { OperationOf } from '../operation.ts';
import { readAt } from '../state/see.ts';
import type { World } from '../state/world.ts';
import { applyCreate, type FileWriter, requireApprovedState } from './apply.ts';
import { DEFAULT_MODE, type Handler } from './handler.ts';

/** FILE_CREATE: writes a new file. Undone by removing it. */
export const fileCreateHandler: Handler<'FILE_CREATE'> = {
  undo: 'exact',

  async simulate({ target, operation }, world) {
    await world.requireFree(target);
    const { bytes, pins } = await contentIn(operation, world);
    const after = await world.put(target, bytes, operation.mode ?? DEFAULT_MODE);
    const reads = pins.map(({ path }) => path);
    return { changes: [...pins, { path: target, before: null, after }], reads };
  },

  async execute(action, writer) {
    const bytes = await contentNow(action, writer);
    await applyCreate(writer, action.changes.at(-1)!, bytes);
    return `File '${action.target}' created with ${bytes.length} bytes`;
  },
};

type Create = OperationOf<'FILE_CREATE'>;

/** A file that holds the content must be the same until the run: it is a change from one state to the same. */
async function contentIn(
  operation: Create,
  world: World,
): Promise<{ bytes: Uint8Array; pins: readonly PathChange[] }> {
  if (!('content_file' in operation)) return { bytes: inlineContent(operation), pins: [] };
  const { bytes, state } = await world.read(operation.content_file);
  return { bytes, pins: [{ path: operation.content_file, before: state, after: state }] };
}

async function contentNow(
  { operation, changes }: ActionEffect<'FILE_CREATE'>,
  writer: FileWriter,
): Promise<Uint8Array> {
  if (!('content_file' in operation)) return inlineContent(operation);
  const path = operation.content_file;
  const { bytes, ...found } =
    (await withPlace(writer.root, path, (place) => readAt(place))) ??
    refuse('PLAN_DRIFT', `${path} is gone.`, { path });
  requireApprovedState(changes[0]!, found);
  return bytes;
}

function inlineContent({ content, encoding }: Exclude<Create, { content_file: string }>): Uint8Array {
  return Buffer.from(content, encoding);
}
