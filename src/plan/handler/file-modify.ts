import { refuse } from '../../refusal.ts';
import { applyEdit, type EditResult } from '../edit/apply.ts';
import type { Action, ActionEffect, FileState } from '../model.ts';
import type { TakeMemory } from '../reused-memory.ts';
import type { World } from '../state/world.ts';
import {
  type FileWriter,
  type PreparedAction,
  putPrefetched,
  putStaged,
  type Stager,
  stageReplace,
} from './apply.ts';
import { DEFAULT_MODE, type Editor, type Handler, type Simulated } from './handler.ts';

/** FILE_MODIFY: edits a file in place. Undone by restoring its backup. */
export function createFileModifyHandler(editor: Editor = () => null): Handler<'FILE_MODIFY'> {
  return {
    undo: 'exact',
    simulate: (action, world) =>
      action.operation.type === 'mode_change'
        ? simulateMode(action.target, action.operation.mode, world)
        : simulateEdit(action, world, editOf(action, editor)),
    prepare: (action, stager) => prepareEdit(action, stager, editOf(action, editor)),
    execute: (action, writer) => executeEdit(action, writer, editOf(action, editor)),
  };
}

function editOf(
  { operation, target }: Action<'FILE_MODIFY'> | ActionEffect<'FILE_MODIFY'>,
  editor: Editor,
): EditFunction {
  if (operation.type !== 'mode_change')
    return (bytes, take) =>
      editor({ kind: 'edit', path: target, bytes, operation }) ??
      applyEdit(bytes, operation, { path: target }, take);
  const output = `Mode changed to ${operation.mode.toString(8).padStart(4, '0')}`;
  return (bytes) => ({ bytes, output });
}

/** A file that is read-only can get another mode: its content stays, and a human sees the two modes. */
async function simulateMode(target: string, mode: number, world: World): Promise<Simulated> {
  const before = await world.existing(target);
  if (before.mode === mode) refuse('EDIT_CHANGES_NOTHING', `${target} has this mode already.`);
  requireKept(target, before, mode);
  const { bytes } = await world.read(target);
  const after = await world.put(target, bytes, mode, before.attributes);
  return { changes: [{ path: target, before, after }] };
}

export type EditFunction = (bytes: Uint8Array, take?: TakeMemory) => EditResult | Promise<EditResult>;

export async function simulateEdit({ target }: Action, world: World, edit: EditFunction): Promise<Simulated> {
  await world.existing(target);
  const { bytes, state, take } = await world.readToEdit(target);
  requireWritable(target, state);
  const mode = world.preserve_permissions ? state.mode : DEFAULT_MODE;
  requireKept(target, state, mode);
  const after = await world.put(target, (await edit(bytes, take)).bytes, mode, state.attributes);
  return { changes: [{ path: target, before: state, after }] };
}

export async function prepareEdit(
  action: ActionEffect,
  stager: Stager,
  edit: EditFunction,
): Promise<PreparedAction> {
  let output = '';
  const staged = await stageReplace(stager, action.changes[0]!, async (bytes) => {
    const result = await edit(bytes);
    output = result.output;
    return result.bytes;
  });
  return { ...staged, output };
}

export async function executeEdit(
  action: ActionEffect,
  writer: FileWriter,
  edit: EditFunction,
): Promise<string> {
  const change = action.changes[0]!;
  const prefetched = await writer.prefetched();
  if (prefetched && (await putPrefetched(writer, change, prefetched))) return prefetched.output;
  const prepared = await prepareEdit(action, writer, edit);
  await putStaged(writer, change, prepared);
  return prepared.output;
}

/** A change of the mode changes the mask of an access control list, and with it who may do what. */
function requireKept(path: string, { mode, attributes }: FileState, after: number): void {
  if (attributes !== undefined && mode !== after)
    refuse('ATTRIBUTES_NOT_KEPT', `${path} has attributes, so its mode cannot change.`, { path });
}

/** A replaced file needs only its folder to be writable. Who took the write bits away meant the file, so we ask it. */
function requireWritable(path: string, { mode }: FileState): void {
  if ((mode & 0o222) === 0) refuse('PERMISSION_DENIED', `${path} is read-only.`, { path });
}
