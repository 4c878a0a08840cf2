import { join } from 'node:path';

/** The three files of a queue folder. There is no other state. */
export interface QueueFolder {
  readonly folder: string;
  readonly pending: string;
  readonly approved: string;
  readonly executed: string;
}

export function queueFolder(folder: string): QueueFolder {
  return {
    folder,
    pending: join(folder, 'pending.jsonl'),
    approved: join(folder, 'approved.jsonl'),
    executed: join(folder, 'executed.jsonl'),
  };
}
