import { decodeUtf8 } from '../canonical/json.ts';
import { Keyturn } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal } from '../refusal.ts';
import type { Options } from './answer.ts';
import { readInput } from './input.ts';

type Holder = ReturnType<typeof Keyturn.agentSigner>;

/** The capability and the holder's key that the caller of a run gives. */
export function presentedBy({ capability, holderKey }: Options): {
  capability?: string;
  holder_key?: Holder;
} {
  return {
    ...(capability === undefined ? {} : { capability: readCapability(capability) }),
    ...(holderKey === undefined ? {} : { holder_key: readHolderKey(holderKey) }),
  };
}

/** The text of a capability, without the line feed at the end of its file. */
export function readCapability(path: string): string {
  return saying('CAPABILITY_MALFORMED', () =>
    decodeUtf8(readInput(path, limits.json_bytes), limits.json_bytes).replace(/\n$/, ''),
  );
}

export function readHolderKey(path: string): Holder {
  return saying('KEY_FILE_INVALID', () => Keyturn.agentSigner('', path));
}

/** Whatever keeps the file from being read: it is this file that is wrong, and no other. */
function saying<T>(code: ReasonCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(code, error.message);
    throw error;
  }
}
