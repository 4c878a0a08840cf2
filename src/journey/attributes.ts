import { Attributes } from '../plan/state/attributes.ts';
import type { Context } from './context.ts';

/** What this process knows of the attributes of files. The helper that starts runs starts what reads them. */
export function attributesOf({ memory, starter }: Context): Attributes {
  memory.attributes ??= new Attributes((command) => starter.look(command));
  return memory.attributes;
}
