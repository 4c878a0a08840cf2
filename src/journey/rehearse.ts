import { isOfPolicies } from '../fold/decided.ts';
import { REHEARSED } from '../identity/draft.ts';
import { Refusal, refuse } from '../refusal.ts';
import { Rehearsal } from '../store/rehearsal.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';

/** For an act that is only rehearsed: its commit is decided, and ends there. Not even its refusal is recorded. */
export function rehearsing(context: Context, earlier: object = new Rehearsal()): Context {
  const { store, clock } = context;
  const commit: Store['commit'] = async (wanted) => {
    if (!(earlier instanceof Rehearsal)) refuse('INTERNAL', 'What was rehearsed before is no rehearsal.');
    await earlier.add(store, wanted, clock().toISOString());
    throw REHEARSED;
  };
  return { ...context, store: { ...store, commit }, may_write: () => false };
}

/** What the policies say is a decision: it is recorded, for a human who proved to be there, and so it is not told before. */
export async function rehearsed<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Refusal && isOfPolicies(error.code) ? REHEARSED : error;
  }
}
