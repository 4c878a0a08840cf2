import { applyEdit, type EditResult } from '../edit/apply.ts';
import type { EditOperation, SchemaOperation } from '../edit/operation.ts';
import { applySchemaUpdate } from '../edit/schema-update.ts';
import { type ContentChange, type ContentFinding, contentFindings } from '../input/content.ts';
import { type Diff, diffOf } from '../report/diff.ts';

/** What takes long with the contents of a plan, and follows from them alone: it can be done in another process. */
export type AsideWork =
  | {
      readonly kind: 'edit';
      readonly path: string;
      readonly bytes: Uint8Array;
      readonly operation: EditOperation;
    }
  | {
      readonly kind: 'schema';
      readonly path: string;
      readonly bytes: Uint8Array;
      readonly operation: SchemaOperation;
    }
  | { readonly kind: 'look'; readonly from: Uint8Array | null; readonly change: ContentChange };

/** What is seen of one change. */
export interface ChangeLook {
  readonly diff: Diff;
  readonly findings: readonly ContentFinding[];
}

export type AsideDone = EditResult | ChangeLook;

export function doWork(work: AsideWork): AsideDone | Promise<AsideDone> {
  switch (work.kind) {
    case 'edit':
      return applyEdit(work.bytes, work.operation, { path: work.path });
    case 'schema':
      return applySchemaUpdate(work.bytes, work.operation, { path: work.path });
    case 'look':
      return {
        diff: diffOf(work.from, work.change.after?.bytes ?? null),
        findings: contentFindings(work.change),
      };
  }
}
