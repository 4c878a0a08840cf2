import type { Digest } from '../../canonical/digest.ts';
import { deepFrozen } from '../../canonical/frozen.ts';
import { Recent } from '../../canonical/recent.ts';
import type { RowName, States } from '../../fold/row.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { refOf } from '../loaded-rows.ts';
import type { RowRef } from '../store.ts';

/** A tenant of this database: its name in entries, and its number in keys. */
export interface Tenant {
  readonly id: number;
  readonly name: string;
  /** The hash of its second entry when it was opened, null if it had none: another server has another one. */
  readonly founding: Digest | null;
}

/** No text in the store has other characters than these, so looking for one that has would only make an error. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function requireKeysFit(claims: readonly string[], events: readonly { subject: string }[]): void {
  for (const key of [...claims, ...events.map(({ subject }) => subject)])
    if (Buffer.byteLength(key) > limits.postgres_key_bytes)
      refuse('INPUT_TOO_LARGE', `A claim or subject has more than ${limits.postgres_key_bytes} bytes.`);
}

/** Written by us as canonical JSON; if it no longer is, another program wrote it. */
export function stateOf<N extends RowName>(text: string): States[N] {
  try {
    return JSON.parse(text) as States[N];
  } catch {
    return refuse(
      'STORE_CORRUPT',
      'A stored state is not JSON. `keyturn ledger rebuild --write` makes it again from the ledger.',
    );
  }
}

/** Reads the text of a state once for as long as it stays the same. What several callers are given is frozen. */
export function rememberedStates() {
  const known = new Recent<string, { readonly text: string; readonly state: States[RowName] }>(
    limits.kept_rows,
  );
  return <N extends RowName>(ref: RowRef<N>, text: string | null): States[N] | null => {
    if (text === null) return null;
    const before = known.get(refOf(ref));
    if (before?.text === text) return before.state as States[N];
    const state = deepFrozen(stateOf<N>(text));
    known.set(refOf(ref), { text, state });
    return state;
  };
}
