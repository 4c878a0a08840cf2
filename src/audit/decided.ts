import type { Digest } from '../canonical/digest.ts';
import { type NeededDecision, requireDecision } from '../fold/decided.ts';
import type { Contents } from '../ledger/export.ts';
import { openDecision } from '../policy/replay.ts';
import { Refusal, refuse } from '../refusal.ts';

/** A decision that the entry with this number rests on. */
export interface RestsOn {
  readonly needed: NeededDecision;
  readonly seq: number;
}

/** For a file, whose objects come after all entries: the same contents, and each decision is held against what rests on it. */
export function withDecisions(contents: Contents): Contents & {
  readonly needs: (needed: NeededDecision, seq: number) => void;
} {
  const waiting = new Map<Digest, RestsOn[]>();
  let has_objects = true;
  return {
    ...contents,
    begin: (objects, is_part) => {
      contents.begin?.(objects, is_part);
      has_objects = objects;
    },
    needs: (needed, seq) => {
      if (!has_objects) return;
      const known = waiting.get(needed.digest);
      if (known) known.push({ needed, seq });
      else waiting.set(needed.digest, [{ needed, seq }]);
    },
    object: (object) => {
      contents.object(object);
      if (object.bytes === null) return;
      for (const rests of waiting.get(object.digest) ?? []) requireSays(rests, object.bytes);
    },
  };
}

export function requireSays({ needed, seq }: RestsOn, bytes: Uint8Array): void {
  try {
    requireDecision(needed, openDecision(bytes));
  } catch (error) {
    refuseEntry(seq, error);
  }
}

/** What is refused of an object means that the entry which names it could not have been written; one that is not there says nothing of it. */
export async function asEntry(seq: number, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    refuseEntry(seq, error);
  }
}

function refuseEntry(seq: number, error: unknown): never {
  if (!(error instanceof Refusal) || error.code === 'OBJECT_MISSING') throw error;
  const { code, message } = error;
  return refuse('LEDGER_BROKEN', `Entry ${seq}: ${message}`, { seq, problem: message, reason_code: code });
}
