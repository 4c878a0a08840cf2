import type { Digest } from '../canonical/digest.ts';
import { Refusal } from '../refusal.ts';
import type { Context } from './context.ts';

/** How the files in policies/ stand to the snapshot that decides. */
export interface PolicyFilesComparison {
  readonly active: Digest | null;
  /** The snapshot that the files would be; null when they cannot be read. */
  readonly files: Digest | null;
  readonly same: boolean;
  /** What a person should know; null while they are the same. */
  readonly words: string | null;
}

/** Decides nothing: only the activated snapshot does. People read the files, so a difference is said. */
export async function comparePolicyFiles({ store, policy_files }: Context): Promise<PolicyFilesComparison> {
  const { policy: active } = await store.system();
  try {
    const { digest: files } = policy_files();
    const same = files === active;
    return {
      active,
      files,
      same,
      words: same ? null : `The files in policies/ are not the active policies. ${DECIDES}`,
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { active, files: null, same: false, words: `The files in policies/ cannot be read. ${DECIDES}` };
  }
}

const DECIDES = 'The active policies go on deciding.';
