import type { Keyturn, Request, Result } from '../../src/keyturn.ts';
import { refuse } from '../../src/refusal.ts';

export interface Asked extends Omit<Request<'runs.run'>, 'seen'> {
  /** What happens between the look and the run; false is a no. */
  readonly confirm: (preview: Result<'runs.look'>) => Promise<boolean>;
}

type Library = { readonly runs: Pick<Keyturn['runs'], 'look' | 'run'> };

/** Looks, asks, and runs what was seen. A library that asks by itself, as older ones did, is left to. */
export async function runSeen({ runs }: Library, request: Asked): Promise<Result<'runs.run'>> {
  const { intent_id, hash, capability, holder_key, confirm } = request;
  const { abort, isWanted, onProgress, onClaimed, onOutput, onRecorded } = request;
  const asked = {
    intent_id,
    hash,
    capability,
    holder_key,
    abort,
    isWanted,
    onProgress,
    onClaimed,
    onOutput,
    onRecorded,
  };
  if (!runs.look) return (runs as Library['runs']).run({ ...asked, confirm } as never);
  const preview = await runs.look({ intent_id, hash, capability, holder_key });
  if (!(await confirm(preview))) refuse('CONFIRMATION_DECLINED');
  return runs.run({ ...asked, seen: preview.seen });
}
