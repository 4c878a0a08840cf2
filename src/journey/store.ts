import type { VerifiedLedger } from '../ledger/verify.ts';
import { refuse } from '../refusal.ts';
import { requireObjects } from '../store/objects.ts';
import { type VerifyOptions, verify } from './audit.ts';
import type { Context } from './context.ts';

export interface VerifiedStore {
  readonly ledger: VerifiedLedger;
  readonly rows: number;
  readonly objects: number;
}

/**
 * All that is stored: the ledger against itself, the state against the ledger, each object against its digest; with `deep`
 * also that no object is missing which an entry names.
 */
export async function verifyStore(context: Context, options: VerifyOptions): Promise<VerifiedStore> {
  const ledger = await verify(context, options);
  const { entries, rows, differences } = await context.store_aside.compare();
  // It may have been read by another connection: of the same file, if that is still in its place, and in no older state.
  if (entries < ledger.size)
    refuse('LEDGER_TRUNCATED', `The stored state is that of ${entries} entries, of ${ledger.size}.`);
  await context.store.tip();
  if (differences.length > 0)
    refuse('PROJECTION_DRIFT', `The stored state is not what the ledger says: ${differences.join('; ')}`);
  let objects = 0;
  for await (const batch of context.store.objects())
    for (const { digest } of batch) {
      await context.store.object(digest);
      objects += 1;
    }
  if (options.deep) await requireObjects(context.store);
  return { ledger, rows, objects };
}
